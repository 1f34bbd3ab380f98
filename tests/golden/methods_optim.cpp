// Optimisers, over 20 steps of a small problem, and the rates of schedules.

#include <cmath>

#include "golden.h"

namespace weft::golden {
namespace {

using Make = std::function<nn::Optimizer(const Case&, const std::vector<Tensor>&)>;

// The options that a case has, over those that it is by default.
class Given {
 public:
  explicit Given(const Case& c) : case_(c) {}
  const Given& operator()(std::string_view name, double& option) const {
    option = case_.real(name, option);
    return *this;
  }
  const Given& operator()(std::string_view name, bool& option) const {
    option = case_.flag(name, option);
    return *this;
  }
  const Given& operator()(std::string_view name, std::int64_t& option) const {
    option = case_.integer(name, option);
    return *this;
  }

 private:
  const Case& case_;
};

template <class Rule, class Options>
nn::Optimizer adam(const Case& c, const std::vector<Tensor>& tensors) {
  Options o;
  Given{c}("lr", o.lr)("beta1", o.beta1)("beta2", o.beta2)("eps", o.eps)(
      "weight_decay", o.weight_decay)("amsgrad", o.amsgrad)("maximize", o.maximize);
  return Rule(tensors, o);
}

nn::Optimizer sgd(const Case& c, const std::vector<Tensor>& tensors) {
  nn::SGDOptions o;
  Given{c}("lr", o.lr)("momentum", o.momentum)("dampening", o.dampening)(
      "weight_decay", o.weight_decay)("nesterov", o.nesterov)("maximize", o.maximize);
  return nn::SGD(tensors, o);
}

nn::Optimizer lamb(const Case& c, const std::vector<Tensor>& tensors) {
  nn::LAMBOptions o;
  Given{c}("lr", o.lr)("beta1", o.beta1)("beta2", o.beta2)("eps", o.eps)("weight_decay",
                                                                         o.weight_decay);
  return nn::LAMB(tensors, o);
}

nn::Optimizer lars(const Case& c, const std::vector<Tensor>& tensors) {
  nn::LARSOptions o;
  Given{c}("lr", o.lr)("momentum", o.momentum)("weight_decay", o.weight_decay)("trust", o.trust)(
      "nesterov", o.nesterov);
  return nn::LARS(tensors, o);
}

nn::Optimizer muon(const Case& c, const std::vector<Tensor>& tensors) {
  nn::MuonOptions o;
  Given{c}("lr", o.lr)("momentum", o.momentum)("weight_decay", o.weight_decay)(
      "ns_steps", o.ns_steps)("nesterov", o.nesterov);
  return nn::Muon(std::vector{tensors[0]}, o);  // as torch's, of matrices only
}

nn::Optimizer rmsprop(const Case& c, const std::vector<Tensor>& tensors) {
  nn::RMSpropOptions o;
  Given{c}("lr", o.lr)("alpha", o.alpha)("eps", o.eps)("weight_decay", o.weight_decay)(
      "momentum", o.momentum)("centered", o.centered)("maximize", o.maximize);
  return nn::RMSprop(tensors, o);
}

nn::Optimizer adagrad(const Case& c, const std::vector<Tensor>& tensors) {
  nn::AdagradOptions o;
  Given{c}("lr", o.lr)("lr_decay", o.lr_decay)("weight_decay", o.weight_decay)(
      "initial_accumulator_value", o.initial_accumulator_value)("eps", o.eps)("maximize",
                                                                              o.maximize);
  return nn::Adagrad(tensors, o);
}

nn::Optimizer made(const Case& c, const std::vector<Tensor>& tensors) {
  static const std::map<std::string, Make> rules{{"SGD", sgd},
                                                 {"Adam", adam<nn::Adam, nn::AdamOptions>},
                                                 {"AdamW", adam<nn::AdamW, nn::AdamWOptions>},
                                                 {"LAMB", lamb},
                                                 {"LARS", lars},
                                                 {"Muon", muon},
                                                 {"RMSprop", rmsprop},
                                                 {"Adagrad", adagrad}};
  return rules.at(c.text("rule"))(c, tensors);
}

Tensor leaf(const Tensor& x) { return x.detach().clone().set_requires_grad(); }

// The weight after one step, and both parameters after 20.
std::vector<Tensor> optimizer(const Case& c) {
  const Tensor w = leaf(c[0]), b = leaf(c[1]), &x = c[2], &y = c[3];
  nn::Optimizer optimizer = made(c, {w, b});
  Tensor first;
  for (int step = 0; step < 20; ++step) {
    optimizer.zero_grad();
    ((x.matmul(w) + b).tanh() - y).square().sum().backward();
    optimizer.step();
    if (step == 0) first = w.detach().clone().realize();
  }
  return {first, w.detach(), b.detach()};
}

// Both parameters after 20 steps, and the momentum of each.
std::vector<Tensor> one_cycle(const Case& c) {
  const Tensor w = leaf(c[0]), b = leaf(c[1]), &x = c[2], &y = c[3];
  nn::Optimizer optimizer = made(c, {w, b});
  nn::OneCycleLR cycle{.max_lr = 0.05, .total_steps = 21};
  if (c.text("anneal_strategy", "cos") == "linear") cycle.anneal_strategy = nn::Anneal::Linear;
  Given{c}("three_phase", cycle.three_phase)("base_momentum", cycle.base_momentum)(
      "max_momentum", cycle.max_momentum);
  nn::Scheduler schedule(optimizer, cycle);
  std::vector<float> momenta;
  for (int step = 0; step < 20; ++step) {
    momenta.push_back(optimizer.groups[0].momentum.item<float>());
    optimizer.zero_grad();
    ((x.matmul(w) + b).tanh() - y).square().sum().backward();
    optimizer.step();
    schedule.step();
  }
  return {w.detach(), b.detach(), Tensor(momenta)};
}

nn::Schedule function(const Case& c) {
  const auto count = [&](std::string_view name) { return c.integer(name); };
  const auto number = [&](std::string_view name, double fallback) {
    return c.real(name, fallback);
  };
  const std::map<std::string, std::function<nn::Schedule()>> kinds{
      {"StepLR", [&] { return nn::StepLR{count("step_size"), number("gamma", 0.1)}; }},
      {"MultiStepLR",
       [&] { return nn::MultiStepLR{c.numbers("milestones"), number("gamma", 0.1)}; }},
      {"ExponentialLR", [&] { return nn::ExponentialLR{c.real("gamma")}; }},
      {"LambdaLR",
       [&] {
         return nn::LambdaLR{[root = c.real("root")](std::int64_t step) {
           return 1 / std::sqrt(1 + root * static_cast<double>(step));
         }};
       }},
      {"ConstantLR", [&] { return nn::ConstantLR{c.real("factor"), count("total_iters")}; }},
      {"LinearLR",
       [&] {
         return nn::LinearLR{number("start_factor", 1.0 / 3), number("end_factor", 1),
                             c.integer("total_iters", 5)};
       }},
      {"PolynomialLR", [&] { return nn::PolynomialLR{count("total_iters"), number("power", 1)}; }},
      {"CosineAnnealingLR",
       [&] { return nn::CosineAnnealingLR{count("t_max"), number("eta_min", 0)}; }},
      {"CosineAnnealingWarmRestarts",
       [&] {
         return nn::CosineAnnealingWarmRestarts{count("t_0"), c.integer("t_mult", 1),
                                                number("eta_min", 0)};
       }},
      {"OneCycleLR",
       [&] {
         const bool is_linear = c.text("anneal_strategy", "cos") == "linear";
         return nn::OneCycleLR{.max_lr = c.real("max_lr"),
                               .total_steps = count("total_steps"),
                               .pct_start = number("pct_start", 0.3),
                               .anneal_strategy = is_linear ? nn::Anneal::Linear : nn::Anneal::Cos,
                               .div_factor = number("div_factor", 25),
                               .final_div_factor = number("final_div_factor", 1e4),
                               .three_phase = c.flag("three_phase")};
       }},
      {"warm-up",
       [&] {
         return nn::SequentialLR{{nn::LinearLR{.start_factor = 0.1, .total_iters = count("warm")},
                                  nn::CosineAnnealingLR{.t_max = count("t_max")}},
                                 {count("warm")}};
       }},
      {"three", [&] {
         return nn::SequentialLR{
             {nn::ConstantLR{0.1, 3}, nn::ExponentialLR{0.9}, nn::StepLR{2, 0.5}},
             {count("first"), count("second")}};
       }}};
  return kinds.at(c.text("kind"))();
}

// What `step` makes of the rate, step by step.
std::vector<Tensor> rates(const Case& c, const nn::Optimizer& optimizer,
                          const std::function<void(std::size_t)>& step) {
  const Tensor& rate = optimizer.groups[0].lr;
  std::vector<float> found{rate.item<float>()};
  for (std::size_t i = 0; i < static_cast<std::size_t>(c.integer("steps")); ++i) {
    step(i);
    found.push_back(rate.item<float>());
  }
  return one(Tensor(found));
}

std::vector<Tensor> schedule(const Case& c) {
  const nn::SGD optimizer(Tensor::zeros({1}, {.requires_grad = true}), {.lr = 0.1});
  if (c.text("kind") != "ReduceLROnPlateau") {
    nn::Scheduler schedule(optimizer, function(c));
    return rates(c, optimizer, [&](std::size_t) { schedule.step(); });
  }
  nn::PlateauOptions o{.maximize = c.text("mode", "min") == "max",
                       .is_absolute = c.text("threshold_mode", "rel") == "abs"};
  Given{c}("factor", o.factor)("patience", o.patience)("threshold", o.threshold)(
      "cooldown", o.cooldown)("min_lr", o.min_lr);
  nn::ReduceLROnPlateau schedule(optimizer, o);
  const std::vector<double> measured = c.reals("measured");
  return rates(c, optimizer, [&](std::size_t i) { schedule.step(measured[i]); });
}

const Group group("optim",
                  {{"optimizer", optimizer}, {"one_cycle", one_cycle}, {"schedule", schedule}});

}  // namespace
}  // namespace weft::golden
