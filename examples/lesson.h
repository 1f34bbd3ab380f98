// What the examples share: headings, and checks that end the program where one fails.
#pragma once

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include <weft/weft.h>

#include "failed.h"

inline void section(std::string_view title) { std::cout << "\n== " << title << "\n\n"; }

inline void check(std::string_view what, bool is_true) {
  std::cout << (is_true ? "PASS  " : "FAIL  ") << what << std::endl;
  if (!is_true) std::exit(1);
}

// The largest difference of two tensors, anywhere.
inline double largest_error(const weft::Tensor& a, const weft::Tensor& b) {
  return (a - b).abs().max().item<double>();
}
