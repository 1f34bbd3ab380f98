// What a kernel stores in the place of what it reads for the last time: where, and that nothing changes by it.

#include <algorithm>
#include <functional>
#include <optional>

#include <gtest/gtest.h>
#include <weft/dev/ir/graph.h>
#include <weft/settings.h>
#include <weft/weft.h>

#include "../../src/schedule/memory/data_flow.h"
#include "../support/planned.h"

namespace weft {
namespace {

constexpr std::size_t bytes = std::size_t{64} * 64 * 4;

Tensor square() { return Tensor::randn({64, 64}).realize(); }

std::size_t own_bytes(const std::function<Tensor()>& program, int in_place) {
  const Context context{{"IN_PLACE", in_place}};
  return Tensor::cost({program()}).own_bytes;
}

// The values, and how many matrices lie between kernels: never in place, by default and wherever it can be.
void expect_matrices(const std::function<Tensor()>& program, std::size_t never, std::size_t less) {
  EXPECT_EQ(own_bytes(program, 0), never * bytes);
  EXPECT_EQ(own_bytes(program, 1), less * bytes);
  EXPECT_EQ(own_bytes(program, 2), less * bytes);
  const auto values = [&](int in_place) {
    const Context context{{"IN_PLACE", in_place}};
    return program().to_vector<float>();
  };
  const std::vector<float> expected = values(0);
  EXPECT_EQ(values(1), expected);
  EXPECT_EQ(values(2), expected);
}

TEST(InPlace, ElementByElement) {
  const Tensor x = square();
  expect_matrices(
      [&] { return x.exp().contiguous().sin().contiguous().square().contiguous().neg(); }, 2, 1);
}

TEST(InPlace, BesideAProduct) {
  const Tensor x = square(), w = square();
  expect_matrices(
      [&] {
        const Tensor h = (x + 1).contiguous();
        return (x.matmul(w) + h).contiguous().exp().contiguous() + 1;
      },
      2, 1);
}

TEST(InPlace, NotAtOtherPlaces) {
  const Tensor x = square();
  expect_matrices([&] { return ((x + 1).contiguous().T() * 2).contiguous().exp(); }, 2, 2);
}

TEST(InPlace, NotUnderASum) {
  const Tensor x = square(), w = square();
  expect_matrices(
      [&] {
        const Tensor h = (x + 1).contiguous();
        return (h.matmul(w) + h).contiguous().exp();
      },
      2, 2);
}

TEST(InPlace, NotWhatIsReadLater) {
  const Context as_made{{"LAYOUTS", 0}};
  const Tensor x = square();
  expect_matrices(
      [&] {
        const Tensor h = (x + 1).contiguous(), y = h.exp().contiguous();
        return y.T().contiguous() + h;
      },
      3, 3);
}

TEST(InPlace, NotInOtherSizes) {
  const Tensor x = square();
  expect_matrices([&] { return (x + 1).contiguous().reshape({4096}).exp().contiguous().cumsum(0); },
                  2, 2);
}

// What the program holds, or asked for, stays as it is.
TEST(InPlace, NotWhatOutlivesTheRun) {
  const Context context{{"IN_PLACE", 2}};
  const Tensor x = square(), before = x.clone().realize(), y = x.exp(), z = y.contiguous().sin();
  Tensor::realize({y, z});
  EXPECT_TRUE(x.equal(before));
  EXPECT_TRUE(y.allclose(before.exp()));
  EXPECT_TRUE(z.allclose(before.exp().sin()));
}

// How many kernels write where they read; each of more than the first cache takes as long as is said.
std::size_t written_in_place(std::size_t size, double apart, double in_place) {
  const auto n = static_cast<std::int64_t>(size);
  const Tensor x = Tensor::randn({n, n}).realize(), w = Tensor::randn({n, n}).realize();
  const auto writes_input = [](const UOp& kernel) {
    return std::ranges::any_of(toposort(kernel.node()), [](const Node* node) {
      return node->op() == Op::Param && node->arg<ParamArg>().access == Access::ReadWrite;
    });
  };
  // Most is needed where three transposed copies stand beside one another.
  const Tensor h = (x + 1).contiguous(), sum = (x.matmul(w) + h).contiguous();
  const Tensor a = (sum.T() * 2).contiguous(), b = a.T().contiguous(), c = b.T().contiguous();
  const Tensor all = a.matmul(b).contiguous() + c.matmul(a);
  const Planned planned(all, [&](const UOp& kernel, Symbol) {
    return std::optional(writes_input(kernel) ? in_place : apart);
  });
  const auto is_such = [&](const Step& step) {
    return !step.kernel.is_null() && writes_input(step.kernel);
  };
  return static_cast<std::size_t>(std::ranges::count_if(planned.plan().steps, is_such));
}

TEST(InPlace, WhereAKernelThatMovesMuchIsNoSlower) {
  const std::size_t needed = written_in_place(32, 1, 1);
  EXPECT_GT(written_in_place(256, 1, 1), needed);
  EXPECT_EQ(written_in_place(256, 1, 1.01), needed);
}

// By default where most is needed, while small kernels elsewhere stay as those of the same work.
TEST(InPlace, WhereMostIsNeeded) {
  const Tensor x = square(), large = Tensor::randn({64, 64, 8}).realize();
  const auto program = [&] {
    const Tensor h = (large * 2).contiguous();
    const Tensor sum = (h.exp().contiguous().T().contiguous()).sum();
    return ((x + sum).contiguous().sin().contiguous() * 2).contiguous();
  };
  EXPECT_EQ(own_bytes(program, 1), own_bytes(program, 2));
}

// A plan of copies: each step fills the first slot from the second.
Plan copies(const std::vector<std::vector<std::uint32_t>>& steps, std::size_t root) {
  Plan plan;
  for (int i = 0; i < 4; ++i) plan.slots.push_back({Tensor::empty({4}).realize().uop()});
  for (const auto& slots : steps) {
    plan.steps.emplace_back();
    plan.steps.back().slots = slots;
  }
  plan.roots.push_back(plan.slots[root].buffer);
  return plan;
}

TEST(DataFlow, SeesMemoryThatIsWrittenTooEarly) {
  const DataFlow flow(copies({{1, 0}, {2, 0}, {3, 1}}, 3));
  EXPECT_NO_THROW(flow.check(copies({{1, 0}, {2, 0}, {3, 1}}, 3), "a test"));
  EXPECT_NO_THROW(flow.check(copies({{2, 0}, {1, 0}, {3, 2}}, 3), "a test"));
  EXPECT_THROW(flow.check(copies({{1, 0}, {1, 0}, {3, 1}}, 3), "a test"), Error);
  EXPECT_THROW(flow.check(copies({{1, 0}, {0, 1}, {3, 0}}, 3), "a test"), Error);
  EXPECT_THROW(flow.check(copies({{1, 0}, {2, 0}, {3, 1}}, 2), "a test"), Error);
}

}  // namespace
}  // namespace weft
