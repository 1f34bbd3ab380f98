// Losses of numbers and of probabilities, element by element.

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/losses.h>

#include "functions.h"
#include "loss.h"

namespace weft {
namespace {

constexpr double log_2pi = 1.8378770664093453;

void want_positive(const char* op, const char* what, double value, bool zero_too = false) {
  if (!(zero_too ? value >= 0 : value > 0))
    user_error(
        fmt::format("{}: {} {} is not {}", op, what, value, zero_too ? "at least 0" : "above 0"));
}

Tensor weighed(const Tensor& loss, const Tensor& weight, Reduction reduction) {
  return reduced(weight.is_null() ? loss : loss * weight, reduction);
}

// At least -100, so that what is certain and wrong costs something finite.
Tensor bounded_log(const Tensor& x) { return x.log().maximum(-100); }

// log(1 + exp(x)) - target*x, without exp of what is large. What counts more than once when the target
// is 1 is log(1 + exp(-x)).
Tensor of_logits(const Tensor& x, const Tensor& target, const Tensor& pos_weight) {
  const Tensor beyond = (-x.abs()).softplus();
  if (pos_weight.is_null()) return x.maximum(0) - target * x + beyond;
  return (1 - target) * x + ((pos_weight - 1) * target + 1) * (beyond + (-x).maximum(0));
}

// What each number costs by its target, in f32 at least: a mean may be in the range of a narrower float, the
// squares that it is of not.
template <class F>
Tensor of_pairs(const char* op, const Tensor& x, const Tensor& target, Reduction reduction,
                F cost) {
  want_pairs(op, x, target);
  return widely(op, x, target, [&](const Tensor& wide, const Tensor& wanted) {
    return reduced(cost(wide, wanted), reduction);
  });
}

}  // namespace

Tensor Tensor::mse_loss(const Tensor& target, Reduction reduction) const {
  const Called called;
  return of_pairs("mse_loss", *this, target, reduction,
                  [](const Tensor& x, const Tensor& t) { return (x - t).square(); });
}

Tensor Tensor::binary_crossentropy(const Tensor& target, Reduction reduction) const {
  return Called(), functional::binary_cross_entropy(*this, target, {.reduction = reduction});
}

Tensor Tensor::binary_crossentropy_logits(const Tensor& target, Reduction reduction,
                                          const Tensor& pos_weight) const {
  const Called called;
  want_pairs("binary_crossentropy_logits", *this, target);
  return reduced(of_logits(*this, target, pos_weight), reduction);
}

namespace functional {

Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
  return Called(), x.mse_loss(target, reduction);
}

Tensor l1_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
  const Called called;
  return of_pairs("l1_loss", x, target, reduction,
                  [](const Tensor& a, const Tensor& t) { return (a - t).abs(); });
}

Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, double beta, Reduction reduction) {
  const Called called;
  want_positive("smooth_l1_loss", "beta", beta, true);
  if (beta == 0) return l1_loss(x, target, reduction);
  return of_pairs("smooth_l1_loss", x, target, reduction, [&](const Tensor& a, const Tensor& t) {
    const Tensor off = (a - t).abs();
    return (off < beta).where(off.square() * (0.5 / beta), off - 0.5 * beta);
  });
}

Tensor huber_loss(const Tensor& x, const Tensor& target, double delta, Reduction reduction) {
  const Called called;
  want_positive("huber_loss", "delta", delta);
  return of_pairs("huber_loss", x, target, reduction, [&](const Tensor& a, const Tensor& t) {
    const Tensor off = (a - t).abs();
    return (off <= delta).where(off.square() * 0.5, (off - 0.5 * delta) * delta);
  });
}

Tensor poisson_nll_loss(const Tensor& x, const Tensor& target, const PoissonOptions& options) {
  const Called called;
  const auto cost = [&](const Tensor& a, const Tensor& wanted) {
    const Tensor loss =
        options.log_input ? a.exp() - wanted * a : a - wanted * (a + options.eps).log();
    if (!options.full) return loss;
    const Tensor t = wanted.maximum(1);
    const Tensor stirling = t * t.log() - t + (t.log() + log_2pi) * 0.5;
    return loss + (wanted > 1).where(stirling, 0);
  };
  return of_pairs("poisson_nll_loss", x, target, options.reduction, cost);
}

// The least variance has no say in the gradient.
Tensor gaussian_nll_loss(const Tensor& x, const Tensor& target, const Tensor& variance,
                         const GaussianOptions& options) {
  const Called called;
  want_positive("gaussian_nll_loss", "eps", options.eps);
  std::vector<std::int64_t> rows = x.shape();
  if (!rows.empty()) rows.pop_back();
  const bool is_of_rows = variance.ndim() == x.ndim() - 1 && variance.shape() == rows;
  const DType own = float_like(promote(joint(x, target), variance.dtype())),
              wide = promote(own, dtypes::f32);
  const Tensor given = (is_of_rows ? variance.unsqueeze(-1) : variance).cast(wide);
  const Tensor used = given + (given.maximum(options.eps) - given).detach();
  const Tensor loss = (used.log() + (x.cast(wide) - target).square() / used) * 0.5;
  return reduced(options.full ? loss + 0.5 * log_2pi : loss, options.reduction).cast(own);
}

Tensor binary_cross_entropy(const Tensor& probability, const Tensor& target,
                            const WeightOptions& options) {
  const Called called;
  want_pairs("binary_cross_entropy", probability, target);
  const DType own = joint_float(probability, target);
  const auto both =
      brought_together("binary_cross_entropy", probability, target, promote(own, dtypes::f32));
  const Tensor loss = with_slopes(
      both,
      [](const Tensor& p, const Tensor& t) {
        return -(t * bounded_log(p) + (1 - t) * bounded_log(1 - p));
      },
      [](const Tensor& p, const Tensor& t, const Tensor&) {
        return std::pair((p - t) / (p * (1 - p)).maximum(1e-12),
                         bounded_log(1 - p) - bounded_log(p));
      });
  return weighed(loss.cast(own), options.weight, options.reduction);
}

Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target,
                                        const BinaryLogitsOptions& options) {
  const Called called;
  want_pairs("binary_cross_entropy_with_logits", x, target);
  return weighed(of_logits(x, target, options.pos_weight), options.weight, options.reduction);
}

// Of what has the probability 0, nothing.
Tensor kl_div(const Tensor& x, const Tensor& target, const KlDivOptions& options) {
  const Called called;
  return widely("kl_div", x, target, [&](const Tensor& own, const Tensor& t) {
    Tensor loss;
    if (options.log_target) {
      loss = t.exp() * (t - own);
    } else {
      const Tensor is_none = t == 0, some = is_none.where(1, t);
      loss = is_none.where(0, some * some.log()) - t * own;
    }
    if (!options.batch_mean) return reduced(loss, options.reduction);
    if (loss.ndim() == 0) user_error("kl_div: a scalar has no batch to take the mean of");
    return loss.sum() / static_cast<double>(loss.size(0));
  });
}

Tensor sigmoid_focal_loss(const Tensor& x, const Tensor& target, const FocalOptions& options) {
  const Called called;
  want_positive("sigmoid_focal_loss", "gamma", options.gamma, true);
  const Tensor p = x.sigmoid();
  const Tensor wrong = p * (1 - target) + (1 - p) * target;
  Tensor loss = of_logits(x, target, {}) * wrong.pow(options.gamma);
  if (options.alpha >= 0)
    loss = loss * (target * options.alpha + (1 - target) * (1 - options.alpha));
  return reduced(loss, options.reduction);
}

Tensor dice_loss(const Tensor& probability, const Tensor& target, double smooth,
                 Reduction reduction) {
  const Called called;
  if (probability.ndim() < 2 || probability.shape() != target.shape())
    user_error(fmt::format("dice_loss: shapes {} and {} are not the same (batch, ...)",
                           shape_text(probability.uop()), shape_text(target.uop())));
  return widely("dice_loss", probability.flatten(1), target.flatten(1),
                [&](const Tensor& p, const Tensor& t) {
                  const Tensor both = (p * t).sum(1) * 2 + smooth;
                  return reduced(1 - both / (p.sum(1) + t.sum(1) + smooth), reduction);
                });
}

}  // namespace functional
}  // namespace weft
