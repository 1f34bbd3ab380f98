// x[...] = y and x[...] += y, as numpy writes; and who refuses what a dtype does not hold.

#include "tensor_test.h"

namespace weft {
namespace {

Tensor numbers() { return Tensor::arange(6).reshape({2, 3}).to_float().clone(); }

TEST(Writing, ThroughNumbersAndSlices) {
  Tensor x = numbers();
  x[0] = 9.f;
  EXPECT_TRUE(holds<float>(x, {9, 9, 9, 3, 4, 5}, {2, 3}));
  x[{1, Slice{1, 3}}] = Tensor({7.f, 8.f});
  EXPECT_TRUE(holds<float>(x, {9, 9, 9, 3, 7, 8}, {2, 3}));
  x[{Slice{}, 0}] += 1;
  x[1][2] -= 4;
  EXPECT_TRUE(holds<float>(x, {10, 9, 9, 4, 7, 4}, {2, 3}));
  x[0] = x[1];
  EXPECT_TRUE(holds<float>(x, {4, 7, 4, 4, 7, 4}, {2, 3}));
}

TEST(Writing, AtPlacesThatAreComputed) {
  Tensor x = numbers();
  x[x > 3.f] = -1;
  EXPECT_TRUE(holds<float>(x, {0, 1, 2, 3, -1, -1}, {2, 3}));
  x[{Slice{}, Tensor({2, 0})}] *= 10;
  EXPECT_TRUE(holds<float>(x, {0, 1, 20, 30, -1, -10}, {2, 3}));
  // As numpy: each place is read once, of several values the last stays.
  Tensor counts = Tensor::zeros({3});
  counts[Tensor({1, 1, 2})] += 1;
  EXPECT_TRUE(holds<float>(counts, {0, 1, 1}, {3}));
  counts[Tensor({1, 1})] = Tensor({5.f, 6.f});
  EXPECT_TRUE(holds<float>(counts, {0, 6, 1}, {3}));
  // The last in the order of the index, whichever of its axes places change with.
  Tensor grid = Tensor::zeros({2, 4}).clone();
  grid[{Tensor({0, 0}), Tensor({{1, 3}, {3, 0}})}] = Tensor({{1.f, 2.f}, {3.f, 4.f}});
  EXPECT_TRUE(holds<float>(grid, {4, 1, 0, 3, 0, 0, 0, 0}, {2, 4}));
}

// A copy that was written at the old places, and is asked for once these are gone.
TEST(Writing, CopiesAtPlacesThatAreOverwritten) {
  const Tensor x = Tensor({1, 2, 3}).realize();
  Tensor places = Tensor({0, 2}).realize();
  const Tensor y = x.scatter(0, places, 9);
  places *= y[Slice{0, 2}];
  places.realize();
  EXPECT_TRUE(holds<int>(y, {9, 2, 9}, {3}));
  EXPECT_TRUE(holds<int>(places, {0, 4}, {2}));
}

TEST(Writing, ThroughViewsAndCopies) {
  Tensor x = numbers(), column = x.transpose(0, 1)[1];
  column[0] = 50;
  EXPECT_TRUE(holds<float>(x, {0, 50, 2, 3, 4, 5}, {2, 3}));
  Tensor copy = x[Tensor({0, 0})];
  copy[0] = 0;
  EXPECT_TRUE(holds<float>(copy, {0, 0, 0, 0, 50, 2}, {2, 3}));
  EXPECT_TRUE(holds<float>(x, {0, 50, 2, 3, 4, 5}, {2, 3}));
  EXPECT_EQ(error_of([&] { x[Tensor({0, 0})][0] = 1; }),
            "[] =: x[a][b] = y writes to a copy of x[a], as tensors, masks and lists in a copy: "
            "x[{a, b}] = y "
            "writes to x");
}

// A name that is given another tensor writes nothing.
// Where there are no elements, there is no place to write to.
TEST(Writing, IntoNothing) {
  const Context unchecked{{"CHECK", 0}};
  const Tensor many = Tensor::zeros({5, 6, 3, 2}, {.dtype = dtypes::i32}).clone();
  Tensor x = Tensor::zeros({5, 0, 3, 6}).clone().realize();
  for (const Tensor& y : {x.scatter(1, many, 6), x.scatter_add(1, many, 6)})
    EXPECT_EQ(y.to_vector<float>().size(), 0u);
  x.set({Slice{}, many[0]}, 1).realize();
  EXPECT_EQ(x.gather(1, many).sum().gradient({x})[0].numel(), 0);
}

TEST(Writing, NamesAreRebound) {
  Tensor x = numbers();
  auto row = x[0];
  row = Tensor({1.f, 1.f, 1.f});
  row = x[1];
  EXPECT_TRUE(holds<float>(row, {3, 4, 5}, {3}));
  EXPECT_TRUE(holds<float>(x, {0, 1, 2, 3, 4, 5}, {2, 3}));
  row += 1;
  EXPECT_TRUE(holds<float>(x, {0, 1, 2, 4, 5, 6}, {2, 3}));
  static_assert(!std::is_assignable_v<Tensor, Tensor>);  // x.flip(0) = y
  static_assert(std::is_assignable_v<Tensor&, Tensor>);
}

TEST(Writing, GradientsGoThrough) {
  const Tensor v({2.f, 3.f}, {.requires_grad = true});
  Tensor x = Tensor::zeros({3});
  x[Slice{1, 3}] = v * v;
  x[0] = v[1];
  (x * Tensor({1.f, 10.f, 100.f})).sum().backward();
  EXPECT_TRUE(holds<float>(v.grad(), {40, 601}, {2}));
}

// Of several values for one place, the last has the gradient.
TEST(Writing, GradientsOfPlacesThatComeTwice) {
  const Tensor v({2.f, 3.f, 4.f}), places({0, 2, 0});
  const Tensor weight({1.f, 10.f, 100.f});
  const std::vector<Tensor> written{
      Tensor::zeros({3}).index_put({places}, v), Tensor::zeros({3}).scatter(0, places, v),
      Tensor::zeros({3}).put_along_axis(places, v, 0), Tensor::zeros({3}).index_copy(0, places, v)};
  for (const Tensor& y : written) {
    EXPECT_TRUE(holds<float>(y, {4, 0, 3}, {3}));
    EXPECT_TRUE(holds<float>((y * weight).sum().gradient({v})[0], {0, 100, 1}, {3}));
  }
}

TEST(Writing, OfMasksWithoutAxes) {
  Tensor x = numbers();
  EXPECT_TRUE(holds<float>(x[Tensor(true)], {0, 1, 2, 3, 4, 5}, {1, 2, 3}));
  EXPECT_EQ(x[Tensor(false)].shape(), Sizes64({0, 2, 3}));
  x[Tensor(false)] = 7;
  EXPECT_TRUE(holds<float>(x, {0, 1, 2, 3, 4, 5}, {2, 3}));
  x[Tensor(true)] = 7;
  EXPECT_TRUE(holds<float>(x, {7, 7, 7, 7, 7, 7}, {2, 3}));
}

TEST(Writing, IntoWhatRepeatAndUnfoldGive) {
  Tensor x = numbers(), twice = x.repeat({1, 2});
  twice[0] = 1;
  EXPECT_TRUE(holds<float>(twice, {1, 1, 1, 1, 1, 1, 3, 4, 5, 3, 4, 5}, {2, 6}));
  Tensor rows = x.repeat_interleave(2, 0);
  rows[0] = 1;
  EXPECT_TRUE(holds<float>(rows, {1, 1, 1, 0, 1, 2, 3, 4, 5, 3, 4, 5}, {4, 3}));
  Tensor apart = Tensor::arange(10).clone(), ends = apart.unfold(0, 2, 3);
  ends *= 2;
  EXPECT_TRUE(holds<int>(apart, {0, 2, 2, 6, 8, 5, 12, 14, 8, 9}, {10}));
  EXPECT_TRUE(holds<int>(ends, {0, 2, 6, 8, 12, 14}, {3, 2}));
  ends = apart.unfold(0, 1, 4);  // the last with nothing behind it
  ends -= 1;
  EXPECT_TRUE(holds<int>(apart, {-1, 2, 2, 6, 7, 5, 12, 14, 7, 9}, {10}));
  const Tensor windows = x.unfold(1, 2, 1);
  Tensor window = x.unfold(1, 3, 1);
  window[{1, 0, 0}] = 8;
  EXPECT_TRUE(holds<float>(x, {0, 1, 2, 8, 4, 5}, {2, 3}));
  EXPECT_TRUE(holds<float>(windows, {0, 1, 1, 2, 8, 4, 4, 5}, {2, 2, 2}));  // a view as well
  Tensor tracked = numbers().clone();
  tracked.set_requires_grad();
  Tensor copy = tracked * 1.f;
  const Tensor seen = copy.unfold(1, 2, 1);
  copy[{1, 0}] = 8;
  EXPECT_TRUE(holds<float>(seen, {0, 1, 1, 2, 8, 4, 4, 5}, {2, 2, 2}));  // where gradients pass too
  EXPECT_TRUE(holds<float>(seen.sum().gradient({tracked})[0], {1, 2, 1, 0, 2, 1}, {2, 3}));
  Tensor wide = x[0].expand({2, 3});
  EXPECT_NE(error_of([&] { wide[0] = 1; }).find("contiguous()"), std::string::npos);
  EXPECT_EQ(error_of([&] { wide.assign(1); }),
            "assign: several elements of this tensor of shape (2, 3) are one in memory, as "
            "expand() makes them: "
            "assign to its contiguous()");
}

// assign() and cast() convert; everything else refuses what would be lost.
TEST(Writing, DtypesHoldWhatIsWritten) {
  Tensor x({1, 2, 3}), flags({true, false});
  const Tensor halves({0.5f}), mask({true, false, true}), place({1});
  const std::string refused = ": a tensor of i32 does not hold 1.5: cast() it first";
  EXPECT_EQ(error_of([&] { x[0] = 1.5; }), "[] =" + refused);
  EXPECT_EQ(error_of([&] { x.set({place}, 1.5); }), "set" + refused);
  EXPECT_EQ(error_of([&] { x.fill(1.5); }), "fill" + refused);
  EXPECT_EQ(error_of([&] { x.masked_fill(mask, 1.5); }), "masked_fill" + refused);
  EXPECT_EQ(error_of([&] { x.index_put({place}, 1.5); }), "index_put" + refused);
  EXPECT_EQ(error_of([&] { x.scatter(0, place, halves); }),
            "scatter: a tensor of i32 does not hold f32: cast() it first");
  EXPECT_EQ(error_of([&] { flags[0] = 2; }),
            "[] =: a tensor of bool does not hold 2: cast() it first");
  EXPECT_EQ(error_of([&] { x[0] += 0.5; }),
            "[] +=: a tensor of i32 does not hold f32: cast() it first");
  x[0] = 4.0;
  flags[1] = 1;
  EXPECT_TRUE(holds<int>(x, {4, 2, 3}, {3}));
  EXPECT_TRUE(holds<bool>(flags, {true, true}, {2}));
  x.assign(1.5);
  EXPECT_TRUE(holds<int>(x, {1, 1, 1}, {3}));
}

// What is known of a tensor before a write says nothing of what is there afterwards.
TEST(Writing, BoundsAreThoseOfWhatWasWritten) {
  const Tensor zeros = Tensor::zeros({4}, {.dtype = dtypes::i32}), places({0, 1, 2});
  const Tensor values({-1, 2, -3});
  EXPECT_TRUE(holds<int>(zeros.scatter_add(0, places, values).abs(), {1, 2, 3, 0}, {4}));
  EXPECT_TRUE(holds<int>(zeros.index_add(0, places, values).maximum(-2), {-1, 2, -2, 0}, {4}));
  EXPECT_TRUE(holds<int>(Tensor({0, 0, 0}).bincount({}, 2) % 2, {1, 0}, {2}));
  const Tensor mask({true, false, true});
  EXPECT_TRUE(holds<int>(values.masked_select(mask, 3, 6).abs(), {1, 3, 6}, {3}));
}

// Each time counts, also where each does the same.
// More values than a vector has room for, or fewer, where memory has just one element.
TEST(Writing, ManyValuesToOnePlace) {
  for (const std::int64_t count : {2, 3, 5, 7, 8, 9, 31}) {
    Tensor x = Tensor::zeros({3}), y = Tensor::zeros({3}).contiguous().realize();
    const Tensor values = Tensor::arange(count).to_float() + 1;
    for (Tensor* each : {&x, &y}) {
      (*each)[{Tensor::ones({count}, {.dtype = dtypes::i32})}] = values;
      EXPECT_TRUE(holds<float>(*each, {0, static_cast<float>(count), 0}, {3}));
    }
  }
}

TEST(Writing, WhatIsAddedManyTimesToOnePlace) {
  for (const std::int64_t times : {4, 31, 32, 108}) {
    const Tensor places = Tensor::full({times}, 1);
    EXPECT_TRUE(holds<float>(Tensor::zeros({3}).scatter_add(0, places, 1.0),
                             {0, static_cast<float>(times), 0}, {3}));
  }
}

}  // namespace
}  // namespace weft
