// A function that is replayed gives what it would give if it ran.

#include <weft/jit.h>

#include <optional>

#include <gtest/gtest.h>
#include <weft/dev/device/device.h>
#include <weft/nn.h>
#include <weft/random.h>
#include <weft/settings.h>

#include "../support/errors.h"
#include "tensor_test.h"

namespace weft {
namespace {

using Floats = std::vector<float>;

Floats values(const Tensor& tensor) { return tensor.to_vector<float>(); }
Tensor filled(float value) { return Tensor({value, 2 * value, 3 * value}); }

TEST(Jit, TakesNewArgumentsInEveryCall) {
  auto f = jit([](const Tensor& a, const Tensor& b) { return a * 2.0 + b; });
  for (int i = 0; i < 6; ++i) {
    const auto x = static_cast<float>(i);
    EXPECT_EQ(values(f(filled(x), filled(1))), (Floats{2 * x + 1, 4 * x + 2, 6 * x + 3}));
  }
  EXPECT_EQ(f.report().kernels, 1U);
}

TEST(Jit, RunsTheFunctionTwice) {
  int runs = 0;
  auto f = jit([&](const Tensor& a) {
    ++runs;
    return a + 1.0;
  });
  for (int i = 0; i < 5; ++i) f(filled(1));
  EXPECT_EQ(runs, 2);
  f.reset();
  for (int i = 0; i < 5; ++i) f(filled(1));
  EXPECT_EQ(runs, 4);
  const Context context({{"JIT", "0"}});
  f(filled(1));
  EXPECT_EQ(runs, 5);
}

TEST(Jit, ArgumentsAreViewsAndGraphsAsWell) {
  auto f = jit([](const Tensor& rows) { return rows.sum(1); });
  const Tensor all = Tensor::arange(24, {.dtype = dtypes::f32}).reshape({12, 2}).realize();
  for (std::int64_t i = 0; i < 6; ++i) {
    const auto at = static_cast<float>(8 * i + 1);
    EXPECT_EQ(values(f(all.shrink({{2 * i, 2 * i + 2}, {0, 2}}))), (Floats{at, at + 4}));
  }
  EXPECT_EQ(values(f(all.shrink({{0, 2}, {0, 2}}).transpose())), (Floats{2, 4}))
      << "in another order";
  EXPECT_EQ(values(f(Tensor::ones({2, 2}) * 3.0)), (Floats{6, 6})) << "not computed before";
  EXPECT_EQ(values(f(all.shrink({{3, 5}, {0, 2}}))), (Floats{13, 17})) << "at an odd address";
}

struct Pair {
  Tensor a;
  std::vector<Tensor> more;
  WEFT_FIELDS(a, more);
};

TEST(Jit, LooksIntoStructsBothWays) {
  auto f = jit([](Pair pair, const std::tuple<Tensor, int>& by) {
    return Pair{pair.a * std::get<0>(by), {pair.more[0] + pair.more[1], pair.a}};
  });
  for (int i = 0; i < 4; ++i) {
    const auto x = static_cast<float>(i);
    const Pair result = f(Pair{filled(x), {filled(1), filled(x)}}, std::tuple(filled(1), 7));
    EXPECT_EQ(values(result.a), (Floats{x, 4 * x, 9 * x}));
    EXPECT_EQ(values(result.more.at(0)), (Floats{1 + x, 2 + 2 * x, 3 + 3 * x}));
    EXPECT_EQ(values(result.more.at(1)), values(filled(x))) << "an argument comes back";
  }
}

TEST(Jit, ResultsThatShareMemoryStayAsWell) {
  auto twice = jit([](const Tensor& x) {
    const Tensor y = x * 2;
    return std::vector<Tensor>{y, y, y[0]};
  });
  std::vector<std::vector<Tensor>> all;
  for (int i = 0; i < 4; ++i) all.push_back(twice(Tensor({i, i + 1}).realize()));
  for (int i = 0; i < 4; ++i) {
    for (const std::size_t k : {0U, 1U})
      EXPECT_TRUE(holds<int>(all[i][k], {2 * i, 2 * i + 2}, {2}));
    EXPECT_EQ(all[i][2].item<int>(), 2 * i);
  }
}

// Padded, it is no view of what the function assigns to.
TEST(Jit, ResultsMadeOfWhatIsAssignedStayAsWell) {
  Tensor state = Tensor::zeros({2}).clone().realize();
  auto padded = jit([&](const Tensor& x) {
    state += x;
    return state.pad({{1, 0}});
  });
  std::vector<Tensor> all;
  for (int i = 0; i < 4; ++i) all.push_back(padded(Tensor({1.f, 2.f})));
  for (int i = 0; i < 4; ++i)
    EXPECT_TRUE(holds<float>(all[static_cast<std::size_t>(i)], {0, i + 1.f, 2 * i + 2.f}, {3}));
}

TEST(Jit, ResultsStayWhileTheyAreHeld) {
  auto f = jit([](const Tensor& a) { return a + 1.0; });
  std::vector<Tensor> held;
  for (int i = 0; i < 8; ++i) held.push_back(f(filled(static_cast<float>(i))));
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(values(held[static_cast<std::size_t>(i)])[0], static_cast<float>(i + 1));
}

TEST(Jit, ResultsAreFedBack) {
  auto f = jit([](const Tensor& a) { return a * 2.0; });
  Tensor x = filled(1);
  for (int i = 0; i < 10; ++i) x = f(x);
  EXPECT_EQ(values(x), values(filled(1024)));
}

TEST(Jit, AssignsInEveryCall) {
  Tensor sum = Tensor::zeros({3});
  const Tensor part = sum.shrink({{1, 2}});
  auto add = jit([&](const Tensor& by) { sum += by; });
  for (int i = 1; i <= 6; ++i) {
    add(filled(1));
    if (i % 2 == 0) {
      EXPECT_EQ(values(sum), values(filled(static_cast<float>(i))));
      EXPECT_EQ(values(part), (Floats{static_cast<float>(2 * i)})) << "a view of it";
    }
  }
}

TEST(Jit, WhatWasMadeOfTheOldValuesKeepsThem) {
  Tensor sum = Tensor::zeros({3}).realize();
  auto add = jit([&](const Tensor& by) { sum += by; });
  for (int i = 0; i < 4; ++i) {
    const Tensor before = sum * 10.0, copy = sum.clone();
    add(filled(1));
    EXPECT_EQ(values(before), values(filled(static_cast<float>(10 * i))));
    EXPECT_EQ(values(copy), values(filled(static_cast<float>(i))));
    EXPECT_EQ(values(sum * 10.0), values(filled(static_cast<float>(10 * (i + 1)))));
  }
}

TEST(Jit, SeesWhatIsAssignedBetweenCalls) {
  Tensor rate = Tensor(0.5F).realize(), sum = Tensor::zeros({3}),
         unowned = (Tensor::ones({3}) * 2.0).realize();
  auto add = jit([&](const Tensor& by) {
    sum += by * rate * unowned;
    return sum * 1.0;
  });
  for (int i = 0; i < 3; ++i) add(filled(1));
  EXPECT_EQ(values(sum), values(filled(3)));
  rate.assign(2.0);  // waits for its next use
  EXPECT_EQ(values(add(filled(1))), values(filled(7)));
  sum.assign(filled(1));
  EXPECT_EQ(values(add(filled(1))), values(filled(5)));
  unowned.assign(Tensor::ones({3}));  // moves into other memory
  EXPECT_EQ(values(add(filled(1))), values(filled(7)));
}

TEST(Jit, DrawsOtherNumbersInEveryCall) {
  const auto draw = [] { return Tensor::rand({3}) + Tensor::randn({3}); };
  Tensor::manual_seed(4);
  std::vector<Floats> expected;
  for (int i = 0; i < 5; ++i) expected.push_back(values(draw()));
  Tensor::manual_seed(4);
  auto f = jit(draw);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(values(f()), expected[static_cast<std::size_t>(i)]) << i;
}

TEST(Jit, TakesSizesThatVariablesAreBoundTo) {
  const UOp n = Variable("n", 1, 8);
  const Tensor all = Tensor::arange(8, {.dtype = dtypes::f32}).realize();
  auto f = jit([&](const Dim& size) { return (all.shrink({{0, size}}) + 1.0).sum(); });
  for (std::int64_t size : {3, 8, 1, 5, 2}) {
    const Dim bound(make(Op::Bind, {n, const_int(size)}));
    EXPECT_EQ(f(bound).item<float>(), static_cast<float>(size * (size + 1) / 2));
  }
  EXPECT_EQ(error_of([&] { return f(Dim(make(Op::Bind, {n, const_int(9)}))); }),
            "jit: variable n is bound to 9, outside 1 ... 8");
}

struct Model {
  nn::Linear hidden{2, 8}, out{8, 1};
  nn::BatchNorm1d norm{8};
  Tensor operator()(const Tensor& x) const { return out(norm(hidden(x)).tanh()); }
  WEFT_FIELDS(hidden, norm, out);
};

// Bit by bit, with random numbers, running statistics, moments and a rate that changes.
std::vector<Floats> trained(bool is_replayed) {
  const Context context({{"JIT", is_replayed ? "1" : "0"}});
  Tensor::manual_seed(7);
  Model model;
  nn::AdamW optimizer(model, {.lr = 0.05});
  nn::Scheduler schedule(optimizer, nn::CosineAnnealingLR{.t_max = 10});
  const Training training;
  auto step = jit([&](const Tensor& x, const Tensor& y) {
    optimizer.zero_grad();
    const Tensor loss = (model(x.dropout(0.2)) - y).square().mean();
    loss.backward();
    optimizer.step();
    return loss;
  });
  std::vector<Floats> result;
  for (int i = 0; i < 8; ++i) {
    result.push_back(values(step(Tensor::rand({16, 2}), Tensor::rand({16, 1}))));
    schedule.step();
    if (i == 4) result.push_back(values(model(Tensor::ones({3, 2}))));
  }
  for (const auto& [name, tensor] : get_state_dict(model))
    result.push_back(values(tensor.cast(dtypes::f32)));
  return result;
}

TEST(Jit, TrainsAsWithoutIt) { EXPECT_EQ(trained(true), trained(false)); }

// Of summands the gradient is the same graph, and in the same memory.
TEST(Jit, EqualGradientsHaveTheirMemoryInCommon) {
  Tensor a = filled(1).set_requires_grad(), b = filled(2).set_requires_grad();
  nn::SGD optimizer(std::vector{a, b}, {.lr = 0.25});
  auto step = jit([&](const Tensor& x) {
    optimizer.zero_grad();
    (x + a + b).square().sum().backward();
    optimizer.step();
  });
  for (const float i :
       {0.0F, 1.0F, 2.0F, 3.0F, 4.0F}) {  // each step is a quarter of 2 (x + a + b), for both
    const Floats a_before = values(a), b_before = values(b), sum = values(filled(i) + a + b);
    step(filled(i));
    EXPECT_EQ(values(a.grad()), values(b.grad()));
    for (std::size_t at = 0; at < 3; ++at) {
      EXPECT_EQ(values(a)[at], a_before[at] - sum[at] / 2);
      EXPECT_EQ(values(b)[at], b_before[at] - sum[at] / 2);
      EXPECT_EQ(values(b.grad())[at], 2 * sum[at]);
    }
  }
}

TEST(Jit, MemoryOfItsOwnIsNoMoreThanWhatIsNeededAtOnce) {
  const Context one_by_one{{"LOOPS", 0}};
  auto f = jit([](Tensor x) {
    for (int i = 0; i < 20; ++i) x = (x.matmul(x) * 0.01).contiguous();
    return x.sum();
  });
  for (int i = 0; i < 3; ++i) f(Tensor::ones({64, 64}));
  EXPECT_GE(f.report().kernels, 20U);
  EXPECT_EQ(f.report().least_bytes, 2U * 64 * 64 * 4);
  EXPECT_EQ(f.report().own_bytes, f.report().least_bytes);
}

// A gradient that is held between calls, of values as large as it.
struct Chain {
  Tensor weight = (Tensor::randn({64, 64}) / 8).realize().set_requires_grad();
  nn::SGD optimizer{std::vector{weight}, {.lr = 0.125}};

  void operator()(Tensor x) {
    optimizer.zero_grad();
    for (int i = 0; i < 4; ++i) x = x.matmul(weight).contiguous().tanh();
    x.square().mean().backward();
    optimizer.step();
  }
  Floats gradient() const { return values(weight.grad()); }
};

auto replayed(Chain& chain) {
  return jit([&chain](const Tensor& x) { chain(x); });
}

// Two alike: one trained by replay.
struct Twins {
  Chain plain, chain;
  Twins() { chain.weight.assign(plain.weight).realize(); }
};

Tensor rows(int count) { return Tensor::randn({count, 64}).realize(); }

TEST(Jit, GradientsLieInItsBlock) {
  Twins twins;
  auto step = replayed(twins.chain);
  const auto memory = [] { return find_device("CPU").memory_use().bytes; };
  const std::size_t before = memory();
  for (int i = 0; i < 5; ++i) {
    const Tensor x = rows(64);
    const Tensor of_the_last = i > 0 ? twins.chain.weight.grad() * 2.0 : x;
    const Floats expected = values(i > 0 ? twins.plain.weight.grad() * 2.0 : x);
    twins.plain(x);
    step(x);
    EXPECT_EQ(twins.chain.gradient(), twins.plain.gradient()) << i;
    EXPECT_EQ(values(of_the_last), expected) << i;
  }
  twins.plain.optimizer.zero_grad();
  const std::size_t last_argument = std::size_t{64} * 64 * sizeof(float);
  EXPECT_LE(memory() - before, step.report().own_bytes + last_argument);
}

TEST(Jit, GradientsStayWhereItGoes) {
  Twins twins;
  const Tensor x = rows(64);
  {
    auto step = replayed(twins.chain);
    for (int i = 0; i < 3; ++i) step(x);
  }
  for (int i = 0; i < 3; ++i) twins.plain(x);
  const Tensor others = rows(64).matmul(rows(64).T()).realize();
  EXPECT_EQ(twins.chain.gradient(), twins.plain.gradient());
  twins.plain(x);
  twins.chain(x);
  EXPECT_EQ(twins.chain.gradient(), twins.plain.gradient());
}

// A gradient of each, in a block of each.
TEST(Jit, TwoTrainOneModel) {
  Twins twins;
  std::optional few = replayed(twins.chain), many = replayed(twins.chain);
  const auto train = [&](auto& step, int count) {
    const Tensor x = rows(count);
    twins.plain(x);
    step(x);
    EXPECT_EQ(values(twins.chain.weight), values(twins.plain.weight));
  };
  for (int i = 0; i < 4; ++i) {
    train(*few, 16);
    train(*many, 64);
    EXPECT_EQ(twins.chain.gradient(), twins.plain.gradient()) << i;
  }
  few.reset();
  EXPECT_EQ(twins.chain.gradient(), twins.plain.gradient());
  train(*many, 64);
  EXPECT_EQ(twins.chain.gradient(), twins.plain.gradient());
}

TEST(Jit, OneWithinAnotherIsPartOfIt) {
  Tensor count = Tensor::zeros({});
  auto inner = jit([&](const Tensor& x) {
    count += 1.0;
    return x + 1.0;
  });
  auto outer = jit([&](const Tensor& x) { return inner(inner(x)) * 2.0; });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(values(outer(filled(1)))[0], 6.0F) << i;
  EXPECT_EQ(count.item<float>(), 10.0F);
}

TEST(Jit, RefusesOtherForms) {
  auto f = jit([](const Tensor& x, double by, const std::string&) { return x * by; });
  for (int i = 0; i < 2; ++i) f(filled(1), 2.0, "a");
  const std::string captured = ", where the function was captured with ";
  EXPECT_EQ(error_of([&] { return f(Tensor::ones({4}), 2.0, "a"); }),
            "jit: argument 1 is f32 of shape (4,) on CPU" + captured + "f32 of shape (3,) on CPU");
  EXPECT_EQ(error_of([&] { return f(filled(1).cast(dtypes::f64), 2.0, "a"); }),
            "jit: argument 1 is f64 of shape (3,) on CPU" + captured + "f32 of shape (3,) on CPU");
  EXPECT_EQ(
      error_of([&] { return f(filled(1).to("INTERP"), 2.0, "a"); }),
      "jit: argument 1 is f32 of shape (3,) on INTERP" + captured + "f32 of shape (3,) on CPU");
  EXPECT_EQ(error_of([&] { return f(filled(1), 2.5, "a"); }),
            "jit: argument 2 = 2.5" + captured + "argument 2 = 2");
  EXPECT_EQ(error_of([&] { return f(filled(1), 2.0, "b"); }),
            "jit: argument 3 = b" + captured + "argument 3 = a");
  EXPECT_EQ(values(f(filled(1), 2.0, "a")), values(filled(2))) << "it goes on";
}

TEST(Jit, RefusesWhatItCannotRepeat) {
  auto reads = jit([](const Tensor& x) { return x * static_cast<double>(x.sum().item<float>()); });
  reads(filled(1));
  EXPECT_EQ(error_of([&] {
              return reads(filled(1));
            }).find("item: a function that is given to jit() reads"),
            0U);
  auto assigns = jit([](Tensor x) { x += 1.0; });
  assigns(filled(1));
  EXPECT_EQ(error_of([&] { return assigns(filled(1)), 0; }),
            "jit: the function assigns to argument 1: let it assign to a tensor that it captures");
  Tensor state = filled(1);
  auto overlaps = jit([&](const Tensor& x) { state += x; });
  for (int i = 0; i < 2; ++i) overlaps(filled(1));
  EXPECT_EQ(error_of([&] { return overlaps(state), 0; }),
            "jit: argument 1 lies in memory that the function assigns to: give it a copy, or let "
            "the function capture it");
}

// A copy of what had no memory when the function was called first.
TEST(Jit, CopiesWhatItCaptures) {
  const Tensor x = Tensor({1.f, 2.f}) * 2;
  auto function = jit([&] { return x.contiguous(); });
  const Tensor first = function(), second = function(), third = function();
  for (const Tensor& each : {first, second, third, x}) EXPECT_TRUE(holds<float>(each, {2, 4}, {2}));
}

TEST(Jit, ReplaysCopiesBetweenDevices) {
  auto f = jit([](const Tensor& x) { return (x.to("INTERP") + 1.0).to("CPU") * 2.0; });
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(values(f(filled(static_cast<float>(i))))[2], static_cast<float>(6 * i + 2));
}

// What the function writes to is a copy of the values that it has in its text.
TEST(Jit, ValuesInTheFunctionAreThereAnewInEachCall) {
  auto first = jit([](const Tensor& x) {
    Tensor t({1.f, 2.f, 3.f});
    t.set({0}, x.sum());
    return t * 2;
  });
  auto somewhere = jit([](const Tensor& place) {
    Tensor t({1.f, 2.f, 3.f});
    t.set({place}, 9.f);
    return t.contiguous();
  });
  for (int call = 0; call < 6; ++call) {
    const auto number = static_cast<float>(call);
    EXPECT_EQ(first(Tensor({number, 1.f})).to_vector<float>(),
              (std::vector<float>{2 * number + 2, 4, 6}));
    std::vector<float> expected{1, 2, 3};
    expected[static_cast<std::size_t>(call % 3)] = 9;
    EXPECT_EQ(somewhere(Tensor({call % 3})).to_vector<float>(), expected);
  }
}

}  // namespace
}  // namespace weft
