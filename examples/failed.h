// The end of a program whose main() catches an exception: its message, and status 1.
#pragma once

#include <cstdio>
#include <exception>

inline int failed(const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
