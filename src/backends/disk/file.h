// A file that a tensor lies in. Read and written by calls, not mapped: when somebody cuts the file
// short meanwhile, that is an error, not a signal.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace weft::disk {

class File {
 public:
  // Of at least that many bytes, or none yet: the first write creates it with as many.
  File(std::string path, std::size_t bytes);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void read(std::span<std::byte> to, std::size_t offset) const;
  void write(std::span<const std::byte> from, std::size_t offset);

 private:
  void create();
  void want_bytes() const;

  std::string path_;
  std::size_t bytes_;
  int descriptor_ = -1;
  bool created_ = false;
};

}  // namespace weft::disk
