// The time of nests that work-groups run, on a GPU of round numbers, beside what a hand works out.

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <weft/dev/cost/nest.h>

namespace weft::group_times {
namespace {

constexpr double GHz = 1e9;

// Ten multiprocessors of 1 GHz: a cycle is a nanosecond.
DeviceModel gpu() {
  DeviceModel model;
  model.hertz = GHz;
  model.parallel = {{LoopKind::Global, 10, 0, 1e-6}, {LoopKind::Local, 1024, 1024, 0}};
  model.memory = {{65536, 16, 1000e9, true}, {1 << 20, 16, 100e9, true}};
  model.groups = {.lanes = 32,
                  .resident_items = 1024,
                  .resident_groups = 8,
                  .registers = 65536,
                  .shared_bytes = 65536,
                  .shared_of_group = 32768,
                  .latency = 0};
  model.vector_bytes = 0;
  model.fma_ports = 4;
  model.fma_latency = 4;
  model.issue = 4;
  model.line = 32;
  return model;
}

// A loop over elements that reads one array and writes another, with this many elements from one
// iteration to the next.
Nest copy(std::int64_t size, std::int64_t stride, double instructions) {
  Nest nest;
  nest.loops = {{.names = {"r0"}, .size = size, .widest = 4}};
  nest.inner_ops = {{{true}, instructions}};
  for (const bool is_write : {false, true}) {
    NestAccess access;
    access.is_write = is_write;
    access.sizes = {size * stride};
    access.step = {{stride}};
    access.irregular = access.guarded = {false};
    access.strides = {stride};
    access.first = access.last = {0};
    nest.accesses.push_back(access);
  }
  return nest;
}

NestTime time_by(const DeviceModel& model, const Nest& nest, std::int64_t items) {
  NestPlan plan;
  const std::int64_t size = nest.loops[0].size;
  plan.pieces = {{0, size / items, items, LoopKind::Global}, {0, items, 1, LoopKind::Local}};
  plan.staged.assign(nest.accesses.size(), -1);
  plan.by_region.assign(nest.accesses.size(), false);
  return time_of(model, nest, plan);
}

TEST(GroupTimes, MultiprocessorsShareGroups) {
  // 1,000 groups of 8 warps, 100 on each multiprocessor, which starts 4 instructions in a cycle.
  const NestTime time = time_by(gpu(), copy(256'000, 1, 10'000), 256);
  EXPECT_NEAR(time.compute * GHz, 100 * 8 * 10'000 / 4., 0.001 * 100 * 8 * 10'000);
  EXPECT_EQ(time.launch, 1e-6);
}

TEST(GroupTimes, FewWarpsWaitForTheirOwnInstructions) {
  // One warp where 16 would hide the latency.
  const NestTime one = time_by(gpu(), copy(320, 1, 10'000), 32);
  EXPECT_NEAR(one.compute * GHz, 10'000 / 4. * 16, 100);
}

TEST(GroupTimes, NeighboursReadOneLine) {
  const NestTime near = time_by(gpu(), copy(1 << 20, 1, 1), 256);
  const NestTime far = time_by(gpu(), copy(1 << 20, 8, 1), 256);
  EXPECT_NEAR(near.memory, 2. * (4 << 20) / 100e9, 1e-7);
  EXPECT_NEAR(far.memory / near.memory, 8, 0.01) << "each element takes a sector of 32 bytes";
}

TEST(GroupTimes, WhatDoesNotFitTakesForever) {
  const Nest nest = copy(4096, 1, 1);
  EXPECT_TRUE(std::isinf(time_by(gpu(), nest, 2048).compute)) << "items of a group";
  EXPECT_FALSE(std::isinf(time_by(gpu(), nest, 1024).compute));
  NestPlan plan;
  plan.pieces = {
      {0, 4, 1024, LoopKind::Global}, {0, 4, 256, LoopKind::Local}, {0, 256, 1, LoopKind::Upcast}};
  plan.staged = {-1, -1};
  plan.by_region = {false, false};
  EXPECT_TRUE(std::isinf(time_of(gpu(), nest, plan).compute)) << "registers of an item";
}

TEST(GroupTimes, MoreOfADeviceIsNotSlower) {
  const Nest nest = copy(1 << 18, 2, 50);
  const double before = time_by(gpu(), nest, 128).total();
  const auto is_not_slower = [&](auto change) {
    DeviceModel more = gpu();
    change(more);
    EXPECT_LE(time_by(more, nest, 128).total(), before * (1 + 1e-9));
  };
  is_not_slower([](DeviceModel& m) { m.parallel[0].units *= 2; });
  is_not_slower([](DeviceModel& m) { m.hertz *= 2; });
  is_not_slower([](DeviceModel& m) { m.issue *= 2, m.fma_ports *= 2; });
  is_not_slower([](DeviceModel& m) { m.memory[0].bandwidth *= 2; });
  is_not_slower([](DeviceModel& m) { m.memory[1].bandwidth *= 2; });
  is_not_slower([](DeviceModel& m) { m.memory[1].bytes *= 64; });
  is_not_slower([](DeviceModel& m) { m.groups.resident_groups *= 2; });
}

}  // namespace
}  // namespace weft::group_times
