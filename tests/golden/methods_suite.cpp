// Methods one after another: what op_suite.txt has no single method for.

#include <limits>

#include "golden.h"

namespace weft::golden {
namespace {

Tensor constant(const Case& c, std::size_t rank) {
  return Tensor::full({Numbers(rank, c.integer("n"))}, c.real("value"));
}

std::vector<Tensor> reductions(const Case& c) {
  const Tensor x = constant(c, 1);
  return {x.sum(), x.prod(), x.max(), x.mean()};
}

Tensor reshape_of_padded(const Case& c) {
  const Numbers pads = c.numbers("pads"), sizes = c.numbers("shape");
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  const Tensor padded = c[0].reshape({3, -1}).pad({{pads[0], pads[1]}, {0, 0}});
  return padded.flatten().shrink({{0, count}}).reshape({sizes});
}

Tensor slice_of_stack(const Case& c) {
  const std::int64_t start = c.integer("start");
  return Tensor::stack({c[0], c[1]}, 1)[{Slice{start % 2}, Slice{1}, Slice{start}}];
}

Tensor slice_of_slice(const Case& c) {
  return c[0][{Slice{1}}][{Slice{}, Slice{.step = 2}}][{Slice{}, Slice{1}}][{0}];
}

Tensor sigmoid_by_exp(const Case& c) {
  return c.gradients.empty() ? 1 / ((-c[0]).exp() + 1) : c[0].exp() / (c[0].exp() + 1);
}

Tensor infinite_where(const Case& c) {
  return (c[0] < c.real("limit")).where(c[0], std::numeric_limits<double>::infinity());
}

// clang-format off
const Group group("suite", {
  {"conv_of_conv", [](const Case& c) { return one(c[0].conv2d(c[1]).relu().conv2d(c[2])); }},
  {"biased_conv", [](const Case& c) { return one(c[0].conv2d(c[1], c[2]).relu().conv2d(c[1], c[2])); }},
  {"add_padded", [](const Case& c) { return one(c[0] + c[1].pad({{1, 1}, {1, 1}})); }},
  {"matvec", [](const Case& c) { return one(c[0].matmul(c[1].relu())); }},
  {"matvecmat", [](const Case& c) { return one(c[0].matmul(c[1].relu()).matmul(c[2])); }},
  {"sum_of_product", [](const Case& c) { return one((c[0] * c[1]).sum(-1)); }},
  {"sum_of_padded", [](const Case& c) { return one(c[0].pad({{1, 2}, {1, 2}}).sum(1)); }},
  {"sum_of_joined", [](const Case& c) { return one(Tensor::cat({c[0], c[1]}, 0).sum(0)); }},
  {"sum_of_sum", [](const Case& c) { return one(c[0].sum(1).sum(0) + c[0].sum()); }},
  {"relu_of_sum", [](const Case& c) { return one(c[0].relu().sum().relu()); }},
  {"sum_of_constant", [](const Case& c) { return one(constant(c, 2).sum(1)); }},
  {"reductions_of_constant", reductions},
  {"argmax_of_softmax", [](const Case& c) { return one(c[0].softmax(c.integer("axis")).argmax(c.integer("axis"))); }},
  {"reshape_of_padded", [](const Case& c) { return one(reshape_of_padded(c)); }},
  {"slice_of_padded", [](const Case& c) { return one(c[0].pad({{0, 0}, {2, 3}}).narrow(1, c.integer("start"), 4)); }},
  {"slice_of_stack", [](const Case& c) { return one(slice_of_stack(c)); }},
  {"max_of_stack", [](const Case& c) { return one(Tensor::stack({c[0], c[1]}, 0).max(0)); }},
  {"slice_of_slice", [](const Case& c) { return one(slice_of_slice(c)); }},
  {"flipped_eye", [](const Case& c) { return one(Tensor::eye(c.integer("n")).flip({0})); }},
  {"twice", [](const Case& c) { return one((c[0] + c[0]) * c[0] + (c[0] + c[0])); }},
  {"three", [](const Case& c) { return one(c[0] + c[1] + c[2]); }},
  {"power_by_logarithms", [](const Case& c) { return one((c[0].log2() * c[1]).exp2()); }},
  {"sigmoid_by_exp", [](const Case& c) { return one(sigmoid_by_exp(c)); }},
  {"rounding_error", [](const Case& c) { return one((c[0].round() - c[0]).detach() + c[0]); }},
  {"shifted_quotient", [](const Case& c) { return one(floordiv(c[0] - 7, c.integer("by"))); }},
  {"relu_of_cast", [](const Case& c) { return one(c[0].to_float().relu()); }},
  {"infinite_where", [](const Case& c) { return one(infinite_where(c)); }},
});
// clang-format on

}  // namespace
}  // namespace weft::golden
