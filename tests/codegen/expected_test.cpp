// How long kernels take by the cost model, on a machine that is the same everywhere.

#include <weft/dev/codegen/choose.h>

#include <string>

#include <gtest/gtest.h>

#include "scheduled_kernels.h"

namespace weft {
namespace {

double microseconds(const UOp& kernel, const char* schedule) {
  return expected_time(kernel.node(), parse_schedule(schedule), fixed_target())->total() * 1e6;
}

double computing(const UOp& kernel, const std::string& schedule, const Target& target) {
  const auto time = expected_time(kernel.node(), parse_schedule(schedule), target);
  return time ? time->compute : 0;
}

// Schedules are applied in an arena, as by passes.
class Expected : public testing::Test {
  Arena arena_;
  const InternerScope scope_{arena_};
};

TEST_F(Expected, MoreOfTurnedReadsThanThereAreRegistersFor) {
  Target target = fixed_target();
  target.vector_bytes = target.machine.vector_bytes = 32;
  target.machine.registers = 16;
  const UOp kernel = transpose(1024, 1024);
  const auto cycles_with = [&](int copies) {
    const std::string text = "tile r1 16; tile r1.1 8; tile r0 " + std::to_string(copies) +
                             "; order r1 r0 r0.1 r1.1 r1.2; upcast r0.1; upcast r1.1; vector r1.2";
    return computing(kernel, text, target);
  };
  EXPECT_GT(cycles_with(16), cycles_with(8));
}

// Down the columns, of n rows of 256: what was added up before is not added up again.
UOp running_sums(std::int64_t n) {
  const UOp i = loop(n), j = loop(256), k = reduction(n);
  const UOp x = load(place(param(1, Access::Read, {size(n), size(256)}), {k, j}));
  const UOp term = where(const_int(-1) < i - k, x, const_float(0, dtypes::f32));
  const UOp out = place(param(0, Access::Write, {size(n), size(256)}), {i, j});
  return kernel_of(over(put(out, reduce(Op::Add, {term, k})), {i, j}));
}

TEST_F(Expected, AScanIsOneStepForEachElement) {
  const auto seconds = [](std::int64_t n) {
    const UOp kernel = running_sums(n);
    const Schedule schedule = choose_schedule(kernel.node(), fixed_target());
    return expected_time(kernel.node(), schedule, fixed_target())->total();
  };
  EXPECT_LT(seconds(4096), 6 * seconds(1024));
  EXPECT_NEAR(seconds(256), *choice_of(running_sums(256), fixed_target()).seconds, 1e-9);
}

// Each is a load, and put beside the others.
TEST_F(Expected, ElementsOfAGatherOneAfterTheOther) {
  const char* gather = "tile r1 16; order r0 r1 r1.1; vector r1.1";
  const UOp kernel = transpose(64, 64);
  Target target = fixed_target();
  const double one = computing(kernel, gather, target);
  target.machine.load_ports = 2;
  EXPECT_GT(computing(kernel, gather, target), 0.7 * one);
}

TEST_F(Expected, LessOfTurnedReadsThanOfGathers) {
  const UOp kernel = transpose(64, 64);
  EXPECT_LT(microseconds(kernel,
                         "tile r1 16; tile r0 4; order r0 r1 r0.1 r1.1; upcast r0.1; vector r1.1"),
            microseconds(kernel, "tile r1 16; order r0 r1 r1.1; vector r1.1"));
}

double waiting(const UOp& kernel, const char* schedule) {
  return expected_time(kernel.node(), parse_schedule(schedule), fixed_target())->waits * 1e6;
}

// Until it is read ahead, what each row of several begins with has to come; those of a page are one.
TEST_F(Expected, RowsSideBySideFromMemoryToWait) {
  const char* one = "tile k0 16; vector k0.1";
  const char* four = "tile r0 4; tile k0 16; order r0 k0 r0.1 k0.1; upcast r0.1; vector k0.1";
  const UOp far = rows(4096, 4096), near = rows(65536, 256), small = rows(1024, 1024);
  EXPECT_GT(waiting(far, four), 1.2 * waiting(far, one));
  EXPECT_LE(waiting(near, four), waiting(near, one));
  EXPECT_EQ(waiting(small, four), 0) << "the last cache has it";
}

// Else all copies are added to one sum, which needs one register.
TEST_F(Expected, SumsOfCopiesWithFactorsOfTheirOwn) {
  const auto cycles_with = [](bool are_own, double registers) {
    Target target = fixed_target();
    target.machine.registers = registers;
    const UOp row = loop(64), block = reduction(64), part = reduction(8), i = reduction(16);
    const UOp a = load(place(param(1, Access::Read, {size(64), size(8), size(16), size(64)}),
                             {block, part, i, row}));
    const UOp scales = param(2, Access::Read, {size(64), size(8)});
    const UOp scale = load(place(scales, {block, are_own ? part : const_int(0)}));
    const UOp sum = reduce(Op::Add, {a * scale, block, part, i});
    const UOp out = place(param(0, Access::Write, {size(64)}), {row});
    return computing(kernel_of(over(put(out, sum), {row})),
                     "tile r0 16; order r0 k0 k2 k1 r0.1; upcast k1; vector r0.1", target);
  };
  EXPECT_EQ(cycles_with(false, 8), cycles_with(false, 32));
  EXPECT_GT(cycles_with(true, 8), cycles_with(true, 32));
}

TEST_F(Expected, NothingSimplerToBeFaster) {
  for (const UOp& kernel : {matmul(512, 512, 512), rows(256, 4096), elements(1 << 20)}) {
    const auto target = fixed_target();
    const auto chosen =
        expected_time(kernel.node(), choose_schedule(kernel.node(), target), target);
    const auto plain = expected_time(kernel.node(), {}, target);
    ASSERT_TRUE(chosen.has_value() && plain.has_value());
    EXPECT_LT(chosen->total(), plain->total());
  }
}

// Planes of an image to pixels of four channels, whose stores are interleaved.
TEST_F(Expected, LessWhereCopiesFillWhatLiesBetweenLanes) {
  const UOp y = loop(224), x = loop(224), channel = loop(4);
  const UOp image = param(1, Access::Read, {size(4), size(224), size(224)});
  const UOp to = place(param(0, Access::Write, {size(224), size(224), size(4)}), {y, x, channel});
  const UOp kernel = kernel_of(over(put(to, load(place(image, {channel, y, x}))), {y, x, channel}));
  EXPECT_LT(microseconds(kernel, "tile r1 16; order r0 r1 r2 r1.1; upcast r2; vector r1.1"),
            microseconds(kernel, "tile r1 16; order r0 r1 r2 r1.1; vector r1.1") / 2);
}

// What kernels make of a small part of the last cache is still there for the next one.
TEST_F(Expected, WhatIsSmallInTheLastCache) {
  const Target target = fixed_target();
  const auto slowest = [&](std::int64_t count) {
    const UOp kernel = elements(count);
    return expected_time(kernel.node(), choose_schedule(kernel.node(), target), target)->slowest;
  };
  const double last = target.machine.memory.back().bytes;
  EXPECT_LT(slowest(static_cast<std::int64_t>(last / 16)), target.machine.memory.size() - 1);
  EXPECT_EQ(slowest(static_cast<std::int64_t>(last)), target.machine.memory.size() - 1);
}

TEST_F(Expected, LessWhereFarRowsAreStaged) {
  const UOp kernel = matmul(2048, 2048, 2048);
  const char* tiles =
      "tile r1 64; tile r1.1 16; tile r0 4; order r1 r0 k0 r0.1 r1.1 r1.2; upcast "
      "r0.1; upcast r1.1; vector r1.2";
  const char* staged =
      "tile r1 64; tile r1.1 16; tile r0 4; order r1 r0 k0 r0.1 r1.1 r1.2; stage "
      "p2 at r1; upcast r0.1; upcast r1.1; vector r1.2";
  EXPECT_LT(microseconds(kernel, staged), microseconds(kernel, tiles));
}

TEST_F(Expected, MoreOfMoreWork) {
  EXPECT_LT(microseconds(matmul(64, 64, 64), "none"), microseconds(matmul(64, 64, 128), "none"));
  EXPECT_LT(microseconds(elements(1 << 16), "none"), microseconds(elements(1 << 20), "none"));
}

TEST_F(Expected, LessOfLanesAndCopies) {
  const UOp kernel = matmul(64, 64, 64);
  EXPECT_LT(microseconds(kernel, "tile r1 16; order r0 r1 k0 r1.1; vector r1.1"),
            microseconds(kernel, "none"));
  EXPECT_LT(microseconds(kernel,
                         "tile r1 16; tile r0 8; order r0 r1 k0 r0.1 r1.1; upcast r0.1; "
                         "vector r1.1"),
            microseconds(kernel, "tile r1 16; order r0 r1 k0 r1.1; vector r1.1"));
}

// Searches try what is staged in each copy of a loop in registers.
TEST_F(Expected, MoreWhereRegistersAreStagedOneByOne) {
  const UOp kernel = matmul(64, 96, 80);
  const std::string order =
      "tile r1 48 shift; tile r1.1 16; tile r0 8; order r0 r1 k0 r0.1 r1.1 r1.2; ";
  const std::string kinds = "upcast r0.1; upcast r1.1; vector r1.2";
  EXPECT_GT(microseconds(kernel, (order + "stage p2 at r1.1; " + kinds).c_str()),
            microseconds(kernel, (order + kinds).c_str()));
}

// A sum of three neighbours of each of 64 places, so far apart, for 64 columns.
UOp neighbours(std::int64_t step, bool has_ends) {
  const UOp i = loop(64), column = loop(64), k = reduction(3);
  const UOp at = i * step + k, rows = size(64 * step + 2);
  const UOp inside = has_ends ? (at > 0) & (at < 64 * step) : const_bool(true);
  const UOp x = load(place(param(1, Access::Read, {rows, size(64)}), {at, column}, inside));
  const UOp out = place(param(0, Access::Write, {size(64), size(64)}), {i, column});
  return kernel_of(over(put(out, reduce(Op::Add, {x, k})), {i, column}));
}

TEST_F(Expected, LessWhereCopiesReadTheSame) {
  const char* copies =
      "tile r1 16; tile r0 8; order r0 r1 r0.1 k0 r1.1; upcast r0.1; upcast k0; vector r1.1";
  Target target = fixed_target();
  target.machine.fma_ports = 8;  // so that reads are what takes time
  const double apart = computing(neighbours(3, false), copies, target);
  EXPECT_LT(computing(neighbours(1, false), copies, target), 0.8 * apart) << "10 rows of 24";
  EXPECT_LT(computing(neighbours(2, false), copies, target), 0.95 * apart) << "17 rows of 24";
}

// It says where to read; of lanes it would be a mask.
TEST_F(Expected, LittleOfAConditionThatAllLanesHave) {
  const char* copies = "tile r1 16; tile r0 8; order r0 r1 k0 r0.1 r1.1; upcast r0.1; vector r1.1";
  const char* lanes = "tile r0 16; tile r1 8; order r0 r1 k0 r1.1 r0.1; upcast r1.1; vector r0.1";
  const Target target = fixed_target();
  const auto more = [&](const char* schedule) {
    return computing(neighbours(1, true), schedule, target) /
           computing(neighbours(1, false), schedule, target);
  };
  EXPECT_LT(more(copies), 1.1);
  EXPECT_GT(more(lanes), more(copies));
}

// Rows of one lane each, of 128 bytes: they are followed where one ends as the next begins.
TEST_F(Expected, LessOfRowsThatFollowOneAnother) {
  const auto copying = [](std::int64_t length) {
    const UOp i = loop(64), j = loop(64), k = reduction(32);
    const UOp a = load(place(param(1, Access::Read, {size(64), size(32)}), {i, k}));
    const UOp b = load(place(param(2, Access::Read, {size(64), size(length)}), {j, k}));
    const UOp out = place(param(0, Access::Write, {size(64), size(64)}), {i, j});
    const UOp kernel = kernel_of(over(put(out, reduce(Op::Add, {a * b, k})), {i, j}));
    const char* turned =
        "tile r1 16; tile r0 8; order r1 r0 k0 r0.1 r1.1; stage p2 at r1; upcast r0.1; vector r1.1";
    return expected_time(kernel.node(), parse_schedule(turned), fixed_target())->copies;
  };
  EXPECT_LT(copying(32), 0.8 * copying(64));
}

TEST_F(Expected, NothingOfOtherForms) {
  const UOp kernel = matmul(8, 8, 8);
  const UOp staged = apply_schedule(kernel, parse_schedule("stage p2"));
  EXPECT_FALSE(expected_time(staged.node(), {}, fixed_target()).has_value());
}

}  // namespace
}  // namespace weft
