// The least time of work, computed by hand for a device of round numbers.

#include <gtest/gtest.h>
#include <weft/dev/cost/work.h>

namespace weft {
namespace {

// 8 G operations a second for each of two workers; 16 GB/s of memory for both.
DeviceModel device() {
  DeviceModel machine{.hertz = 1e9};
  machine.vector_bytes = 32;
  machine.fma_ports = 1;
  machine.parallel = {{LoopKind::Thread, 2, 0, 1e-6}};
  machine.memory = {
      {1 << 15, 8, 100e9, false}, {1 << 20, 8, 50e9, false}, {1 << 24, 16, 16e9, true}};
  return machine;
}

TEST(WorkTime, IsTheLongerOfComputingAndMemory) {
  EXPECT_DOUBLE_EQ(seconds_of(device(), {}), 1e-6);
  EXPECT_DOUBLE_EQ(seconds_of(device(), {8e9, 0, 1}), 1 + 1e-6);
  EXPECT_DOUBLE_EQ(seconds_of(device(), {8e9, 16e9 / 2, 1}), 1 + 1e-6);
  EXPECT_DOUBLE_EQ(seconds_of(device(), {8e9, 16e9 * 3, 1}), 3 + 1e-6);
}

TEST(WorkTime, WorkersShareWhatTheyCan) {
  EXPECT_DOUBLE_EQ(seconds_of(device(), {8e9, 0, 2}), 0.5 + 1e-6);
  EXPECT_DOUBLE_EQ(seconds_of(device(), {8e9, 0, 1000}), 0.5 + 1e-6) << "there are two";
  EXPECT_DOUBLE_EQ(seconds_of(device(), {0, 16e9, 2}), 1 + 1e-6) << "memory is for all of them";
}

TEST(WorkTime, LongerVectorsAndMorePortsAreFaster) {
  DeviceModel machine = device();
  machine.vector_bytes = 64;
  machine.fma_ports = 2;
  EXPECT_DOUBLE_EQ(operations_per_second(machine), 4 * operations_per_second(device()));
  machine.vector_bytes = 0;
  EXPECT_DOUBLE_EQ(operations_per_second(machine), 2e9) << "an element at a time";
}

TEST(WorkTime, OfMemorySpacesForOneAndForAll) {
  EXPECT_DOUBLE_EQ(bytes_of_worker(device()), 1 << 20);
  EXPECT_DOUBLE_EQ(memory_bytes_per_second(device()), 16e9);
  DeviceModel machine = device();
  machine.memory[1].is_shared = true;
  machine.memory[2].is_shared = false;
  EXPECT_DOUBLE_EQ(bytes_of_worker(machine), 1 << 19);
  EXPECT_DOUBLE_EQ(memory_bytes_per_second(machine), 32e9);
}

// Warps of 32 lanes on each multiprocessor.
TEST(WorkTime, OfDevicesWithWorkGroups) {
  const DeviceModel h100 = find_model("h100");
  EXPECT_DOUBLE_EQ(operations_per_second(h100), 1.755e9 * 4 * 32);
  EXPECT_DOUBLE_EQ(memory_bytes_per_second(h100), 3352e9);
  EXPECT_DOUBLE_EQ(bytes_of_worker(h100), 50.0 * 1024 * 1024 / 132);
  const double work = 1.755e9 * 4 * 32 * 132;
  EXPECT_NEAR(seconds_of(h100, {work, 0, 1e9}), 1, 1e-5);
}

}  // namespace
}  // namespace weft
