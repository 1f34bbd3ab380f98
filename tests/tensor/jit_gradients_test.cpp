// Gradients of tensors that replayed functions train: each call sets, or adds to, what is there then.

#include <weft/jit.h>
#include <weft/nn.h>

#include <thread>

#include <gtest/gtest.h>

#include "replayed.h"
#include "tensor_test.h"

namespace weft {
namespace {

Tensor computed_row(const Floats& floats) { return Tensor(floats).realize(); }

void append_values(Floats& all, const Tensor& tensor) {
  for (const float each : tensor.to_vector<float>()) all.push_back(each);
}

struct Trained {
  Tensor weight = computed_row({1, 2}).set_requires_grad();
  nn::SGD optimizer{std::vector{weight}, {.lr = 0.125, .momentum = 0.5}};

  Tensor add_gradient(const Tensor& x) {
    const Tensor loss = (weight * x * x).sum() + (weight * weight).sum();
    loss.backward();
    return loss.detach();
  }
};

Tensor batch_of(int i) { return computed_row({1 + static_cast<float>(i), 2}); }

TEST(JitGradients, AreSetWhereTheProgramClearsThem) {
  expect_as_run([] {
    Trained model;
    auto f = jit([&](const Tensor& x) { return model.add_gradient(x); });
    Floats all;
    for (int i = 0; i < 5; ++i) {
      model.optimizer.zero_grad();
      append_values(all, f(batch_of(i)));
      append_values(all, model.weight.grad());
      model.optimizer.step();
      append_values(all, model.weight);
    }
    return all;
  });
}

TEST(JitGradients, AddUpOverCalls) {
  expect_as_run([] {
    Trained model;
    auto f = jit([&](const Tensor& x) { return model.add_gradient(x); });
    auto step = jit([&] { model.optimizer.step(); });
    Floats all;
    for (int i = 0; i < 12; ++i) {
      if (i % 3 == 0) model.optimizer.zero_grad();
      append_values(all, f(batch_of(i)));
      append_values(all, model.weight.grad());
      if (i % 3 == 2) step();
      append_values(all, model.weight);
    }
    return all;
  });
}

// What the program has set stays as it is: it is another's as well, or a view.
TEST(JitGradients, ThatTheProgramSetAreNotWrittenTo) {
  expect_as_run([] {
    Tensor weight = computed_row({1, 2}).set_requires_grad(),
           other = computed_row({2, 1}).set_requires_grad();
    const Tensor all_ones = computed_row({1, 1, 1, 1}), ones = computed_row({1, 1});
    auto f = jit([&](const Tensor& x) { (weight * x + other * x * 2).sum().backward(); });
    Floats all;
    for (int i = 0; i < 12; ++i) {
      weight.set_grad(i < 6 ? ones : all_ones[Slice{1, 3}]);
      if (i % 3 != 2) other.set_grad(ones);
      f(batch_of(i));
      for (const Tensor& each : {weight.grad(), other.grad(), ones, all_ones})
        append_values(all, each);
    }
    return all;
  });
}

TEST(JitGradients, AreWhatTheCallComputedWhereItTakesTheStep) {
  expect_as_run([] {
    Trained model;
    auto f = jit([&](const Tensor& x) {
      model.optimizer.zero_grad();
      const Tensor loss = model.add_gradient(x);
      model.optimizer.step();
      return loss;
    });
    Floats all;
    for (int i = 0; i < 5; ++i) {
      append_values(all, f(batch_of(i)));
      append_values(all, model.weight.grad());
    }
    return all;
  });
}

// Of a product with an argument it is the argument; of a sum, ones.
TEST(JitGradients, OfArgumentsAndConstantsAreTheirOwn) {
  for (const bool is_sum : {false, true})
    expect_as_run([&] {
      Tensor weight = computed_row({1, 2}).set_requires_grad();
      auto f = jit([&](const Tensor& x) {
        weight.set_grad({});
        (is_sum ? weight : weight * x).sum().backward();
      });
      Floats all;
      for (int i = 0; i < 5; ++i) {
        f(batch_of(i));
        append_values(all, weight.grad());
        weight.grad() *= 0.5F;
        append_values(all, weight.grad());
      }
      return all;
    });
}

TEST(JitGradients, AreScaledByOneFunctionAndMadeByAnother) {
  expect_as_run([] {
    Trained model;
    auto f = jit([&](const Tensor& x) { return model.add_gradient(x); });
    auto clip = jit([&] { model.weight.set_grad(model.weight.grad().clamp(-3, 3) * 0.5F); });
    Floats all;
    for (int i = 0; i < 6; ++i) {
      model.optimizer.zero_grad();
      append_values(all, f(batch_of(i)));
      clip();
      append_values(all, model.weight.grad());
      if (i == 3) continue;
      model.optimizer.step();
      append_values(all, model.weight);
    }
    return all;
  });
}

TEST(JitGradients, OfTwoFunctionsThatTrainOneTrained) {
  expect_as_run([] {
    Trained model;
    const auto train = [&](const Tensor& x) {
      model.optimizer.zero_grad();
      const Tensor loss = model.add_gradient(x);
      model.optimizer.step();
      return loss;
    };
    auto few = jit(train), many = jit(train);
    Floats all;
    for (int i = 0; i < 5; ++i) {
      append_values(all, few(batch_of(i)));
      append_values(all, model.weight.grad());
      append_values(all, many(computed_row({2, 3})));
      append_values(all, model.weight.grad());
    }
    return all;
  });
}

// What another thread assigns to meanwhile is no part of it, even if it requires a gradient.
TEST(JitGradients, LeavesOfOthersAreNotLookedAt) {
  Tensor other = computed_row({1, 2}).set_requires_grad(),
         weight = computed_row({1, 1}).set_requires_grad();
  int runs = 0;
  auto f = jit([&](const Tensor& x) {
    weight.set_grad({});
    const Tensor loss = (x * weight).sum();
    loss.backward();
    std::thread([&] { other.assign(other.detach() * 2); }).join();
    ++runs;
    weight.assign(weight.detach() - weight.grad() * 0.5F);
    return loss.detach();
  });
  for (int i = 0; i < 5; ++i) f(computed_row({1, 1}));
  EXPECT_EQ(runs, 2);
  EXPECT_TRUE(holds<float>(other.detach(), {4, 8}, {2}));
  EXPECT_TRUE(holds<float>(weight.detach(), {-1.5, -1.5}, {2}));
}

TEST(JitGradients, OfModelsInSeveralThreads) {
  const auto train = [](int seed) {
    Trained model;
    auto step = jit([&](const Tensor& x) {
      model.optimizer.zero_grad();
      const Tensor loss = model.add_gradient(x);
      model.optimizer.step();
      return loss;
    });
    Floats all;
    for (int i = 0; i < 6; ++i) append_values(all, step(batch_of(seed + i)));
    return all;
  };
  std::vector<Floats> expected, results(4);
  for (int i = 0; i < 4; ++i) expected.push_back(train(i));
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&, i] { results[i] = train(i); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(results, expected);
  }
}

}  // namespace
}  // namespace weft
