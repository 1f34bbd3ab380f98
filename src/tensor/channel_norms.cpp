// Normalisation by statistics of the tensor itself, with weights and biases along the channels.

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/functional.h>

#include "functions.h"
#include "windows.h"

namespace weft {
Tensor Tensor::normalize(double p, const AxisList& axes, double eps) const {
  const Called called;
  const DType own = float_like(dtype());
  const Tensor x = cast(promote(own, dtypes::f32));
  const Tensor length = x.norm(p, axes_of("normalize", axes, ndim()), true);
  return (x / (length < eps).where(eps, length)).cast(own);
}

namespace functional {
namespace {

void want_channels(const char* op, const Tensor& x) {
  if (x.ndim() < 2)
    user_error(fmt::format("{}: shape {} has no batch and channels", op, shape_text(x.uop())));
}

Tensor wide(const Tensor& x) { return x.cast(promote(float_like(x.dtype()), dtypes::f32)); }

// One number for each channel, along axis 1.
Tensor by_channel(const char* op, const Tensor& tensor, const Tensor& x) {
  std::vector<Dim> sizes(x.uop()->dims().size(), Dim(1));
  sizes[1] = Dim(x.size(1));
  if (tensor.ndim() != 1 || tensor.size(0) != x.size(1))
    user_error(fmt::format("{}: a weight, bias or statistic of shape {} for {} channels", op,
                           shape_text(tensor.uop()), x.size(1)));
  return tensor.reshape(Shape(sizes));
}

Tensor affine(const char* op, const Tensor& normal, const Tensor& weight, const Tensor& bias) {
  Tensor result = normal;
  if (!weight.is_null()) result = result * by_channel(op, weight, normal);
  return bias.is_null() ? result : result + by_channel(op, bias, normal);
}

// All but the channels.
std::vector<std::int64_t> batch_axes(const Tensor& x) {
  std::vector<std::int64_t> axes{0};
  for (std::int64_t axis = 2; axis < x.ndim(); ++axis) axes.push_back(axis);
  return axes;
}

void move_towards(Tensor& running, const Tensor& present, const BatchNormOptions& options) {
  const NoGrad constant;
  const Tensor now = present.detach();
  const Tensor next = options.batches.is_null()
                          ? running * (1 - options.momentum) + now * options.momentum
                          : running + (now - running) / options.batches.cast(now.dtype());
  running.assign(next.cast(running.dtype()));
}

}  // namespace

Tensor batch_norm(const Tensor& x, Tensor running_mean, Tensor running_var, const Tensor& weight,
                  const Tensor& bias, const BatchNormOptions& options) {
  const Called called;
  constexpr const char* op = "batch_norm";
  want_channels(op, x);
  for (const Tensor& each : {running_mean, running_var, weight, bias})
    if (!each.is_null()) by_channel(op, each, x);
  const DType own = float_like(x.dtype());
  const Tensor values = wide(x);
  Tensor mean = running_mean, var = running_var;
  if (options.training.value_or(Training::is_on())) {
    const std::int64_t count = x.numel() / std::max<std::int64_t>(1, x.size(1));
    if (count < 2)
      user_error(fmt::format("{}: shape {} has no two values for each channel to train with", op,
                             shape_text(x.uop())));
    const AxisList axes = batch_axes(x);
    mean = values.mean(axes);
    var = values.var(axes, false, 0);
    const double unbiased = static_cast<double>(count) / static_cast<double>(count - 1);
    if (!running_mean.is_null()) move_towards(running_mean, mean, options);
    if (!running_var.is_null()) move_towards(running_var, var * unbiased, options);
  } else if (mean.is_null() || var.is_null()) {
    user_error("batch_norm: without training it needs the running mean and variance");
  }
  const Tensor centred = values - by_channel(op, mean, x);
  const Tensor normal = centred * (by_channel(op, var, x) + options.eps).rsqrt();
  return affine(op, normal, weight, bias).cast(own);
}

Tensor group_norm(const Tensor& x, std::int64_t groups, const Tensor& weight, const Tensor& bias,
                  double eps) {
  const Called called;
  want_channels("group_norm", x);
  if (groups < 1 || x.size(1) % groups != 0)
    user_error(fmt::format("group_norm: the channels of shape {} are not in {} groups",
                           shape_text(x.uop()), groups));
  std::vector<std::int64_t> axes(static_cast<std::size_t>(x.ndim() - 1));
  std::iota(axes.begin(), axes.end(), 2);
  const Tensor normal = wide(x).unflatten(1, {groups, -1}).layernorm(axes, eps).flatten(1, 2);
  return affine("group_norm", normal, weight, bias).cast(float_like(x.dtype()));
}

Tensor instance_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  const Called called;
  want_channels("instance_norm", x);
  const std::int64_t count = x.ndim() - 2;
  if (count == 0 || x.numel() == x.size(0) * x.size(1))
    user_error(fmt::format("instance_norm: shape {} has no two values for each channel",
                           shape_text(x.uop())));
  const Tensor normal = wide(x).layernorm(last_axes(static_cast<std::size_t>(count)), eps);
  return affine("instance_norm", normal, weight, bias).cast(float_like(x.dtype()));
}

// Each channel sees as many around it.
Tensor local_response_norm(const Tensor& x, std::int64_t size, double alpha, double beta,
                           double k) {
  const Called called;
  want_channels("local_response_norm", x);
  if (size < 1) user_error(fmt::format("local_response_norm: {} channels: want at least 1", size));
  Tensor::Bounds around(static_cast<std::size_t>(x.ndim()), {0, 0});
  around[1] = {size / 2, (size - 1) / 2};
  const Tensor values = wide(x), sum = values.square().pad(around).unfold(1, size, 1).sum(-1);
  const Tensor base = sum * (alpha / static_cast<double>(size)) + k, root = base.sqrt();
  // Most networks want this power: two roots take a fraction of its time.
  return (values / (beta == 0.75 ? root * root.sqrt() : base.pow(beta)))
      .cast(float_like(x.dtype()));
}

Tensor weight_norm(const Tensor& direction, const Tensor& length, std::int64_t axis) {
  const Called called;
  axis = axis_of("weight_norm", axis, direction.ndim());
  std::vector<std::int64_t> others;
  std::vector<Dim> sizes;
  for (std::int64_t i = 0; i < direction.ndim(); ++i) {
    if (i != axis) others.push_back(i);
    sizes.emplace_back(i == axis ? direction.size(i) : 1);
  }
  if (length.numel() != direction.size(axis))
    user_error(fmt::format("weight_norm: lengths of shape {} for axis {} of shape {}",
                           shape_text(length.uop()), axis, shape_text(direction.uop())));
  if (others.empty()) return length.reshape(Shape(sizes)) * direction.sign();
  const DType own = joint_float(direction, length), within = promote(own, dtypes::f32);
  const Tensor x = direction.cast(within);
  return (x * (length.reshape(Shape(sizes)) / x.norm(2, others, true))).cast(own);
}

}  // namespace functional
}  // namespace weft
