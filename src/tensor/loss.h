// What the losses share.
#pragma once

#include "ops.h"

namespace weft {

Tensor reduced(const Tensor& loss, Reduction reduction);

// Of a loss that is computed in f32 at least: that of the scores and of what weighs them.
DType loss_dtype(const Tensor& scores, const Tensor& weight);

// Throws where each number would be compared with many, as where shapes (n, 1) and (n,) broadcast to (n, n).
void want_pairs(std::string_view op, const Tensor& x, const Tensor& target);

// Throws unless the target has a class for each place of the scores but on the axis of the classes.
void want_classes(std::string_view op, const Tensor& target, const std::vector<std::int64_t>& shape,
                  std::size_t class_axis, std::optional<std::int64_t> ignored = {});

// Whether each number is class 0, 1 ..., along a new last axis; one that is none of them is not looked for.
Tensor is_class(const Tensor& numbers, std::int64_t classes);

// Throws unless the weight has one number for each class.
void want_weights(std::string_view op, const Tensor& weight, std::int64_t classes);

}  // namespace weft
