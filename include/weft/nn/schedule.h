// At what rate to learn: functions of the rate that an optimiser began with and of the steps done, by
// PyTorch's names and formulas, and what sets an optimiser's rates by them.
//
//   nn::Scheduler schedule(optimizer, nn::SequentialLR{
//       .schedules = {nn::LinearLR{.start_factor = 0.01, .total_iters = 100},
//                     nn::CosineAnnealingLR{.t_max = 900}},
//       .milestones = {100}});
//   schedule.step();   // after each of the optimiser's
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <weft/nn/optim.h>

namespace weft::nn {

using Schedule = std::function<double(double base, std::int64_t step)>;

// --- Functions ------------------------------------------------------------------------------------

struct StepLR {
  std::int64_t step_size;
  double gamma = 0.1;
  double operator()(double base, std::int64_t step) const;
};

struct MultiStepLR {
  std::vector<std::int64_t> milestones;  // in any order
  double gamma = 0.1;
  double operator()(double base, std::int64_t step) const;
};

struct ExponentialLR {
  double gamma;
  double operator()(double base, std::int64_t step) const;
};

struct LambdaLR {
  std::function<double(std::int64_t step)> factor;
  double operator()(double base, std::int64_t step) const;
};

struct ConstantLR {
  double factor = 1.0 / 3;
  std::int64_t total_iters = 5;  // as long as this
  double operator()(double base, std::int64_t step) const;
};

struct LinearLR {
  double start_factor = 1.0 / 3, end_factor = 1;
  std::int64_t total_iters = 5;
  double operator()(double base, std::int64_t step) const;
};

struct PolynomialLR {
  std::int64_t total_iters = 5;
  double power = 1;
  double operator()(double base, std::int64_t step) const;
};

struct CosineAnnealingLR {
  std::int64_t t_max;
  double eta_min = 0;
  double operator()(double base, std::int64_t step) const;
};

struct CosineAnnealingWarmRestarts {
  std::int64_t t_0, t_mult = 1;  // the first period, and how much longer each next one is
  double eta_min = 0;
  double operator()(double base, std::int64_t step) const;
};

enum class Anneal { Cos, Linear };
// Up to max_lr and down to nearly nothing. A Scheduler made of it moves the optimiser's momentum (Adam's beta1)
// against the rate, unless cycle_momentum is false; as a part of other schedules it leaves that alone.
struct OneCycleLR {
  double max_lr;
  std::int64_t total_steps;
  double pct_start = 0.3;
  Anneal anneal_strategy = Anneal::Cos;
  double div_factor = 25, final_div_factor = 1e4;
  bool three_phase = false;
  bool cycle_momentum = true;
  double base_momentum = 0.85, max_momentum = 0.95;
  double operator()(double base, std::int64_t step) const;
  double momentum(std::int64_t step) const;
};

// One after the other, each from its milestone on.
struct SequentialLR {
  std::vector<Schedule> schedules;
  std::vector<std::int64_t> milestones;
  double operator()(double base, std::int64_t step) const;
};

// --- What sets rates ----------------------------------------------------------------------------------

struct Scheduler {
  std::vector<Tensor> rates, bases;  // of the optimiser's groups: now, and to begin with
  std::vector<Tensor> momenta;       // of these, where they are cycled
  Tensor steps;
  Schedule schedule;
  std::function<double(std::int64_t step)> momentum;

  Scheduler(const Optimizer& optimizer, Schedule given);
  Scheduler(const Optimizer& optimizer, const OneCycleLR& cycle);
  void step();
  WEFT_FIELDS(bases, momenta, steps);

 private:
  void begin();
  void set(std::int64_t step);
};

struct PlateauOptions {
  bool maximize = false;  // larger is better
  double factor = 0.1;
  std::int64_t patience = 10;
  double threshold = 1e-4;    // what is no better by this is no better
  bool is_absolute = false;   // the threshold; otherwise it is a share
  std::int64_t cooldown = 0;  // steps that do not count after each change
  double min_lr = 0, eps = 1e-8;
};

// Lowers the rates where what is measured has got no better for `patience` steps.
struct ReduceLROnPlateau {
  std::vector<Tensor> rates;
  Tensor best, num_bad_epochs, cooldown_counter;
  PlateauOptions options;

  explicit ReduceLROnPlateau(const Optimizer& optimizer, const PlateauOptions& given = {});
  void step(double measured);
  WEFT_FIELDS(best, num_bad_epochs, cooldown_counter);
};

}  // namespace weft::nn
