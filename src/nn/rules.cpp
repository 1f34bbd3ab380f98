// The rules of the optimisers.

#include <weft/nn/optim.h>

#include <algorithm>
#include <cmath>

#include "parameters.h"

namespace weft::nn {
namespace {

using Numbers = std::initializer_list<std::pair<const char*, double>>;

void want_least(const Numbers& numbers) {
  for (const auto& [name, value] : numbers)
    if (!(value >= 0)) user_error(fmt::format("{} is {}, below 0", name, value));
}

void want_shares(const Numbers& numbers) {
  for (const auto& [name, value] : numbers)
    if (!(value >= 0 && value < 1))
      user_error(fmt::format("{} is {}, not from 0 to below 1", name, value));
}

Tensor decayed(const Tensor& gradient, const Tensor& parameter, double weight_decay) {
  return weight_decay == 0 ? gradient : gradient + parameter * weight_decay;
}

// 1 - beta^step, of its logarithm: with all its digits where beta is near 1.
Tensor warmth(const Operand& log_beta, const Tensor& step) { return -(step * log_beta).expm1(); }

Tensor length(const Tensor& x) { return x.norm(); }

// a / b, and 1 where either is 0.
Tensor ratio(const Tensor& a, const Tensor& b, const Tensor& over) {
  return ((a > 0) & (b > 0)).where(over, 1);
}

// The momentum, by which gradients add up.
const char* const velocity = "momentum_buffer";

// A rule with momentum, if it is not 0.
UpdateRule with_velocity(decltype(UpdateRule::next) next, double momentum) {
  if (momentum == 0) return {std::move(next)};
  return {.next = std::move(next), .moments = {velocity}, .momentum = momentum};
}

Tensor summed(const Now& now, const Tensor& added) {
  return now.put(velocity, now.before(velocity) * now.momentum + added);
}

// A moment that moves towards a value by a share of the way.
Tensor moved(const Now& now, const char* name, const Tensor& value, const Operand& share) {
  return now.put(name, now.before(name).lerp(value, share));
}

UpdateRule sgd(const SGDOptions& o) {
  const auto next = [o](const Tensor& parameter, Tensor gradient, const Now& now) {
    if (o.maximize) gradient = -gradient;
    gradient = decayed(gradient, parameter, o.weight_decay);
    if (o.momentum != 0) {
      // The first gradient is taken whole.
      const Tensor added = o.dampening == 0
                               ? gradient
                               : (now.step == 1).where(gradient, gradient * (1 - o.dampening));
      const Tensor sum = summed(now, added);
      gradient = o.nesterov ? gradient + sum * now.momentum : sum;
    }
    return parameter - gradient * now.lr;
  };
  return with_velocity(next, o.momentum);
}

// The direction of Adam, before its rate.
Tensor direction(const Tensor& gradient, const Now& now, const AdamWOptions& o) {
  const Tensor mean = moved(now, "exp_avg", gradient, 1 - now.momentum);
  const Tensor square =
      now.put("exp_avg_sq", now.before("exp_avg_sq") * o.beta2 + gradient.square() * (1 - o.beta2));
  const Tensor most =
      o.amsgrad ? now.put("max_exp_avg_sq", now.before("max_exp_avg_sq").maximum(square)) : square;
  const Tensor deviation = (most / warmth(std::log(o.beta2), now.step)).sqrt() + o.eps;
  return mean / warmth(now.momentum.log(), now.step) / deviation;
}

UpdateRule adam(const AdamWOptions& o, bool is_decoupled) {
  const auto next = [o, is_decoupled](const Tensor& parameter, Tensor gradient, const Now& now) {
    if (o.maximize) gradient = -gradient;
    if (!is_decoupled) gradient = decayed(gradient, parameter, o.weight_decay);
    const Tensor kept =
        is_decoupled && o.weight_decay != 0 ? parameter * (1 - now.lr * o.weight_decay) : parameter;
    return kept - direction(gradient, now, o) * now.lr;
  };
  UpdateRule rule{.next = next, .moments = {"exp_avg", "exp_avg_sq"}, .momentum = o.beta1};
  if (o.amsgrad) rule.moments.emplace_back("max_exp_avg_sq");
  return rule;
}

UpdateRule lamb(const LAMBOptions& o) {
  const AdamWOptions inner{.beta2 = o.beta2, .eps = o.eps};
  const auto next = [o, inner](const Tensor& parameter, const Tensor& gradient, const Now& now) {
    const Tensor change = decayed(direction(gradient, now, inner), parameter, o.weight_decay);
    const Tensor own = length(parameter), its = length(change);
    return parameter - change * (now.lr * ratio(own, its, own / its));
  };
  return {.next = next, .moments = {"exp_avg", "exp_avg_sq"}, .momentum = o.beta1};
}

UpdateRule lars(const LARSOptions& o) {
  const auto next = [o](const Tensor& parameter, const Tensor& gradient, const Now& now) {
    const Tensor own = length(parameter), its = length(gradient);
    const Tensor trust = ratio(own, its, own * o.trust / (its + own * o.weight_decay));
    Tensor change = decayed(gradient, parameter, o.weight_decay) * (trust * now.lr);
    if (o.momentum != 0) {
      const Tensor sum = summed(now, change);
      change = o.nesterov ? change + sum * now.momentum : sum;
    }
    return parameter - change;
  };
  return with_velocity(next, o.momentum);
}

UpdateRule muon(const MuonOptions& o) {
  const auto next = [o](const Tensor& parameter, const Tensor& gradient, const Now& now) {
    const Tensor mean = moved(now, velocity, gradient, 1 - now.momentum);
    const Tensor matrix = (o.nesterov ? gradient.lerp(mean, now.momentum) : mean).flatten(1);
    const Tensor turned = matrix.newton_schulz(o.ns_steps, o.ns_coefficients, o.eps);
    const auto rows = static_cast<double>(matrix.size(0));
    const double longer = std::sqrt(std::max(1.0, rows / static_cast<double>(matrix.size(1))));
    return parameter * (1 - now.lr * o.weight_decay) -
           turned.reshape_as(parameter) * (now.lr * longer);
  };
  return {.next = next, .moments = {velocity}, .momentum = o.momentum};
}

UpdateRule rmsprop(const RMSpropOptions& o) {
  const auto next = [o](const Tensor& parameter, Tensor gradient, const Now& now) {
    if (o.maximize) gradient = -gradient;
    gradient = decayed(gradient, parameter, o.weight_decay);
    Tensor variance = now.put(
        "square_avg", now.before("square_avg") * o.alpha + gradient.square() * (1 - o.alpha));
    if (o.centered) variance = variance - moved(now, "grad_avg", gradient, 1 - o.alpha).square();
    Tensor change = gradient / (variance.sqrt() + o.eps);
    if (o.momentum != 0) change = summed(now, change);
    return parameter - change * now.lr;
  };
  UpdateRule rule = with_velocity(next, o.momentum);
  rule.moments.emplace_back("square_avg");
  if (o.centered) rule.moments.emplace_back("grad_avg");
  return rule;
}

UpdateRule adagrad(const AdagradOptions& o) {
  const auto next = [o](const Tensor& parameter, Tensor gradient, const Now& now) {
    if (o.maximize) gradient = -gradient;
    gradient = decayed(gradient, parameter, o.weight_decay);
    const Tensor sum = now.put("sum", now.before("sum") + gradient.square());
    const Tensor rate = now.lr / (1 + (now.step - 1) * o.lr_decay);
    return parameter - gradient * rate / (sum.sqrt() + o.eps);
  };
  return {next, {"sum"}, o.initial_accumulator_value};
}

}  // namespace

SGD::SGD(const TensorsOf& tensors, const SGDOptions& o) {
  const Called called("SGD");
  want_least({{"momentum", o.momentum}, {"weight_decay", o.weight_decay}});
  if (o.nesterov && (o.momentum == 0 || o.dampening != 0))
    user_error("nesterov needs momentum, and no dampening");
  Optimizer::operator=({tensors, o.lr, sgd(o)});
}

Adam::Adam(const TensorsOf& tensors, const AdamOptions& o) {
  const Called called("Adam");
  want_shares({{"beta1", o.beta1}, {"beta2", o.beta2}});
  want_least({{"eps", o.eps}, {"weight_decay", o.weight_decay}});
  const AdamWOptions same{.beta1 = o.beta1,
                          .beta2 = o.beta2,
                          .eps = o.eps,
                          .weight_decay = o.weight_decay,
                          .amsgrad = o.amsgrad,
                          .maximize = o.maximize};
  Optimizer::operator=({tensors, o.lr, adam(same, false)});
}

AdamW::AdamW(const TensorsOf& tensors, const AdamWOptions& o) {
  const Called called("AdamW");
  want_shares({{"beta1", o.beta1}, {"beta2", o.beta2}});
  want_least({{"eps", o.eps}, {"weight_decay", o.weight_decay}});
  Optimizer::operator=({tensors, o.lr, adam(o, true)});
}

LAMB::LAMB(const TensorsOf& tensors, const LAMBOptions& o) {
  const Called called("LAMB");
  want_shares({{"beta1", o.beta1}, {"beta2", o.beta2}});
  want_least({{"eps", o.eps}, {"weight_decay", o.weight_decay}});
  Optimizer::operator=({tensors, o.lr, lamb(o)});
}

LARS::LARS(const TensorsOf& tensors, const LARSOptions& o) {
  const Called called("LARS");
  want_least({{"momentum", o.momentum}, {"weight_decay", o.weight_decay}, {"trust", o.trust}});
  Optimizer::operator=({tensors, o.lr, lars(o)});
}

Muon::Muon(const TensorsOf& tensors, const MuonOptions& o) {
  const Called called("Muon");
  want_shares({{"momentum", o.momentum}});
  want_least({{"weight_decay", o.weight_decay}, {"eps", o.eps}});
  for (const Tensor& parameter : tensors.parameters)
    if (parameter.ndim() < 2)
      user_error(fmt::format("a parameter of shape ({}) is no matrix",
                             fmt::join(parameter.shape(), ", ")));
  Optimizer::operator=({tensors, o.lr, muon(o)});
}

RMSprop::RMSprop(const TensorsOf& tensors, const RMSpropOptions& o) {
  const Called called("RMSprop");
  want_least({{"alpha", o.alpha},
              {"eps", o.eps},
              {"weight_decay", o.weight_decay},
              {"momentum", o.momentum}});
  Optimizer::operator=({tensors, o.lr, rmsprop(o)});
}

Adagrad::Adagrad(const TensorsOf& tensors, const AdagradOptions& o) {
  const Called called("Adagrad");
  want_least({{"lr_decay", o.lr_decay},
              {"weight_decay", o.weight_decay},
              {"initial_accumulator_value", o.initial_accumulator_value},
              {"eps", o.eps}});
  Optimizer::operator=({tensors, o.lr, adagrad(o)});
}

}  // namespace weft::nn
