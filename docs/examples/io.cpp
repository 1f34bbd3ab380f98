// Files of NumPy, and images.
#include <filesystem>
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "weft_example_io";
  std::filesystem::create_directories(folder);
  const auto file = [&](const char* name) { return (folder / name).string(); };

  save_npy(file("x.npy"), Tensor({{1, 2}, {3, 4}}));
  std::cout << load_npy(file("x.npy")) << "\n";
  save_npz(file("both.npz"), {{"a", Tensor({1.5})}, {"b", Tensor({true})}}, true);
  for (const auto& [name, tensor] : load_npz(file("both.npz")))
    std::cout << name << " " << tensor << "\n";

  const Tensor image =
      Tensor::arange(12, {.dtype = dtypes::u8}).reshape({2, 2, 3});  // height, width, channels
  save_image(file("image.png"), image);
  const Tensor back = load_image(file("image.png"));
  std::cout << back.equal(image) << " " << back[{0, 1}] << "\n";
  std::filesystem::remove_all(folder);
}

//> [[1 2]
//>  [3 4]]
//> a [1.5]
//> b [true]
//> 1 [3 4 5]
