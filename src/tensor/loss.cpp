// Losses of classes: shares of the log probabilities.

#include "loss.h"

#include <algorithm>

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/losses.h>

#include "functions.h"
#include "within.h"

namespace weft {

Tensor reduced(const Tensor& loss, Reduction reduction) {
  if (reduction == Reduction::None) return loss;
  return reduction == Reduction::Sum ? loss.sum() : loss.mean();
}

DType loss_dtype(const Tensor& scores, const Tensor& weight) {
  return weight.is_null() ? float_like(scores.dtype()) : joint_float(scores, weight);
}

void want_pairs(std::string_view op, const Tensor& x, const Tensor& target) {
  const Sizes sizes = broadcast_sizes(op, {x.uop(), target.uop()});
  const auto has_all = [&](const Tensor& one) {
    return std::ranges::equal(one.uop()->dims(), sizes, {}, {}, &UOp::node);
  };
  if (!has_all(x) && !has_all(target))
    user_error(
        fmt::format("{}: shapes {} and {} would broadcast to {}, which compares each number with "
                    "several: reshape one",
                    op, shape_text(x.uop()), shape_text(target.uop()), sizes_text(sizes)));
}

void want_classes(std::string_view op, const Tensor& target, const std::vector<std::int64_t>& shape,
                  std::size_t class_axis, std::optional<std::int64_t> ignored) {
  std::vector<std::int64_t> expected = shape;
  expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(class_axis));
  if (!target.dtype().is_int() || target.shape() != expected)
    user_error(fmt::format(
        "{}: targets of {} and shape {} are not a class for each score of shape {}", op,
        target.dtype().str(), shape_text(target.uop()), sizes_text(constant_sizes(shape))));
  want_within(op, target, const_int(shape[class_axis]), Negative::Refused, ignored);
}

void want_weights(std::string_view op, const Tensor& weight, std::int64_t classes) {
  if (!weight.is_null() && (weight.ndim() != 1 || weight.size(0) != classes))
    user_error(fmt::format("{}: a weight of shape {} for {} classes", op, shape_text(weight.uop()),
                           classes));
}

namespace {

// The classes behind all other axes.
Tensor classes_last(const Tensor& tensor) {
  if (tensor.ndim() < 2) return tensor;
  Axes order{0};
  for (std::int64_t axis = 2; axis < tensor.ndim(); ++axis) order.push_back(axis);
  order.push_back(1);
  return tensor.permute(order);
}

std::size_t class_axis(const Tensor& scores) { return scores.ndim() < 2 ? 0 : 1; }

void want_smoothing(std::string_view op, double smoothing) {
  if (!(smoothing >= 0 && smoothing <= 1))
    user_error(fmt::format("{}: label_smoothing {} is not from 0 to 1", op, smoothing));
}

// Of what has no share it does not matter that it is impossible.
Tensor expected(const Tensor& share, const Tensor& log_probabilities) {
  return -(share == 0).where(0, share * log_probabilities).sum(-1);
}

// Log probabilities and targets with the classes last. The mean is over what the targets count.
Tensor of_classes(const Tensor& log_probabilities, const Tensor& target, const Tensor& weight,
                  std::optional<std::int64_t> ignore_index, double smoothing, Reduction reduction) {
  const std::int64_t classes = log_probabilities.size(-1);
  const DType dtype = loss_dtype(log_probabilities, weight), wide = promote(dtype, dtypes::f32);
  const Tensor counted = (ignore_index ? target != *ignore_index : target == target).cast(wide);
  Tensor every = counted.unsqueeze(-1);
  if (!weight.is_null()) every = every * weight;
  const Tensor own = every * is_class(target, classes).cast(wide);
  const Tensor share =
      smoothing == 0 ? own
                     : own * (1 - smoothing) + every * (smoothing / static_cast<double>(classes));
  const Tensor loss = expected(share, log_probabilities.cast(wide));
  if (reduction != Reduction::Mean || (weight.is_null() && !ignore_index))
    return reduced(loss, reduction).cast(dtype);
  return (loss.sum() / (weight.is_null() ? counted : own).sum()).cast(dtype);
}

}  // namespace

Tensor Tensor::nll_loss(const Tensor& target, const Tensor& weight,
                        std::optional<std::int64_t> ignore_index, Reduction reduction) const {
  const Called called;
  if (ndim() < 1) user_error("nll_loss: a scalar has no classes");
  want_classes("nll_loss", target, shape(), class_axis(*this), ignore_index);
  const Tensor scores = classes_last(*this);
  want_weights("nll_loss", weight, scores.size(-1));
  return of_classes(scores, target, weight, ignore_index, 0, reduction);
}

Tensor Tensor::sparse_categorical_crossentropy(const Tensor& target, std::int64_t ignore_index,
                                               double label_smoothing, Reduction reduction) const {
  const Called called;
  want_smoothing("sparse_categorical_crossentropy", label_smoothing);
  if (ndim() < 1) user_error("sparse_categorical_crossentropy: a scalar has no classes");
  want_classes("sparse_categorical_crossentropy", target, shape(),
               static_cast<std::size_t>(ndim() - 1), ignore_index);
  return of_classes(log_softmax(-1), target, {}, ignore_index, label_smoothing, reduction);
}

Tensor Tensor::cross_entropy(const Tensor& target, const CrossEntropyOptions& options) const {
  const Called called;
  want_smoothing("cross_entropy", options.label_smoothing);
  if (ndim() < 1) user_error("cross_entropy: a scalar has no classes");
  const Tensor scores = classes_last(*this);
  const std::int64_t classes = scores.size(-1);
  want_weights("cross_entropy", options.weight, classes);
  if (target.dtype().is_int()) {
    want_classes("cross_entropy", target, shape(), class_axis(*this), options.ignore_index);
    return of_classes(scores.log_softmax(-1), target, options.weight, options.ignore_index,
                      options.label_smoothing, options.reduction);
  }
  if (target.shape() != shape())
    user_error(fmt::format("cross_entropy: probabilities of shape {} for scores of shape {}",
                           shape_text(target.uop()), shape_text(uop())));
  Tensor share = classes_last(target) * (1 - options.label_smoothing) +
                 options.label_smoothing / static_cast<double>(classes);
  if (!options.weight.is_null()) share = share * options.weight;
  return reduced(expected(share, scores.log_softmax(-1)), options.reduction);
}

Tensor Tensor::cross_entropy(const Tensor& target, Reduction reduction,
                             double label_smoothing) const {
  const Called called;
  return cross_entropy(target, {.label_smoothing = label_smoothing, .reduction = reduction});
}

namespace functional {

Tensor cross_entropy(const Tensor& scores, const Tensor& target,
                     const CrossEntropyOptions& options) {
  return Called(), scores.cross_entropy(target, options);
}

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const NllOptions& options) {
  const Called called;
  return log_probabilities.nll_loss(target, options.weight, options.ignore_index,
                                    options.reduction);
}

}  // namespace functional
}  // namespace weft
