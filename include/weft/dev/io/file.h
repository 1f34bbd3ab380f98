// Whole files, read and replaced.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

// What errors speak of. The method is named by Called.
struct InFile {
  std::string path;
  [[noreturn]] void fail(std::string_view what) const;
  [[noreturn]] void fail_by_errno() const;
};

std::vector<std::byte> read_file(const std::string& path);
void write_file(const std::string& path, std::span<const std::byte> bytes);

// A file to be: it lies beside the one of that name until commit() puts it in its place, on the disk as well.
// Whatever ends the program before that leaves the old one as it was.
class NewFile {
 public:
  explicit NewFile(const std::string& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void commit();

 private:
  InFile in_;
  std::string target_, part_;
  int descriptor_ = -1;
};

}  // namespace weft
