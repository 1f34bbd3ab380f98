// ai.onnx.preview.training: steps of optimisers, and gradients.
#include <algorithm>

#include <fmt/format.h>

#include "tables.h"

namespace weft::onnx {
namespace {

// What belongs to each of the tensors that are optimised: the inputs behind the rate and the number of steps are
// all tensors, then all gradients, then all of each state.
class Group {
 public:
  Group(const Call& call, std::size_t fields) : call_(call), count_((call.inputs() - 2) / fields) {
    if (call.inputs() < 2 + fields || (call.inputs() - 2) % fields != 0)
      call.refuse(
          fmt::format("it has two inputs and {} for each tensor, not {}", fields, call.inputs()));
  }
  std::size_t count() const { return count_; }
  Tensor operator()(std::size_t field, std::size_t which) const {
    return call_.tensor(2 + field * count_ + which);
  }

 private:
  const Call& call_;
  std::size_t count_;
};

// The results of all tensors, field by field.
Values in_order(const std::vector<std::vector<Tensor>>& fields) {
  Values all;
  for (const auto& field : fields) all.insert(all.end(), field.begin(), field.end());
  return all;
}

Tensor rate_of(const Call& call, const Tensor& like) {
  return call.tensor(0).reshape({}).cast(like.dtype());
}
Tensor steps_of(const Call& call, const Tensor& like) {
  return call.tensor(1).reshape({}).cast(like.dtype());
}

Values adagrad(const Call& call) {
  const Group group(call, 3);
  const double decay = call.attr("decay_factor", 0.0), norm = call.attr("norm_coefficient", 0.0),
               epsilon = call.attr("epsilon", 1e-6);
  std::vector<std::vector<Tensor>> results(2);
  for (std::size_t i = 0; i < group.count(); ++i) {
    const Tensor x = group(0, i), gradient = x * norm + group(1, i);
    const Tensor rate = rate_of(call, x) / (steps_of(call, x) * decay + 1);
    const Tensor squares = group(2, i) + gradient * gradient;
    results[0].push_back(x - rate * gradient / (squares.sqrt() + epsilon));
    results[1].push_back(squares);
  }
  return in_order(results);
}

Values adam(const Call& call) {
  const Group group(call, 4);
  const double alpha = call.attr("alpha", 0.9), beta = call.attr("beta", 0.999),
               norm = call.attr("norm_coefficient", 0.0),
               norm_after = call.attr("norm_coefficient_post", 0.0),
               epsilon = call.attr("epsilon", 1e-6);
  std::vector<std::vector<Tensor>> results(3);
  for (std::size_t i = 0; i < group.count(); ++i) {
    const Tensor x = group(0, i), gradient = x * norm + group(1, i);
    const Tensor rate = rate_of(call, x), steps = steps_of(call, x);
    const Tensor mean = group(2, i) * alpha + gradient * (1 - alpha);
    const Tensor squares = group(3, i) * beta + gradient * gradient * (1 - beta);
    const Tensor corrected = rate * (1 - pow(beta, steps)).sqrt() / (1 - pow(alpha, steps));
    const Tensor step = (steps > 0).where(corrected, rate) * mean / (squares.sqrt() + epsilon);
    results[0].push_back((x - step) * (1 - norm_after));
    results[1].push_back(mean);
    results[2].push_back(squares);
  }
  return in_order(results);
}

Values momentum(const Call& call) {
  const Group group(call, 3);
  const double alpha = call.attr<double>("alpha"), beta = call.attr<double>("beta"),
               norm = call.attr<double>("norm_coefficient");
  const auto mode = call.attr<std::string>("mode");
  if (mode != "standard" && mode != "nesterov")
    call.refuse("mode is standard or nesterov, not " + mode);
  std::vector<std::vector<Tensor>> results(2);
  for (std::size_t i = 0; i < group.count(); ++i) {
    const Tensor x = group(0, i), gradient = x * norm + group(1, i), rate = rate_of(call, x);
    const Tensor scale = (steps_of(call, x) > 0).where(beta, 1.0).cast(x.dtype());
    const Tensor moved = group(2, i) * alpha + scale * gradient;
    results[0].push_back(x - rate * (mode == "standard" ? moved : gradient + moved * alpha));
    results[1].push_back(moved);
  }
  return in_order(results);
}

// Of what the graph computes at the values that the inputs have there.
Values gradient(const Call& call) {
  const auto names = call.attr<std::vector<std::string>>("xs"),
             others = call.attr("zs", std::vector<std::string>());
  std::vector<Tensor> xs;
  for (std::size_t i = 0; i < names.size() + others.size(); ++i) {
    const std::string& name = i < names.size() ? names[i] : others[i - names.size()];
    const Value& value = call.named(name);
    if (!value.is_tensor() || &value != &call.value(i))
      call.refuse("input " + name + " is another tensor than the graph has by that name");
    if (i < names.size()) xs.push_back(value.tensor());
  }
  const std::vector<Tensor> gradients =
      call.named(call.attr<std::string>("y")).tensor().gradient(xs);
  return {gradients.begin(), gradients.end()};
}

}  // namespace

OpTable training_ops() {
  static const Op ops[] = {{"Adagrad", 1, adagrad},
                           {"Adam", 1, adam},
                           {"Gradient", 1, gradient},
                           {"Momentum", 1, momentum}};
  return {"ai.onnx.preview.training", ops};
}

}  // namespace weft::onnx
