// Each part of a nest's time by itself, on a machine of round numbers, beside what a hand works
// out; and what must not become slower by more of something.

#include <weft/dev/cost/nest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace weft::nest_times {
namespace {

constexpr double GHz = 1e9;

// One cycle is a nanosecond.
DeviceModel machine() {
  DeviceModel machine;
  machine.hertz = GHz;
  machine.vector_bytes = 32;
  machine.registers = 16;
  machine.fma_ports = machine.load_ports = 2;
  machine.fma_latency = 4;
  machine.halves = 1;
  machine.issue = 4;
  machine.launch() = 1e-6;
  machine.memory = {
      {32 << 10, 8, 64e9, false}, {1 << 20, 16, 32e9, false}, {16 << 20, 16, 8e9, true}};
  return machine;
}

NestLoop loop(std::int64_t size, bool is_reduce = false) {
  return {.names = {is_reduce ? "k0" : "r0"}, .size = size, .is_reduce = is_reduce, .widest = 4};
}

// Of one dimension, along the only loop.
NestAccess along(std::int64_t size, bool is_write) {
  NestAccess access;
  access.is_write = is_write;
  access.sizes = {size};
  access.step = {{1}};
  access.irregular = access.guarded = {false};
  access.strides = {1};
  access.first = access.last = {0};
  return access;
}

NestPlan plan_of(const Nest& nest, std::vector<Piece> pieces) {
  NestPlan plan;
  plan.pieces = std::move(pieces);
  plan.staged.assign(nest.accesses.size(), -1);
  plan.by_region.assign(nest.accesses.size(), false);
  return plan;
}

// One loop over elements that takes so many instructions for each.
Nest elements(std::int64_t size, double instructions) {
  Nest nest;
  nest.loops = {loop(size)};
  nest.inner_ops = {{{true}, instructions}};
  return nest;
}

double cycles(double seconds) { return seconds * GHz; }

TEST(NestTimes, InstructionsBeginOnTwoPorts) {
  const Nest nest = elements(1000, 1000);
  const NestTime time = time_of(machine(), nest, plan_of(nest, {{0, 1000, 1, LoopKind::Loop}}));
  // 500 cycles on the ports beside 250 in which four of any kind are issued.
  const double each = std::pow(std::pow(500., 4) + std::pow(1003. / 4, 4), 0.25);
  EXPECT_NEAR(cycles(time.compute), 1000 * each, 1);
  EXPECT_EQ(time.memory, 0);
  EXPECT_EQ(time.launch, 0);
}

TEST(NestTimes, LanesComputeTogether) {
  const Nest nest = elements(8000, 1000);
  const NestTime one = time_of(machine(), nest, plan_of(nest, {{0, 8000, 1, LoopKind::Loop}}));
  const NestTime lanes = time_of(
      machine(), nest, plan_of(nest, {{0, 1000, 8, LoopKind::Loop}, {0, 8, 1, LoopKind::Vector}}));
  EXPECT_NEAR(one.compute / lanes.compute, 8, 0.01);
}

TEST(NestTimes, ASumWaitsForItself) {
  Nest nest;
  nest.loops = {loop(100'000, true)};
  nest.inner_ops = {{{true}, 1}};
  const NestTime time =
      time_of(machine(), nest, plan_of(nest, {{0, 100'000, 1, LoopKind::Reduce}}));
  EXPECT_NEAR(cycles(time.compute), 4 * 100'000, 100);  // fma_latency
}

TEST(NestTimes, MemoryTakesItsLines) {
  Nest nest = elements(32 << 20, 1);
  nest.accesses = {along(32 << 20, false)};
  const auto lanes = plan_of(nest, {{0, 4 << 20, 8, LoopKind::Loop}, {0, 8, 1, LoopKind::Vector}});
  const NestTime time = time_of(machine(), nest, lanes);
  EXPECT_NEAR(time.memory, (128 << 20) / 8e9, 1e-5);
  EXPECT_EQ(time.slowest, 2U);
  EXPECT_GT(time.memory, time.compute);
}

// A line that is written in parts is read first, and goes back.
TEST(NestTimes, WritesInPartsTakeTwice) {
  Nest nest = elements(32 << 20, 1);
  nest.accesses = {along(32 << 20, true)};
  const auto lanes = plan_of(nest, {{0, 4 << 20, 8, LoopKind::Loop}, {0, 8, 1, LoopKind::Vector}});
  EXPECT_NEAR(time_of(machine(), nest, lanes).memory, 2 * (128 << 20) / 8e9, 1e-5);
}

TEST(NestTimes, WorkersShareWhatIsNotShared) {
  DeviceModel two = machine();
  two.set_workers(2);
  const Nest nest = elements(100'000, 1000);
  const auto threads =
      plan_of(nest, {{0, 2, 50'000, LoopKind::Thread}, {0, 50'000, 1, LoopKind::Loop}});
  const NestTime one = time_of(machine(), nest, plan_of(nest, {{0, 100'000, 1, LoopKind::Loop}}));
  const NestTime both = time_of(two, nest, threads);
  EXPECT_NEAR(one.compute / both.compute, 2, 0.01);
  EXPECT_EQ(both.launch, two.launch());
}

// A product of matrices by these tiles: r0 x r1 outputs, of k0 terms.
Nest product(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  const auto access = [](std::vector<std::int64_t> sizes,
                         std::vector<std::vector<std::int64_t>> step, bool is_write) {
    NestAccess made;
    made.is_write = is_write;
    made.sizes = std::move(sizes);
    made.step = std::move(step);
    made.irregular.assign(3, false);
    made.guarded.assign(3, false);
    made.strides.assign(3, 0);
    for (std::size_t i = 0; i < 3; ++i)
      made.strides[i] = made.step[0][i] * made.sizes[1] + made.step[1][i];
    made.first = made.last = {0, 0};
    return made;
  };
  Nest nest;
  nest.loops = {loop(rows), loop(columns), loop(depth, true)};
  nest.loops[1].names = {"r1"};
  nest.inner_ops = {{{true, true, true}, 1}};
  nest.accesses = {access({rows, depth}, {{1, 0, 0}, {0, 0, 1}}, false),
                   access({depth, columns}, {{0, 0, 1}, {0, 1, 0}}, false),
                   access({rows, columns}, {{1, 0, 0}, {0, 1, 0}}, true)};
  return nest;
}

NestPlan tiled(const Nest& nest, std::int64_t rows, std::int64_t vectors) {
  return plan_of(nest, {{0, nest.loops[0].size / rows, rows, LoopKind::Loop},
                        {1, nest.loops[1].size / (8 * vectors), 8 * vectors, LoopKind::Loop},
                        {2, nest.loops[2].size, 1, LoopKind::Reduce},
                        {0, rows, 1, LoopKind::Upcast},
                        {1, vectors, 8, LoopKind::Upcast},
                        {1, 8, 1, LoopKind::Vector}});
}

TEST(NestTimes, ProductsReachThePortsWhereSumsFillTheRegisters) {
  const Nest nest = product(96, 96, 256);
  const double ideal = 96. * 96 * 256 / 8 / 2;
  EXPECT_LT(cycles(time_of(machine(), nest, tiled(nest, 6, 2)).compute), 1.5 * ideal);
  // Too few sums wait for each other, and too many find no register.
  EXPECT_GT(cycles(time_of(machine(), nest, tiled(nest, 1, 1)).compute), 5 * ideal);
  EXPECT_GT(cycles(time_of(machine(), nest, tiled(nest, 12, 3)).compute), 2 * ideal);
}

// Of drawn sizes: nothing is slower on a machine that has more of something, and more iterations
// take longer.
TEST(NestTimes, MoreIsNotSlower) {
  std::mt19937 random(1);
  const auto draw = [&](std::int64_t step, std::int64_t most) {
    return step * std::uniform_int_distribution<std::int64_t>(1, most)(random);
  };
  for (int i = 0; i < 300; ++i) {
    const std::int64_t rows = draw(4, 64), columns = draw(16, 64), depth = draw(1, 600);
    const Nest nest = product(rows, columns, depth);
    const NestPlan plan = tiled(nest, 4, 2);
    const double time = time_of(machine(), nest, plan).total();
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + " x " +
                 std::to_string(depth));
    const auto is_not_slower = [&](auto change) {
      DeviceModel more = machine();
      change(more);
      EXPECT_LE(time_of(more, nest, plan).total(), time * 1.000001);
    };
    is_not_slower([](DeviceModel& m) { m.hertz *= 2; });
    is_not_slower([](DeviceModel& m) { m.fma_ports *= 2; });
    is_not_slower([](DeviceModel& m) { m.load_ports *= 2; });
    is_not_slower([](DeviceModel& m) { m.registers *= 2; });
    for (std::size_t level = 0; level < 3; ++level) {
      is_not_slower([&](DeviceModel& m) { m.memory[level].bandwidth *= 2; });
      is_not_slower([&](DeviceModel& m) { m.memory[level].bytes *= 4; });
    }
    const Nest longer = product(rows, columns, depth + 8);
    EXPECT_GT(time_of(machine(), longer, tiled(longer, 4, 2)).total(), time);
    const Nest higher = product(rows + 4, columns, depth);
    EXPECT_GT(time_of(machine(), higher, tiled(higher, 4, 2)).total(), time * 0.999);
  }
}

}  // namespace
}  // namespace weft::nest_times
