// What is joined is stored part by part, without copies, and the same.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <weft/weft.h>

namespace weft {
namespace {

Tensor random(const Shape& shape) { return Tensor::randn(shape).realize(); }
Tensor exact(const Tensor& x) { return x.to("INTERP").cast(dtypes::f64).realize(); }

struct Layers {
  Tensor x = random({1, 16, 12, 10});
  std::vector<Tensor> filters;

  Tensor operator()(const Tensor& from, std::int64_t channels, std::int64_t window = 3) {
    filters.push_back(random({channels, from.size(1), window, window}));
    return from.conv2d(filters.back(), {}, {.padding = window / 2});
  }
  // One of them again, with memory of its own in f64.
  Tensor alone(const Tensor& from, std::size_t layer) const {
    const Tensor& filter = filters[layer];
    return from.conv2d(exact(filter), {}, {.padding = filter.size(2) / 2}).realize();
  }
};

std::size_t kernels(const Tensor& tensor) { return tensor.cost().kernels; }

// Equal to what it is in f64, where each part has memory of its own.
void expect_same(const Tensor& joined, const Tensor& apart) {
  const auto values = joined.to_vector<double>(), expected = apart.to_vector<double>();
  ASSERT_EQ(values.size(), expected.size());
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], expected[i], 2e-6 * largest) << "at " << i;
}

TEST(Joined, PartsAreKernels) {
  Layers layer;
  const Tensor a = layer(layer.x, 24), b = layer(layer.x, 40, 1);
  const Tensor joined = Tensor::cat({a, b}, 1);
  EXPECT_EQ(kernels(joined), 2U);
  const Tensor x = exact(layer.x);
  expect_same(joined, Tensor::cat({layer.alone(x, 0), layer.alone(x, 1)}, 1));
}

TEST(Joined, WhatFollowsAPartGoesAlong) {
  Layers layer;
  const Tensor bias = random({24, 1, 1});
  const Tensor a = (layer(layer.x, 24) + bias).relu(), b = layer(layer.x, 40, 1).relu();
  const Tensor joined = Tensor::cat({a, b}, 1);
  EXPECT_EQ(kernels(joined), 2U);
  const Tensor x = exact(layer.x);
  expect_same(joined, Tensor::cat({layer.alone(x, 0) + exact(bias), layer.alone(x, 1)}, 1).relu());
}

// A block of layers, each of which joins its output to all that was before it.
TEST(Joined, LayersThatAddTheirOutputCopyNothing) {
  Layers layer;
  const auto narrow = [&](const Tensor& from) { return layer(from.relu(), 12, 1).contiguous(); };
  const Tensor first = layer(layer.x, 16);
  const Tensor second = Tensor::cat({first, layer(narrow(first), 8)}, 1);
  const Tensor third = Tensor::cat({second, layer(narrow(second), 8)}, 1);
  const Tensor last = layer(third.relu(), 12, 1);
  EXPECT_EQ(kernels(last), 6U);  // one for each convolution
  const auto added = [&](const Tensor& from, std::size_t at) {
    const Tensor thin = layer.alone(from.relu().realize(), at);
    return Tensor::cat({from, layer.alone(thin, at + 1)}, 1).realize();
  };
  const Tensor all = added(added(layer.alone(exact(layer.x), 0), 1), 3);
  expect_same(last, layer.alone(all.relu().realize(), 5));
}

// A kernel that would read and write one piece of memory has its output copied.
TEST(Joined, WhatReadsTheOtherPartsIsCopied) {
  Layers layer;
  const Tensor first = layer(layer.x, 16);
  const Tensor joined = layer(Tensor::cat({first, layer(first, 8)}, 1), 12, 1);
  EXPECT_EQ(kernels(joined), 4U);
  const Tensor one = layer.alone(exact(layer.x), 0);
  const Tensor two = Tensor::cat({one, layer.alone(one, 1)}, 1).realize();
  expect_same(joined, layer.alone(two, 2));
}

TEST(Joined, PartsThatTheProgramSeesAreThere) {
  Layers layer;
  const Tensor a = layer(layer.x, 24), b = layer(layer.x, 40);
  const Tensor joined = Tensor::cat({a, b}, 1);
  Tensor::realize({joined, a});
  expect_same(joined.shrink({{0, 1}, {0, 24}, {0, 12}, {0, 10}}), a);
  expect_same(a, layer.alone(exact(layer.x), 0));
}

TEST(Joined, OtherAxesAndMoreParts) {
  Layers layer;
  const Tensor base = layer(layer.x, 32).contiguous();
  const Tensor alone = layer.alone(exact(layer.x), 0);
  for (const std::int64_t axis : {0, 1, 2, 3}) {
    std::vector<Tensor> parts, apart;
    for (int i = 0; i < 3; ++i) {
      const Tensor w = random({32, 32, 1, 1});
      parts.push_back(base.conv2d(w).relu());
      apart.push_back(alone.conv2d(exact(w)).relu().realize());
    }
    expect_same(Tensor::cat(parts, axis), Tensor::cat(apart, axis));
  }
}

// As the columns of a detector are: lanes across them would compute each of the three for all.
TEST(Joined, PartsThatTakeLongAreKernels) {
  const Tensor x = random({17, 6048});
  const auto columns = [](const Tensor& from) {
    return Tensor::cat({from.narrow(0, 0, 2).tanh(), from.narrow(0, 2, 4).exp(),
                        from.narrow(0, 6, 11).sigmoid()})
        .T()
        .contiguous();
  };
  EXPECT_EQ(kernels(columns(x)), 3U);
  expect_same(columns(x), columns(exact(x)));
  const Tensor short_ones = Tensor::cat({x.narrow(0, 0, 4).relu(), x.narrow(0, 4, 13).neg()});
  EXPECT_EQ(kernels(short_ones.T().contiguous()), 1U);
  EXPECT_EQ(kernels(Tensor::cat({x.narrow(0, 0, 4).tanh(), x.narrow(0, 4, 13).exp()})), 1U);
}

// Of what the program gave there is something to copy: that is one kernel with the rest of it.
TEST(Joined, WhatWasThereIsCopied) {
  Layers layer;
  const Tensor joined = Tensor::cat({layer.x, layer(layer.x, 8)}, 1);
  EXPECT_LE(kernels(joined), 2U);
  const Tensor x = exact(layer.x);
  expect_same(joined, Tensor::cat({x, layer.alone(x, 0)}, 1));
}

// What makes the part stores each element at its place: no place for what needs another as well.
TEST(Joined, PartsThatReadOtherElementsHaveMemory) {
  const Tensor x = random({48, 48}), w = random({48, 48}), z = random({48, 48});
  const auto with_others = [](const Tensor& p) {
    return std::vector{p - p.narrow(1, 0, 1), p + p.T(), p * p.flip(0), p - p.roll(1, 1)};
  };
  const Tensor product = exact(x).matmul(exact(w)).realize();
  const Tensor other = exact(x).matmul(exact(z)).realize();
  for (const std::int64_t axis : {0, 1})
    for (std::size_t i = 0; i < 4; ++i)
      expect_same(Tensor::cat({with_others(x.matmul(w))[i], x.matmul(z)}, axis),
                  Tensor::cat({with_others(product)[i], other}, axis));
}

// The part is no part of the kernel of the first product, which runs before the second is there.
TEST(Joined, APartOfTwoProductsWaitsForBoth) {
  const Tensor x = random({64, 64}), w = random({64, 64}), y = random({64, 48}),
               z = random({48, 64}), u = random({64, 32}), v = random({32, 64});
  const Tensor a = exact(x).matmul(exact(w)).realize(), b = exact(y).matmul(exact(z)).realize(),
               c = exact(u).matmul(exact(v)).realize();
  expect_same(Tensor::cat({x.matmul(w) - y.matmul(z), u.matmul(v)}), Tensor::cat({a - b, c}));
  expect_same(Tensor::cat({y.matmul(z) - x.matmul(w), u.matmul(v)}), Tensor::cat({b - a, c}));
}

// The memory that is joined into has values of its own before and after.
class JoinedIntoMemory : public testing::Test {
 protected:
  const Tensor a_ = Tensor({{1.0, 2.0}, {3.0, 4.0}}).realize(), first_ = (a_ * 10).contiguous(),
               second_ = (a_ + 100).contiguous();
  Tensor joined() const { return Tensor::cat({first_, second_}, 0); }
};

TEST_F(JoinedIntoMemory, WrittenAgainWhileAPartIsRead) {
  const Tensor more = Tensor::full({1, 2}, 1000.0).realize(), row = Tensor({0}).realize();
  const Tensor p = a_.index_add(0, row, more), q = a_.index_add(0, Tensor({1}).realize(), more);
  const Tensor all = Tensor::cat({p, q}, 0).index_add(0, row, more * 10), most = p.max(1);
  Tensor::realize({all, most});
  EXPECT_EQ(most.to_vector<float>(), (std::vector<float>{1002, 4}));
  EXPECT_EQ(all.max(1).to_vector<float>(), (std::vector<float>{11002, 4, 2, 1004}));
}

TEST_F(JoinedIntoMemory, GivenItsFirstValuesBehindAPart) {
  const Tensor x = Tensor::ones({6, 2}).realize();
  const Tensor put = (x * 2).index_put({Slice{1, 5}}, joined()), sum = first_.sum();
  Tensor::realize({sum, put});
  EXPECT_EQ(put.select(1, 0).to_vector<float>(), (std::vector<float>{2, 10, 30, 101, 103, 2}));
}

TEST_F(JoinedIntoMemory, AtPlacesThatComeTwice) {
  const Tensor put = Tensor::zeros({2, 2}).index_put({Tensor::arange(4).floordiv(2)}, joined());
  const Tensor sum = first_.sum(0);
  Tensor::realize({put, sum});
  EXPECT_EQ(sum.to_vector<float>(), (std::vector<float>{40, 60}));
}

TEST_F(JoinedIntoMemory, AtPlacesInMemory) {
  const Tensor places = Tensor({0, 9, 4, 5}).realize();
  const Tensor put = Tensor::zeros({6, 2}).index_put({places % 6}, joined());
  EXPECT_EQ(put.select(1, 0).to_vector<float>(), (std::vector<float>{10, 0, 0, 30, 101, 103}));
}

}  // namespace
}  // namespace weft
