// Gradients after the program has written, read or looked away: right, or refused.

#include "tensor_test.h"

namespace weft {
namespace {

Tensor leaf() { return Tensor({3.f}, {.requires_grad = true}); }

TEST(Lineage, WhatIsMadeWithinNoGradIsConstant) {
  for (const bool is_read : {false, true}) {
    Tensor x = leaf(), c, v;
    {
      const NoGrad constant;
      c = x * 2;
      v = x[0];
    }
    if (is_read) Tensor::realize({c, v});
    (x * c + x * v).sum().backward();
    EXPECT_TRUE(holds<float>(x.grad(), {9}, {1}));
  }
}

// A write between a loss and its gradient, done or not yet.
TEST(Lineage, WritesInBetweenAreRefused) {
  const std::string start =
      "backward: the tensor of shape (1,) that the gradient is for was assigned to at ";
  const std::string end = " after this was computed from it: ask for the gradient before";
  for (const bool is_done : {false, true}) {
    Tensor x = leaf(), other = leaf();
    const Tensor loss = (x * x + other).sum();
    {
      const NoGrad constant;
      x -= 0.5;
    }
    if (is_done) x.realize();
    const std::string error = error_of([&] { loss.backward(); });
    EXPECT_TRUE(error.starts_with(start) && error.ends_with(end)) << error;
    x.set_grad({});
    (x * x).sum().backward();
    EXPECT_TRUE(holds<float>(x.grad(), {5}, {1}));
  }
  Tensor x({3.f});
  const Tensor loss = (x * x).sum();
  x.assign(1);
  EXPECT_EQ(error_of([&] { loss.gradient({x}); }),
            "gradient: the tensor of shape (1,) that the gradient is for was assigned to" + end);
}

// An optimiser's step before a second loss's backward().
TEST(Lineage, StepsBetweenTwoLossesAreRefused) {
  Tensor x = leaf();
  nn::SGD optimizer({x}, {.lr = 0.1});
  const Tensor first = (x * x).sum(), second = (x * x * x).sum();
  first.backward();
  optimizer.step();
  EXPECT_NE(error_of([&] { second.backward(); }).find("was assigned to"), std::string::npos);
}

TEST(Lineage, ReadingNeverChangesAGradient) {
  const Tensor x({3.f});
  const Tensor h = x * 2;
  const auto gradient = [&] { return (h * h + x).sum().gradient({x})[0]; };
  EXPECT_TRUE(holds<float>(gradient(), {25}, {1}));
  EXPECT_EQ(h.str(), "[6.]");
  EXPECT_TRUE(holds<float>(gradient(), {25}, {1}));
  const Tensor square = (h * h).realize();  // memory that was computed from memory
  EXPECT_TRUE(holds<float>((square + x).gradient({x})[0], {25}, {1}));
  EXPECT_TRUE(holds<float>((h.detach() * x).gradient({x})[0], {6}, {1}));
  EXPECT_TRUE(holds<float>((h * h).gradient({h})[0], {12}, {1}));
  const Tensor tracked = leaf(), g = tracked * 2;
  g.realize();
  EXPECT_TRUE(holds<float>((g * g + tracked).gradient({tracked})[0], {25}, {1}));
}

// What is read is computed by functions that have gradients of their own.
TEST(Lineage, ReadingKeepsFunctionsOfGradients) {
  const Tensor x({2.f});
  const Tensor h = x.sigmoid();
  const float before = (h * h).sum().gradient({x})[0].item<float>();
  EXPECT_EQ(h.str(), "[0.8808]");
  EXPECT_FLOAT_EQ((h * h).sum().gradient({x})[0].item<float>(), before);
  // One of memory that the function looks at as its own argument, with a target on the way.
  const Tensor y({1.f, 2.f, 3.f});
  const Tensor products = y.cumprod(0), squares = products * products;
  EXPECT_EQ(products.str(), "[1. 2. 6.]");
  EXPECT_EQ(squares.str(), "[ 1.  4. 36.]");
  EXPECT_TRUE(holds<float>(squares.sum().gradient({y})[0], {82, 40, 24}, {3}));
  EXPECT_TRUE(holds<float>(squares.sum().gradient({products})[0], {2, 4, 12}, {3}));
}

// Memory that is gone, or was overwritten, is not kept for that.
TEST(Lineage, WhatIsForgottenIsRefused) {
  const std::string forgotten =
      "gradient: what was computed from the tensor of shape (1,) was read or realized while "
      "nothing required a "
      "gradient, and how it was computed is forgotten: set_requires_grad() first, or detach() what "
      "is constant";
  const Tensor x({3.f});
  Tensor square;
  {
    const Tensor h = (x * 2).realize();
    square = (h * h).realize();
  }
  EXPECT_EQ(error_of([&] { (square + x).gradient({x}); }), forgotten);
  Tensor w({2.f});
  const Tensor product = (x * w).realize();
  EXPECT_TRUE(holds<float>((product + x).gradient({x})[0], {3}, {1}));
  w.assign(5).realize();
  EXPECT_EQ(error_of([&] { (product + x).gradient({x}); }), forgotten);
}

// What was read first does not know what is read later, though it contains that.
TEST(Lineage, WhatIsReadLaterIsFound) {
  enum Read { Loss, Target, Between, Square };
  using Order = std::vector<Read>;
  for (const Order& order :
       {Order{Loss, Target}, Order{Loss, Between, Target}, Order{Square, Loss, Target},
        Order{Between, Loss, Target}, Order{Square, Target, Loss}}) {
    for (const bool keeps_source : {true, false}) {
      Tensor x({1.f, 2.f, 3.f});
      Tensor between = x + 1, target = between * 2, square = target * target, loss = square.sum();
      const Tensor other = (x * 3).realize();
      if (!keeps_source) x = Tensor();
      for (const Read read : order)
        (read == Loss      ? loss
         : read == Target  ? target
         : read == Between ? between
                           : square)
            .realize();
      EXPECT_TRUE(holds<float>((loss + target.sum()).gradient({target})[0], {9, 13, 17}, {3}));
      EXPECT_TRUE(holds<float>((loss + other.sum()).gradient({other})[0], {1, 1, 1}, {3}));
    }
  }
}

// Which of them are read, and when, makes no difference to what goes through one target to another.
TEST(Lineage, TargetsBehindTargetsGetTheirs) {
  for (const bool reads_loss : {false, true})
    for (const bool reads_hidden : {false, true}) {
      const Tensor x({1.f, 2.f, 3.f});
      const Tensor hidden = x * 2, loss = (hidden * x).sum();
      if (reads_loss) Tensor(loss).realize();
      if (reads_hidden) Tensor(hidden).realize();
      const std::vector<Tensor> gradients = loss.gradient({hidden, x});
      EXPECT_TRUE(holds<float>(gradients[0], {1, 2, 3}, {3}));
      EXPECT_TRUE(holds<float>(gradients[1], {4, 8, 12}, {3}));
    }
}

// A loss may have a target as its memory in one place, and as how it is computed in another.
TEST(Lineage, MemoryAndHowItIsComputedAreOneTarget) {
  const Tensor x({1.f, 2.f, 3.f}), other({1.f, 1.f, 1.f});
  const Tensor target = x * 2, before = target.square();
  Tensor(target).realize();
  const Tensor loss = (before + target).sum();
  EXPECT_TRUE(holds<float>(loss.gradient({target})[0], {5, 9, 13}, {3}));
  const std::vector<Tensor> gradients = (loss + other.sum()).gradient({target, x, other});
  EXPECT_TRUE(holds<float>(gradients[0], {5, 9, 13}, {3}));
  EXPECT_TRUE(holds<float>(gradients[1], {10, 18, 26}, {3}));
  EXPECT_TRUE(holds<float>(gradients[2], {1, 1, 1}, {3}));
}

// A detached view has the same memory as what it is of.
TEST(Lineage, WhatIsDetachedStaysSo) {
  for (const bool is_tracked : {false, true})
    for (const bool reads_loss : {false, true}) {
      Tensor x({1.f, 2.f, 3.f});
      if (is_tracked) x.set_requires_grad();
      const Tensor h = x * 2, other({1.f}), loss = (h.detach() * h).sum() + other.sum();
      h.detach().realize();
      if (reads_loss) Tensor(loss).realize();
      EXPECT_TRUE(holds<float>(loss.gradient({h})[0], {2, 4, 6}, {3}));
      EXPECT_TRUE(holds<float>(loss.gradient({h, other})[0], {2, 4, 6}, {3}));
    }
  const Tensor x({1.f, 2.f, 3.f}), d = (x * 2).detach(), loss = d.square().sum();
  Tensor(d).realize();
  EXPECT_TRUE(holds<float>(loss.gradient({d})[0], {4, 8, 12}, {3}));
}

// Steps that nobody has computed yet, as in the body of a jit.
TEST(Lineage, TargetsWithPendingAssignments) {
  Tensor w({1.f, 2.f}), b({0.f, 0.f});
  for (int i = 0; i < 2; ++i) {
    const std::vector<Tensor> gradients = (w * 3 + b).square().sum().gradient({w, b});
    w.assign(w - gradients[0] * 0.0625);
  }
  EXPECT_TRUE(holds<float>(w, {0.015625, 0.03125}, {2}));
}

TEST(Lineage, TargetsInOneMemory) {
  const Tensor x({1.f, 2.f, 3.f}), t = x * 2, before = t.square();
  Tensor(t).realize();
  const std::vector<Tensor> gradients = (before + t).sum().gradient({t, t});
  EXPECT_TRUE(holds<float>(gradients[0], {5, 9, 13}, {3}));
  EXPECT_TRUE(holds<float>(gradients[1], {5, 9, 13}, {3}));
}

// Memory of a result that nobody holds any more is that of a later call.
TEST(Lineage, ResultsOfReplaysAreNotThoseOfLaterCalls) {
  const Tensor w({2.f});
  auto f = jit([](const Tensor& x) { return x + 1; });
  for (int i = 0; i < 3; ++i) f(Tensor({1.f}).realize()).realize();
  Tensor r = f(Tensor({1.f}).realize());
  const Tensor loss = (w * r).sum().realize();
  r = Tensor();
  for (int i = 0; i < 4; ++i) f(Tensor({7.f}).realize()).realize();
  std::string error;
  Tensor gradient;
  error = error_of([&] { gradient = loss.gradient({w})[0]; });
  EXPECT_TRUE(!gradient.is_null() ? holds<float>(gradient, {2}, {1})
                                  : error.find("is forgotten") != std::string::npos);
}

TEST(Lineage, WhatIsNotReadIsFoundInWhatIs) {
  const Tensor x({1.f, 2.f, 3.f, 4.f});
  const Tensor mean = x.reshape({2, 2}).mean(1), loss = mean.square().sum();
  Tensor(loss).realize();
  EXPECT_TRUE(holds<float>(loss.gradient({mean})[0], {3, 7}, {2}));
  // By places that nobody else has.
  const Tensor chosen = x[{Index({3, 0})}], sum = chosen.square().sum();
  Tensor(chosen).realize();
  Tensor(sum).realize();
  EXPECT_TRUE(holds<float>(sum.gradient({x})[0], {2, 0, 0, 8}, {4}));
}

TEST(Lineage, WhatIsAssignedIsNoPartOfWhatWasReadBefore) {
  const Tensor x({1.f, 2.f, 3.f});
  Tensor w = Tensor::zeros({3}).clone();
  w.realize();
  const Tensor loss = (x * 2).square().sum();
  loss.realize();
  w.assign(x * 2).realize();
  EXPECT_TRUE(holds<float>(loss.gradient({w}, {}, true)[0], {0, 0, 0}, {3}));
}

TEST(Lineage, WhatIsReadLaterBesideWhatIsGoneIsRefused) {
  Tensor x({1.f, 2.f, 3.f});
  const Tensor target = x * 2, loss = (target * x).sum();
  loss.realize();
  target.realize();
  EXPECT_TRUE(holds<float>(loss.gradient({target})[0], {1, 2, 3}, {3}));
  x.assign(Tensor({0.f, 0.f, 0.f})).realize();
  EXPECT_NE(error_of([&] { loss.gradient({target}); }).find("how it was computed is forgotten"),
            std::string::npos);
}

TEST(Lineage, TargetsHaveToBeReached) {
  const Tensor x({3.f}), other({1.f, 2.f});
  const Tensor loss = (x * 2).sum();
  EXPECT_EQ(
      error_of([&] { loss.gradient({x, other}); }),
      "gradient: this tensor does not depend on target 1, of shape (2,): allow_unused makes its "
      "gradient 0");
  EXPECT_EQ(
      error_of([&] { (x.detach() * 2).gradient({x}); }),
      "gradient: this tensor does not depend on target 0, of shape (1,): allow_unused makes its "
      "gradient 0");
  const std::vector<Tensor> gradients = loss.gradient({x, other}, {}, true);
  EXPECT_TRUE(holds<float>(gradients[0], {2}, {1}));
  EXPECT_TRUE(holds<float>(gradients[1], {0, 0}, {2}));
}

// A write to what gradients pass through keeps what was there: reading in between changes nothing.
TEST(Lineage, WritesToWhatIsTrackedKeepWhatWasThere) {
  const Tensor x({3.f, 4.f, 15.f}, {.requires_grad = true});
  Tensor y = x * 2;
  y.set({1}, y[2] * y[0]);
  y.set({y > 100.}, 0.7);
  EXPECT_TRUE(holds<float>(y, {6, 0.7f, 30}, {3}));
  y[0] *= y[2];
  y.sum().backward();
  EXPECT_TRUE(holds<float>(x.grad(), {60, 0, 14}, {3}));
}

// What is assigned to and then read is the new value, of which gradients are asked for.
TEST(Lineage, TrainingByHandGoesOn) {
  Tensor x({3.f});
  for (int i = 0; i < 3; ++i) x.assign(x - 0.25 * (x * x).sum().gradient({x})[0]);
  EXPECT_TRUE(holds<float>(x, {0.375}, {1}));
  Tensor w = leaf();
  for (int i = 0; i < 3; ++i) {
    w.set_grad({});
    (w * w).sum().backward();
    const NoGrad constant;
    w -= 0.25 * w.grad();
  }
  EXPECT_TRUE(holds<float>(w, {0.375}, {1}));
}

}  // namespace
}  // namespace weft
