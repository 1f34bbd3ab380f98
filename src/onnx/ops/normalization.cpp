// Normalisation by mean and variance, by norms, and dropout.

#include <algorithm>

#include <fmt/format.h>
#include <weft/functional.h>

#include "axes.h"
#include "tables.h"

namespace weft::onnx {
namespace {

double epsilon(const Call& call) { return call.attr("epsilon", 1e-5); }

// The precision that statistics are computed in, and what they are given out as.
struct Stash {
  explicit Stash(const Call& call, DType own)
      : stated(dtype_of(call.attr("stash_type", Type::F32))), within(wide(promote(own, stated))) {
    if (!stated.is_float()) call.refuse("stash_type is no type of floats");
  }
  DType stated, within;
};

// Mean, and 1 / deviation, over these axes.
struct Moments {
  Moments(const Tensor& x, const std::vector<std::int64_t>& axes, double eps) {
    const auto [var, own_mean] = x.var_mean(axes, true, 0);
    mean = own_mean;
    inverse = (var + eps).rsqrt();
  }
  Tensor mean, inverse;
};

// What belongs to each channel, or to each element of a sample, for the whole batch.
Tensor for_batch(const Tensor& statistic, const Tensor& x, bool by_channel) {
  return by_channel ? along(statistic.flatten(), 1, x.ndim()) : statistic.unsqueeze(0);
}

Values batch_norm(const Call& call, bool trains, bool by_channel) {
  const Tensor given = call.tensor(0);
  if (given.ndim() < 2) call.refuse(fmt::format("an input of {} axes", given.ndim()));
  const Tensor x = given.cast(wide(given.dtype()));
  Tensor mean = call.tensor(3), var = call.tensor(4);
  Values running;
  if (trains) {
    std::vector<std::int64_t> axes{0};
    for (std::int64_t axis = 2; by_channel && axis < x.ndim(); ++axis) axes.push_back(axis);
    const double momentum = call.attr("momentum", 0.9);
    const auto [now_var, now_mean] = x.var_mean(axes, false, 0);
    const auto moved = [&](const Tensor& before, const Tensor& now) {
      return (before * momentum + now * (1 - momentum)).cast(before.dtype());
    };
    running = {moved(mean, now_mean), moved(var, now_var), now_mean.cast(mean.dtype()),
               now_var.cast(var.dtype())};
    mean = now_mean;
    var = now_var;
  }
  const auto fitted = [&](const Tensor& statistic) {
    return for_batch(statistic.cast(x.dtype()), x, by_channel);
  };
  const Tensor factor = fitted(call.tensor(1)) * (fitted(var) + epsilon(call)).rsqrt();
  Values outputs{((x - fitted(mean)) * factor + fitted(call.tensor(2))).cast(given.dtype())};
  outputs.insert(outputs.end(), running.begin(), running.end());
  outputs.resize(std::min(outputs.size(), call.outputs()));
  return outputs;
}

Values batch_norm_1(const Call& call) {
  return batch_norm(call, call.attr("is_test", 0) == 0, call.attr("spatial", 1) != 0);
}
// More outputs than one say that it trains.
Values batch_norm_7(const Call& call) {
  return batch_norm(call, call.outputs() > 1, call.attr("spatial", 1) != 0);
}
Values batch_norm_14(const Call& call) {
  return batch_norm(call, call.attr("training_mode", 0) != 0, true);
}

Tensor instance_norm(const Call& call) {
  const Tensor given = call.tensor(0), x = given.cast(wide(given.dtype()));
  if (x.ndim() < 3) call.refuse(fmt::format("an input of {} axes has no sizes", x.ndim()));
  const Moments moments(x, axes_between(2, x.ndim()), epsilon(call));
  const Tensor y = (x - moments.mean) * moments.inverse * along(call.tensor(1), 1, x.ndim()) +
                   along(call.tensor(2), 1, x.ndim());
  return y.cast(given.dtype());
}

Values layer_norm(const Call& call) {
  const Tensor given = call.tensor(0), bias = call.tensor_or_null(2);
  const Stash stash(call, given.dtype());
  const Tensor x = given.cast(stash.within);
  const std::int64_t axis = axis_of(call, call.attr("axis", -1), x.ndim());
  const Moments moments(x, axes_between(axis, x.ndim()), epsilon(call));
  Tensor y = ((x - moments.mean) * moments.inverse).cast(given.dtype()) * call.tensor(1);
  if (!bias.is_null()) y = y + bias;
  return {y.cast(given.dtype()), moments.mean.cast(stash.stated),
          moments.inverse.cast(stash.stated)};
}

// Weights are of groups or, from opset 21 on, of channels.
Tensor group_norm(const Call& call, bool weighs_groups) {
  const Tensor given = call.tensor(0);
  const auto groups = call.attr<std::int64_t>("num_groups");
  if (given.ndim() < 2 || groups < 1 || given.size(1) % groups != 0)
    call.refuse(fmt::format("{} groups of the channels of {} axes", groups, given.ndim()));
  const Stash stash(call, given.dtype());
  const Tensor x = given.cast(stash.within).unflatten(1, {groups, -1});
  const Moments moments(x, axes_between(2, x.ndim()), epsilon(call));
  const Tensor normal = ((x - moments.mean) * moments.inverse).cast(given.dtype());
  const auto scaled = [&](const Tensor& y) {
    return y * along(call.tensor(1), 1, y.ndim()) + along(call.tensor(2), 1, y.ndim());
  };
  const Tensor y = weighs_groups ? scaled(normal).flatten(1, 2) : scaled(normal.flatten(1, 2));
  return y.cast(given.dtype());
}

Tensor group_norm_18(const Call& call) { return group_norm(call, true); }
Tensor group_norm_21(const Call& call) { return group_norm(call, false); }

Tensor rms_norm(const Call& call) {
  const Tensor given = call.tensor(0), scale = call.tensor(1);
  const Stash stash(call, given.dtype());
  const Tensor x = given.cast(stash.within);
  const std::int64_t axis = axis_of(call, call.attr("axis", -1), x.ndim());
  const Tensor squares = x.square().mean(axes_between(axis, x.ndim()), true);
  const Tensor y = x * (squares + epsilon(call)).rsqrt();
  return y.cast(given.dtype()).cast(scale.dtype()) * scale;
}

// Where the norm is 0, so is the result.
Tensor lp_norm(const Call& call) {
  const Tensor given = call.tensor(0), x = given.cast(wide(given.dtype()));
  const std::int64_t p = call.attr("p", 2);
  if (p != 1 && p != 2) call.refuse(fmt::format("p is {}: want 1 or 2", p));
  const std::int64_t axis = axis_of(call, call.attr("axis", -1), x.ndim());
  const Tensor norm = p == 1 ? x.abs().sum(axis, true) : x.square().sum(axis, true).sqrt();
  return (x / (norm == 0).where(1, norm)).cast(given.dtype());
}

Tensor mean_variance_norm(const Call& call) {
  const Tensor given = call.tensor(0), x = given.cast(wide(given.dtype()));
  auto axes = call.attr("axes", std::vector<std::int64_t>{0, 2, 3});
  for (std::int64_t& axis : axes) axis = axis_of(call, axis, x.ndim());
  const auto [var, mean] = x.var_mean(axes, true, 0);
  return ((x - mean) / (var.sqrt() + 1e-9)).cast(given.dtype());
}

// Of the channels that each sees, the odd one out lies behind it, and not in front of it.
Tensor local_response_norm(const Call& call) {
  const Tensor given = call.tensor(0), x = given.cast(wide(given.dtype()));
  const auto size = call.attr<std::int64_t>("size");
  if (x.ndim() < 2 || size < 1 || size > (std::int64_t{1} << 31))
    call.refuse(fmt::format("size is {} for an input of {} axes", size, x.ndim()));
  const auto ordered = [&](const Tensor& each) { return size % 2 == 0 ? each.flip({1}) : each; };
  return ordered(functional::local_response_norm(ordered(x), size, call.attr("alpha", 1e-4),
                                                 call.attr("beta", 0.75), call.attr("bias", 1.0)))
      .cast(given.dtype());
}

// The mask is of bools from opset 10 on, of the data's dtype before.
Values kept(const Call& call, const Tensor& x) {
  const DType dtype = call.opset() < 10 ? x.dtype() : dtypes::bool_;
  return {x, Tensor::full(Shape(x.dims()), true, call.options(dtype))};
}

Values dropped(const Call& call, const Tensor& x, double ratio) {
  if (!(ratio >= 0 && ratio < 1)) call.refuse(fmt::format("ratio is {}: want 0 to below 1", ratio));
  if (ratio == 0) return kept(call, x);
  const Tensor mask = Tensor::rand(Shape(x.dims()), call.options(dtypes::f32)) >= ratio;
  const Tensor y = mask.where(x * (1 / (1 - ratio)), 0).cast(x.dtype());
  return {y, call.opset() < 10 ? mask.cast(x.dtype()) : mask};
}

Values dropout_1(const Call& call) {
  const Tensor x = call.tensor(0);
  return call.attr("is_test", 0) != 0 ? kept(call, x) : dropped(call, x, call.attr("ratio", 0.5));
}
Values dropout_7(const Call& call) { return kept(call, call.tensor(0)); }
Values dropout_12(const Call& call) {
  const Tensor x = call.tensor(0);
  const bool trains = call.has(2) && call.integer(2) != 0;
  return trains ? dropped(call, x, call.has(1) ? call.number(1) : 0.5) : kept(call, x);
}

}  // namespace

OpTable normalization_ops() {
  static const Op ops[] = {
      {"BatchNormalization", 1, batch_norm_1},
      {"BatchNormalization", 7, batch_norm_7},
      {"BatchNormalization", 14, batch_norm_14},
      {"Dropout", 1, dropout_1},
      {"Dropout", 7, dropout_7},
      {"Dropout", 12, dropout_12},
      {"GroupNormalization", 18, group_norm_18},
      {"GroupNormalization", 21, group_norm_21},
      {"InstanceNormalization", 1, instance_norm},
      {"LRN", 1, local_response_norm},
      {"LayerNormalization", 17, layer_norm},
      {"LpNormalization", 1, lp_norm},
      {"MeanVarianceNormalization", 9, mean_variance_norm},
      {"RMSNormalization", 23, rms_norm},
  };
  return {"", ops};
}

}  // namespace weft::onnx
