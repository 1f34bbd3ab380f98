#include "file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fmt/core.h>
#include <weft/error.h>

namespace weft {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

[[noreturn]] void failed(const std::string& op, const std::string& path) {
  user_error(fmt::format("{}: '{}': {}", op, path, std::strerror(errno)));
}

File open(const std::string& op, const std::string& path, const char* mode) {
  File file(std::fopen(path.c_str(), mode), std::fclose);
  if (file == nullptr) failed(op, path);
  return file;
}

}  // namespace

std::vector<std::byte> read_file(const std::string& op, const std::string& path) {
  const File file = open(op, path, "rb");
  std::vector<std::byte> bytes;
  std::byte part[1 << 16];
  for (std::size_t count = sizeof part; count == sizeof part;) {
    count = std::fread(part, 1, sizeof part, file.get());
    bytes.insert(bytes.end(), part, part + count);
  }
  if (std::ferror(file.get()) != 0) failed(op, path);
  return bytes;
}

void write_file(const std::string& op, const std::string& path, std::span<const std::byte> bytes) {
  File file = open(op, path, "wb");
  const bool is_written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  if (std::fclose(file.release()) != 0 || !is_written) failed(op, path);
}

}  // namespace weft
