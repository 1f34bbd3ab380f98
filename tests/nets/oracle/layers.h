// Layers of networks: normalisation, pools and convolutions with options, resampling, losses.
#pragma once

#include <string_view>

#include "array.h"

namespace nets {

Array rmsnorm(const Array& x, std::int64_t axis, double eps);
Array group_norm(const Array& x, std::int64_t groups, double eps);
// Each of the others is along axis 1.
Array batchnorm(const Array& x, const Array& weight, const Array& bias, const Array& mean,
                const Array& invstd);

struct PoolForm {
  Numbers kernel;
  std::int64_t stride = 1, dilation = 1, padding = 0;
  bool rounds_up = false, counts_padding = true;
};
Array max_pool(const Array& x, const PoolForm& form);
Array avg_pool(const Array& x, const PoolForm& form);

struct TransposeForm {
  std::int64_t groups = 1, stride = 1, padding = 0, output_padding = 0;
};
// weight (in, out / groups, sizes ...)
Array conv_transpose(const Array& x, const Array& weight, const TransposeForm& form);

// The last axes in other sizes.
Array interpolate_nearest(const Array& x, const Numbers& sizes);
Array interpolate_linear(const Array& x, const Numbers& sizes, bool aligns_corners);

enum class Reduction : std::uint8_t { Mean, Sum, None };
Array reduced_loss(const Array& loss, Reduction reduction);
// "mse", "l1", "smooth_l1", "huber", "logits": binary cross-entropy of scores
Array pair_loss(std::string_view name, const Array& x, const Array& target, Reduction reduction);
// Scores, or log probabilities, (batch, classes, ...), and classes (batch, ...).
Array class_loss(const Array& log_probabilities, const Array& target, double smoothing,
                 Reduction reduction);

}  // namespace nets
