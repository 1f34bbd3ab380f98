// Steps that a program repeats are one kernel, and the same as one by one.

#include <algorithm>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>
#include <weft/nn/recurrent.h>
#include <weft/weft.h>

#include "../support/open_sizes.h"

namespace weft {
namespace {

// Small: a step makes what steps before have rounded no larger.
Tensor random(const Shape& shape) { return (Tensor::randn(shape) * 0.15).realize(); }
Tensor exact(const Tensor& x) { return x.to("INTERP").cast(dtypes::f64).realize(); }

std::size_t kernels(const Tensor& tensor) { return tensor.cost().kernels; }

using Function = std::function<Tensor(const std::vector<Tensor>& x)>;

void expect_near(const Tensor& value, const std::vector<double>& expected, double error) {
  const auto values = value.cast(dtypes::f64).to_vector<double>();
  ASSERT_EQ(values.size(), expected.size());
  double largest = 0;
  for (const double number : expected) largest = std::max(largest, std::abs(number));
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], expected[i], error * largest) << "at " << i;
}

// As in f64 one by one: in f32, and on the reference, which runs the loop as it is written.
void expect_same(const Function& f, const std::vector<Tensor>& x, double error = 3e-6) {
  std::vector<Tensor> wide;
  for (const Tensor& each : x) wide.push_back(exact(each));
  std::vector<double> expected;
  {
    const Context one_by_one{{"LOOPS", 0}};
    expected = f(wide).to_vector<double>();
  }
  expect_near(f(x), expected, error);
  expect_near(f(wide), expected, 1e-12);
}

// x (time, batch, in), and a state for each layer and direction.
Tensor lstm(const std::vector<Tensor>& x, const nn::RecurrentOptions& options = {}) {
  nn::LSTM net(x[0].size(2), x[3].size(1), options);
  std::size_t at = 2;
  net.visit_fields([&](auto&&, auto& field) {
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, Tensor>)
      if (!field.is_null()) field = x[at++];
  });
  const auto [y, last] = net(x[0], {x[1], x[1] * 0.5});
  return Tensor::cat({y.flatten(), last.h.flatten(), last.c.flatten()});
}

std::vector<Tensor> lstm_inputs(std::int64_t time, std::int64_t batch, std::int64_t in,
                                std::int64_t hidden, std::int64_t directions = 1) {
  std::vector<Tensor> x{random({time, batch, in}), random({directions, batch, hidden})};
  for (std::int64_t i = 0; i < directions; ++i)
    for (const Shape& shape :
         {Shape{4 * hidden, in}, Shape{4 * hidden, hidden}, Shape{4 * hidden}, Shape{4 * hidden}})
      x.push_back(random(shape));
  return x;
}

TEST(Rolled, AnLstmIsALoop) {
  const auto x = lstm_inputs(20, 2, 8, 24);
  expect_same([](const auto& at) { return lstm(at); }, x);
  EXPECT_LE(kernels(lstm(x)), 5U);
}

TEST(Rolled, TheOtherWayAround) {
  const auto x = lstm_inputs(12, 3, 8, 16, 2);
  expect_same([](const auto& at) { return lstm(at, {.bidirectional = true}); }, x);
  EXPECT_LE(kernels(lstm(x, {.bidirectional = true})), 10U);
}

// A GRU that resets h before the product: one product follows another in each step.
Tensor gru(const std::vector<Tensor>& x) {
  Tensor h = x[1];
  std::vector<Tensor> all;
  for (const Tensor& now : x[0].unbind()) {
    const Tensor update = (now + h.matmul(x[2])).sigmoid(),
                 reset = (now + h.matmul(x[3])).sigmoid();
    const Tensor next = (now + (reset * h).matmul(x[4])).tanh();
    h = (1 - update) * next + update * h;
    all.push_back(h);
  }
  return Tensor::stack(all, 1);
}

TEST(Rolled, AStepOfSeveralProducts) {
  for (const std::int64_t hidden : {7, 16, 24}) {
    const std::vector<Tensor> x{random({10, 2, hidden}), random({2, hidden}),
                                random({hidden, hidden}), random({hidden, hidden}),
                                random({hidden, hidden})};
    expect_same(gru, x);
    EXPECT_LE(kernels(gru(x)), 4U);
  }
}

// Nothing but the state, of which the last alone is wanted.
TEST(Rolled, PowersOfAMatrix) {
  const auto power = [](const std::vector<Tensor>& x) {
    Tensor v = x[0];
    for (int i = 0; i < 25; ++i) v = x[1].matmul(v).tanh();
    return v;
  };
  const std::vector<Tensor> x{random({32}), random({32, 32})};
  expect_same(power, x);
  EXPECT_LE(kernels(power(x)), 3U);
}

// Every step is asked for by itself, and some by name.
TEST(Rolled, WhatOthersReadOfSteps) {
  const auto f = [](const std::vector<Tensor>& x) {
    Tensor h = x[1];
    std::vector<Tensor> some;
    for (int i = 0; i < 14; ++i) {
      h = (h.matmul(x[0]) + x[2].select(0, 13 - i)).tanh();
      if (i % 3 == 1) some.push_back(h * static_cast<double>(i));
    }
    return Tensor::cat(some, 0) + h.sum();
  };
  expect_same(f, {random({10, 10}), random({1, 10}), random({14, 1, 10})});
}

// A step whose kernel would have another form elsewhere: one of fewer products.
TEST(Rolled, AStepThatConvolves) {
  const auto f = [](const std::vector<Tensor>& x) {
    Tensor h = x[0];
    for (int i = 0; i < 12; ++i)
      h = ((h * 0.25).conv2d(x[1], {}, {.padding = 1}) + x[2].select(0, i)).tanh();
    return h;
  };
  expect_same(f, {random({1, 16, 12, 12}), random({16, 16, 3, 3}), random({12, 1, 16, 12, 12})},
              1e-5);
}

// A store of one element has no loops. Alone or beside others it is done in each step.
TEST(Rolled, OneElementOfAStep) {
  const auto losses = [](const std::vector<Tensor>& x) {
    std::vector<Tensor> all;
    Tensor h = x[2];
    for (int t = 0; t < 8; ++t) {
      h = (h.matmul(x[1]) + x[0][{Slice{t, t + 1}}]).tanh();
      all.push_back(h.square().sum());
    }
    return Tensor::cat({Tensor::stack(all, 0), h.flatten()});
  };
  const auto conjugate_gradients = [](const std::vector<Tensor>& given) {
    const Tensor& m = given[0];
    Tensor x = given[1] * 0, r = given[1], p = r, rs = r.dot(r);
    for (int t = 0; t < 10; ++t) {
      const Tensor mp = m.matmul(p), alpha = rs / p.dot(mp) * 0.7;
      x = x + alpha * p;
      r = r - alpha * mp;
      const Tensor next = r.dot(r);
      p = r + next / rs * p;
      rs = next;
    }
    return x;
  };
  const auto regression = [](const std::vector<Tensor>& x) {
    Tensor w = x[2];
    for (int t = 0; t < 10; ++t) w = w - ((x[0] * w - x[1]) * x[0]).mean() * 0.1;
    return w;
  };
  expect_same(losses, {random({8, 2}), random({2, 2}), random({1, 2})});
  const Tensor made = random({4, 4}), matrix = (made.matmul(made.T()) + Tensor::eye(4)).realize();
  expect_same(conjugate_gradients, {matrix, random({4})}, 1e-5);
  expect_same(regression, {random({3}), random({3}), random({1})});
  EXPECT_EQ(kernels(regression({random({3}), random({3}), random({1})})), 2U);
}

// What a step sums is what the same step has written.
TEST(Rolled, SumsOfWhatTheStepHasWritten) {
  const auto power_iteration = [](const std::vector<Tensor>& x) {
    Tensor v = x[1];
    for (int t = 0; t < 12; ++t) {
      const Tensor w = x[0].matmul(v) + x[1];
      v = x[0].matmul(w / (w.square().sum().sqrt() + 1));
    }
    return v;
  };
  expect_same(power_iteration, {random({8, 8}), random({8})});
}

// A step that looks back further than the one before is left as it is.
TEST(Rolled, TwoStepsBack) {
  const auto f = [](const std::vector<Tensor>& x) {
    Tensor before = x[0], h = x[1];
    for (int i = 0; i < 12; ++i) {
      const Tensor next = (h.matmul(x[2]) + before * 0.5).tanh();
      before = h;
      h = next;
    }
    return h;
  };
  expect_same(f, {random({3, 8}), random({3, 8}), random({8, 8})});
}

// The first steps are another loop's last: what is given to one is made by the other.
TEST(Rolled, OneLoopAfterTheOther) {
  const auto f = [](const std::vector<Tensor>& x) {
    Tensor h = x[0];
    for (int i = 0; i < 10; ++i) h = h.matmul(x[1]).tanh();
    const Tensor between = h;
    for (int i = 0; i < 10; ++i) h = (h.matmul(x[2]) + between).sigmoid();
    return h * between;
  };
  const std::vector<Tensor> x{random({2, 12}), random({12, 12}), random({12, 12})};
  expect_same(f, x);
  EXPECT_LE(kernels(f(x)), 5U);
}

// What is given changes only every so often.
TEST(Rolled, SlowInputs) {
  for (const int each : {2, 3})
    for (const int steps : {16, 17, 24, 25}) {
      const auto f = [=](const std::vector<Tensor>& x) {
        Tensor h = x[0];
        for (int i = 0; i < steps; ++i) {
          const Tensor now = x[2].select(0, i / each);
          h = (h.matmul(x[1]) + now + now.matmul(x[3]).relu()).tanh();
        }
        return h;
      };
      expect_same(f, {random({1, 6}), random({6, 6}), random({13, 1, 6}), random({6, 6})});
    }
}

// The last step is given what all steps take.
TEST(Rolled, WhatIsSharedAndLast) {
  for (const bool from_the_end : {false, true}) {
    const auto f = [=](const std::vector<Tensor>& x) {
      Tensor h = x[0];
      const Tensor all = x[2].select(0, from_the_end ? 0 : 11);
      for (int i = 0; i < 12; ++i)
        h = (h.matmul(x[1]) + x[2].select(0, from_the_end ? 11 - i : i)).tanh() * all +
            all.matmul(x[3]).relu();
      return h;
    };
    expect_same(f, {random({1, 6}), random({6, 6}), random({12, 1, 6}), random({6, 6})});
  }
}

// Inputs and weights on different devices, and steps of nothing.
TEST(Rolled, DevicesAndNothing) {
  const auto f = [](const std::vector<Tensor>& x) {
    Tensor h = x[0];
    const Tensor there = x[2].to(x[0].device());
    for (int i = 0; i < 10; ++i) h = (h.matmul(x[1]) + there.select(0, i)).tanh();
    return h;
  };
  std::vector<Tensor> x{random({1, 6}), random({6, 6}), random({10, 1, 6})};
  const auto expected = f(x).to_vector<float>();
  for (std::size_t i : {0, 1}) x[i] = x[i].to("INTERP").realize();
  expect_near(f(x), {expected.begin(), expected.end()}, 1e-6);
  const std::vector<Tensor> none{Tensor::zeros({0, 6}).realize(), random({6, 6}),
                                 Tensor::zeros({10, 0, 6}).realize()};
  EXPECT_TRUE(f(none).to_vector<float>().empty());
}

// Layers that look alike, but each has weights of its own, are no steps; nor are rows that need nothing of each other.
TEST(Rolled, WhatOnlyLooksLikeSteps) {
  std::vector<Tensor> weights;
  for (int i = 0; i < 12; ++i) weights.push_back(random({16, 16}));
  const Tensor x = random({4, 16});
  const auto layers = [&] {
    Tensor h = x;
    for (const Tensor& weight : weights) h = h.matmul(weight).relu();
    return h;
  };
  const auto rows = [&] {
    std::vector<Tensor> all;
    const Tensor many = x.repeat({4, 1});
    for (const Tensor& row : many.unbind()) all.push_back(weights[0].matmul(row).softmax(-1));
    return Tensor::stack(all);
  };
  for (const std::function<Tensor()>& f :
       {std::function<Tensor()>(layers), std::function<Tensor()>(rows)}) {
    const Context one_by_one{{"LOOPS", 0}};
    const std::size_t expected = kernels(f());
    const Context loops{{"LOOPS", 1}};
    EXPECT_EQ(kernels(f()), expected);
  }
}

// Where each step writes what the next reads, in place of the program's memory.
TEST(Rolled, AssignmentsStayApart) {
  const auto f = [] {
    Tensor state = Tensor::ones({4, 4}).contiguous().realize();
    const Tensor weight = Tensor::full({4, 4}, 0.25).contiguous().realize();
    for (int i = 0; i < 10; ++i) state.assign(state.matmul(weight) + 1.0);
    return state.to_vector<float>();
  };
  EXPECT_EQ(f(), std::vector<float>(16, 11.0F));
  // One element at a time: none may be overwritten before it is read.
  const Context plain{{"NOOPT", 1}};
  EXPECT_EQ(f(), std::vector<float>(16, 11.0F));
}

// A state, weights, inputs by step, and one input more.
std::vector<Tensor> step_inputs() {
  return {random({1, 6}), random({6, 6}), random({40, 6}), random({1, 6})};
}
Tensor row(const Tensor& x, std::int64_t i) { return x.narrow(0, i, 1); }
Tensor next(const Tensor& h, const Tensor& w, const Tensor& input) {
  return (h.matmul(w) + input).relu();
}

// For the first step of the loop it is no row of the inputs.
TEST(Rolled, OutputsOfTheInputBefore) {
  for (const bool is_joined : {true, false}) {
    const auto f = [=](const std::vector<Tensor>& x) {
      Tensor h = x[0], before = x[3];
      std::vector<Tensor> all;
      for (int i = 0; i < 12; ++i) {
        const Tensor now = i == 0 ? x[3] : row(x[2], i);
        h = next(h, x[1], now);
        if (i > 0) all.push_back(h * before);
        before = now;
      }
      if (is_joined) return Tensor::cat(all, 0);
      Tensor sum = all[0];
      for (std::size_t i = 1; i < all.size(); ++i) sum = sum + all[i] * static_cast<double>(i + 1);
      return sum;
    };
    expect_same(f, step_inputs());
  }
}

TEST(Rolled, TheFirstValueHandedOnIsComputedOtherwise) {
  const auto f = [](const std::vector<Tensor>& x) {
    Tensor h = x[0], z = h * x[2].select(0, 0);
    std::vector<Tensor> all;
    for (int i = 1; i < 12; ++i) {
      h = next(h, x[1], x[2].select(0, i));
      const Tensor now = h * x[2].select(0, i - 1);
      all.push_back(now + z);
      z = now;
    }
    return Tensor::stack(all);
  };
  expect_same(f, {random({1, 6}), random({6, 6}), random({20, 1, 6})});
}

// Every other one, one twice, with a gap, there and back.
TEST(Rolled, JoinedStatesAreNotThoseOfStepsInARow) {
  const std::vector<std::size_t> cases[] = {
      {1, 3, 5, 7, 9, 11}, {11, 11}, {7, 8, 10, 11}, {8, 9, 10, 9, 11}};
  for (const std::vector<std::size_t>& steps : cases) {
    const auto f = [&](const std::vector<Tensor>& x) {
      Tensor h = x[0];
      std::vector<Tensor> states, some;
      for (int i = 0; i < 12; ++i) states.push_back(h = next(h, x[1], row(x[2], i)));
      for (const std::size_t step : steps) some.push_back(states[step]);
      return Tensor::stack(some);
    };
    expect_same(f, step_inputs());
  }
}

// The last step's own input is what all steps share, and would be two values in one loop.
TEST(Rolled, AllShareTheInputOfTheLast) {
  for (const bool is_reversed : {false, true}) {
    const auto f = [=](const std::vector<Tensor>& x) {
      Tensor h = x[0];
      const Tensor all = x[2].select(0, is_reversed ? 0 : 11);
      for (int i = 0; i < 12; ++i)
        h = ((h + x[2].select(0, is_reversed ? 11 - i : i)) * all).matmul(x[1]).relu();
      return h;
    };
    expect_same(f, {random({1, 6}), random({6, 6}), random({12, 1, 6})});
  }
}

TEST(Rolled, OutputsThatEndEarly) {
  const auto f = [](const std::vector<Tensor>& x) {
    Tensor h = x[0];
    std::vector<Tensor> all;
    for (int i = 0; i < 12; ++i) {
      h = h.matmul(x[1]).relu();
      if (i < 10) all.push_back(h * x[3]);
    }
    all.push_back(h);
    return Tensor::cat(all, 0);
  };
  expect_same(f, step_inputs());
}

// In the state, in an output, and in what an output hands on.
TEST(Rolled, AnOpenPlaceIsNoInputOfALoop) {
  const Dim at = bound_size("n", 0, 4, 2);
  const auto part = [=](const Tensor& h) { return h.narrow(1, at, 4); };
  const auto of_state = [=](const std::vector<Tensor>& x) {
    Tensor h = x[0];
    for (int i = 0; i < 12; ++i) h = ((part(h) + row(x[2], i)).matmul(x[1]) + row(x[3], i)).relu();
    return h;
  };
  expect_same(of_state, {random({1, 8}), random({4, 8}), random({12, 4}), random({12, 8})});
  for (const bool hands_on : {false, true}) {
    const auto of_outputs = [=](const std::vector<Tensor>& x) {
      Tensor h = x[0], z = part(h) * 2.0;
      std::vector<Tensor> all;
      for (int i = 0; i < 12; ++i) {
        h = next(h, x[1], row(x[2], i));
        const Tensor now = part(h) * 2.0;
        all.push_back(hands_on ? h.narrow(1, 0, 4) + z : now);
        z = now;
      }
      all.push_back(z);
      return Tensor::cat(all, 0);
    };
    expect_same(of_outputs, {random({1, 8}), random({8, 8}), random({12, 8})});
  }
}

TEST(Rolled, StepsThatCopyBetweenDevicesStay) {
  const Tensor first = random({1, 6}), w = random({6, 6});
  const auto f = [&] {
    Tensor h = first;
    for (int i = 0; i < 12; ++i) h = h.matmul(w).relu().to("INTERP").to("CPU");
    return h.to_vector<float>();
  };
  const auto found = f();
  const Context one_by_one{{"LOOPS", 0}};
  EXPECT_EQ(found, f());
}

TEST(Rolled, Gradients) {
  const auto f = [](const std::vector<Tensor>& x) {
    std::vector<Tensor> leaves;
    for (const Tensor& each : x) leaves.push_back(each.detach().set_requires_grad());
    gru(leaves).square().sum().backward();
    std::vector<Tensor> all;
    for (const Tensor& leaf : leaves) all.push_back(leaf.grad().flatten());
    return Tensor::cat(all);
  };
  expect_same(f,
              {random({12, 2, 8}), random({2, 8}), random({8, 8}), random({8, 8}), random({8, 8})});
}

// Of weights that are all the same number sums are computed once: of the first step, whose state is the same in all rows, once
// for all of them.
TEST(Rolled, TheFirstStepMayComputeLess) {
  const auto steps = [](const std::vector<Tensor>& x) {
    const Tensor w = Tensor::full({59, 96}, 0.01).to(x[0].device()),
                 u = Tensor::full({96, 96}, 0.002).to(x[0].device());
    Tensor h = Tensor::zeros({12, 96}).to(x[0].device());
    for (std::int64_t t = 0; t < 42; ++t)
      h = (x[0][t].matmul(w.cast(x[0].dtype())) + h.matmul(u.cast(x[0].dtype()))).tanh();
    return h;
  };
  const Tensor x = random({42, 12, 59});
  EXPECT_LE(kernels(steps({x})), 12U);
  expect_same(steps, {x}, 1e-5);
}

}  // namespace
}  // namespace weft
