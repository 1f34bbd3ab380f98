// Losses.

#include <fmt/format.h>
#include <weft/error.h>

#include "ops.h"

namespace weft {
namespace {

Tensor reduced(const Tensor& loss, Reduction reduction) {
  if (reduction == Reduction::None) return loss;
  return reduction == Reduction::Sum ? loss.sum() : loss.mean();
}

// Each class's share of the loss, for targets that are classes, along the last axis; 0 everywhere where
// the target is to be ignored.
Tensor chosen(const Tensor& target, std::int64_t classes, const Tensor& counted, DType dtype) {
  return target.one_hot(classes).cast(dtype) * counted.cast(dtype).unsqueeze(-1);
}

void want_classes(std::string_view op, const Tensor& target, const std::vector<std::int64_t>& shape,
                  std::size_t class_axis) {
  std::vector<std::int64_t> expected = shape;
  expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(class_axis));
  if (!target.dtype().is_int() || target.shape() != expected)
    user_error(fmt::format(
        "{}: targets of {} and shape {} are not a class for each score of shape {}", op,
        target.dtype().str(), shape_text(target.uop()), sizes_text(constant_sizes(shape))));
}

// The classes behind all other axes.
Tensor classes_last(const Tensor& tensor) {
  Axes order{0};
  for (std::int64_t axis = 2; axis < tensor.ndim(); ++axis) order.push_back(axis);
  order.push_back(1);
  return tensor.permute(order);
}

}  // namespace

Tensor Tensor::mse_loss(const Tensor& target, Reduction reduction) const {
  return reduced((*this - target).square(), reduction);
}

Tensor Tensor::binary_crossentropy(const Tensor& target, Reduction reduction) const {
  return reduced(-(target * log() + (1 - target) * (1 - *this).log()), reduction);
}

// log(1 + exp(x)) - target*x, without exp of what is large.
Tensor Tensor::binary_crossentropy_logits(const Tensor& target, Reduction reduction) const {
  return reduced(maximum(0) - target * *this + ((-abs()).exp() + 1).log(), reduction);
}

Tensor Tensor::nll_loss(const Tensor& target, const Tensor& weight,
                        std::optional<std::int64_t> ignore_index, Reduction reduction) const {
  if (ndim() < 2) {
    const Tensor loss = unsqueeze(0).nll_loss(target.unsqueeze(0), weight, ignore_index, reduction);
    return reduction == Reduction::None ? loss.squeeze(0) : loss;
  }
  want_classes("nll_loss", target, shape(), 1);
  const Tensor scores = classes_last(*this);
  const Tensor counted = ignore_index ? target != *ignore_index : (target == target);
  Tensor share = chosen(target, scores.size(-1), counted, dtype());
  if (!weight.is_null()) share = share * weight;
  const Tensor loss = -(share * scores).sum(-1);
  return reduction == Reduction::Mean ? loss.sum() / share.sum() : reduced(loss, reduction);
}

Tensor Tensor::sparse_categorical_crossentropy(const Tensor& target, std::int64_t ignore_index,
                                               double label_smoothing, Reduction reduction) const {
  if (label_smoothing < 0 || label_smoothing > 1)
    user_error(fmt::format("sparse_categorical_crossentropy: label_smoothing {} is not from 0 to 1",
                           label_smoothing));
  if (ndim() < 1) user_error("sparse_categorical_crossentropy: a scalar has no classes");
  want_classes("sparse_categorical_crossentropy", target, shape(),
               static_cast<std::size_t>(ndim() - 1));
  const Tensor scores = log_softmax(-1), counted = target != ignore_index;
  const Tensor share = chosen(target, scores.size(-1), counted, scores.dtype());
  const Tensor even = scores.mean(-1) * counted;
  const Tensor loss = -((share * scores).sum(-1) * (1 - label_smoothing) + even * label_smoothing);
  return reduction == Reduction::Mean ? loss.sum() / counted.sum() : reduced(loss, reduction);
}

Tensor Tensor::cross_entropy(const Tensor& target, Reduction reduction,
                             double label_smoothing) const {
  if (ndim() < 1) user_error("cross_entropy: a scalar has no classes");
  const Tensor scores = ndim() < 2 ? *this : classes_last(*this);
  const std::int64_t classes = scores.size(-1);
  Tensor share;
  if (target.dtype().is_int()) {
    want_classes("cross_entropy", target, shape(), ndim() < 2 ? 0 : 1);
    share = target.one_hot(classes).cast(scores.dtype());
  } else {
    share = ndim() < 2 ? target : classes_last(target);
  }
  share = share * (1 - label_smoothing) + label_smoothing / static_cast<double>(classes);
  return reduced(-(scores.log_softmax(-1) * share).sum(-1), reduction);
}

}  // namespace weft
