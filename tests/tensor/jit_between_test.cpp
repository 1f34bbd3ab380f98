// What a program does between calls of a replayed function is no part of them.

#include <weft/jit.h>

#include <gtest/gtest.h>

#include "replayed.h"
#include "tensor_test.h"

namespace weft {
namespace {

Floats values(const Tensor& tensor) { return tensor.to_vector<float>(); }
Tensor numbers(const Floats& floats) { return Tensor(floats); }

TEST(JitBetween, AssignmentsRunOnce) {
  expect_as_run([] {
    Tensor state = numbers({0, 0});
    auto add = jit([&](const Tensor& x) { state += x; });
    add(numbers({2, 2}));
    state += 100;
    for (int i = 0; i < 4; ++i) add(numbers({2, 2}));
    return values(state);
  });
}

// The function only asks for its shape.
TEST(JitBetween, AssignmentsToWhatIsOnlyLookedAtRunOnce) {
  expect_as_run([] {
    Tensor other = numbers({1, 2, 3, 4});
    auto shaped = jit([&](const Tensor& x) { return x.reshape(Shape(other.dims())) * 2; });
    other += 1;
    for (int i = 0; i < 4; ++i) shaped(numbers({2, 3, 4, 5}));
    return values(other);
  });
}

TEST(JitBetween, CopiesAndReadersKeepTheirValues) {
  expect_as_run([] {
    Tensor state = numbers({1, 2, 3, 4});
    state += 0;
    auto add = jit([&](const Tensor& x) { state += x; });
    add(numbers({2, 2, 2, 2}));
    state.realize();
    const Tensor old = state.clone(), twice = state * 2, turned = state.roll(1, 0).realize(),
                 padded = state.pad({{1, 0}});
    for (int i = 0; i < 4; ++i) add(numbers({2, 2, 2, 2}));
    return values(Tensor::cat({old, twice, turned, padded, state}));
  });
}

TEST(JitBetween, ReadersOfPendingAssignmentsKeepTheirValues) {
  expect_as_run([] {
    Tensor state = numbers({1, 2}), given = numbers({5, 5});
    auto step = jit([&](const Tensor& x) {
      state += x;
      return given * x;
    });
    step(numbers({1, 1}));
    Tensor reader = state * 2;
    reader.assign(reader + 1);
    given += 1;
    Floats all;
    for (int i = 0; i < 4; ++i) all.push_back(step(numbers({2, 2}))[0].item<float>());
    const Floats after = values(Tensor::cat({reader, given, state}));
    all.insert(all.end(), after.begin(), after.end());
    return all;
  });
}

TEST(JitBetween, TheFirstResultStays) {
  expect_as_run([] {
    Tensor state = numbers({1, 2, 3});
    auto step = jit([&] {
      state += 1;
      return (state * 2).flip(0);
    });
    const Tensor first = step();
    const Floats before = values(first);
    for (int i = 0; i < 3; ++i) step();
    EXPECT_EQ(values(first), before);
    return values(first);
  });
}

// A reader between two assignments, and one of two tensors.
TEST(JitBetween, AssignmentsWithReadersBetweenRunOnce) {
  expect_as_run([] {
    Tensor state = numbers({1, 2, 3, 4}), other = numbers({1, 1, 1, 1});
    state += 0;
    state.realize();
    auto f = jit([&](const Tensor& x) {
      other += x;
      return state * 2 + x;
    });
    f(numbers({1, 1, 1, 1}));
    state.assign(state.flip(0) * 0.5);
    const Tensor copy = state.clone();
    state.assign(state.flip(0) * 0.5);
    other += 1;
    const Tensor product = state * other;
    other += 5;
    Floats all;
    for (int i = 0; i < 3; ++i) all.push_back(f(numbers({1, 1, 1, 1}))[0].item<float>());
    const Floats after = values(Tensor::cat({copy, product, state, other}));
    all.insert(all.end(), after.begin(), after.end());
    return all;
  });
}

// The function uses a graph over them, and something of its own over what they replace.
TEST(JitBetween, AssignmentsBelowGraphsRunOnce) {
  expect_as_run([] {
    Tensor state = numbers({10, 20, 30});
    state += 0;
    state.realize();
    Tensor graph = state * 1;
    auto f = jit([&](const Tensor& x) { return graph * x; });
    f(numbers({1, 1, 1}));
    state += 1;
    graph = state * 3;
    Floats all;
    for (int i = 0; i < 4; ++i) all.push_back(f(numbers({1, 1, 1}))[0].item<float>());
    all.push_back(state[0].item<float>());
    return all;
  });
  expect_as_run([] {
    Tensor state = numbers({1, 2}), graph = state * 1;
    auto f = jit([&](const Tensor& x) {
      const Tensor y = graph * x;
      return std::pair{y, state + x};
    });
    f(numbers({1, 1}));
    graph = state * 2;
    state += 1;
    Floats all;
    for (int i = 0; i < 4; ++i) {
      const auto [y, z] = f(numbers({static_cast<float>(i), 1}));
      all.push_back(y[0].item<float>());
      all.push_back(z[0].item<float>());
    }
    return all;
  });
}

TEST(JitBetween, ReturnedValuesAreNewInEachCall) {
  expect_as_run([] {
    auto f = jit([](const Tensor& x) { return std::pair{x + 1, numbers({1, 2, 3})}; });
    Floats all;
    for (int i = 0; i < 4; ++i) {
      auto [sum, constant] = f(numbers({2}));
      all.push_back(constant[0].item<float>());
      constant += 10;
      all.push_back(sum.item<float>());
    }
    return all;
  });
}

TEST(JitBetween, GradientsOfWhatWasMadeBefore) {
  expect_as_run([] {
    Tensor weight = numbers({1, 2});
    weight.set_requires_grad();
    const Tensor scaled = weight * 3;
    auto f =
        jit([&](const Tensor& x) { return (scaled * x).square().sum().gradient({weight})[0]; });
    f(numbers({1, 1}));
    const Tensor loss = (weight * weight).sum();
    for (int i = 0; i < 3; ++i) f(numbers({1, 1}));
    return values(Tensor::cat({loss.gradient({weight})[0], f(numbers({1, 2}))}));
  });
}

// The same graphs, of tensors that the function assigns to.
TEST(JitBetween, WhatTheProgramComputedIsNoResultOfLaterCalls) {
  expect_as_run([] {
    Tensor state = numbers({1, 2, 3});
    state += 0;
    auto f = jit([&](const Tensor& x) {
      const Tensor sum = (state * state).sum() + x;
      state += 1;
      return sum;
    });
    Floats all;
    std::vector<Tensor> held;
    for (int i = 0; i < 4; ++i) {
      held.push_back((state * state).realize());
      all.push_back(f(numbers({0})).item<float>());
    }
    for (const Tensor& each : held) all.push_back(each[0].item<float>());
    return all;
  });
  expect_as_run([] {
    Tensor weight = numbers({1, 2, 3}).realize().set_requires_grad();
    const auto loss = [&] { return (weight * weight).sum(); };
    auto step = jit([&](const Tensor& x) {
      const Tensor now = loss() + x, slope = now.gradient({weight})[0];
      const NoGrad off;
      weight -= 0.25F * slope;
      return now.detach();
    });
    Floats all;
    std::vector<Tensor> held;
    for (int i = 0; i < 4; ++i) {
      held.push_back(loss().realize());
      all.push_back(step(numbers({0})).item<float>());
    }
    for (const Tensor& each : held) all.push_back(each.item<float>());
    return all;
  });
}

TEST(JitBetween, LazyTensorsKeepTheirValuesWhereTheirSourceChanges) {
  const auto run = [](bool uses_source, bool by_replay) {
    Tensor source = numbers({1, 2, 3});
    source += 0;
    source.realize();
    const Tensor twice = source * 2;
    auto f =
        jit([&](const Tensor& x) { return (uses_source ? x + twice + source : x + twice).sum(); });
    auto add = jit([&](const Tensor& x) { source += x; });
    Floats all;
    for (int i = 0; i < 5; ++i) {
      all.push_back(f(numbers({0})).item<float>());
      if (i == 0) continue;
      if (by_replay)
        add(numbers({1}));
      else
        source += 1;
    }
    return all;
  };
  for (const bool uses_source : {false, true})
    for (const bool by_replay : {false, true})
      expect_as_run([&] { return run(uses_source, by_replay); });
}

TEST(JitBetween, AssignsToOneOfEqualTensors) {
  expect_as_run([] {
    const Tensor source = numbers({1, 2, 3}).realize();
    Tensor a = source * 3, b = source * 3;
    Tensor::realize({a, b});
    auto f = jit([&](const Tensor& x) { return (a * 10 + b + x).sum(); });
    Floats all;
    for (int i = 0; i < 5; ++i) {
      all.push_back(f(numbers({0})).item<float>());
      if (i >= 1) a.set({1}, static_cast<float>(i));
      if (i >= 3) b += 50;
    }
    return all;
  });
}

TEST(JitBetween, AssignsGraphsToWhatIsInNoMemory) {
  expect_as_run([] {
    Tensor rate = Tensor::full({}, 0.5);
    auto f = jit([&](const Tensor& x) { return x * rate; });
    Floats all;
    for (int i = 0; i < 5; ++i) {
      all.push_back(f(numbers({8})).item<float>());
      rate.assign(Tensor::full({}, 1.0 / (i + 1)));
    }
    return all;
  });
}

TEST(JitBetween, TrackedValuesAreStoredInTheMemoryThatIsThere) {
  expect_as_run([] {
    Tensor log = Tensor::zeros({3}).clone().realize(),
           weight = numbers({2}).realize().set_requires_grad();
    auto step = jit([&](const Tensor& x) {
      const Tensor loss = (weight * x).sum(), slope = loss.gradient({weight})[0];
      log.set({Slice{1, 2}}, log[Slice{1, 2}] + loss);
      const NoGrad off;
      weight -= slope * 0.125F;
      return loss.detach();
    });
    Floats all;
    for (int i = 0; i < 5; ++i) {
      all.push_back(step(numbers({1.F + static_cast<float>(i)})).item<float>());
      for (const float each : values(log.detach())) all.push_back(each);
      const NoGrad off;
      log += 1;
    }
    return all;
  });
}

}  // namespace
}  // namespace weft
