// Tensors by name, in files.
#include <filesystem>
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "weft_example_state";
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "model.safetensors").string();

  save_safetensors(file, {{"layer.weight", Tensor({{1.0, 2.0}})}, {"layer.bias", Tensor({0.5})}},
                   {{"made by", "an example"}});
  for (const auto& [name, tensor] : load_state(file))  // in place: nothing is read yet
    std::cout << name << " " << tensor.dtype().str() << " " << tensor << "\n";
  std::cout << load_safetensors_metadata(file).at("made by") << "\n";
  std::filesystem::remove_all(folder);
}

//> layer.bias f32 [0.5]
//> layer.weight f32 [[1. 2.]]
//> an example
