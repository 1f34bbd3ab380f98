// A function of tensors as a library in C: files that a C compiler links without weft.
#include <filesystem>
#include <fstream>
#include <iostream>

#include <weft/export.h>
#include <weft/weft.h>

using namespace weft;

int main() {
  const std::string folder = std::filesystem::temp_directory_path() / "weft_export_example";
  const Tensor weight = Tensor::ones({4, 2}, {.device = export_device("c")}).realize().freeze();
  const auto scores = [&](const std::vector<Tensor>& given) {
    return std::vector<NamedTensor>{{"scores", given[0].matmul(weight).relu()}};
  };
  const Tensor image = Tensor::zeros({1, 4}, {.device = export_device("c")});
  const ExportReport report =
      export_c(scores, {{"image", image}}, folder, {.target = "c", .name = "tiny"});
  for (const std::string& file : report.files) std::cout << file << "\n";
  std::cout << "kernels: " << report.calls << "\n";

  std::ifstream header(std::filesystem::path(folder) / "tiny.h");
  for (std::string line; std::getline(header, line);)
    if (line.find("/* output") != line.npos || line.find("int tiny_run") == 0)
      std::cout << line << "\n";
  std::filesystem::remove_all(folder);
}
//> tiny.h
//> tiny.c
//> tiny.weights
//> kernels: 1
//>   float *scores; /* output: f32[1, 2] */
//> int tiny_run(const tiny_io *io, const void *weights, void *workspace, const tiny_threads *threads);
