// Losses of classes.

#include <optional>

#include <fmt/format.h>

#include "tables.h"

namespace weft::onnx {
namespace {

// Of log probabilities (batch, classes, ...) and classes (batch, ...), which may be some that is ignored.
Tensor likelihood_loss(const Call& call, const Tensor& log_probabilities) {
  std::optional<std::int64_t> ignored;
  if (call.has("ignore_index")) ignored = call.attr<std::int64_t>("ignore_index");
  const std::string reduction = call.attr("reduction", "mean");
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    call.refuse(fmt::format("reduction is '{}': want mean, sum or none", reduction));
  Reduction how = Reduction::Mean;
  if (reduction != "mean") how = reduction == "sum" ? Reduction::Sum : Reduction::None;
  return log_probabilities.nll_loss(call.tensor(1), call.tensor_or_null(2), ignored, how)
      .cast(log_probabilities.dtype());
}

Tensor negative_log_likelihood(const Call& call) { return likelihood_loss(call, call.tensor(0)); }

Values softmax_cross_entropy(const Call& call) {
  const Tensor log_probabilities = call.tensor(0).log_softmax(1);
  return {likelihood_loss(call, log_probabilities), log_probabilities};
}

}  // namespace

OpTable loss_ops() {
  static const Op ops[] = {
      {"NegativeLogLikelihoodLoss", 12, negative_log_likelihood},
      {"SoftmaxCrossEntropyLoss", 12, softmax_cross_entropy},
  };
  return {"", ops};
}

}  // namespace weft::onnx
