// Memory that several tensors look at, and what becomes of it.

#include <array>

#include "tensor_test.h"

namespace weft {
namespace {

TEST(TensorAssign, AReaderThatAssignsOnceMoreTakesAllReaders) {
  Tensor x({1, 2, 3, 4});
  const Tensor old = x * 3;
  x += 1;
  const Tensor q = x * 5, r = x * 2;
  x += 1;
  const Tensor z = old + x;
  EXPECT_TRUE(holds<int>(q.realize(), {10, 15, 20, 25}, {4}));
  EXPECT_TRUE(holds<int>(r.realize(), {4, 6, 8, 10}, {4}));
  EXPECT_TRUE(holds<int>(z.realize(), {6, 10, 14, 18}, {4}));
}

TEST(TensorAssign, ReplacesValuesInPlace) {
  std::array<float, 3> memory{1, 2, 3};
  Tensor x = Tensor::from_blob(memory.data(), {3});
  x.assign(x * 2 + 1).realize();
  EXPECT_EQ(memory, (std::array<float, 3>{3, 5, 7}));
  EXPECT_EQ(x.data<float>().data(), memory.data());
}

TEST(TensorAssign, IsSeenThroughViewsBothWays) {
  Tensor x({1, 2, 3, 4});
  Tensor row = x.reshape({2, 2})[1];
  const Tensor turned = x.flip(0);
  row.assign(Tensor({7, 8}));
  EXPECT_TRUE(holds<int>(x, {1, 2, 7, 8}, {4}));
  x.fill(0);
  EXPECT_TRUE(holds<int>(row, {0, 0}, {2}));
  x[Slice{.step = 2}].assign(5);
  EXPECT_TRUE(holds<int>(turned, {0, 5, 0, 5}, {4}));
  EXPECT_TRUE(holds<int>(x.detach(), {5, 0, 5, 0}, {4}));
}

TEST(TensorAssign, GoesThroughDetach) {
  const Tensor x({1, 2});
  x.detach()[0].assign(7);
  EXPECT_TRUE(holds<int>(x, {7, 2}, {2}));
}

TEST(TensorAssign, GoesToDiagonals) {
  Tensor square = Tensor::zeros({3, 3}).contiguous(), wide = Tensor::zeros({2, 2, 3}).contiguous();
  square.diagonal().fill(1);
  square.diagonal(-1).assign(Tensor({2, 3}));
  EXPECT_TRUE(holds<int>(square, {1, 0, 0, 2, 1, 0, 0, 3, 1}, {3, 3}));
  const Tensor first = wide.diagonal();
  wide.diagonal(1, 2, 0) += 4;
  EXPECT_TRUE(holds<int>(wide, {0, 0, 0, 0, 0, 0, 4, 0, 0, 4, 0, 0}, {2, 2, 3}));
  EXPECT_TRUE(holds<int>(first, {0, 4, 0, 0, 0, 0}, {3, 2}));
  square.set_requires_grad().diagonal(1).sum().backward();
  EXPECT_TRUE(holds<int>(square.grad(), {0, 1, 0, 0, 0, 1, 0, 0, 0}, {3, 3}));
}

TEST(TensorAssign, TheLastSliceMayBePadded) {
  Tensor x = Tensor({1, 2, 3, 4, 5});
  x[Slice{.step = 2}] += 10;
  EXPECT_TRUE(holds<int>(x, {11, 2, 13, 4, 15}, {5}));
}

TEST(TensorAssign, ValuesComputedBeforeStayWhatTheyWere) {
  Tensor x({1, 2, 3});
  const Tensor doubled = x * 2;
  x.assign(Tensor({10, 20, 30}));
  const Tensor tripled = x * 3;
  Tensor::realize({x, doubled, tripled});
  EXPECT_TRUE(holds<int>(doubled, {2, 4, 6}, {3}));
  EXPECT_TRUE(holds<int>(tripled, {30, 60, 90}, {3}));
  EXPECT_TRUE(holds<int>(x, {10, 20, 30}, {3}));
}

TEST(TensorAssign, ReadersOfTheOldVersionMayComeLater) {
  Tensor x({1, 2, 3});
  const Tensor doubled = x * 2;
  x += 100;
  x.realize();
  EXPECT_TRUE(holds<int>(doubled, {2, 4, 6}, {3}));
}

// `half` is computed on the way to the sum, and still wanted when what it is made of is gone.
TEST(TensorAssign, SoDoReadersThatAreUsedMeanwhile) {
  Tensor x({2.0, 4.0});
  const Tensor half = x / 2;
  const Tensor sum = half.sum();
  x.assign(x + sum);
  EXPECT_TRUE(holds<float>(x, {5, 7}, {2}));
  EXPECT_TRUE(holds<float>(half, {1, 2}, {2}));
  EXPECT_EQ(sum.item<float>(), 3);
}

TEST(TensorAssign, ReadersOfAVersionInBetween) {
  Tensor x({1, 2});
  x += 1;
  const Tensor between = x * 10;
  x += 1;
  x.realize();
  EXPECT_TRUE(holds<int>(between, {20, 30}, {2}));
  EXPECT_TRUE(holds<int>(x, {3, 4}, {2}));
}

TEST(TensorAssign, HappensOnceWhoeverAsksFirst) {
  Tensor x({1, 2});
  x += 1;
  const Tensor y = x * 10;
  EXPECT_TRUE(holds<int>(y, {20, 30}, {2}));
  EXPECT_TRUE(holds<int>(x, {2, 3}, {2}));
  EXPECT_TRUE(holds<int>(x * 10 + 1, {21, 31}, {2}));
}

// A method that changes nothing gives a tensor that looks at the same memory, and yet is another one.
TEST(TensorAssign, LeavesCopiesThatAreNoneYet) {
  Tensor x({1, 2});
  Tensor y = x.pad({{0, 0}});
  x += 1;
  EXPECT_TRUE(holds<int>(x, {2, 3}, {2}));
  EXPECT_TRUE(holds<int>(y, {1, 2}, {2}));
  const Tensor between = x.pad({{0, 0}}), turned = x.flip(0).pad({{0, 0}});
  x += 1;
  y *= 10;
  EXPECT_TRUE(holds<int>(between, {2, 3}, {2}));
  EXPECT_TRUE(holds<int>(turned, {3, 2}, {2}));
  EXPECT_TRUE(holds<int>(x, {3, 4}, {2}));
  EXPECT_TRUE(holds<int>(y, {10, 20}, {2}));
}

// One assignment runs, the next one waits: unless it needs what the first overwrites.
TEST(TensorAssign, OfWhichOnlyTheFirstIsAskedFor) {
  for (const bool needs_old : {false, true}) {
    SCOPED_TRACE(needs_old);
    Tensor x({1, 2});
    const Tensor before = x.pad({{0, 0}});
    x += 1;
    const Tensor between = x.pad({{0, 0}});
    x.assign(needs_old ? (before * 100) : Tensor({7, 8}));
    EXPECT_TRUE(holds<int>(between, {2, 3}, {2}));
    EXPECT_TRUE(
        holds<int>(x, needs_old ? std::vector<int>{100, 200} : std::vector<int>{7, 8}, {2}));
    EXPECT_TRUE(holds<int>(before, {1, 2}, {2}));
  }
}

// What a later write goes on from is asked for as well: both are there afterwards.
TEST(TensorAssign, LeavesWhatIsAskedForTogether) {
  const auto written = [](const Tensor& x, int place, int value) {
    return x.scatter(0, Tensor({place}), value);
  };
  const Tensor a = written(Tensor::zeros({3}), 0, 1), b = written(a, 1, 2), c = written(a, 2, 3),
               d = written(b, 2, 4);
  const Tensor turned = b.flip(0);
  Tensor::realize({d, a, turned, b, c});
  EXPECT_TRUE(holds<int>(a, {1, 0, 0}, {3}));
  EXPECT_TRUE(holds<int>(b, {1, 2, 0}, {3}));
  EXPECT_TRUE(holds<int>(turned, {0, 2, 1}, {3}));
  EXPECT_TRUE(holds<int>(c, {1, 0, 3}, {3}));
  EXPECT_TRUE(holds<int>(d, {1, 2, 4}, {3}));

  const Tensor x = Tensor({5, 6, 7}).realize(), copy = x.contiguous(),
               put = copy.index_put({Tensor({1})}, Tensor(9));
  Tensor::realize({copy, put});
  EXPECT_TRUE(holds<int>(copy, {5, 6, 7}, {3}));
  EXPECT_TRUE(holds<int>(put, {5, 9, 7}, {3}));

  auto both = jit([&](const Tensor& begun) {
    const Tensor first = written(begun, 0, -1);
    return std::vector<Tensor>{first, written(first, 1, -2)};
  });
  for (int call = 0; call < 4; ++call) {
    const std::vector<Tensor> made = both(Tensor::full({3}, call).realize());
    EXPECT_TRUE(holds<int>(made[0], {-1, call, call}, {3})) << call;
    EXPECT_TRUE(holds<int>(made[1], {-1, -2, call}, {3})) << call;
  }
}

TEST(TensorAssign, LeavesCopiesOfParts) {
  Tensor x({1, 2, 3, 4});
  Tensor part = x[Slice{.step = 2}];
  const Tensor copy = part.contiguous().realize();
  part.assign(part * 10);
  EXPECT_TRUE(holds<int>(x, {10, 2, 30, 4}, {4}));
  EXPECT_TRUE(holds<int>(copy, {1, 3}, {2}));
  const Tensor same = (x * 1).realize();  // folds to x itself
  x += 1;
  EXPECT_TRUE(holds<int>(x, {11, 3, 31, 5}, {4}));
  EXPECT_TRUE(holds<int>(same, {10, 2, 30, 4}, {4}));
}

TEST(TensorAssign, LeavesCopiesWithGradients) {
  Tensor x({1.0, 2.0});
  const Tensor factor = Tensor({2.0, 3.0}).set_requires_grad();
  x *= factor;
  const Tensor copy = x.pad({{0, 0}});
  EXPECT_TRUE(holds<float>(copy, {2, 6}, {2}));
  x *= factor;
  EXPECT_TRUE(holds<float>(x, {4, 18}, {2}));
  EXPECT_TRUE(holds<float>(copy, {2, 6}, {2}));
  EXPECT_EQ(error_of([&] { copy.gradient({factor}, Tensor({1.0, 1.0}))[0].realize(); }),
            "realize: the values of a tensor of shape (2,) were assigned to before they were "
            "needed, for a "
            "gradient perhaps: ask for what needs them first, or assign to a copy");
}

// The same expression, before and after: the older one is alive, and computed.
TEST(TensorAssign, EqualExpressionsOfTwoVersions) {
  Tensor x({1, 2});
  x.assign(x * 1).realize();
  const Tensor before = (x + 1).realize();
  x.assign(Tensor({10, 20})).realize();
  EXPECT_TRUE(holds<int>(x + 1, {11, 21}, {2}));
  EXPECT_TRUE(holds<int>(before, {2, 3}, {2}));
}

TEST(TensorAssign, OneAfterTheOther) {
  Tensor x({0, 0, 0});
  for (int i = 0; i < 3; ++i) x[i].assign(i + 1);
  x *= 2;
  x[Slice{1}] -= Tensor({1, 1});
  EXPECT_TRUE(holds<int>(x, {2, 3, 5}, {3}));
}

TEST(TensorAssign, MayReadWhatItOverwrites) {
  Tensor x({1, 2, 3, 4});
  x.assign(x.flip(0));
  EXPECT_TRUE(holds<int>(x, {4, 3, 2, 1}, {4}));
  x[Slice{1}].assign(x[Slice{.stop = 3}]);
  EXPECT_TRUE(holds<int>(x, {4, 4, 3, 2}, {4}));
}

TEST(TensorAssign, LazyTensors) {
  Tensor x = Tensor::zeros({3});
  const Tensor other = Tensor::zeros({3}), view = x[Slice{1}];
  x[1].assign(5);
  EXPECT_TRUE(holds<float>(x, {0, 5, 0}, {3}));
  EXPECT_TRUE(holds<float>(view, {5, 0}, {2}));
  EXPECT_TRUE(holds<float>(other, {0, 0, 0}, {3}));
  Tensor sum = Tensor({1, 2}) + 1;
  const Tensor seen = sum.reshape({2, 1});
  sum.assign(sum * 2);
  EXPECT_TRUE(holds<int>(seen, {4, 6}, {2, 1}));
}

// Equal graphs are computed once, into one BUFFER; that must not show.
TEST(TensorAssign, EqualTensorsStayApart) {
  const Tensor base({1, 2});
  Tensor x = base + 1, y = base + 1;
  Tensor::realize({x, y});
  x.assign(Tensor({0, 0}));
  x.realize();
  EXPECT_TRUE(holds<int>(y, {2, 3}, {2}));
  EXPECT_TRUE(holds<int>(base + 1, {2, 3}, {2}));
}

TEST(TensorAssign, ConvertsAndBroadcasts) {
  Tensor x = Tensor::zeros({2, 2}, {.dtype = dtypes::i32}).contiguous();
  x.assign(Tensor({1.9, 2.9}));
  EXPECT_TRUE(holds<int>(x, {1, 2, 1, 2}, {2, 2}));
  EXPECT_EQ(x.dtype(), dtypes::i32);
  EXPECT_EQ(error_of([&] { x.assign(Tensor({1, 2, 3})); }),
            "assign: shapes (2, 2) and (3,) do not broadcast: 2 does not match 3");
  EXPECT_EQ(error_of([&] { x.assign(Tensor::zeros({3, 2, 2})); }),
            "assign: a value of shape (3, 2, 2) does not fit a tensor of shape (2, 2)");
  EXPECT_EQ(error_of([&] { x[0].expand({3, 2}).assign(1); }),
            "assign: several elements of this tensor of shape (3, 2) are one in memory, as "
            "expand() makes them: "
            "assign to its contiguous()");
}

TEST(TensorAssign, OperatorsConvertToNothingLess) {
  Tensor i({1, 2}), b({true, false}), u({1, 2}, {.dtype = dtypes::u8});
  const std::string refused = " does not hold f32: cast() it first";
  EXPECT_EQ(error_of([&] { i /= 2; }), "/=: a tensor of i32" + refused);
  EXPECT_EQ(error_of([&] { i += 0.5; }), "+=: a tensor of i32" + refused);
  EXPECT_EQ(error_of([&] { b *= 0.5; }), "*=: a tensor of bool" + refused);
  EXPECT_EQ(error_of([&] { b += 1; }), "+=: a tensor of bool does not hold i32: cast() it first");
  EXPECT_EQ(error_of([&] { i.ipow(0.5); }), "ipow: a tensor of i32" + refused);
  EXPECT_EQ(error_of([&] { i %= Tensor({1.5}); }), "%=: a tensor of i32" + refused);
  u += i;
  EXPECT_TRUE(holds<int>(u, {2, 4}, {2}));
  b |= Tensor({false, true});
  EXPECT_TRUE(holds<bool>(b, {true, true}, {2}));
}

TEST(TensorAssign, Devices) {
  const Tensor x({1, 2});
  const Tensor moved = x.to("INTERP:1");
  EXPECT_EQ(moved.device(), "INTERP:1");
  EXPECT_TRUE(holds<int>(moved + 1, {2, 3}, {2}));
  EXPECT_EQ(error_of([&] { x + moved; }),
            "add: one tensor is on " + x.device() + ", another on INTERP:1: move one with to()");
}

TEST(TensorAssign, AHandleMovesAlone) {
  Tensor x({1.0f, 2.0f});
  const Tensor same = x, twice = x * 2;
  EXPECT_EQ(&x.to_("INTERP:1"), &x);
  EXPECT_EQ(x.device(), "INTERP:1");
  EXPECT_EQ(same.device(), twice.device());
  EXPECT_TRUE(holds<float>(x + 1, {2, 3}, {2}));
  EXPECT_TRUE(holds<float>(same + twice, {3, 6}, {2}));
  const UOp before = x.uop();
  EXPECT_TRUE(x.to_("INTERP:1").uop().is(before));
}

TEST(TensorAssign, AMovedHandleRequiresItsGradient) {
  Tensor x({1.0f, 2.0f}, {.requires_grad = true});
  (x * x).sum().backward();
  x.to_("INTERP:1");
  EXPECT_TRUE(x.requires_grad());
  EXPECT_EQ(x.grad().device(), "INTERP:1");
  (x * 3).sum().backward();
  EXPECT_TRUE(holds<float>(x.grad(), {5, 7}, {2}));
  const Tensor weight({4.0f, 5.0f}, {.requires_grad = true});
  Tensor result = weight * 2;  // no leaf: gradients go back over the way
  (result.to_("INTERP:1") * x).sum().backward();
  EXPECT_TRUE(holds<float>(weight.grad(), {2, 4}, {2}));
}

TEST(TensorAssign, NothingRunsBeforeItIsAskedFor) {
  const Tensor x({1, 2});
  const Tensor y = x + 1;
  EXPECT_EQ(y.uop()->op(), Op::Add);
  y.realize();
  EXPECT_EQ(y.uop()->op(), Op::Buffer);
  EXPECT_EQ(x.reshape({2, 1}).realize().uop()->op(), Op::Reshape);
}

TEST(TensorAssign, AClonesMemoryIsItsOwn) {
  Tensor x = Tensor({1, 2}).realize();
  Tensor clone = x.clone(), computed = (x * 2).clone();
  clone[0].assign(7);
  EXPECT_TRUE(holds<int>(x, {1, 2}, {2}));
  x.assign(Tensor({5, 6}));
  EXPECT_TRUE(holds<int>(clone, {7, 2}, {2}));
  EXPECT_TRUE(holds<int>(computed, {2, 4}, {2}));
  EXPECT_EQ(x.clone("INTERP:1").device(), "INTERP:1");
  EXPECT_FALSE(x.clone(x.device()).is(x));
}

TEST(TensorAssign, ReplacedHandles) {
  Tensor x({1, 2});
  const Tensor copy = x, view = x.reshape({2, 1}), other({3, 4});
  EXPECT_TRUE(x.replace(other).is(other));
  EXPECT_TRUE(holds<int>(copy + view.squeeze(1), {2, 4}, {2}));
  EXPECT_EQ(error_of([&] { x.replace(view); }),
            "replace: a tensor of shape (2, 1) for one of shape (2,)");
}

TEST(TensorAssign, WaysToReadValues) {
  EXPECT_EQ(Tensor({4}).item<int>(), 4);
  EXPECT_EQ(error_of([] { return Tensor({1, 2}).item<int>(); }),
            "item: a tensor of shape (2,) has 2 elements");
  EXPECT_EQ(error_of([] { return Tensor({1, 2}).data<float>().size(); }),
            "data: the tensor is i32, not f32");
  const Tensor x({1, 2, 3, 4});
  EXPECT_EQ(x.reshape({2, 2}).data<int>().data(), x.data<int>().data());
  EXPECT_EQ(error_of([&] { return x.flip(0).data<int>().size(); }),
            "data: a view of shape (4,) is not in order in memory: use contiguous()");
  const Tensor turned = x.flip(0).contiguous();
  EXPECT_EQ(turned.data<int>()[0], 4);
}

// Each reads what the others overwrite.
TEST(Assign, ValuesOfEachOtherAsTheyWereBefore) {
  for (const bool at_once : {false, true}) {
    Tensor a({1.f, 2.f}), b({3.f, 4.f}), c({5.f, 6.f});
    for (int i = 0; i < 2; ++i) {
      const Tensor x = a + b, y = b * c, z = c - a;
      a.assign(x);
      b.assign(y);
      c.assign(z);
    }
    if (at_once) Tensor::realize({a, b, c});
    EXPECT_TRUE(holds<float>(a, {19, 30}, {2}));
    EXPECT_TRUE(holds<float>(b, {60, 96}, {2}));
    EXPECT_TRUE(holds<float>(c, {0, -2}, {2}));
  }
}

// What is asked for reads memory as it was before one of them, and as it is after the other.
TEST(Assign, BothTimesOfWhatIsAskedFor) {
  Tensor a({1.f, 2.f}), b({3.f, 4.f}), c({5.f, 6.f});
  Tensor::realize({a, b, c});
  const Tensor before = c - b, doubled = a * 2;
  a.assign(c * c);
  b.assign(doubled);
  const Tensor sum = a + before;
  EXPECT_TRUE(holds<float>(sum, {27, 38}, {2}));
  EXPECT_TRUE(holds<float>(a, {25, 36}, {2}));
  EXPECT_TRUE(holds<float>(b, {2, 4}, {2}));
}

// The same of sums, which have kernels of their own, whether they are kept or not.
TEST(Assign, BothTimesOfSums) {
  Tensor a({1.f, 2.f}), b({3.f, 4.f}), c({5.f, 6.f});
  Tensor::realize({a, b, c});
  const Tensor tripled = a * 3;
  a.assign(b * 2);
  b.assign(c);
  const Tensor sum = (tripled + b).sum() + 1;
  Tensor::realize({sum, a, b});
  EXPECT_TRUE(holds<float>(sum, {21}, {}));
  EXPECT_TRUE(holds<float>(a, {6, 8}, {2}));
  EXPECT_TRUE(holds<float>(b, {5, 6}, {2}));
  const Tensor before = (c - a).sum(), doubled = b * 2;
  b.assign(c * c);
  a.assign(doubled);
  EXPECT_TRUE(holds<float>(b + before, {22, 33}, {2}));
  EXPECT_TRUE(holds<float>(a, {10, 12}, {2}));
}

// What is asked for reads memory before one assignment and after another, which itself has to wait
// for the first.
TEST(Assign, AnAssignmentBetweenBothTimes) {
  Tensor first, after;
  {
    Tensor a({1.f, 7.f}), b({5.f, 6.f});
    Tensor::realize({a, b});
    const Tensor before = a.lerp(a, 0.25);
    first = a.set({Slice{.step = 1}}, b);
    b.assign(b);
    after = b.maximum(before);
  }
  first.realize();
  EXPECT_TRUE(holds<float>(after, {5, 7}, {2}));
  EXPECT_TRUE(holds<float>(first, {5, 6}, {2}));
}

// A training loop by hand, that reads nothing until its end.
TEST(Assign, StepsOfSeveralParameters) {
  Tensor w({1.f, 2.f}), b({0.5f, 0.f});
  for (int i = 0; i < 2; ++i) {
    const std::vector<Tensor> g = (w * 3 + b).square().sum().gradient({w, b});
    w.assign(w - g[0] * 0.0625);
    b.assign(b - g[1] * 0.0625);
  }
  EXPECT_TRUE(holds<float>(w, {0.015625, 0.3125}, {2}));
  EXPECT_TRUE(holds<float>(b, {0.171875, -0.5625}, {2}));
}

}  // namespace
}  // namespace weft
