// What the scheduler counts is what runs: operations are counted again in the loops of the program.

#include <gtest/gtest.h>
#include <weft/weft.h>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/codegen/check_loops.h>
#include <weft/dev/codegen/choose.h>
#include <weft/dev/codegen/linearize.h>
#include <weft/dev/codegen/lower.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/settings.h>

namespace weft {
namespace {

Tensor input(const Shape& shape) { return Tensor::rand(shape).realize(); }

double iterations(const Node* range) { return static_cast<double>(range->src(0)->lo()); }

// Of these loops: arithmetic on floats, each operation as often as the loops around it go.
double executed_in(const UOp& program) {
  double runs = 1, flops = 0;
  for (const Node* node : linearize(program.node())) {
    if (node->op() == Op::Range) runs *= iterations(node);
    if (node->op() == Op::End)
      for (const Node* range : node->src().subspan(1))
        if (range->op() == Op::Range) runs /= iterations(range);
    const bool moves = OpSet{Op::Where, Op::Cast, Op::Bitcast}.contains(node->op());
    if (is_elementwise(node->op()) && node->dtype().is_float() && !moves)
      flops += node->op() == Op::MulAcc ? 2 * runs : runs;
  }
  return flops;
}

double executed(const UOp& kernel) {
  Arena arena;
  const InternerScope scope(arena);
  const Node* roots[] = {kernel.node()};
  return executed_in(accumulate(stages(import_graph(roots, shared_graph(), arena)))[0]);
}

// The same by a schedule; "": by the one that a CPU chooses.
double executed_by(const UOp& kernel, const std::string& schedule) {
  Arena arena;
  const InternerScope scope(arena);
  const Node* roots[] = {kernel.node()};
  const UOp own = import_graph(roots, shared_graph(), arena)[0];
  const UOp ready = ready_to_schedule(own);
  const Schedule actions = schedule.empty()
                               ? choose_schedule(ready.node(), find_device("CPU").target())
                               : parse_schedule(schedule);
  return executed_in(accumulate(scans(stages({apply_schedule(ready, actions)})))[0]);
}

// How often memory is read, by all loops together, once they are cut into sections.
double reads(const UOp& kernel) {
  Arena arena;
  const InternerScope scope(arena);
  const Node* roots[] = {kernel.node()};
  const std::vector<UOp> program =
      index_set_split(flatten(stages(import_graph(roots, shared_graph(), arena))));
  double runs = 1, loads = 0;
  for (const Node* node : linearize(program[0].node())) {
    if (node->op() == Op::Range) runs *= iterations(node);
    if (node->op() == Op::End)
      for (const Node* range : node->src().subspan(1)) runs /= iterations(range);
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
  // Of a stride of 2 and a kernel of 4, each output sees 2 elements along an axis, and not 4 with
  // zeros.
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

// To store what one operation computes and to load it again takes longer than to compute it in a few
// more lanes.
TEST(ExecutedWork, CheapPartsOfARowAreNotStaged) {
  const Tensor x = input({2, 6, 1376}).permute({0, 2, 1}).reshape({2752, 6});
  const Tensor row = Tensor::cat(
      {x[{Slice{}, Slice{.stop = 4}}].tanh().exp(), x[{Slice{}, Slice{.start = 4}}].sigmoid()}, 1);
  for (const ScheduleItem& item : row.schedule())
    for (const Node* node : toposort(item.kernel.node())) EXPECT_NE(node->op(), Op::Stage);
}

// The terms before a slice are added once for each row, before its loop.
TEST(ExecutedWork, SlicesOfScansAddEachTermOnce) {
  const Tensor x = input({8, 100});
  const Slice slice{.start = 40, .stop = 90};
  for (const Tensor& sums :
       {x.cumsum(1), x.flip(1).cumsum(1).flip(1), x.T().contiguous().cumsum(0).T()}) {
    const std::vector<ScheduleItem> items = sums[{Slice{}, slice}].schedule();
    EXPECT_LE(executed_by(items.back().kernel, "none"), 8 * 100) << items.back().str();
  }
}

// Padding, or another part of a concat, makes the loop longer than what is scanned.
TEST(ExecutedWork, PaddedScansAddEachTermOnce) {
  constexpr std::int64_t n = 200;
  const Tensor x = input({n}), sums = x.cumsum(0), back = x.flip(0).cumsum(0).flip(0);
  const std::pair<const char*, Tensor> cases[] = {
      {"zero before", Tensor::cat({Tensor::zeros({1}), sums})},
      {"one before", Tensor::cat({Tensor::ones({1}), x.cumprod(0)})},
      {"extremes", x.cummax(0).first.pad({{1, 0}})},
      {"both sides", sums.pad({{3, 2}})},
      {"all but the last", sums.pad({{1, 0}})[{Slice{.stop = -1}}]},
      {"a slice", sums[{Slice{.start = 20, .stop = -3}}].pad({{2, 2}})},
      {"sums first", Tensor::cat({sums, x})},
      {"sums last", Tensor::cat({x, sums})},
      {"two scans", Tensor::cat({sums, (x * 2).cumsum(0)})},
      {"from the end", back.pad({{1, 2}})},
      {"rows", x.reshape({5, n / 5}).cumsum(1).pad({{0, 0}, {1, 0}})},
      {"columns", x.reshape({n / 5, 5}).cumsum(0).pad({{1, 0}, {1, 2}})},
      {"counted in another dtype", (x * x).cumsum(0).cast(dtypes::f64).pad({{1, 0}})},
  };
  for (const auto& [name, value] : cases) {
    double counted = 0, done = 0;
    for (const ScheduleItem& item : value.schedule()) {
      counted += item.work.flops;
      done += executed_by(item.kernel, "none");
    }
    EXPECT_LE(done, 10 * n) << name;
    EXPECT_LE(counted, 10 * n) << name;
  }
}

// What a loop inside fills and sums is filled for all iterations of a batch with that loop, not for
// all of them in each.
TEST(ExecutedWork, BatchesFillInnerStagesOnce) {
  const UOp kernel = parse_node(R"(graph kernel {
  %0 = const 64 : index
  %1 = const 5 : index
  %2 = const 32 : index
  %3 = const true : bool
  %4 = param %0 {slot = 0, access = write, alias = 0} : f32
  %5 = range %0 {id = 0, kind = loop} : index
  %6 = index %4, %3, %5 : f32
  %7 = param %0, %2 {slot = 1, access = read, alias = 0} : f32
  %8 = param %1 {slot = 2, access = read, alias = 0} : f32
  %9 = range %1 {id = 1, kind = loop} : index
  %10 = index %8, %3, %9 : f32
  %11 = load %10 : f32
  %12 = range %2 {id = 2, kind = loop} : index
  %13 = index %7, %3, %5, %12 : f32
  %14 = load %13 : f32
  %15 = mul %14, %11 : f32
  %16 = exp2 %15 : f32
  %17 = stage %16, %12 {id = 3, space = scratch, layout = []} : f32
  %18 = range %2 {id = 4, kind = reduce} : index
  %19 = index %17, %3, %18 : f32
  %20 = load %19 : f32
  %21 = reduce %20, %18 {op = add, axes = []} : f32
  %22 = stage %21, %9 {id = 5, space = scratch, layout = []} : f32
  %23 = range %1 {id = 6, kind = reduce} : index
  %24 = index %22, %3, %23 : f32
  %25 = load %24 : f32
  %26 = reduce %25, %23 {op = add, axes = []} : f32
  %27 = store %6, %26 {combine = false, op = add}
  %28 = end %27, %5
  %29 = sink %28 {name = "k", schedule = "", far_constants = false}
  return %29
})");
  const double once = 64 * 5 * 32 * 3 + 64 * 5;
  EXPECT_EQ(executed_by(kernel, "none"), once);
  EXPECT_EQ(executed_by(kernel, "batch r0 16"), once);
}

// Of a sum that is the same along all loops of what is stored but the innermost.
TEST(ExecutedWork, SumsStandOutsideOfLoopsThatTheyDoNotChangeWith) {
  const UOp kernel = parse_node(R"(graph kernel {
  %0 = const 23 : index
  %1 = const 30 : index
  %2 = const true : bool
  %3 = param %0, %0, %1 {slot = 0, access = write, alias = 0} : f32
  %4 = range %0 {id = 0, kind = loop} : index
  %5 = range %0 {id = 1, kind = loop} : index
  %6 = range %1 {id = 2, kind = loop} : index
  %7 = index %3, %2, %4, %5, %6 : f32
  %8 = param %1, %0, %0 {slot = 1, access = read, alias = 0} : f32
  %9 = index %8, %2, %6, %4, %5 : f32
  %10 = load %9 : f32
  %11 = range %0 {id = 3, kind = reduce} : index
  %12 = range %0 {id = 4, kind = reduce} : index
  %13 = index %8, %2, %6, %11, %12 : f32
  %14 = load %13 : f32
  %15 = reduce %14, %11, %12 {op = add, axes = []} : f32
  %16 = sub %10, %15 : f32
  %17 = store %7, %16 {combine = false, op = add}
  %18 = end %17, %4, %5, %6
  %19 = sink %18 {name = "k", schedule = "", far_constants = false}
  return %19
})");
  EXPECT_LE(executed_by(kernel, ""), 3 * 30 * 23 * 23);
}

// Of columns that lie beside each other, where lanes go along the loop that the sum stands in.
TEST(ExecutedWork, LanesLeaveALoopWhereSumsStandInIt) {
  const UOp kernel = parse_node(R"(graph kernel {
  %0 = const 512 : index
  %1 = const 128 : index
  %2 = const true : bool
  %3 = param %0, %1 {slot = 0, access = write, alias = 0} : f32
  %4 = range %0 {id = 0, kind = loop} : index
  %5 = range %1 {id = 1, kind = loop} : index
  %6 = index %3, %2, %4, %5 : f32
  %7 = param %0, %1 {slot = 1, access = read, alias = 0} : f32
  %8 = index %7, %2, %4, %5 : f32
  %9 = load %8 : f32
  %10 = range %0 {id = 2, kind = reduce} : index
  %11 = index %7, %2, %10, %5 : f32
  %12 = load %11 : f32
  %13 = reduce %12, %10 {op = add, axes = []} : f32
  %14 = sub %9, %13 : f32
  %15 = store %6, %14 {combine = false, op = add}
  %16 = end %15, %4, %5
  %17 = sink %16 {name = "k", schedule = "", far_constants = false}
  return %17
})");
  const Context one{{"WEFT_THREADS", 1}};
  for (const UOp& program : run_pipeline({kernel}, {.target = find_device("CPU").target()}))
    EXPECT_LE(check_loops(program.node()).most_iterations, 3 * 512 * 128);
}

// Sums of rows of an image, and scans of what is staged.
TEST(ExecutedWork, SchedulesDoNotRepeatWork) {
  const Tensor image = input({1, 30, 23, 23}), rows = input({91, 22, 120});
  const Tensor active = rows.hardswish() * 0.7;
  const Tensor cases[] = {
      ((image - image.mean({2, 3}, true)) * (image.var({2, 3}, true, 0) + 1e-5).rsqrt())
          .permute({0, 2, 3, 1})
          .contiguous(),
      Tensor::cat({active, active.narrow(1, 1, 8).tanh()}, 1).cumsum(0).permute({1, 0, 2}).relu(),
      input({4, 1000}).tanh().cumsum(1),
  };
  for (const Tensor& value : cases)
    for (const ScheduleItem& item : value.schedule())
      EXPECT_LE(executed_by(item.kernel, ""), 2 * item.work.flops + 1000) << item.str();
}

// A pool's windows lie side by side: an element is in one of them, and its gradient looks at no
// other.
TEST(ExecutedWork, GradientsOfPoolsLookAtOneWindow) {
  const Tensor x = input({4, 8, 28, 28});
  const std::vector<ScheduleItem> items = x.max_pool2d().square().sum().gradient({x})[0].schedule();
  ASSERT_EQ(items.size(), 1u);
  const auto elements = static_cast<double>(x.numel());
  EXPECT_LT(static_cast<double>(items[0].work.flops), 20 * elements) << items[0].str();
}

}  // namespace
}  // namespace weft
