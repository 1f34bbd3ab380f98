// Normalisation.

#include <weft/nn/norm.h>

#include <numeric>

#include <weft/functional.h>

#include "parameters.h"

namespace weft::nn {

BatchNorm::BatchNorm(std::int64_t num_features, const BatchNormOptions& given) : options(given) {
  const Called called("BatchNorm");
  want_sizes({num_features});
  if (options.affine) {
    weight = Tensor::ones({num_features}, learned(options));
    bias = Tensor::zeros({num_features}, learned(options));
  }
  if (!options.track_running_stats) return;
  running_mean = in_memory({num_features}, 0, kept(options));
  running_var = in_memory({num_features}, 1, kept(options));
  num_batches_tracked = in_memory({}, 0, {.dtype = dtypes::i64, .device = options.device});
}

Tensor BatchNorm::operator()(const Tensor& x) const {
  const Called called("BatchNorm");
  const bool tracks = !running_mean.is_null(), trains = !tracks || Training::is_on();
  const bool counts = trains && tracks;
  const Tensor batches = counts ? num_batches_tracked + 1 : Tensor();
  const Tensor y = functional::batch_norm(x, running_mean, running_var, weight, bias,
                                          {.training = trains,
                                           .momentum = options.momentum.value_or(0),
                                           .eps = options.eps,
                                           .batches = options.momentum ? Tensor() : batches});
  if (Tensor count = num_batches_tracked; counts) count.assign(batches);
  return y;
}

LayerNorm::LayerNorm(const PerDim& shape, const LayerNormOptions& options)
    : normalized_shape(shape.values()), eps(options.eps) {
  const Called called("LayerNorm");
  if (normalized_shape.empty()) user_error("there are no axes to normalise along");
  for (const std::int64_t size : normalized_shape) want_sizes({size});
  if (!options.elementwise_affine) return;
  weight = Tensor::ones(normalized_shape, learned(options));
  if (options.bias) bias = Tensor::zeros(normalized_shape, learned(options));
}

Tensor LayerNorm::operator()(const Tensor& x) const {
  const Called called("LayerNorm");
  const auto count = std::ssize(normalized_shape);
  std::vector<std::int64_t> axes(normalized_shape.size());
  std::iota(axes.begin(), axes.end(), -count);
  bool fits = x.ndim() >= count;
  for (std::size_t i = 0; fits && i < axes.size(); ++i)
    fits = x.size(axes[i]) == normalized_shape[i];
  if (!fits)
    user_error(fmt::format("shape ({}) does not end in ({})", fmt::join(x.max_shape(), ", "),
                           fmt::join(normalized_shape, ", ")));
  return x.layernorm(axes, eps, weight, bias);
}

LayerNorm2d::LayerNorm2d(std::int64_t num_channels, const LayerNormOptions& options)
    : eps(options.eps) {
  const Called called("LayerNorm2d");
  want_sizes({num_channels});
  if (!options.elementwise_affine) return;
  weight = Tensor::ones({num_channels}, learned(options));
  if (options.bias) bias = Tensor::zeros({num_channels}, learned(options));
}

Tensor LayerNorm2d::operator()(const Tensor& x) const {
  return Called("LayerNorm2d"), x.layernorm(1, eps, weight, bias);
}

RMSNorm::RMSNorm(std::int64_t dim, const RMSNormOptions& options) : eps(options.eps) {
  const Called called("RMSNorm");
  want_sizes({dim});
  if (options.elementwise_affine) weight = Tensor::ones({dim}, learned(options));
}

Tensor RMSNorm::operator()(const Tensor& x) const {
  return Called("RMSNorm"), x.rmsnorm(-1, eps, weight);
}

GroupNorm::GroupNorm(std::int64_t groups, std::int64_t num_channels, const NormOptions& options)
    : num_groups(groups), eps(options.eps) {
  const Called called("GroupNorm");
  want_sizes({num_groups, num_channels});
  if (num_channels % num_groups != 0)
    user_error(fmt::format("{} channels are not in {} groups", num_channels, num_groups));
  if (!options.affine) return;
  weight = Tensor::ones({num_channels}, learned(options));
  bias = Tensor::zeros({num_channels}, learned(options));
}

Tensor GroupNorm::operator()(const Tensor& x) const {
  return Called("GroupNorm"), functional::group_norm(x, num_groups, weight, bias, eps);
}

InstanceNorm::InstanceNorm(std::int64_t num_features, const NormOptions& options)
    : eps(options.eps) {
  const Called called("InstanceNorm");
  want_sizes({num_features});
  if (!options.affine) return;
  weight = Tensor::ones({num_features}, learned(options));
  bias = Tensor::zeros({num_features}, learned(options));
}

Tensor InstanceNorm::operator()(const Tensor& x) const {
  return Called("InstanceNorm"), functional::instance_norm(x, weight, bias, eps);
}

}  // namespace weft::nn
