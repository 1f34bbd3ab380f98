// At what rate to learn.

#include <weft/nn/schedule.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "parameters.h"

namespace weft::nn {
namespace {

// How much of the way is left, from 1 to 0.
double cosine(double share) { return (1 + std::cos(std::numbers::pi * share)) / 2; }

double ratio(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

std::vector<Tensor> rates_of(const Optimizer& optimizer) {
  std::vector<Tensor> rates;
  for (const ParameterGroup& group : optimizer.groups) rates.push_back(group.lr);
  return rates;
}

void want_steps(const char* name, std::initializer_list<std::int64_t> steps) {
  const Called called(name);
  want_sizes(steps);
}

template <class Number>
void put(Tensor place, Number value) {
  place.assign(number_on(place.device(), value));
}

}  // namespace

double StepLR::operator()(double base, std::int64_t step) const {
  want_steps("StepLR", {step_size});
  const std::int64_t steps = step / step_size;
  return base * std::pow(gamma, static_cast<double>(steps));
}

double MultiStepLR::operator()(double base, std::int64_t step) const {
  const auto passed =
      std::ranges::count_if(milestones, [=](std::int64_t milestone) { return milestone <= step; });
  return base * std::pow(gamma, static_cast<double>(passed));
}

double ExponentialLR::operator()(double base, std::int64_t step) const {
  return base * std::pow(gamma, static_cast<double>(step));
}

double LambdaLR::operator()(double base, std::int64_t step) const {
  const Called called("LambdaLR");
  if (!factor) user_error("there is no function of the step");
  return base * factor(step);
}

double ConstantLR::operator()(double base, std::int64_t step) const {
  return step < total_iters ? base * factor : base;
}

double LinearLR::operator()(double base, std::int64_t step) const {
  want_steps("LinearLR", {total_iters});
  const double share = ratio(std::min(step, total_iters), total_iters);
  return base * (start_factor + (end_factor - start_factor) * share);
}

double PolynomialLR::operator()(double base, std::int64_t step) const {
  want_steps("PolynomialLR", {total_iters});
  return base * std::pow(1 - ratio(std::min(step, total_iters), total_iters), power);
}

double CosineAnnealingLR::operator()(double base, std::int64_t step) const {
  want_steps("CosineAnnealingLR", {t_max});
  return eta_min + (base - eta_min) * cosine(ratio(step, t_max));
}

double CosineAnnealingWarmRestarts::operator()(double base, std::int64_t step) const {
  want_steps("CosineAnnealingWarmRestarts", {t_0, t_mult});
  if (t_mult == 1) step %= t_0;
  auto period = static_cast<double>(t_0), at = static_cast<double>(step);
  while (at >= period) {
    at -= period;
    period *= static_cast<double>(t_mult);
  }
  return eta_min + (base - eta_min) * cosine(at / period);
}

namespace {

// A number that goes from one to another until a step.
struct Phase {
  double end, from, to;
};

void want_cycle(const OneCycleLR& cycle) {
  want_sizes({cycle.total_steps});
  if (!(cycle.pct_start >= 0 && cycle.pct_start <= 1))
    user_error(fmt::format("pct_start is {}, not from 0 to 1", cycle.pct_start));
  for (const double factor : {cycle.div_factor, cycle.final_div_factor})
    if (!(factor > 0)) user_error(fmt::format("the rate is divided by {}, not above 0", factor));
}

double cycled(const OneCycleLR& cycle, const std::vector<Phase>& phases, std::int64_t step) {
  const double at = std::min(static_cast<double>(step), phases.back().end);
  double start = 0;
  std::size_t i = 0;
  for (; i + 1 < phases.size() && at > phases[i].end; ++i) start = phases[i].end;
  const Phase& phase = phases[i];
  const double share = phase.end > start ? (at - start) / (phase.end - start) : 1;
  const double left = cycle.anneal_strategy == Anneal::Cos ? cosine(share) : 1 - share;
  return phase.to + (phase.from - phase.to) * left;
}

// The steps at which it turns, and the last.
struct Turns {
  double first, second, last;
};
Turns turns_of(const OneCycleLR& cycle) {
  const auto total = static_cast<double>(cycle.total_steps);
  const double up = cycle.pct_start * total - 1;
  return {up, 2 * up, total - 1};
}

}  // namespace

double OneCycleLR::operator()(double, std::int64_t step) const {
  const Called called("OneCycleLR");
  want_cycle(*this);
  const auto [up, down, last] = turns_of(*this);
  const double first = max_lr / div_factor, least = first / final_div_factor;
  if (!three_phase) return cycled(*this, {{up, first, max_lr}, {last, max_lr, least}}, step);
  return cycled(*this, {{up, first, max_lr}, {down, max_lr, first}, {last, first, least}}, step);
}

double OneCycleLR::momentum(std::int64_t step) const {
  const Called called("OneCycleLR");
  want_cycle(*this);
  const auto [up, down, last] = turns_of(*this);
  std::vector<Phase> phases{{up, max_momentum, base_momentum},
                            {three_phase ? down : last, base_momentum, max_momentum}};
  if (three_phase) phases.push_back({last, max_momentum, max_momentum});
  return cycled(*this, phases, step);
}

double SequentialLR::operator()(double base, std::int64_t step) const {
  const Called called("SequentialLR");
  if (schedules.size() != milestones.size() + 1)
    user_error(fmt::format("{} schedules with {} milestones between them", schedules.size(),
                           milestones.size()));
  if (!std::ranges::is_sorted(milestones))
    user_error(fmt::format("milestones {} are not in order", fmt::join(milestones, ", ")));
  const auto next = std::ranges::upper_bound(milestones, step);
  const std::int64_t begin = next == milestones.begin() ? 0 : *(next - 1);
  const Schedule& schedule = schedules[static_cast<std::size_t>(next - milestones.begin())];
  if (!schedule) user_error("one of the schedules is no function");
  return schedule(base, step - begin);
}

Scheduler::Scheduler(const Optimizer& optimizer, Schedule given)
    : rates(rates_of(optimizer)), schedule(std::move(given)) {
  const Called called("Scheduler");
  begin();
}

Scheduler::Scheduler(const Optimizer& optimizer, const OneCycleLR& cycle)
    : rates(rates_of(optimizer)), schedule(cycle) {
  const Called called("Scheduler");
  if (cycle.cycle_momentum) {
    momentum = [cycle](std::int64_t step) { return cycle.momentum(step); };
    for (const ParameterGroup& group : optimizer.groups) {
      if (group.momentum.is_null())
        user_error("the optimizer has no momentum to cycle: set cycle_momentum = false");
      momenta.push_back(group.momentum);
    }
  }
  begin();
}

void Scheduler::begin() {
  if (rates.empty()) user_error("the optimizer has no parameters");
  if (!schedule) user_error("the schedule is no function");
  for (const Tensor& rate : rates) bases.push_back(number_on(rate.device(), rate.item<float>()));
  steps = number_on(rates[0].device(), std::int32_t{0});
  set(0);
}

void Scheduler::step() {
  const Called called("step");
  set(steps.item<std::int64_t>() + 1);
}

void Scheduler::set(std::int64_t step) {
  std::vector<double> next;
  for (const Tensor& base : bases) next.push_back(schedule(base.item<double>(), step));
  for (std::size_t i = 0; i < rates.size(); ++i) put(rates[i], static_cast<float>(next[i]));
  for (const Tensor& each : momenta) put(each, static_cast<float>(momentum(step)));
  put(steps, static_cast<std::int32_t>(step));
  std::vector<Tensor> changed = rates;
  changed.insert(changed.end(), momenta.begin(), momenta.end());
  changed.push_back(steps);
  Tensor::realize(changed);
}

ReduceLROnPlateau::ReduceLROnPlateau(const Optimizer& optimizer, const PlateauOptions& given)
    : rates(rates_of(optimizer)), options(given) {
  const Called called("ReduceLROnPlateau");
  if (!(options.factor >= 0 && options.factor < 1))
    user_error(fmt::format("the factor is {}, not from 0 to below 1", options.factor));
  if (rates.empty()) user_error("the optimizer has no parameters");
  constexpr double worst = std::numeric_limits<double>::infinity();
  best = Tensor(std::vector{options.maximize ? -worst : worst}).reshape({});
  num_bad_epochs = Tensor(std::vector<std::int32_t>{0}).reshape({});
  cooldown_counter = Tensor(std::vector<std::int32_t>{0}).reshape({});
}

void ReduceLROnPlateau::step(double measured) {
  const Called called("step");
  const double sign = options.maximize ? -1 : 1;
  double record = best.item<double>();
  auto bad = num_bad_epochs.item<std::int32_t>(), cooling = cooldown_counter.item<std::int32_t>();
  const double wanted = options.is_absolute ? record - sign * options.threshold
                                            : record * (1 - sign * options.threshold);
  if (sign * measured < sign * wanted)
    record = measured, bad = 0;
  else
    ++bad;
  if (cooling > 0) --cooling, bad = 0;
  std::vector<Tensor> changed{best, num_bad_epochs, cooldown_counter};
  if (bad > options.patience) {
    cooling = static_cast<std::int32_t>(options.cooldown);
    bad = 0;
    for (const Tensor& rate : rates) {
      const auto now = rate.item<double>(), next = std::max(now * options.factor, options.min_lr);
      if (now - next <= options.eps) continue;
      put(rate, static_cast<float>(next));
      changed.push_back(rate);
    }
  }
  put(best, record);
  put(num_bad_epochs, bad);
  put(cooldown_counter, cooling);
  Tensor::realize(changed);
}

}  // namespace weft::nn
