// Pools.

#include "nn_args.h"

namespace weft::golden {
namespace {

PerDim kernel(const Case& c) { return c.numbers("kernel_size"); }
PerDim stride(const Case& c) { return c.numbers("stride", {}); }

MaxPoolOptions max_options(const Case& c) {
  return {.stride = stride(c),
          .dilation = per_dim(c, "dilation", 1),
          .padding = padding(c),
          .ceil_mode = c.flag("ceil_mode")};
}

AvgPoolOptions avg_options(const Case& c) {
  AvgPoolOptions options{.stride = stride(c),
                         .padding = padding(c),
                         .ceil_mode = c.flag("ceil_mode"),
                         .count_include_pad = c.flag("count_include_pad", true)};
  if (c.has("divisor_override")) options.divisor_override = c.integer("divisor_override");
  return options;
}

using Max = Tensor (Tensor::*)(const PerDim&, const MaxPoolOptions&) const;
Method max_pool(Max method) {
  return [method](const Case& c) { return one((c[0].*method)(kernel(c), max_options(c))); };
}

using Avg = Tensor (Tensor::*)(const PerDim&, const AvgPoolOptions&) const;
Method avg_pool(Avg method) {
  return [method](const Case& c) { return one((c[0].*method)(kernel(c), avg_options(c))); };
}

Tensor unpooled(const Case& c) {
  return functional::max_unpool(c[0], c[1], kernel(c), stride(c), per_dim(c, "padding", 0),
                                c.numbers("output_size", {}));
}

Method adaptive(Tensor (*pool)(const Tensor&, const PerDim&)) {
  return [pool](const Case& c) { return one(pool(c[0], c.numbers("output_size"))); };
}

std::vector<Tensor> two(const std::pair<Tensor, Tensor>& pair) { return {pair.first, pair.second}; }

// clang-format off
const Group group("nn_pool", {
  {"max_pool1d", max_pool(&Tensor::max_pool1d)},
  {"max_pool2d", max_pool(&Tensor::max_pool2d)},
  {"max_pool3d", max_pool(&Tensor::max_pool3d)},
  {"max_pool_with_indices", [](const Case& c) {
    return two(c[0].max_pool_with_indices(kernel(c), max_options(c)));
  }},
  {"avg_pool1d", avg_pool(&Tensor::avg_pool1d)},
  {"avg_pool2d", avg_pool(&Tensor::avg_pool2d)},
  {"avg_pool3d", avg_pool(&Tensor::avg_pool3d)},
  {"max_unpool2d", [](const Case& c) {
    return one(c[0].max_unpool2d(c[1], kernel(c), stride(c), per_dim(c, "padding", 0), c.numbers("output_size", {})));
  }},
  {"functional.max_unpool", [](const Case& c) { return one(unpooled(c)); }},
  {"functional.adaptive_avg_pool1d", adaptive(functional::adaptive_avg_pool1d)},
  {"functional.adaptive_avg_pool2d", adaptive(functional::adaptive_avg_pool2d)},
  {"functional.adaptive_avg_pool3d", adaptive(functional::adaptive_avg_pool3d)},
  {"functional.adaptive_max_pool1d", adaptive(functional::adaptive_max_pool1d)},
  {"functional.adaptive_max_pool2d", adaptive(functional::adaptive_max_pool2d)},
  {"functional.adaptive_max_pool3d", adaptive(functional::adaptive_max_pool3d)},
  {"functional.adaptive_max_pool_with_indices", [](const Case& c) {
    return two(functional::adaptive_max_pool_with_indices(c[0], c.numbers("output_size")));
  }},
  {"functional.lp_pool", [](const Case& c) {
    return one(functional::lp_pool(c[0], c.real("p"), kernel(c), stride(c), c.flag("ceil_mode")));
  }},
  {"functional.global_avg_pool", [](const Case& c) { return one(functional::global_avg_pool(c[0])); }},
  {"functional.global_max_pool", [](const Case& c) { return one(functional::global_max_pool(c[0])); }},
});
// clang-format on

}  // namespace
}  // namespace weft::golden
