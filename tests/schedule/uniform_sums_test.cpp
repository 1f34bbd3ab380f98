// Sums that are the same along an axis of their results: how much is computed, and that the values are the same.

#include <gtest/gtest.h>

#include <weft/weft.h>

namespace weft {
namespace {

Tensor filled(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return (Tensor::arange(count) * 0.7).sin().reshape(shape).contiguous().realize();
}

// 0.25 everywhere, which nobody knows.
Tensor in_memory(const std::vector<std::int64_t>& shape) {
  return (filled(shape) * 0 + 0.25).contiguous().realize();
}

double flops_of(const Tensor& tensor) {
  double flops = 0;
  for (const ScheduleItem& item : tensor.schedule()) flops += item.work.flops;
  return flops;
}

void expect_alike(const Tensor& found, const Tensor& wanted) {
  ASSERT_EQ(found.shape(), wanted.shape());
  EXPECT_LT((found - wanted).abs().max().item<double>(), 1e-4 * wanted.abs().max().item<double>());
}

struct Case {
  const char* name;
  Tensor (*value)(const Tensor& weight);
  std::vector<std::int64_t> weight;
  double part;  // of the operations that weights which differ would take
};

TEST(Repeats, SumsAreThereOnce) {
  const Case cases[] = {
      {"a convolution",
       [](const Tensor& w) { return filled({1, 32, 20, 20}).conv(w, {}, {.padding = 1}); },
       {48, 32, 3, 3},
       0.2},
      {"groups",
       [](const Tensor& w) { return filled({1, 32, 20, 20}).conv(w, {}, {.groups = 4}); },
       {64, 8, 3, 3},
       0.2},
      {"a product", [](const Tensor& w) { return filled({64, 100}).matmul(w); }, {100, 96}, 0.1},
      {"and its bias",
       [](const Tensor& w) { return filled({64, 100}).matmul(w) + filled({96}); },
       {100, 96},
       0.1},
  };
  for (const Case& c : cases) {
    const Tensor same = Tensor::full(c.weight, 0.25), apart = in_memory(c.weight);
    SCOPED_TRACE(c.name);
    EXPECT_LT(flops_of(c.value(same)), c.part * flops_of(c.value(apart)));
    expect_alike(c.value(same), c.value(apart));
  }
}

// Values that are the same along an axis are so in the next layer too.
TEST(Repeats, LayersAfterEachOther) {
  const auto layers = [](const Tensor& a, const Tensor& b) {
    return filled({1, 32, 20, 20}).conv(a).relu().conv(b);
  };
  const Tensor a = Tensor::full({48, 32, 3, 3}, 0.25), b = Tensor::full({40, 48, 3, 3}, 0.25);
  const Tensor a_apart = in_memory({48, 32, 3, 3}), b_apart = in_memory({40, 48, 3, 3});
  EXPECT_LT(flops_of(layers(a, b)), 0.1 * flops_of(layers(a_apart, b_apart)));
  expect_alike(layers(a, b), layers(a_apart, b_apart));
}

// What differs along the axis is computed all along it, and so is what takes too little to be worth a kernel.
TEST(Repeats, OtherSumsStay) {
  const Tensor x = filled({64, 100});
  const Tensor w = filled({1, 96}).expand({100, 96});
  expect_alike(x.matmul(w), x.matmul((w + 0).contiguous().realize()));
  EXPECT_EQ(filled({4, 5}).matmul(Tensor::full({5, 6}, 2.F)).schedule().size(), 1U);
}

}  // namespace
}  // namespace weft
