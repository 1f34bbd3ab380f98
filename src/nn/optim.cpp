// What all optimisers have in common.

#include <weft/nn/optim.h>

#include <algorithm>

#include "parameters.h"

namespace weft::nn {
namespace {

Moments moments_of(const Tensor& parameter, const UpdateRule& rule) {
  Moments moments;
  for (const std::string& name : rule.moments) {
    Tensor& moment = moments[name] = parameter.empty_like({.dtype = at_least_f32(parameter)});
    moment.fill(rule.first_moment);
  }
  return moments;
}

// Assignments of one step, and what is to be realized for them.
class Assignments {
 public:
  explicit Assignments(const Tensor& skip) : skip_(skip) {}

  Tensor put(Tensor place, const Tensor& value) {
    place.assign(skip_.is_null() ? value : skip_.where(place, value));
    changed_.push_back(place);
    return place;
  }
  std::vector<Tensor> changed() && { return std::move(changed_); }

 private:
  const Tensor& skip_;
  std::vector<Tensor> changed_;
};

void update_group(ParameterGroup& group, Assignments& assignments) {
  const Tensor step = group.steps + 1;
  for (std::size_t i = 0; i < group.parameters.size(); ++i) {
    Tensor& parameter = group.parameters[i];
    const Tensor gradient = parameter.grad();
    if (gradient.is_null()) continue;
    const DType dtype = at_least_f32(parameter);
    const auto here = [&](const Tensor& number) {
      return number.to(parameter.device()).cast(dtype);
    };
    const Moments& moments = group.state[i];
    const Now now{
        .lr = here(group.lr),
        .step = here(step),
        .momentum = group.momentum.is_null() ? Tensor() : here(group.momentum),
        .before = [&](const std::string& name) { return moments.at(name); },
        .put = [&](const std::string& name,
                   const Tensor& value) { return assignments.put(moments.at(name), value); }};
    assignments.put(parameter,
                    group.rule.next(parameter.detach().cast(dtype), gradient.cast(dtype), now));
  }
  assignments.put(group.steps, step);
}

}  // namespace

Optimizer::Optimizer(const TensorsOf& tensors, double lr, const UpdateRule& rule)
    : buffers(tensors.buffers) {
  if (tensors.parameters.empty()) user_error("none of the tensors requires a gradient");
  if (!(lr >= 0)) user_error(fmt::format("the rate is {}, below 0", lr));
  ParameterGroup group{.parameters = tensors.parameters, .rule = rule};
  const std::string device = group.parameters[0].device();
  group.lr = number_on(device, static_cast<float>(lr));
  group.steps = number_on(device, std::int32_t{0});
  if (rule.momentum)
    group.momentum = Tensor::full({}, *rule.momentum, {.dtype = dtypes::f32, .device = device});
  for (const Tensor& parameter : group.parameters)
    group.state.push_back(moments_of(parameter, rule));
  groups.push_back(std::move(group));
}

std::vector<Tensor> Optimizer::parameters() const {
  std::vector<Tensor> all;
  for (const ParameterGroup& group : groups)
    all.insert(all.end(), group.parameters.begin(), group.parameters.end());
  return all;
}

void Optimizer::zero_grad() {
  for (Tensor& parameter : parameters()) parameter.set_grad({});
}

std::vector<Tensor> Optimizer::update(const Tensor& skip) {
  const NoGrad constant;
  Assignments assignments(skip);
  for (ParameterGroup& group : groups) update_group(group, assignments);
  std::vector<Tensor> changed = std::move(assignments).changed();
  changed.insert(changed.end(), buffers.begin(), buffers.end());
  return changed;
}

void Optimizer::step() {
  const Called called("step");
  Tensor::realize(update());
}

OptimizerGroup::OptimizerGroup(std::initializer_list<Optimizer> optimizers) {
  const Called called("OptimizerGroup");
  for (const Optimizer& optimizer : optimizers) {
    for (const Tensor& parameter : optimizer.parameters())
      if (std::ranges::any_of(parameters(), [&](const Tensor& own) { return own.is(parameter); }))
        user_error(fmt::format("a parameter of shape ({}) belongs to two of the optimizers",
                               fmt::join(parameter.shape(), ", ")));
    groups.insert(groups.end(), optimizer.groups.begin(), optimizer.groups.end());
    buffers.insert(buffers.end(), optimizer.buffers.begin(), optimizer.buffers.end());
  }
}

}  // namespace weft::nn
