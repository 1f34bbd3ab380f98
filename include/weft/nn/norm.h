// Normalisation. Weights begin as ones and biases as zeros.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weft/fields.h>

namespace weft::nn {

struct BatchNormOptions {
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;  // none: the running ones are means over all batches
  bool affine = true;
  bool track_running_stats = true;  // otherwise the batch's own are always taken
  DType dtype = {};
  std::string device = {};
};

// Each channel, axis 1, by the statistics of the batch within a Training, which move the running ones along;
// otherwise by the running ones.
struct BatchNorm {
  Tensor weight, bias, running_mean, running_var, num_batches_tracked;
  BatchNormOptions options;

  explicit BatchNorm(std::int64_t num_features, const BatchNormOptions& given = {});
  Tensor operator()(const Tensor& x) const;
  WEFT_FIELDS(weight, bias, running_mean, running_var, num_batches_tracked);
};
using BatchNorm1d = BatchNorm;
using BatchNorm2d = BatchNorm;
using BatchNorm3d = BatchNorm;

struct LayerNormOptions {
  double eps = 1e-5;
  bool elementwise_affine = true, bias = true;
  DType dtype = {};
  std::string device = {};
};

// Along the last axes, which have these sizes.
struct LayerNorm {
  Tensor weight, bias;
  std::vector<std::int64_t> normalized_shape;
  double eps;

  explicit LayerNorm(const PerDim& normalized_shape, const LayerNormOptions& options = {});
  Tensor operator()(const Tensor& x) const;
  WEFT_FIELDS(weight, bias);
};

// Along the channels of images, axis 1.
struct LayerNorm2d {
  Tensor weight, bias;
  double eps;

  explicit LayerNorm2d(std::int64_t num_channels, const LayerNormOptions& options = {});
  Tensor operator()(const Tensor& x) const;
  WEFT_FIELDS(weight, bias);
};

struct RMSNormOptions {
  double eps = 1e-6;
  bool elementwise_affine = true;
  DType dtype = {};
  std::string device = {};
};

// Along the last axis.
struct RMSNorm {
  Tensor weight;
  double eps;

  explicit RMSNorm(std::int64_t dim, const RMSNormOptions& options = {});
  Tensor operator()(const Tensor& x) const;
  WEFT_FIELDS(weight);
};

struct NormOptions {
  double eps = 1e-5;
  bool affine = true;
  DType dtype = {};
  std::string device = {};
};

// The channels, axis 1, in so many groups.
struct GroupNorm {
  Tensor weight, bias;
  std::int64_t num_groups;
  double eps;

  GroupNorm(std::int64_t num_groups, std::int64_t num_channels, const NormOptions& options = {});
  Tensor operator()(const Tensor& x) const;
  WEFT_FIELDS(weight, bias);
};

// Each channel of each example by itself.
struct InstanceNorm {
  Tensor weight, bias;
  double eps;

  explicit InstanceNorm(std::int64_t num_features, const NormOptions& options = {});
  Tensor operator()(const Tensor& x) const;
  WEFT_FIELDS(weight, bias);
};

}  // namespace weft::nn
