// Files of compiled models: where they are, and whether they are whole.
#pragma once

#include <cstddef>

namespace weft::capi {

constexpr std::size_t longest_path = 4096;

// The one NAME.so of a folder, or that file itself, as a path from the root.
int find_library(const char* path, char* found);
// A shared library that ends before its segments do would end the program that maps it.
int check_elf(const char* path);

// A file in memory, to read.
struct Mapped {
  void* bytes;
  std::size_t size;
};
int map_file(const char* path, Mapped& mapped);
void unmap(Mapped& mapped);

}  // namespace weft::capi
