// What the tests of files share: a folder of their own, files kept in data/, and damaged ones.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

#include "../tensor/tensor_test.h"

namespace weft {

namespace fs = std::filesystem;

inline std::string data(const std::string& name) { return std::string(WEFT_IO_DATA) + "/" + name; }

inline std::vector<char> bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class InFolder : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  template <class Bytes>
  std::string file(const std::string& name, const Bytes& bytes) const {
    std::ofstream(file(name), std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file(name);
  }

  // Every beginning of the file is refused by `load`, and whatever byte is another, it is refused or loaded.
  template <class Load>
  void expect_care(const std::string& path, const Load& load) const {
    const std::vector<char> whole = bytes_of(path);
    ASSERT_NO_THROW(load(path));
    for (std::size_t size = 0; size < whole.size(); ++size)
      EXPECT_THROW(load(file("cut", std::string(whole.data(), size))), Error) << size;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::vector<char> bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ 0x55);
      try {
        load(file("changed", bytes));
      } catch (const Error&) {
        continue;
      }
    }
  }

 private:
  const fs::path folder_ = fs::temp_directory_path() / ("weft_io_" + std::to_string(getpid()));
};

}  // namespace weft
