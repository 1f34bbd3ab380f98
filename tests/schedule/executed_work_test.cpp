// What the scheduler counts is what runs: operations are counted again in the loops of the program.

#include <gtest/gtest.h>
#include <weft/weft.h>

#include <weft/dev/codegen/linearize.h>
#include <weft/dev/codegen/lower.h>
#include <weft/dev/ir/graph.h>

namespace weft {
namespace {

Tensor input(const Shape& shape) { return Tensor::rand(shape).realize(); }

double trips(const Node* range) { return static_cast<double>(range->src(0)->lo()); }

// Arithmetic on floats, each operation as often as the loops around it go.
double executed(const UOp& kernel) {
  Arena arena;
  const InternerScope scope(arena);
  const Node* roots[] = {kernel.node()};
  const std::vector<UOp> program = accumulate(stages(import_graph(roots, shared_graph(), arena)));
  double runs = 1, flops = 0;
  for (const Node* node : linearize(program[0].node())) {
    if (node->op() == Op::Range) runs *= trips(node);
    if (node->op() == Op::End)
      for (const Node* range : node->src().subspan(1))
        if (range->op() == Op::Range) runs /= trips(range);
    const bool moves = OpSet{Op::Where, Op::Cast, Op::Bitcast}.contains(node->op());
    if (is_elementwise(node->op()) && node->dtype().is_float() && !moves)
      flops += node->op() == Op::MulAcc ? 2 * runs : runs;
  }
  return flops;
}

// How often memory is read, by all loops together, once they are cut into sections.
double reads(const UOp& kernel) {
  Arena arena;
  const InternerScope scope(arena);
  const Node* roots[] = {kernel.node()};
  const std::vector<UOp> program =
      sections(flatten(stages(import_graph(roots, shared_graph(), arena))));
  double runs = 1, loads = 0;
  for (const Node* node : linearize(program[0].node())) {
    if (node->op() == Op::Range) runs *= trips(node);
    if (node->op() == Op::End)
      for (const Node* range : node->src().subspan(1)) runs /= trips(range);
    if (node->op() == Op::Load) loads += runs;
  }
  return loads;
}

// Of 20 tensors, each element is read from its own.
TEST(ExecutedWork, JoinedTensorsAreReadOnce) {
  std::vector<Tensor> parts;
  for (int i = 0; i < 20; ++i) parts.push_back(input({6, 5}));
  for (const Tensor& joined : {Tensor::cat(parts), Tensor::cat(parts, 1), Tensor::stack(parts),
                               Tensor::stack(parts, -1), Tensor::cat(parts).relu() + 1}) {
    const std::vector<ScheduleItem> items = joined.schedule();
    ASSERT_EQ(items.size(), 1u);
    EXPECT_EQ(reads(items[0].kernel), 20 * 6 * 5) << items[0].str();
  }
}

struct Case {
  std::string_view name;
  Tensor value;
  double flops;  // of each step by itself
};

TEST(ExecutedWork, IsWhatWasCounted) {
  const double n = 40, product = 2 * n * n * n;
  const Tensor a = input({40, 40}), b = input({40, 40}), c = input({40, 40}), d = input({40, 40});
  const Tensor q = input({2, 40, 16}), k = input({2, 40, 16}), v = input({2, 40, 16});
  // Of a stride of 2 and a kernel of 4, each output sees 2 elements along an axis, and not 4 with zeros.
  const Tensor image = input({1, 8, 16, 16}), back = input({8, 4, 4, 4});
  const Case cases[] = {
      {"(a b) c", a.matmul(b).matmul(c), 2 * product},
      {"a (b c)", a.matmul(b.matmul(c)), 2 * product},
      {"a (b (c d))", a.matmul(b.matmul(c.matmul(d))), 3 * product},
      {"(a b) (c d)", a.matmul(b).matmul(c.matmul(d)), 3 * product},
      {"(a b)^T (c d)", a.matmul(b).T().matmul(c.matmul(d)), 3 * product},
      {"(a b)^T (c d)^T", a.matmul(b).T().matmul(c.matmul(d).T()), 3 * product},
      {"(a a) (a a)", a.matmul(a).matmul(a.matmul(a)), 2 * product},
      {"columns", (a.matmul(b).sum(0, true) * c).sum(1), product + 3 * n * n},
      {"conv_transpose", image.conv_transpose(back, {}, {.stride = 2, .padding = 1}),
       2.0 * (4 * 32 * 32) * (8 * 2 * 2)},
      {"sums in a part of a row", Tensor::cat({a.matmul(b).layernorm(), input({40, 3})}, 1),
       product + 12 * n * n},
      {"attention", q.matmul(k.transpose(-1, -2)).softmax().matmul(v),
       4.0 * 2 * 40 * 40 * 16 + 8 * 2 * 1600},
  };
  for (const Case& one : cases) {
    double counted = 0, done = 0;
    for (const ScheduleItem& item : one.value.schedule()) {
      counted += item.work.flops;
      done += executed(item.kernel);
    }
    EXPECT_LE(done, 1.2 * counted) << one.name;
    EXPECT_LE(done, 1.2 * one.flops) << one.name;
  }
}

// A pool's windows lie side by side: an element is in one of them, and its gradient looks at no other.
TEST(ExecutedWork, GradientsOfPoolsLookAtOneWindow) {
  const Tensor x = input({4, 8, 28, 28});
  const std::vector<ScheduleItem> items = x.max_pool2d().square().sum().gradient({x})[0].schedule();
  ASSERT_EQ(items.size(), 1u);
  const auto elements = static_cast<double>(x.numel());
  EXPECT_LT(static_cast<double>(items[0].work.flops), 20 * elements) << items[0].str();
}

}  // namespace
}  // namespace weft
