#include "file.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <weft/dev/run/status.h>

namespace weft::capi {
namespace {

static_assert(longest_path >= PATH_MAX);

bool ends_with(const char* text, const char* end) {
  const std::size_t length = std::strlen(text), tail = std::strlen(end);
  return length > tail && std::strcmp(text + length - tail, end) == 0;
}

// How many of them there are; `name` becomes the last.
int count_libraries(DIR* folder, char* name, std::size_t room) {
  int count = 0;
  while (const dirent* entry = readdir(folder))
    if (ends_with(entry->d_name, ".so")) {
      ++count;
      std::snprintf(name, room, "%s", entry->d_name);
    }
  return count;
}

// Links of NAME.so itself are not followed: NAME.weights lies beside them, whatever they lead to.
int join(const char* folder, const char* name, char* found) {
  const int length = std::snprintf(found, longest_path, "%s/%s", folder, name);
  if (length >= 0 && static_cast<std::size_t>(length) < longest_path) return WEFT_OK;
  return fail(WEFT_NO_FILE, "%.400s: %s", folder, std::strerror(ENAMETOOLONG));
}

int find_in_folder(const char* path, char* found) {
  DIR* const folder = opendir(path);
  if (folder == nullptr) return fail(WEFT_NO_FILE, "%.400s: %s", path, std::strerror(errno));
  char name[NAME_MAX + 1];
  const int count = count_libraries(folder, name, sizeof name);
  closedir(folder);
  if (count != 1)
    return fail(count == 0 ? WEFT_NO_FILE : WEFT_BAD_FILE,
                "%.400s has %d files NAME.so where one is expected: name the file", path, count);
  return join(path, name, found);
}

// A table of headers, or a segment, lies in the file.
bool has_part(const Mapped& file, std::uint64_t offset, std::uint64_t bytes) {
  return offset <= file.size && bytes <= file.size - offset;
}

// Linkers write the table of sections last.
bool is_whole(const Mapped& file) {
  const auto* header = static_cast<const Elf64_Ehdr*>(file.bytes);
  if (file.size < sizeof *header || std::memcmp(header, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_phentsize != sizeof(Elf64_Phdr) ||
      header->e_phoff % alignof(Elf64_Phdr) != 0)
    return false;
  if (!has_part(file, header->e_phoff, std::uint64_t{header->e_phnum} * sizeof(Elf64_Phdr)) ||
      !has_part(file, header->e_shoff, std::uint64_t{header->e_shnum} * header->e_shentsize))
    return false;
  const auto* segments =
      reinterpret_cast<const Elf64_Phdr*>(static_cast<const char*>(file.bytes) + header->e_phoff);
  for (int i = 0; i < header->e_phnum; ++i)
    if (!has_part(file, segments[i].p_offset, segments[i].p_filesz)) return false;
  return true;
}

}  // namespace

int find_library(const char* path, char* found) {
  struct stat about;
  if (stat(path, &about) != 0) return fail(WEFT_NO_FILE, "%.400s: %s", path, std::strerror(errno));
  const bool is_folder = S_ISDIR(about.st_mode);
  const char* const slash = std::strrchr(path, '/');
  const char* const name = slash != nullptr ? slash + 1 : path;
  char folder[longest_path] = ".", full[longest_path];
  if (is_folder || name != path)
    std::snprintf(folder, sizeof folder, "%.*s",
                  static_cast<int>(is_folder ? std::strlen(path) : name - path), path);
  if (realpath(folder, full) == nullptr)
    return fail(WEFT_NO_FILE, "%.400s: %s", path, std::strerror(errno));
  return is_folder ? find_in_folder(full, found) : join(full, name, found);
}

int map_file(const char* path, Mapped& mapped) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail(WEFT_NO_FILE, "%.400s: %s", path, std::strerror(errno));
  struct stat about;
  const bool is_file = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0;
  void* bytes = MAP_FAILED;
  const std::size_t size = is_file ? static_cast<std::size_t>(about.st_size) : 0;
  if (is_file) bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (bytes == MAP_FAILED) return fail(WEFT_BAD_FILE, "%.400s is empty, or no file", path);
  mapped = {bytes, size};
  return WEFT_OK;
}

void unmap(Mapped& mapped) {
  if (mapped.bytes != nullptr) munmap(mapped.bytes, mapped.size);
  mapped = {};
}

int check_elf(const char* path) {
  Mapped file{};
  if (const int problem = map_file(path, file)) return problem;
  const bool is_good = is_whole(file);
  unmap(file);
  if (is_good) return WEFT_OK;
  return fail(WEFT_BAD_FILE, "%.400s is no shared library, or not all of one", path);
}

}  // namespace weft::capi
