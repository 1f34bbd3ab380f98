#include "golden.h"

namespace weft::golden {
namespace {

PerDim sizes(const Case& c, std::string_view key, const Numbers& fallback) {
  return {c.numbers(key, fallback)};
}
PerDim kernel(const Case& c) { return sizes(c, "kernel_size", {2, 2}); }
PerDim stride_of_pool(const Case& c) { return c.numbers("stride", {}); }
PerDim dilation(const Case& c) { return sizes(c, "dilation", {1}); }
PerDim padding(const Case& c) { return sizes(c, "padding", {0}); }

Tensor conv2d(const Case& c) {
  return c[0].conv2d(c[1], c[2], c.integer("groups", 1), sizes(c, "stride", {1}), dilation(c),
                     padding(c));
}

Tensor attention(const Case& c) {
  return c[0].scaled_dot_product_attention(c[1], c[2], c[3], 0, c.flag("is_causal"));
}

// clang-format off
const Group group("matmul", {
  {"matmul", [](const Case& c) { return one(c[0].matmul(c[1], c.dtype("dtype"))); }},
  {"dot", [](const Case& c) { return one(c[0].dot(c[1], c.dtype("dtype"))); }},
  {"image_dot", [](const Case& c) { return one(c[0].image_dot(c[1])); }},
  {"linear", [](const Case& c) { return one(c[0].linear(c[1], c[2])); }},
  {"conv2d", [](const Case& c) { return one(conv2d(c)); }},
  {"max_pool2d", [](const Case& c) { return one(c[0].max_pool2d(kernel(c), stride_of_pool(c), dilation(c), padding(c))); }},
  {"avg_pool2d", [](const Case& c) { return one(c[0].avg_pool2d(kernel(c), stride_of_pool(c), dilation(c), padding(c))); }},
  {"layernorm", [](const Case& c) {
    return one(c[0].layernorm(c.has("axis") ? c.axes("axis") : AxisList(-1), c.real("eps", 1e-5)));
  }},
  {"batchnorm", [](const Case& c) { return one(c[0].batchnorm(c[1], c[2], c[3], c[4], c.integer("axis", 1))); }},
  {"scaled_dot_product_attention", [](const Case& c) { return one(attention(c)); }},
});
// clang-format on

}  // namespace
}  // namespace weft::golden
