// Memory that loops fill over what they read: only an element that they themselves store.

#include <gtest/gtest.h>

#include <weft/weft.h>

namespace weft {
namespace {

Tensor filled(std::int64_t rows, std::int64_t columns, double step) {
  return (Tensor::arange(rows * columns) * step)
      .sin()
      .reshape({rows, columns})
      .contiguous()
      .realize();
}

Tensor exactly(const Tensor& x) { return x.to("INTERP").cast(dtypes::f64); }

// Rows are normalised in two steps, in one memory; the next step reads whole rows of it, while it fills memory as large.
Tensor gated(const Tensor& x, const Tensor& a, const Tensor& b, const Tensor& c) {
  const Tensor rows = x.layernorm({-1}), gate = rows.matmul(a);
  return (gate * gate.sigmoid() * rows.matmul(b)).matmul(c);
}

TEST(FillInPlace, WhatIsReadByRowsStays) {
  const std::pair<std::int64_t, std::int64_t> sizes[] = {{16, 33}, {24, 56}, {196, 56}, {64, 40}};
  for (const auto& [rows, width] : sizes) {
    const Tensor x = filled(rows, width, 0.7) * 8, a = filled(width, width, 1.3),
                 b = filled(width, width, 2.1), c = filled(width, width, 2.7);
    const Tensor wanted = gated(exactly(x), exactly(a), exactly(b), exactly(c));
    const Tensor found = gated(x, a, b, c);
    const double largest = wanted.abs().max().item<double>();
    EXPECT_LT((exactly(found) - wanted).abs().max().item<double>(), 1e-5 * largest)
        << rows << " x " << width;
  }
}

}  // namespace
}  // namespace weft
