// Losses of pairs, and of scores that are to keep a distance.

#include <limits>

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/losses.h>

#include "functions.h"
#include "loss.h"

namespace weft::functional {
namespace {

void want_rows(const char* op, const Tensor& a, const Tensor& b) {
  if (a.ndim() == 0 || b.ndim() == 0)
    user_error(fmt::format("{}: shapes {} and {}: a scalar is no vector", op, shape_text(a.uop()),
                           shape_text(b.uop())));
}

}  // namespace

Tensor multi_margin_loss(const Tensor& scores, const Tensor& target,
                         const MultiMarginOptions& options) {
  const Called called;
  if (options.p != 1 && options.p != 2)
    user_error(fmt::format("multi_margin_loss: p is 1 or 2, not {}", options.p));
  if (scores.ndim() < 1 || scores.ndim() > 2)
    user_error(fmt::format("multi_margin_loss: scores of shape {} are not (batch, classes)",
                           shape_text(scores.uop())));
  want_classes("multi_margin_loss", target, scores.shape(),
               static_cast<std::size_t>(scores.ndim() - 1));
  const std::int64_t classes = scores.size(-1);
  want_weights("multi_margin_loss", options.weight, classes);
  const DType own = loss_dtype(scores, options.weight);
  const Tensor x = scores.cast(promote(own, dtypes::f32)), is_right = is_class(target, classes);
  const Tensor right = is_right.where(x, 0).sum(-1, true);
  Tensor off = is_right.where(0, (x - right + options.margin).relu());
  if (options.p == 2) off = off.square();
  if (!options.weight.is_null()) off = off * is_right.where(options.weight, 0).sum(-1, true);
  return reduced(off.mean(-1), options.reduction).cast(own);
}

// Every one of the target's classes with every class that is none of them.
Tensor multilabel_margin_loss(const Tensor& scores, const Tensor& target, Reduction reduction) {
  const Called called;
  if (scores.ndim() < 1 || scores.ndim() > 2 || !target.dtype().is_int() ||
      target.shape() != scores.shape())
    user_error(
        fmt::format("multilabel_margin_loss: targets of {} and shape {} are not the classes of "
                    "scores of shape {}, (batch, classes)",
                    target.dtype().str(), shape_text(target.uop()), shape_text(scores.uop())));
  const Tensor counts = (target < 0).cumsum(-1, dtypes::i32) == 0;
  const Tensor is_it = is_class(target, scores.size(-1)) & counts.unsqueeze(-1);
  const Tensor counted = counts.unsqueeze(-1) & !is_it.any(-2, true);
  return widely(scores.unsqueeze(-2), [&](const Tensor& x) {
    const Tensor right = is_it.where(x, 0).sum(-1, true);
    const Tensor off = counted.where((x - right + 1).relu(), 0);
    return reduced(off.sum({-2, -1}) / static_cast<double>(x.size(-1)), reduction);
  });
}

Tensor multilabel_soft_margin_loss(const Tensor& scores, const Tensor& target,
                                   const WeightOptions& options) {
  const Called called;
  if (scores.ndim() == 0) user_error("multilabel_soft_margin_loss: a scalar has no classes");
  want_weights("multilabel_soft_margin_loss", options.weight, scores.size(-1));
  const Tensor loss = scores.binary_crossentropy_logits(target, Reduction::None);
  return reduced((options.weight.is_null() ? loss : loss * options.weight).mean(-1),
                 options.reduction);
}

// A target of 1 or -1 has one of the terms, any other both.
Tensor hinge_embedding_loss(const Tensor& x, const Tensor& target, double margin,
                            Reduction reduction) {
  const Called called;
  const Tensor apart = (target != 1).where((margin - x).relu(), 0);
  return reduced(apart + (target != -1).where(x, 0), reduction);
}

Tensor soft_margin_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
  return Called(), reduced((-target * x).softplus(), reduction);
}

Tensor margin_ranking_loss(const Tensor& a, const Tensor& b, const Tensor& target, double margin,
                           Reduction reduction) {
  return Called(), reduced((target * (b - a) + margin).relu(), reduction);
}

Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& target, double margin,
                             Reduction reduction) {
  const Called called;
  want_rows("cosine_embedding_loss", a, b);
  const Tensor cosine = cosine_similarity(a, b, -1);
  const Tensor apart = (target == -1).where((cosine - margin).relu(), 0);
  return reduced((target == 1).where(1 - cosine, apart), reduction);
}

// A length is eps at least.
Tensor cosine_similarity(const Tensor& a, const Tensor& b, std::int64_t axis, double eps) {
  const Called called;
  return widely("cosine_similarity", a, b, [&](const Tensor& x, const Tensor& y) {
    axis_of("cosine_similarity", axis, x.ndim());
    const auto length = [&](const Tensor& each) {
      return each.square().sum(axis).maximum(eps * eps).sqrt();
    };
    return (x * y).sum(axis) / (length(x) * length(y));
  });
}

Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p, double eps, bool keepdim) {
  const Called called;
  want_rows("pairwise_distance", a, b);
  if (!(p > 0)) user_error(fmt::format("pairwise_distance: p {} is not above 0", p));
  return widely("pairwise_distance", a, b, [&](const Tensor& x, const Tensor& y) {
    return (x - y + eps).norm(p, -1, keepdim);
  });
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletOptions& options) {
  const Called called;
  if (!(options.margin > 0))
    user_error(fmt::format("triplet_margin_loss: margin {} is not above 0", options.margin));
  const auto distance = [&](const Tensor& a, const Tensor& b) {
    return pairwise_distance(a, b, options.p, options.eps);
  };
  Tensor apart = distance(anchor, negative);
  if (options.swap) apart = apart.minimum(distance(positive, negative));
  return reduced((distance(anchor, positive) - apart + options.margin).relu(), options.reduction);
}

Tensor contrastive_loss(const Tensor& a, const Tensor& b, const ContrastiveOptions& options) {
  const Called called;
  if (a.ndim() != 2 || a.shape() != b.shape())
    user_error(fmt::format("contrastive_loss: shapes {} and {} are not the same (batch, width)",
                           shape_text(a.uop()), shape_text(b.uop())));
  if (!(options.temperature > 0))
    user_error(fmt::format("contrastive_loss: temperature {} is not above 0", options.temperature));
  const auto direction = [](const Tensor& x) {
    return x / x.square().sum(1, true).maximum(1e-16).sqrt();
  };
  return widely("contrastive_loss", a, b, [&](const Tensor& x, const Tensor& y) {
    const Tensor scores = direction(x).matmul(direction(y).T()) / options.temperature;
    const Tensor own = Tensor::arange(x.size(0), {.device = x.device()});
    const Tensor loss = scores.cross_entropy(own, options.reduction);
    if (!options.symmetric) return loss;
    return (loss + scores.transpose(0, 1).cross_entropy(own, options.reduction)) * 0.5;
  });
}

}  // namespace weft::functional
