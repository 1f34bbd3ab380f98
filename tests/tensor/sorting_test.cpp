// Order, of rows that are long: beside what the standard library sorts.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "tensor_test.h"

namespace weft {
namespace {

template <class T>
std::vector<int> order_of(const std::vector<T>& values, bool descending = false) {
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](int a, int b) {
    const T x = values[static_cast<std::size_t>(a)], y = values[static_cast<std::size_t>(b)];
    return x == y ? a < b : descending ? x > y : x < y;
  });
  return order;
}

template <class T>
std::vector<T> random_values(std::size_t count) {
  std::mt19937_64 generator(count);
  std::vector<T> values(count);
  for (T& value : values) {
    if constexpr (std::floating_point<T>)
      value = std::normal_distribution<T>()(generator);
    else
      value = static_cast<T>(generator());
  }
  return values;
}

template <class T>
class Sorting : public ::testing::Test {};
using Numbers =
    ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                     std::uint32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(Sorting, Numbers);

TYPED_TEST(Sorting, LongRows) {
  for (const std::size_t count : {100U, 1000U, 3001U}) {
    const std::vector<TypeParam> values = random_values<TypeParam>(count);
    const Tensor x(values);
    for (const bool descending : {false, true}) {
      const std::vector<int> order = order_of(values, descending);
      EXPECT_EQ(x.argsort(0, descending).template to_vector<int>(), order) << count;
      const std::vector<int> first = x.topk(70, 0, descending).indices.template to_vector<int>();
      EXPECT_TRUE(std::equal(first.begin(), first.end(), order.begin())) << count;
    }
  }
}

// f64 by two halves of its bits: what is equal in one of them keeps the order of the other.
TEST(SortingValues, AreThoseOfTheOrder) {
  const std::vector<double> values = random_values<double>(500);
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  EXPECT_EQ(Tensor(values).sort().values.to_vector<double>(), sorted);
  EXPECT_EQ(Tensor(values).kthvalue(123).values.item<double>(), sorted[122]);
  EXPECT_EQ(Tensor(values).median().item<double>(), sorted[249]);
}

TEST(SortingValues, OfManyRows) {
  const std::vector<float> values = random_values<float>(std::size_t{7} * 150 * 3);
  const Tensor x = Tensor(values).reshape({7, 150, 3});
  const auto [sorted, indices] = x.sort(1);
  EXPECT_EQ(sorted.shape(), (Sizes64{7, 150, 3}));
  EXPECT_TRUE((sorted.slice(1, {.start = 1}) >= sorted.slice(1, {.stop = -1})).all().item<bool>());
  EXPECT_TRUE(sorted.equal(x.gather(1, indices)));
  EXPECT_TRUE(near(sorted.sum(1) - x.sum(1), std::vector<double>(21), {7, 3}, 1e-4));
}

TEST(SortingValues, OfAnOpenNumberOfRows) {
  const UOp rows = Variable("rows", 1, 8);
  const Tensor x = Tensor(random_values<float>(800)).reshape({8, 100});
  const Tensor part = x.shrink({{0, make(Op::Bind, {rows, const_int(5)})}, {0, 100}});
  const Tensor expected = x.shrink({{0, 5}, {0, 100}}).sort().values;
  EXPECT_TRUE(near(part.sort().values.sum(0), expected.sum(0).to_vector<double>(), {100}));
  EXPECT_TRUE(near(part.sort().values[{Slice{}, 0}].sum() + 0,
                   {expected[{Slice{}, 0}].sum().item<double>()}, {}));
}

// Each element of the input once, also where the merge has more places than there are elements.
TEST(SortingValues, GradientOfLongRows) {
  const Tensor x(random_values<float>(131), {.requires_grad = true});
  const Tensor weight = Tensor::arange(131).cast(dtypes::f32);
  (x.sort().values * weight).sum().backward();
  const std::vector<int> order = order_of(x.to_vector<float>());
  const std::vector<float> grad = x.grad().to_vector<float>();
  for (std::size_t i = 0; i < order.size(); ++i)
    EXPECT_EQ(grad[static_cast<std::size_t>(order[i])], static_cast<float>(i));
}

TEST(SortingValues, IndicesHaveNoGradient) {
  const Tensor x({3.0, 1.0, 2.0}, {.requires_grad = true});
  EXPECT_TRUE(x.sort().values.requires_grad());
  EXPECT_FALSE(x.sort().indices.requires_grad());
}

TEST(Quantiles, OfWhatIsNoPartAndBesideInfinity) {
  const Tensor ones = Tensor::ones({4}), infinite({-INFINITY, 1.0F});
  EXPECT_TRUE(std::isnan(ones.quantile(Tensor({1.5F})).item<float>()));
  EXPECT_TRUE(std::isnan(ones.nanquantile(Tensor({-0.5F})).item<float>()));
  EXPECT_EQ(infinite.quantile(0.75).item<float>(), -INFINITY);
}

TEST(Unique, OfMany) {
  std::vector<std::int64_t> values = random_values<std::int64_t>(2000);
  for (std::int64_t& value : values) value %= 300;
  std::vector<std::int64_t> different = values;
  std::ranges::sort(different);
  different.erase(std::ranges::unique(different).begin(), different.end());
  const Tensor x(values);
  const auto [found, inverse, counts] = x.unique();
  EXPECT_EQ(found.to_vector<std::int64_t>(), different);
  EXPECT_TRUE(found.take(inverse).equal(x));
  EXPECT_EQ(counts.sum().item<int>(), 2000);
  EXPECT_TRUE(counts.equal(inverse.bincount()));
}

TEST(Unique, StaysOnTheDevice) {
  const auto [values, inverse, counts] = Tensor({3, 1, 3}, {.device = "INTERP"}).unique();
  EXPECT_EQ(values.device(), "INTERP");
  EXPECT_TRUE(holds<int>(values, {1, 3}, {2}));
  EXPECT_TRUE(holds<int>(inverse, {1, 0, 1}, {3}));
  EXPECT_TRUE(holds<int>(counts, {1, 2}, {2}));
}

}  // namespace
}  // namespace weft
