// Options of methods that have more than two, to be named in place: x.sum(1, {.keepdim = true}).
// The order, where there are no names, is theirs too.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <weft/tensor.h>

namespace weft {

struct SumOptions {
  bool keepdim = false;
  DType dtype = {};
};

struct VarOptions {
  bool keepdim = false;
  std::int64_t correction = 1;
};

// The same in place of the axes: x.sum({.keepdim = true}).
struct ReduceOptions {
  AxisList axes = {};
  bool keepdim = false;
};
struct SumAllOptions {
  AxisList axes = {};
  bool keepdim = false;
  DType dtype = {};
};
struct VarAllOptions {
  AxisList axes = {};
  bool keepdim = false;
  std::int64_t correction = 1;
};
struct SoftmaxOptions {
  std::int64_t axis = -1;
  DType dtype = {};
};

struct NormOptions {
  double p = 2;
  AxisList axes = {};
  bool keepdim = false;
};

struct CloseOptions {
  double rtol = 1e-5, atol = 1e-8;
  bool equal_nan = false;
};

struct NanToNumOptions {
  Scalar nan = 0;
  std::optional<Scalar> posinf = {}, neginf = {};
};

struct DiffOptions {
  std::int64_t times = 1, axis = -1;
  Tensor prepend = {}, append = {};
};

struct DiagonalOptions {
  std::int64_t offset = 0, axis0 = 0, axis1 = 1;
};

struct DiagEmbedOptions {
  std::int64_t offset = 0, axis0 = -2, axis1 = -1;
};

struct LayerNormOptions {
  double eps = 1e-5;
  Tensor weight = {}, bias = {};
};

struct RmsNormOptions {
  std::int64_t axis = -1;
  double eps = 1e-6;
  Tensor weight = {};
};

struct NormalizeOptions {
  double p = 2;
  AxisList axes = 1;
  double eps = 1e-12;
};

struct HistcOptions {
  std::int64_t bins = 100;
  double least = 0, most = 0;
};

struct HistogramOptions {
  std::optional<std::pair<double, double>> bounds = {};
  Tensor weight = {};
  bool density = false;
};

struct TopkOptions {
  std::int64_t axis = -1;
  bool largest = true, sorted = true;
};

struct QuantileOptions {
  std::optional<std::int64_t> axis = {};
  bool keepdim = false;
  Tensor::Interpolation interpolation = Tensor::Interpolation::Linear;
};

struct SparseCrossEntropyOptions {
  std::int64_t ignore_index = -1;
  double label_smoothing = 0;
  Reduction reduction = Reduction::Mean;
};

}  // namespace weft
