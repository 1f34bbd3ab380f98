// What a compiled model says of itself, to a program that has no header of it.
#include <dlfcn.h>

#include <filesystem>
#include <iostream>

#include <weft/export.h>
#include <weft/weft.h>
#include <weft/weft_library.h>

int main() {
  const std::string folder = std::filesystem::temp_directory_path() / "weft_library_example";
  const weft::Tensor image = weft::Tensor::zeros({2, 3}, {.device = weft::export_device("c")});
  const auto sums = [](const std::vector<weft::Tensor>& given) {
    return std::vector<weft::NamedTensor>{{"sums", given[0].sum(1)}};
  };
  weft::export_c(sums, {{"numbers", image}}, folder,
                 {.target = "c", .name = "tiny", .kinds = {weft::ExportKind::Shared}});

  void* library = dlopen((folder + "/tiny.so").c_str(), RTLD_NOW);
  const auto* about =
      static_cast<const weft_library_description*>(dlsym(library, "weft_library_v1"));
  for (std::uint32_t i = 0; i < about->inputs + about->outputs; ++i) {
    const weft_library_port& port = about->ports[i];
    std::cout << (i < about->inputs ? "takes " : "gives ") << port.name << ", " << port.bytes
              << " bytes of rank " << port.rank << "\n";
  }
  dlclose(library);
  std::filesystem::remove_all(folder);
}
//> takes numbers, 24 bytes of rank 2
//> gives sums, 8 bytes of rank 1
