// What the examples share: headings, and checks that end the program where one fails.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <weft/weft.h>

inline void section(std::string_view title) { std::cout << "\n== " << title << "\n\n"; }

inline void check(std::string_view what, bool is_true) {
  std::cout << (is_true ? "PASS  " : "FAIL  ") << what << std::endl;
  if (!is_true) std::exit(1);
}

inline std::string text(const std::vector<std::int64_t>& shape) {
  std::string sizes;
  for (const std::int64_t size : shape) sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  return "(" + sizes + ")";
}

// The largest difference of two tensors, anywhere.
inline double largest_error(const weft::Tensor& a, const weft::Tensor& b) {
  return (a - b).abs().max().item<double>();
}
