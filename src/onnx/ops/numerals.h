// Strings as numbers, and numbers as strings.
#pragma once

#include "tables.h"

namespace weft::onnx {

// As plain decimals that read back as the same number; NaN, INF and -INF.
Text text_of(const Tensor& numbers);
// Refuses what is no number. In i64, u64 or f64, whichever the dtype converts from best.
Tensor numbers_in(const Call& call, const Text& text, DType dtype);

}  // namespace weft::onnx
