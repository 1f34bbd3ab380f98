// Data sets in local files.
#include <filesystem>
#include <fstream>
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "weft_example_data";
  std::filesystem::create_directories(folder / "cat");
  save_image((folder / "cat/1.png").string(), Tensor::full({2, 2, 3}, 7, {.dtype = dtypes::u8}));
  const ImageFolder images(folder.string());
  const LabelledImages all = images.load(0, images.files.size(), 1);
  std::cout << images.classes[0] << " " << all.images << " " << all.labels << "\n";

  std::ofstream(folder / "labels") << std::string({0, 0, 8, 1, 0, 0, 0, 2, 5, 4});  // as MNIST's are
  std::cout << load_idx((folder / "labels").string()) << "\n";
  std::filesystem::remove_all(folder);
}

//> cat [[[[7 7]
//>    [7 7]]]] [0]
//> [5 4]
