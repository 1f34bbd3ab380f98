// CHECK=1: numbers outside of what they count are refused. And negative ones mean the same everywhere.

#include <weft/losses.h>

#include "tensor_test.h"

namespace weft {
namespace {

TEST(Within, RefusesWhatIsOutside) {
  const Context checked{{"CHECK", 1}};
  Tensor x = Tensor::arange(4).to_float().clone();
  const Tensor rows = Tensor::ones({4, 2}), scores = Tensor::ones({2, 4});
  const Tensor beyond({0, 4}), before({-5});
  const std::string message = ": 4 is not one of -4 to 3";
  EXPECT_EQ(error_of([&] { x[beyond]; }), "[]" + message);
  EXPECT_EQ(error_of([&] { x[before]; }), "[]: -5 is not one of -4 to 3");
  EXPECT_EQ(error_of([&] { x.set({beyond}, 1); }), "set" + message);
  EXPECT_EQ(error_of([&] { x.take(beyond); }), "take" + message);
  EXPECT_EQ(error_of([&] { x.gather(0, beyond); }), "gather" + message);
  EXPECT_EQ(error_of([&] { x.scatter(0, beyond, 1); }), "scatter" + message);
  EXPECT_EQ(error_of([&] { x.index_select(0, beyond); }), "index_select" + message);
  EXPECT_EQ(error_of([&] { functional::embedding(beyond, rows); }), "embedding" + message);
  EXPECT_EQ(error_of([&] { beyond.one_hot(4); }), "one_hot: 4 is not one of 0 to 3");
  EXPECT_EQ(error_of([&] { scores.cross_entropy(beyond); }),
            "cross_entropy: 4 is not one of 0 to 3");
  EXPECT_EQ(error_of([&] { scores.cross_entropy(Tensor({0, -7}), {.ignore_index = -7}); }),
            "no error");
}

TEST(Within, IsSilentWithoutIt) {
  const Context unchecked{{"CHECK", 0}};
  const Tensor x = Tensor::arange(4).to_float().clone();
  EXPECT_TRUE(holds<float>(x[Tensor({1, 9})], {1, 0}, {2}));
}

// What is only known when it runs is not checked: parameters, and what jit() captures.
TEST(Within, LeavesOutWhatIsNotKnownYet) {
  const Context checked{{"CHECK", 1}};
  const Tensor x = Tensor::arange(4).to_float().clone();
  auto taken = jit([&](const Tensor& at) { return x[at]; });
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(holds<float>(taken(Tensor({i, 9 + i})), {static_cast<float>(i), 0}, {2}));
}

TEST(Within, NegativeNumbersCountFromTheEnd) {
  const Tensor x = Tensor::arange(4).to_float().clone(), last({-1, -4});
  for (const Tensor& y : {Tensor(x[last]), x.take(last), x.gather(0, last), x.index_select(0, last),
                          x.take_along_axis(last, 0)})
    EXPECT_TRUE(holds<float>(y, {3, 0}, {2}));
  const Tensor values({8.f, 9.f});
  for (const Tensor& y :
       {x.scatter(0, last, values), x.index_put({last}, values), x.index_copy(0, last, values),
        x.put_along_axis(last, values, 0), x.put(last, values)})
    EXPECT_TRUE(holds<float>(y, {9, 1, 2, 8}, {4}));
  EXPECT_TRUE(holds<float>(functional::embedding(Tensor({-1}), x.unsqueeze(-1)), {3}, {1, 1}));
}

}  // namespace
}  // namespace weft
