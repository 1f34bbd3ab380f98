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

template <class Number>
void put(Tensor place, Number value) {
  place.assign(number_on(place.device(), value));
}

}  // namespace

double StepLR::operator()(double base, std::int64_t step) const {
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

double LambdaLR::operator()(double base, std::int64_t step) const { return base * factor(step); }

double ConstantLR::operator()(double base, std::int64_t step) const {
  return step < total_iters ? base * factor : base;
}

double LinearLR::operator()(double base, std::int64_t step) const {
  const double share = ratio(std::min(step, total_iters), total_iters);
  return base * (start_factor + (end_factor - start_factor) * share);
}

double PolynomialLR::operator()(double base, std::int64_t step) const {
  return base * std::pow(1 - ratio(std::min(step, total_iters), total_iters), power);
}

double CosineAnnealingLR::operator()(double base, std::int64_t step) const {
  return eta_min + (base - eta_min) * cosine(ratio(step, t_max));
}

double CosineAnnealingWarmRestarts::operator()(double base, std::int64_t step) const {
  std::int64_t period = t_0;
  if (t_mult == 1) step %= period;
  for (; step >= period; period *= t_mult) step -= period;
  return eta_min + (base - eta_min) * cosine(ratio(step, period));
}

double OneCycleLR::operator()(double, std::int64_t step) const {
  const double first = max_lr / div_factor, least = first / final_div_factor;
  const auto total = static_cast<double>(total_steps), up = pct_start * total - 1;
  struct Phase {
    double end, from, to;
  };
  const std::vector<Phase> phases =
      three_phase ? std::vector<Phase>{{up, first, max_lr},
                                       {2 * up, max_lr, first},
                                       {total - 1, first, least}}
                  : std::vector<Phase>{{up, first, max_lr}, {total - 1, max_lr, least}};
  const auto at = std::min(static_cast<double>(step), total - 1);
  double start = 0;
  std::size_t i = 0;
  for (; i + 1 < phases.size() && at > phases[i].end; ++i) start = phases[i].end;
  const Phase& phase = phases[i];
  const double share = (at - start) / (phase.end - start);
  const double left = anneal_strategy == Anneal::Cos ? cosine(share) : 1 - share;
  return phase.to + (phase.from - phase.to) * left;
}

double SequentialLR::operator()(double base, std::int64_t step) const {
  const Called called("SequentialLR");
  if (schedules.size() != milestones.size() + 1)
    user_error(fmt::format("{} schedules with {} milestones between them", schedules.size(),
                           milestones.size()));
  const auto next = std::ranges::upper_bound(milestones, step);
  const std::int64_t begin = next == milestones.begin() ? 0 : *(next - 1);
  return schedules[static_cast<std::size_t>(next - milestones.begin())](base, step - begin);
}

Scheduler::Scheduler(const Optimizer& optimizer, Schedule given)
    : rates(rates_of(optimizer)), schedule(std::move(given)) {
  const Called called("Scheduler");
  for (const Tensor& rate : rates) bases.push_back(number_on(rate.device(), rate.item<float>()));
  steps = number_on(rates.at(0).device(), std::int32_t{0});
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
  put(steps, static_cast<std::int32_t>(step));
  std::vector<Tensor> changed = rates;
  changed.push_back(steps);
  Tensor::realize(changed);
}

ReduceLROnPlateau::ReduceLROnPlateau(const Optimizer& optimizer, const PlateauOptions& given)
    : rates(rates_of(optimizer)), options(given) {
  const Called called("ReduceLROnPlateau");
  if (!(options.factor < 1))
    user_error(fmt::format("the factor is {}, not below 1", options.factor));
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
