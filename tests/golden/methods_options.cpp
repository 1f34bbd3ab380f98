// Options that few cases of other groups have.

#include "nn_args.h"
#include "pad_args.h"

namespace weft::golden {
namespace {

namespace F = functional;

ConvOptions conv_options(const Case& c) {
  return {.groups = c.integer("groups", 1),
          .stride = per_dim(c, "stride", 1),
          .dilation = per_dim(c, "dilation", 1),
          .padding = padding(c)};
}

Tensor conv_transpose(const Case& c) {
  return c[0].conv_transpose(c[1], c[2],
                             {.groups = c.integer("groups", 1),
                              .stride = per_dim(c, "stride", 1),
                              .dilation = per_dim(c, "dilation", 1),
                              .padding = padding(c),
                              .output_padding = per_dim(c, "output_padding", 0)});
}

Tensor scatter_reduced(const Case& c) {
  using enum Tensor::Reduce;
  const std::map<std::string, Tensor::Reduce> ways{{"mean", Mean}, {"amax", Amax}, {"amin", Amin}};
  return c[0].scatter_reduce(c.integer("dim"), c[1], c[2], ways.at(c.text("reduce")),
                             c.flag("include_self", true));
}

using Pool = Tensor (*)(const Tensor&, double, const PerDim&, const PerDim&, bool);
Method lp_pool(Pool pool) {
  return [pool](const Case& c) {
    return one(
        pool(c[0], c.real("p"), c.integer("kernel"), c.numbers("stride", {}), c.flag("ceil_mode")));
  };
}

using Unpool = Tensor (*)(const Tensor&, const Tensor&, const PerDim&, const MaxUnpoolOptions&);
Method max_unpool(Unpool unpool) {
  return [unpool](const Case& c) {
    return one(
        unpool(c[0], c[1], c.integer("kernel"),
               {.stride = c.numbers("stride", {}), .output_size = c.numbers("output_size", {})}));
  };
}

// clang-format off
const Group group("options", {
  {"conv1d", [](const Case& c) { return one(c[0].conv1d(c[1], c[2], conv_options(c))); }},
  {"conv2d", [](const Case& c) { return one(c[0].conv2d(c[1], c[2], conv_options(c))); }},
  {"conv3d", [](const Case& c) { return one(c[0].conv3d(c[1], c[2], conv_options(c))); }},
  {"conv_transpose1d", [](const Case& c) { return one(conv_transpose(c)); }},
  {"conv_transpose2d", [](const Case& c) { return one(conv_transpose(c)); }},
  {"conv_transpose3d", [](const Case& c) { return one(conv_transpose(c)); }},
  {"pad", [](const Case& c) { return one(padded(c)); }},
  {"softmax", [](const Case& c) { return one(c[0].softmax(c.integer("axis"), c.dtype("dtype"))); }},
  {"log_softmax", [](const Case& c) { return one(c[0].log_softmax(c.integer("axis"), c.dtype("dtype"))); }},
  {"softmin", [](const Case& c) { return one(c[0].softmin(c.integer("axis"), c.dtype("dtype"))); }},
  {"linear", [](const Case& c) { return one(c[0].linear(c[1], c[2], c.dtype("dtype"))); }},
  {"scaled_dot_product_attention", [](const Case& c) {
    return one(F::scaled_dot_product_attention(c[0], c[1], c[2], c[3], 0.0, c.flag("is_causal")));
  }},
  {"scatter_reduce", [](const Case& c) { return one(scatter_reduced(c)); }},
  {"functional.lp_pool1d", lp_pool(F::lp_pool1d)},
  {"functional.lp_pool2d", lp_pool(F::lp_pool2d)},
  {"functional.lp_pool3d", lp_pool(F::lp_pool3d)},
  {"functional.max_unpool1d", max_unpool(F::max_unpool1d)},
  {"functional.max_unpool2d", max_unpool(F::max_unpool2d)},
  {"functional.max_unpool3d", max_unpool(F::max_unpool3d)},
});
// clang-format on

}  // namespace
}  // namespace weft::golden
