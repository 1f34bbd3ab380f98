// What schedules say, and what is refused.

#include <weft/dev/codegen/actions.h>

#include <algorithm>

#include <gtest/gtest.h>
#include <weft/dev/base/called.h>
#include <weft/dev/codegen/lower.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/settings.h>
#include <weft/weft.h>

#include "../support/errors.h"
#include "../support/kernels.h"
#include "../support/nodes.h"

namespace weft {
namespace {

UOp kernel_of(const std::vector<UOp>& effects) {
  return make(Op::Sink, effects, {}, KernelArg{Symbol("k")});
}
UOp loop(const UOp& size) { return range(size, fresh_id().value); }
UOp reduction(std::int64_t size) { return range(size, fresh_id().value, LoopKind::Reduce); }

// r0: 12, r1: 16, k0: 8; p1 and p2.
UOp matmul(Access weights = Access::Read) {
  const UOp m = loop(size(12)), n = loop(size(16)), k = reduction(8);
  const UOp a = load(place(param(1, Access::Read, {size(12), size(8)}), {m, k}));
  const UOp b = load(place(param(2, weights, {size(8), size(16)}), {k, n}));
  const UOp out = place(param(0, Access::Write, {size(12), size(16)}), {m, n});
  return kernel_of({over(put(out, reduce(Op::Add, {a * b, k})), {m, n})});
}

// r0: 12; what it reads it writes.
UOp in_place() {
  const UOp i = loop(size(12));
  const UOp at = place(param(0, Access::ReadWrite, {size(12)}), {i});
  return kernel_of({over(put(at, load(at) * 2.0), {i})});
}

// r0: n, r1: 4
UOp symbolic_size() {
  const UOp n = make(Op::Variable, {}, dtypes::index, VariableArg{Symbol("n"), fresh_id(), 1, 9});
  const UOp i = loop(n), j = loop(size(4));
  const UOp x = load(place(param(1, Access::Read, {n, size(4)}), {i, j}));
  return kernel_of({over(put(place(param(0, Access::Write, {n, size(4)}), {i, j}), x), {i, j})});
}

// r0: 12; all of it goes to one place.
UOp total() {
  const UOp i = loop(size(12));
  const UOp x = load(place(param(1, Access::Read, {size(12)}), {i}));
  return kernel_of(
      {over(add_to(place(param(0, Access::ReadWrite, {size(1)}), {size(0)}), x), {i})});
}

// k0: a list of the largest and the least.
UOp range_of_values() {
  const UOp k = reduction(20);
  const UOp x = load(place(param(1, Access::Read, {size(20)}), {k}));
  const UOp list = reduce(Op::Max, {tuple({x, -x}), k});
  const UOp out = place(param(0, Access::Write, {size(1)}), {size(0)});
  return kernel_of({put(out, member(list, 0, dtypes::f32) + member(list, 1, dtypes::f32))});
}

UOp two_nests() {
  const UOp i = loop(size(4)), j = loop(size(4));
  return kernel_of(
      {over(put(place(param(0, Access::Write, {size(4)}), {i}), const_float(1.0, dtypes::f32)),
            {i}),
       over(put(place(param(1, Access::Write, {size(4)}), {j}), const_float(2.0, dtypes::f32)),
            {j})});
}

// r0: 6, r1: 20, k0: the largest of a row, k1: the sum of what r1 computes again.
UOp shares() {
  const UOp x = param(1, Access::Read, {size(6), size(20)});
  const UOp i = loop(size(6)), j = loop(size(20)), k = reduction(20), l = reduction(20);
  const UOp top = reduce(Op::Max, {load(place(x, {i, k})), k});
  const auto less = [&](const UOp& at) { return load(place(x, {i, at})) - top; };
  const UOp sum = reduce(Op::Add, {less(l), l});
  const UOp out = place(param(0, Access::Write, {size(6), size(20)}), {i, j});
  return kernel_of({over(put(out, less(j) / sum), {i, j})});
}

// s0: 12 sums, before r0.
UOp filled_before() {
  const UOp x = param(1, Access::Read, {size(8), size(12)});
  const UOp s = loop(size(12)), k = reduction(8), i = loop(size(12));
  const UOp memory =
      make(Op::Buffer, {size(12)}, dtypes::f32, BufferArg{fresh_id(), Space::Scratch});
  const UOp sum = reduce(Op::Add, {load(place(x, {k, s})), k});
  const UOp ready = make(Op::After, {memory, over(put(place(memory, {s}), sum), {s})});
  const UOp out = place(param(0, Access::Write, {size(12)}), {i});
  return kernel_of({over(put(out, load(place(ready, {i}))), {i})});
}

struct Text {
  const char *schedule, *expected;
};

// Schedules are applied in an arena, as by passes.
class Actions : public testing::Test {
  Arena arena_;
  const InternerScope scope_{arena_};
};

TEST_F(Actions, PrintAsTheyAreParsed) {
  for (const char* text : {"none",
                           "tile r1 64",
                           "tile r1 64 mask",
                           "tile r1.1 6 remainder",
                           "tile r0 6 shift",
                           "order r1 r0 k0",
                           "stage p2",
                           "stage p2 at r1",
                           "stage p2.1 at r1 as k0 r0",
                           "stage p2 decoded at k0",
                           "stage p2 decoded region at r0",
                           "stage p2 region",
                           "stage p2 region at r1",
                           "upcast r0.1",
                           "vector r1.2",
                           "unroll k0",
                           "thread r0",
                           "stage p2 slide at r0 in shared",
                           "pipeline p2.1 3",
                           "prefetch p2.1 at r0",
                           "pad r0 16",
                           "swap r0 k0.1",
                           "merge r1 r0",
                           "group k0 8",
                           "group k0 8 mask",
                           "batch r1 12 shift",
                           "mma r0 r1 k0 amx_bf16",
                           "online k1 256",
                           "split_parallel r0 8",
                           "global r0",
                           "local r0.1",
                           "stage p2 at k0 in shared",
                           "stage p2 region in shared",
                           "stage p2 at r1 in register as k0 r0",
                           "tile r0 4; upcast r0.1; order r1 r0"})
    EXPECT_EQ(to_string(parse_schedule(text)), text);
  EXPECT_EQ(to_string(parse_schedule("")), "none");
  EXPECT_EQ(to_string(parse_schedule("stage p2 at r1 in scratch")), "stage p2 at r1");
  EXPECT_EQ(to_string(parse_schedule(" tile  r0 4 ;; vector r0.1\n;")), "tile r0 4; vector r0.1");
}

TEST_F(Actions, HaveTheFieldsThatTheTextNames) {
  const Schedule schedule = parse_schedule("tile r1 6 shift; stage p2 region at r0; vector r1.1");
  EXPECT_EQ(schedule[0],
            (Action{.type = Action::Tile, .name = "r1", .count = 6, .tail = Tail::Shift}));
  EXPECT_EQ(schedule[1],
            (Action{.type = Action::Stage, .name = "p2", .at = "r0", .by_region = true}));
  EXPECT_EQ(schedule[2], (Action{.type = Action::Kind, .name = "r1.1", .kind = LoopKind::Vector}));
}

TEST_F(Actions, ThatAreNoneAreNamed) {
  static constexpr Text wrong[] = {
      {"fold r0", "there is no such action"},
      {"tile", "a loop is missing"},
      {"tile r0", "a number is missing"},
      {"tile r0 four", "'four' is not a positive number of iterations"},
      {"tile r0 4x", "'4x' is not a positive number of iterations"},
      {"tile r0 0", "'0' is not a positive number of iterations"},
      {"tile r0 -4", "'-4' is not a positive number of iterations"},
      {"tile r0 4 round", "the tail must be mask, remainder or shift"},
      {"tile r0 4 mask shift", "unexpected 'shift'"},
      {"vector", "a loop is missing"},
      {"vector r0 r1", "unexpected 'r1'"},
      {"pad r0", "a number is missing"},
      {"pad r0 16 mask", "unexpected 'mask'"},
      {"swap r0", "a loop is missing"},
      {"swap r0 r1 k0", "unexpected 'k0'"},
      {"merge r0", "a loop is missing"},
      {"split_parallel r0", "a number is missing"},
      {"pipeline p1", "a number is missing"},
      {"pipeline p1 0", "'0' is not a positive number of iterations"},
      {"prefetch p1", "'at' and a loop are missing"},
      {"prefetch p1 at", "a loop is missing"},
      {"stage", "a value is missing"},
      {"stage p1 at", "a loop is missing"},
      {"stage p1 r0", "unexpected 'r0'"},
      {"stage p1 in", "a memory is missing"},
      {"stage p1 decoded in constant",
       "'decoded' cannot be combined with 'slide' or 'in constant'"},
      {"stage p1 decoded slide", "'decoded' cannot be combined with 'slide' or 'in constant'"},
      {"stage p1 in global", "the memory must be shared, scratch, register or constant"},
      {"stage p1 in cache", "the memory must be shared, scratch, register or constant"},
  };
  for (const auto& [schedule, expected] : wrong)
    EXPECT_EQ(error_of([&] { return parse_schedule(schedule); }),
              std::string("schedule: '") + schedule + "': " + expected);
}

std::string refusal(const UOp& kernel, const char* schedule) {
  return error_of([&] { return apply_schedule(kernel, parse_schedule(schedule)); });
}

TEST_F(Actions, AreRefusedWhereTheyCannotBeDone) {
  static constexpr Text wrong[] = {
      {"stage p1 in constant",
       "schedule: 'stage p1 in constant': it may be written between runs of the kernel, so it is "
       "not "
       "a constant"},
      {"vector r7", "schedule: the kernel has no loop 'r7'; it has r0 r1 k0"},
      {"tile r0 4; upcast r0.2", "schedule: the kernel has no loop 'r0.2'; it has r0 r0.1 r1 k0"},
      {"tile r0 64", "schedule: 'tile r0 64': it has only 12 iterations"},
      {"tile r0 5",
       "schedule: 'tile r0 5': 12 iterations are not a multiple of it; add a tail: mask, remainder "
       "or shift"},
      {"tile k0 5 shift",
       "schedule: 'tile k0 5 shift': shift computes some elements twice, which may change the "
       "result"},
      {"vector r1; tile r1 4", "schedule: 'tile r1 4': it is not a plain loop"},
      {"thread k0",
       "schedule: 'thread k0': a reduction can only be shared by the items of a work-group"},
      {"thread r1", "schedule: threads split r1, which is not the outermost loop"},
      {"local r1", "schedule: work-items split r1, which is not the outermost loop"},
      {"local r0; global r1", "schedule: work-groups split r1, which is not the outermost loop"},
      {"thread r0; local r1",
       "schedule: work-items split r1, but threads split the outermost loop"},
      {"thread r0; thread r1",
       "schedule: threads split r1, but they can split at most 1 of the loops"},
      {"tile r0 6; tile r0.1 3; local r0; local r0.1; local r0.2; local r1",
       "schedule: work-items split r1, but they can split at most 3 of the loops"},
      {"global k0",
       "schedule: 'global k0': a reduction can only be shared by the items of a work-group"},
      {"group r0 4", "schedule: 'group r0 4': it is not a loop of a reduction"},
      {"merge r0 k0", "schedule: 'merge r0 k0': they are not two loops of the same nest"},
      {"merge r0 r0", "schedule: 'merge r0 r0': they are not two loops of the same nest"},
      {"upcast r1; merge r0 r1", "schedule: 'merge r0 r1': they are not both plain loops"},
      {"split_parallel k0 4", "schedule: 'split_parallel k0 4': it is not a plain output loop"},
      {"split_parallel r0 13", "schedule: 'split_parallel r0 13': it has at most 12 iterations"},
      {"thread r0; split_parallel r0 4",
       "schedule: 'split_parallel r0 4': it is not a plain output loop"},
      {"group k0 3",
       "schedule: 'group k0 3': 8 iterations are not a multiple of it; add a tail: mask, remainder "
       "or shift"},
      {"tile k0 4; tile k0.1 2; local k0.1; local k0.2",
       "schedule: work-items share two loops of one reduction"},
      {"warp r0", "schedule: 'warp r0': no device has warps"},
      {"stage p1 in shared", "schedule: 'stage p1 in shared': there are no work-items to share it"},
      {"order r0 r1 r0", "schedule: 'order r0 r1 r0': r0 is named twice"},
      {"tile k0 4; order k0 r0 k0.1 r1",
       "schedule: the loops of a reduction are in more than two places of the loop order"},
      {"stage p9", "schedule: 'stage p9': the kernel reads no such value; it reads p1 p2"},
      {"stage p1 at k0", "schedule: 'stage p1 at k0': nothing inside reads it more than once"},
      {"stage p1; stage p1", "schedule: 'stage p1': it is part of another value that is staged"},
      {"stage p2 as k0",
       "schedule: 'stage p2 as k0': 'as' does not list each inner loop that it depends on exactly "
       "once"},
      {"stage p2 as k0 r0",
       "schedule: 'stage p2 as k0 r0': 'as' does not list each inner loop that it depends on "
       "exactly once"},
      {"stage p2 region as k0 r1",
       "schedule: 'stage p2 region as k0 r1': a region has the layout of its parameter, so 'as' "
       "does not apply"},
      {"stage p2 decoded",
       "schedule: 'stage p2 decoded': no factor of a sum of products is computed from it"},
      {"stage p2 at r1; vector r1", "schedule: a staged value differs between the lanes of r1"},
  };
  for (const auto& [schedule, expected] : wrong) EXPECT_EQ(refusal(matmul(), schedule), expected);
}

// The codes of a factor that is shifted, too, are no region of what it reads.
TEST_F(Actions, OnlyConversionsAreRegions) {
  const UOp i = loop(size(6)), j = loop(size(8)), k = reduction(4);
  const UOp codes = load(place(param(2, Access::Read, {size(4), size(8)}, dtypes::u8), {k, j})),
            x = load(place(param(1, Access::Read, {size(6), size(4)}), {i, k}));
  const UOp out = place(param(0, Access::Write, {size(6), size(8)}), {i, j});
  const UOp sum = reduce(Op::Add, {x * (cast(codes, dtypes::f32) - 8.0), k});
  EXPECT_EQ(
      refusal(kernel_of({over(put(out, sum), {i, j})}), "stage p2 decoded region"),
      "schedule: 'stage p2 decoded region': a region must be a read or the conversion of one");
}

TEST_F(Actions, AreSaidToBeRefusedBelowAMethod) {
  const Called called("realize");
  EXPECT_EQ(refusal(matmul(), "tile r0 64"),
            "realize: schedule: 'tile r0 64': it has only 12 iterations");
  EXPECT_EQ(refusal(matmul(), "tile"), "realize: schedule: 'tile': a loop is missing");
}

TEST_F(Actions, AreRefusedForWhatTheKernelIs) {
  EXPECT_EQ(refusal(in_place(), "tile r0 5 shift"),
            "schedule: 'tile r0 5 shift': shift computes some elements twice, which may change the "
            "result");
  EXPECT_EQ(
      refusal(two_nests(), "thread r0"),
      "schedule: the kernel has loops beside the parallel ones, and each thread would run them");
  EXPECT_EQ(
      refusal(matmul(), "tile r0 5 remainder; thread r0"),
      "schedule: the kernel has loops beside the parallel ones, and each thread would run them");
  EXPECT_EQ(refusal(total(), "thread r0"),
            "schedule: the threads that split r0 would write to the same place");
  EXPECT_EQ(
      refusal(two_nests(), "local r0"),
      "schedule: the kernel has loops beside the parallel ones, and each work-item would run them");
  EXPECT_EQ(refusal(shares(), "group k0 4; group k1 5"),
            "schedule: 4 work-items share k0.1, but 5 share another reduction");
  EXPECT_EQ(refusal(range_of_values(), "group k0 4"), "schedule: 'group k0 4': it reduces a tuple");
  EXPECT_EQ(refusal(range_of_values(), "local k0"),
            "schedule: work-items share k0, which reduces a tuple");
  EXPECT_EQ(
      refusal(matmul(), "tile r0 5 remainder; group k0 4"),
      "schedule: the kernel has loops beside the parallel ones, and each work-item would run them");
  EXPECT_EQ(refusal(matmul(), "group k0 4; vector r1"),
            "schedule: a staged value differs between the lanes of r1");
  EXPECT_EQ(refusal(filled_before(), "order s0 r0; global s0"),
            "schedule: the kernel has loops beside the parallel ones, and each work-group would "
            "run them");
  EXPECT_EQ(refusal(total(), "global r0"),
            "schedule: the work-groups that split r0 would write to the same place");
  EXPECT_EQ(refusal(symbolic_size(), "global r0"),
            "schedule: 'global r0': its size is not a constant");
  EXPECT_EQ(refusal(total(), "tile r0 5 mask"),
            "schedule: 'tile r0 5 mask': all its iterations store to the same element");
  EXPECT_EQ(refusal(total(), "pad r0 5"),
            "schedule: 'pad r0 5': all its iterations store to the same element");
  EXPECT_EQ(refusal(symbolic_size(), "pad r0 4"),
            "schedule: 'pad r0 4': its size is not a constant");
  EXPECT_EQ(refusal(matmul(), "swap r0 r7"),
            "schedule: the kernel has no loop 'r7'; it has r0 r1 k0");
  EXPECT_EQ(refusal(symbolic_size(), "tile r0 4 mask"),
            "schedule: 'tile r0 4 mask': its size is not a constant");
  EXPECT_EQ(refusal(symbolic_size(), "upcast r0"),
            "schedule: 'upcast r0': its size is not a constant");
  EXPECT_EQ(refusal(symbolic_size(), "stage p1"), "schedule: 'stage p1': a size is not a constant");
}

std::size_t count(const UOp& kernel, Op op) {
  return static_cast<std::size_t>(
      std::ranges::count(toposort(kernel.node()), op, [](auto node) { return node->op(); }));
}

// Each row's products with all rows of p2, halved, in memory of the kernel's own; r0: 12, r1: 8.
UOp halved_products() {
  const UOp rows = param(1, Access::Read, {size(12), size(4)}),
            others = param(2, Access::Read, {size(16), size(4)});
  const UOp i = loop(size(12)), j = loop(size(8)), at = loop(size(16)), again = loop(size(16)),
            l = reduction(4), k = reduction(16);
  const auto staged = [](const UOp& value, const UOp& own) {
    return make(Op::Stage, {value, own}, {}, StageArg{fresh_id(), Space::Scratch, {}});
  };
  const UOp product =
      reduce(Op::Add, {load(place(rows, {i, l})) * load(place(others, {at, l})), l});
  const UOp half = load(place(staged(product, at), {again})) * 0.5;
  const UOp value = load(place(staged(half, again), {k})) *
                    load(place(param(3, Access::Read, {size(16), size(8)}), {k, j}));
  const UOp out = place(param(0, Access::Write, {size(12), size(8)}), {i, j});
  return stages({kernel_of({over(put(out, reduce(Op::Add, {value, k})), {i, j})})}, {})[0];
}

// The products of six rows, and their halves, lie in one memory: no other loops need both.
TEST_F(Actions, IterationsFillMemoryTogether) {
  const UOp kernel = halved_products();
  EXPECT_EQ(count(kernel, Op::Buffer), 2U);
  const UOp together = apply_schedule(kernel, parse_schedule("batch r0 6; tile b1 3; upcast b1.1"));
  const std::vector<const Node*> nodes = toposort(together.node());
  const auto memory = std::ranges::find(nodes, Op::Buffer, [](auto node) { return node->op(); });
  EXPECT_EQ(count(together, Op::Buffer), 1U);
  EXPECT_EQ((*memory)->dims()[0], const_int(6).node());
  EXPECT_EQ(refusal(matmul(), "batch r0 4"),
            "schedule: 'batch r0 4': no memory is filled in its iterations");
  EXPECT_EQ(refusal(kernel, "batch k0 2"), "schedule: 'batch k0 2': it is not an output loop");
  EXPECT_EQ(refusal(kernel, "batch r1 2"),
            "schedule: 'batch r1 2': no memory is filled in its iterations");
  EXPECT_EQ(refusal(kernel, "batch r0 5"),
            "schedule: 'batch r0 5': 12 iterations are not a multiple of it; add a tail: mask, "
            "remainder or shift");
}

// Rows of another length than a way of the cache would lie in all of its sets.
TEST_F(Actions, RowsOfABatchAreALineLongerThanAWay) {
  const UOp x = param(1, Access::Read, {size(4), size(512)});
  const UOp i = loop(size(4)), j = loop(size(512)), at = loop(size(512));
  const UOp stage = make(Op::Stage, {load(place(x, {i, at})) * 2.0, at}, {},
                         StageArg{fresh_id(), Space::Scratch, {}});
  const UOp out = place(param(0, Access::Write, {size(4), size(512)}), {i, j});
  const UOp kernel = stages({kernel_of({over(put(out, load(place(stage, {j}))), {i, j})})}, {})[0];
  const UOp together = apply_schedule(kernel, parse_schedule("batch r0 2"));
  const std::vector<const Node*> nodes = toposort(together.node());
  const auto memory = std::ranges::find(nodes, Op::Buffer, [](auto node) { return node->op(); });
  EXPECT_EQ((*memory)->dims()[1], const_int(512 + 16).node());
}

TEST_F(Actions, AValueIsComputedOnceForAllWhoNeedIt) {
  EXPECT_EQ(count(shares(), Op::Load), 3U);
  const UOp staged = apply_schedule(shares(), parse_schedule("stage k1; tile v1 4; vector v1.1"));
  EXPECT_EQ(count(staged, Op::Sub), 1U);
  EXPECT_EQ(count(staged, Op::Buffer), 1U);
  EXPECT_EQ(count(staged, Op::End), 2U);
  EXPECT_EQ(
      refusal(shares(), "stage k1 at r0"),
      "schedule: 'stage k1 at r0': the operand of a reduction is staged without 'at', 'region' "
      "or 'as'");
  EXPECT_EQ(refusal(shares(), "stage k1 in shared"),
            "schedule: 'stage k1 in shared': the operand of a reduction is staged in scratch only");
  EXPECT_EQ(refusal(shares(), "stage r0"), "schedule: 'stage r0': it is not a loop of a reduction");
  EXPECT_EQ(refusal(shares(), "stage k1; vector v2"),
            "schedule: the kernel has no loop 'v2'; it has r0 r1 v1 k1 k0");
}

// The same node is computed outside of the loop as well, where the loop is not open.
TEST_F(Actions, AValueThatALoopDoesNotChangeIsNotComputedForIt) {
  const UOp x = param(1, Access::Read, {size(4)}), i = loop(size(4)), k = reduction(8);
  const UOp value = load(place(x, {i}));
  const UOp sum = reduce(Op::Add, {value, k});
  const UOp out = place(param(0, Access::Write, {size(4)}), {i});
  EXPECT_EQ(refusal(kernel_of({over(put(out, sum - value), {i})}), "stage k0"),
            "schedule: 'stage k0': it does not change with all loops of the reduction");
}

TEST_F(Actions, BringWhatTheNextTripReads) {
  const auto places = [](const char* schedule) {
    std::vector<std::string> indices;
    const UOp kernel = simplify(apply_schedule(shares(), parse_schedule(schedule)));
    for (const Node* node : toposort(kernel.node()))
      if (node->op() == Op::Prefetch) indices.push_back(expression_text(node->src(0)->src(2)));
    return indices;
  };
  EXPECT_EQ(places("stage k1"), std::vector<std::string>{});
  const auto next = places("stage k1; prefetch p1.0 at r0");
  ASSERT_EQ(next.size(), 1U);
  EXPECT_NE(next[0].find("5"), std::string::npos) << next[0] << ": the last row stays the last";
  EXPECT_EQ(places("stage k1; prefetch p1.0 at r0; tile r0 2; tile v1 4; vector v1.1").size(), 1U);
  EXPECT_EQ(places("stage k1; prefetch p1.1 at r0").size(), 1U) << "before the read, in a sum";
  EXPECT_EQ(places("stage k1; prefetch p1.1 at r0; tile k0 4; upcast k0.1").size(), 1U);
  static constexpr Text wrong[] = {
      {"prefetch p9 at r0", "the kernel reads no such value; it reads p1.0 p1.1 p1.2"},
      {"thread r0; prefetch p1.0 at r0", "the iterations of r0 are not sequential"},
      {"stage k1; prefetch p1.0 at r1", "the next iteration reads the same data"},
  };
  for (const auto& [schedule, expected] : wrong)
    EXPECT_NE(refusal(shares(), schedule).find(expected), std::string::npos)
        << schedule << ": " << refusal(shares(), schedule);
}

// Of neighbours that are read in one iteration, what none of them is.
TEST_F(Actions, BringOfSeveralReadsWhatIsNotThere) {
  const UOp i = range(32, 0);
  const UOp x = param(1, Access::Read, {size(80)});
  UOp sum = load(place(x, {i * 2}));
  for (std::int64_t next = 1; next < 4; ++next) sum = sum + load(place(x, {i * 2 + next}));
  const UOp out = place(param(0, Access::Write, {size(32)}), {i});
  const UOp kernel = make(Op::Sink, {over(put(out, sum), {i})}, {}, KernelArg{Symbol("k")});
  const auto prefetched = [&](const char* schedule) {
    return count(apply_schedule(kernel, parse_schedule(schedule)), Op::Prefetch);
  };
  EXPECT_EQ(prefetched("prefetch p1 at r0"), 2U);
  EXPECT_EQ(prefetched("prefetch p1.1 at r0"), 1U);
  EXPECT_EQ(prefetched("prefetch p1 at r0; tile r0 8; vector r0.1"), 2U);
  EXPECT_EQ(refusal(kernel, "prefetch p0 at r0"),
            "schedule: 'prefetch p0 at r0': no reduction inside the loop precedes the store");
}

// Rows whose places are read themselves, and rows from the last to the first.
TEST(ReadsAhead, StayInsideOfMemory) {
  const Context checked{{"VALIDATE", 1}};
  const Tensor table = Tensor::rand({4096, 2048}).realize();
  const Tensor rows = Tensor::randint({2048}, 0, 4096).cast(dtypes::i32).realize();
  const auto sum = [](const Tensor& of) { return of.softmax(-1).sum().item<float>(); };
  EXPECT_NEAR(sum(table.index_select(0, rows)), 2048, 0.1);
  EXPECT_NEAR(sum(table.flip(0)), 4096, 0.1);
}

// Twelve rows of four columns, a line each, in eight steps of the sum.
TEST_F(Actions, AnnounceWhatIsStoredAfterASum) {
  const UOp kernel = simplify(apply_schedule(
      matmul(Access::Read), parse_schedule("tile r1 4; order r1 k0 r0 r1.1; prefetch p0 at r1")));
  std::vector<const Node*> places;
  for (const Node* node : toposort(kernel.node()))
    if (node->op() == Op::Prefetch) places.push_back(node->src(0));
  ASSERT_EQ(places.size(), 2U);
  for (const Node* place : places) {
    EXPECT_EQ(storage_of(place->src(0))->arg<ParamArg>().slot, 0);
    EXPECT_NE(expression_text(place->src(2)).find("11"), std::string::npos) << "the last row";
  }
}

// All that an iteration of r1 reads of what is packed: 4 columns of 8 numbers, two lines.
TEST_F(Actions, BringWhatIsPackedForTheNextTrip) {
  const auto prefetched = [](const char* schedule) {
    const UOp kernel = simplify(apply_schedule(matmul(Access::Constant), parse_schedule(schedule)));
    std::vector<const Node*> places;
    for (const Node* node : toposort(kernel.node()))
      if (node->op() == Op::Prefetch) places.push_back(node->src(0));
    return places;
  };
  const std::string packed =
      "tile r1 4; order r1 r0 k0 r1.1; upcast r1.1; stage p2 in constant as r1 k0 r1.1; ";
  const auto once = prefetched((packed + "prefetch p2 at r1").c_str());
  EXPECT_EQ(once.size(), 2U) << "all twelve rows would find the same";
  for (const Node* place : once)
    for (std::size_t i = 3; i < place->size(); ++i)
      EXPECT_LT(place->src(i)->bounds().hi, place->src(0)->src(i - 1)->src(0)->lo());
  EXPECT_EQ(once[0]->src(3)->bounds().lo, 0);
  EXPECT_EQ(once[1]->src(3)->bounds().lo, 4) << "a line is four steps of the sum";
  const std::string twice = packed + "prefetch p2 at r1; prefetch p2 at r1";
  EXPECT_EQ(
      refusal(matmul(Access::Constant), twice.c_str()),
      "schedule: 'prefetch p2 at r1': it is part of another staged value, or already prefetched");
  // Two halves of the rows bring a line each.
  EXPECT_EQ(prefetched(("tile r0 6; order r0 r1; " + packed +
                        "order r1 r0 r0.1 k0 r1.1; prefetch p2 at r1")
                           .c_str())
                .size(),
            1U);
}

TEST_F(Actions, ItemsWaitForOneAnotherAroundWhatTheyShare) {
  const std::string items =
      "tile r0 4; tile r1 4; tile k0 4; order r0 r1 r0.1 r1.1 k0 k0.1; "
      "global r0; global r1; local r0.1; local r1.1";
  const auto barriers = [&](const char* stages) {
    return count(apply_schedule(matmul(), parse_schedule(items + stages)), Op::Barrier);
  };
  EXPECT_EQ(barriers(""), 0U);
  EXPECT_EQ(barriers("; stage p1 at k0"), 0U) << "memory of each item's own";
  EXPECT_EQ(barriers("; stage p1 at r1 in shared"), 1U) << "filled once";
  EXPECT_EQ(barriers("; stage p1 at k0 in shared"), 2U) << "filled in each iteration";
  EXPECT_EQ(barriers("; stage p1 at k0 in shared; stage p2 at k0 in shared"), 2U) << "for both";
  EXPECT_EQ(barriers("; stage p1 at r1 in shared; stage p2 at k0 in shared"), 3U);
}

TEST_F(Actions, MultiplyWhatInstructionsMultiply) {
  EXPECT_EQ(refusal(matmul(), "mma r0 r1 k0 abacus"),
            "schedule: 'mma r0 r1 k0 abacus': there is no instruction 'abacus'");
  EXPECT_EQ(refusal(matmul(), "mma r0 r1 k0 amx_bf16"),
            "schedule: 'mma r0 r1 k0 amx_bf16': it is not a sum of products of two reads, one "
            "along each loop, of the instruction's types");
  // Each row has factors of its own: that is no product of matrices.
  const UOp i = loop(size(4)), j = loop(size(16)), k = reduction(8);
  const auto read = [](int slot, const std::vector<UOp>& sizes, const std::vector<UOp>& at) {
    return cast(load(place(param(slot, Access::Read, sizes, dtypes::bf16), at)), dtypes::f32);
  };
  const UOp a = read(1, {size(4), size(8)}, {i, k});
  const UOp b = read(2, {size(4), size(16), size(8)}, {i, j, k});
  const UOp out = place(param(0, Access::Write, {size(4), size(16)}), {i, j});
  const UOp rows = kernel_of({over(put(out, reduce(Op::Add, {a * b, k})), {i, j})});
  EXPECT_EQ(refusal(rows, "mma r0 r1 k0 avx512_bf16"),
            "schedule: 'mma r0 r1 k0 avx512_bf16': it is not a sum of products of two reads, one "
            "along each loop, of the instruction's types");
}

TEST_F(Actions, ItemsWaitForWhatTheOthersReduce) {
  const auto barriers = [](const UOp& kernel, const char* schedule) {
    return count(apply_schedule(kernel, parse_schedule(schedule)), Op::Barrier);
  };
  EXPECT_EQ(barriers(matmul(), "group k0 4; global r0; global r1"), 1U);
  EXPECT_EQ(barriers(matmul(), "tile k0 4; local k0.1; global r0; global r1"), 1U) << "the same";
  EXPECT_EQ(barriers(matmul(), "group k0 4"), 2U) << "for each element";
  EXPECT_EQ(barriers(shares(), "global r0; group k0 5; group k1 5"), 2U) << "one after the other";
}

TEST_F(Actions, LoopsHandOnWhatFollowsTripByTrip) {
  static constexpr Text wrong[] = {
      {"stage p1 slide", "'stage p1 slide': it needs 'at' and a loop"},
      {"global r0; stage p1 slide at r0",
       "'stage p1 slide at r0': the iterations of r0 are not sequential"},
      {"tile k0 4; order k0 r0 r1 k0.1; stage p1 slide at r0",
       "'stage p1 slide at r0': the reduction loop k0 is outside r0"},
      {"tile k0 4; order k0 r0 r1 k0.1; stage p2 at k0; pipeline p2 2",
       "'stage p2 at k0': r0 is inside the reduction loop k0"},
      {"stage p1 slide at r1", "'stage p1 slide at r1': it is the same in all iterations of r1"},
      {"stage p1 slide at r0",
       "'stage p1 slide at r0': successive iterations of r0 share none of the region's 1 elements"},
      {"tile k0 4; upcast k0; order k0 r0 r1 k0.1; stage p1 at r0; pipeline p1 2",
       "'stage p1 at r0': it depends on a loop inside r0"},
      {"tile k0 4; tile k0.1 2; unroll k0; stage p1 at k0.1; pipeline p1 2",
       "'stage p1 at k0.1': the reduction loop k0 is outside k0.1"},
      {"pipeline p1 2", "'pipeline p1 2': it is not staged"},
      {"stage p1 at r0; pipeline p1 1",
       "'pipeline p1 1': a pipeline has at least 2 iterations in flight"},
      {"stage p1 slide at r0; pipeline p1 2",
       "'pipeline p1 2': a sliding stage cannot be pipelined"},
  };
  for (const auto& [schedule, expected] : wrong)
    EXPECT_EQ(refusal(matmul(), schedule), std::string("schedule: ") + expected) << schedule;
  for (const char* schedule :
       {"stage p1 at r0; pipeline p1 3", "tile k0 4; stage p2 at k0; pipeline p2 2"})
    EXPECT_EQ(refusal(matmul(), schedule), "no error") << schedule;
}

TEST_F(Actions, ItemsWaitOnceInEachTripForWhatIsReadAhead) {
  const std::string items =
      "tile r0 4; tile r1 4; tile k0 4; order r0 r1 r0.1 r1.1 k0 k0.1; "
      "global r0; global r1; local r0.1; local r1.1; "
      "stage p1 at k0 in shared; stage p2 at k0 in shared; ";
  const auto barriers = [&](const char* ahead) {
    return count(apply_schedule(matmul(), parse_schedule(items + ahead)), Op::Barrier);
  };
  EXPECT_EQ(barriers("pipeline p1 2; pipeline p2 2"), 1U);
  EXPECT_EQ(barriers("pipeline p1 2; pipeline p2 3"), 1U);
  EXPECT_EQ(barriers("pipeline p1 2"), 2U) << "p2 is filled and read in the same iteration";
}

TEST_F(Actions, OneIsAnotherOrTwo) {
  const auto hash = [](const char* schedule) {
    const UOp applied = apply_schedule(matmul(), parse_schedule(schedule));
    return structural_hash(nodes_of({simplify(applied)}));
  };
  EXPECT_EQ(hash("tile r0 5 mask"), hash("pad r0 5; tile r0 5"));
  EXPECT_EQ(hash("tile k0 5 mask"), hash("pad k0 5; tile k0 5"));
  EXPECT_EQ(hash("pad r0 4"), hash("none")) << "12 is a multiple";
  EXPECT_FALSE(hash("pad r0 32") == hash("none")) << "of more than there are";
  EXPECT_EQ(hash("swap r0 r1"), hash("order r1 r0"));
  EXPECT_EQ(hash("swap r1 r0; swap r0 r1"), hash("none"));
  EXPECT_EQ(hash("tile r1 4; merge r1 r1.1"), hash("none")) << "the parts of a whole";
  EXPECT_EQ(hash("group k0 4; global r0"), hash("tile k0 4; local k0.1; global r0"));
}

TEST_F(Actions, NameLoopsThatFillMemory) {
  for (const char* schedule :
       {"tile s0 4; vector s0.1", "tile s0 5 shift", "tile s0 4; order s0 k0 s0.1", "thread r0"})
    EXPECT_EQ(refusal(filled_before(), schedule), "no error") << schedule;
  EXPECT_EQ(refusal(filled_before(), "thread s0"),
            "schedule: threads split s0, which is not the outermost loop");
}

TEST_F(Actions, TakeWhatIsLegalBesideWhatIsRefused) {
  for (const char* schedule :
       {"tile r0 5 shift", "tile r0 5 mask", "tile k0 5 remainder", "thread r0",
        "tile k0 4; order k0 r0 r1 k0.1", "stage p2 as r1 k0", "stage p2 region at r0"})
    EXPECT_EQ(refusal(matmul(), schedule), "no error") << schedule;
  EXPECT_EQ(refusal(symbolic_size(), "tile r1 2; stage p1 at r0"), "no error");
}

}  // namespace
}  // namespace weft
