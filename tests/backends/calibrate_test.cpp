// Speeds of this processor: as text, as far as they are believed, and measured once.

#include "../../src/backends/cpu/calibrate.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <new>

#include <gtest/gtest.h>

#include <weft/dev/device/device.h>
#include <weft/dev/llvm/llvm.h>
#include <weft/settings.h>

#include "../../src/backends/cpu/compiler.h"
#include "../../src/backends/cpu/host_machine.h"
#include "../../src/backends/cpu/host_processor.h"
#include "../../src/backends/cpu/known_ports.h"
#include "../support/files_in.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

using Speed = double& (*)(DeviceModel&);
constexpr Speed speeds[] = {[](DeviceModel& m) -> double& { return m.hertz; },
                            [](DeviceModel& m) -> double& { return m.fma_ports; },
                            [](DeviceModel& m) -> double& { return m.fma_latency; },
                            [](DeviceModel& m) -> double& { return m.load_ports; },
                            [](DeviceModel& m) -> double& { return m.halves; },
                            [](DeviceModel& m) -> double& { return m.launch(); }};

DeviceModel assumed_machine(int workers = 1) {
  DeviceModel machine;
  machine.set_workers(workers);
  machine.hertz = 4e9;
  machine.memory = {{32e3, 8, 120e9, false}, {1e6, 8, 40e9, false}, {16e6, 16, 20e9, true}};
  return machine;
}

constexpr std::string_view text =
    "hertz 2.5e+09\nfma_ports 1.5\nfma_latency 5\nload_ports 2\nhalves 1\nlaunch 3.1e-06\n"
    "bandwidth 1e+11\nbandwidth 5e+10\nbandwidth 1.2e+10\n";

TEST(Speeds, AreText) {
  const auto machine = cpu::with_speeds(assumed_machine(), text);
  if (!machine) FAIL() << text;
  EXPECT_EQ(machine->hertz, 2.5e9);
  EXPECT_EQ(machine->fma_ports, 1.5);
  EXPECT_EQ(machine->fma_latency, 5);
  EXPECT_EQ(machine->load_ports, 2);
  EXPECT_EQ(machine->halves, 1);
  EXPECT_EQ(machine->launch(), 3.1e-6);
  EXPECT_EQ(machine->memory[0].bandwidth, 100e9);
  EXPECT_EQ(machine->memory[1].bandwidth, 50e9);
  EXPECT_EQ(machine->memory[2].bandwidth, 12e9);
  EXPECT_EQ(machine->memory[2].bytes, 16e6);
  EXPECT_EQ(cpu::speeds_of(*machine), text);
}

TEST(Speeds, AreWholeOrNone) {
  for (std::size_t end = 0; end < text.size(); ++end)
    EXPECT_FALSE(cpu::with_speeds(assumed_machine(), text.substr(0, end)).has_value()) << end;
  const std::string whole(text);
  for (const std::string& wrong :
       {whole + "bandwidth 1\n", "x" + whole, whole + " ", "hertz x" + whole.substr(7)})
    EXPECT_FALSE(cpu::with_speeds(assumed_machine(), wrong).has_value()) << wrong;
}

TEST(Speeds, AreBelievedWithinBounds) {
  const DeviceModel assumed = assumed_machine(8);
  DeviceModel fast = assumed, slow = assumed;
  for (const Speed value : speeds) {
    value(fast) *= 100;
    value(slow) /= 100;
  }
  for (std::size_t i = 0; i < assumed.memory.size(); ++i) {
    fast.memory[i].bandwidth *= 100;
    slow.memory[i].bandwidth /= 100;
  }
  // What eight share may be eight times as fast.
  EXPECT_EQ(cpu::speeds_of(cpu::believed(fast, assumed)),
            "hertz 8e+09\nfma_ports 2\nfma_latency 8\nload_ports 2\nhalves 4\nlaunch 3.2e-05\n"
            "bandwidth 2.4e+11\nbandwidth 8e+10\nbandwidth 3.2e+11\n");
  EXPECT_EQ(cpu::speeds_of(cpu::believed(slow, assumed)),
            "hertz 2e+09\nfma_ports 0.5\nfma_latency 2\nload_ports 0.5\nhalves 1\nlaunch 1e-06\n"
            "bandwidth 6e+10\nbandwidth 2e+10\nbandwidth 1e+10\n");
}

// A processor begins 1 or 2 instructions in a cycle, or one in two, but not 0.87.
TEST(Speeds, AreOfAProcessorThatThereMayBe) {
  const DeviceModel assumed = assumed_machine();
  DeviceModel measured = assumed;
  measured.load_ports = 0.87;
  measured.fma_ports = 1.46;
  measured.fma_latency = 3.8;
  measured.hertz = 3.1e9;
  const DeviceModel machine = cpu::believed(measured, assumed);
  EXPECT_EQ(machine.load_ports, 1);
  EXPECT_EQ(machine.fma_ports, 1.5);
  EXPECT_EQ(machine.fma_latency, 4);
  EXPECT_EQ(machine.hertz, 3.1e9);
}

TEST(Speeds, OfPortsThatAreKnownAreNotMeasured) {
  DeviceModel assumed = assumed_machine();
  assumed.vector_bytes = 32;
  EXPECT_FALSE(cpu::set_known_ports("something new", assumed));
  ASSERT_TRUE(cpu::set_known_ports("znver3", assumed));
  EXPECT_EQ(assumed.fma_ports, 2);
  EXPECT_EQ(assumed.load_ports, 2);
  EXPECT_EQ(assumed.halves, 1);
  DeviceModel measured = assumed;
  measured.fma_ports = measured.load_ports = 1;  // beside another thread
  cpu::set_known_ports("znver3", measured);
  EXPECT_EQ(cpu::speeds_of(cpu::believed(measured, assumed)), cpu::speeds_of(assumed));
}

bool is_speed(double value) { return std::isfinite(value) && value > 0; }

class Calibration : public testing::Test {
 protected:
  Calibration() {
    std::string name = (fs::temp_directory_path() / "weft-speeds-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~Calibration() override { fs::remove_all(folder_); }

  double hertz(const DiskCache& cache, std::string_view key = "key") {
    return cpu::calibrated(cache, key, assumed_machine(), [&] { return measure(cache, key); })
        .hertz;
  }

  fs::path folder_;
  int measured_ = 0;
  double seen_meanwhile_ = 0;

 private:
  DeviceModel measure(const DiskCache& cache, std::string_view key) {
    if (++measured_ < 10) seen_meanwhile_ = hertz(cache, key);
    DeviceModel machine = assumed_machine();
    machine.hertz = 2.5e9;
    return machine;
  }
};

TEST_F(Calibration, MeasuresOnce) {
  const DiskCache cache(folder_ / "deep");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(hertz(cache), 2.5e9);
  EXPECT_EQ(measured_, 1);
  EXPECT_EQ(hertz(cache, "another processor"), 2.5e9);
  EXPECT_EQ(measured_, 2);
}

TEST_F(Calibration, LetsOthersGoOnMeanwhile) {
  hertz(DiskCache(folder_));
  EXPECT_EQ(seen_meanwhile_, assumed_machine().hertz);
}

TEST_F(Calibration, MeasuresAgainWhereTheEntryIsNone) {
  const DiskCache cache(folder_);
  cache.keep("key", "hertz 1");
  EXPECT_EQ(hertz(cache), 2.5e9);
  EXPECT_EQ(measured_, 1);
}

TEST_F(Calibration, MeasuresNothingThatCannotBeKept) {
  std::ofstream(folder_ / "file") << "in the way";
  for (const fs::path& folder : {fs::path(), folder_ / "file" / "below"})
    EXPECT_EQ(hertz(DiskCache(folder)), assumed_machine().hertz);
  EXPECT_EQ(measured_, 0);
}

TEST_F(Calibration, NeedsNoMemory) {
  const auto none = []() -> DeviceModel { throw std::bad_alloc(); };
  const DeviceModel machine = cpu::calibrated(DiskCache(folder_), "key", assumed_machine(), none);
  EXPECT_EQ(machine.hertz, assumed_machine().hertz);
}

// Nothing is known of how fast it is, and what else runs beside.
TEST(Measured, AreSpeedsOfAllProcessorsThatRunHere) {
  if (!has_llvm()) GTEST_SKIP() << "built without LLVM";
  for (const cpu::Processor& processor : cpu::processors()) {
    if (!processor.runs_here) continue;
    const DeviceModel assumed = cpu::host_machine(processor.vector_bytes);
    DeviceModel machine = cpu::measured(assumed, processor.has_fma, [&](const std::string& loops) {
      return cpu::llvm_compiler(processor).compile({&loops, 1})[0];
    });
    const std::string text = cpu::speeds_of(machine);
    for (const Speed speed : speeds)
      EXPECT_TRUE(is_speed(speed(machine))) << processor.name << "\n" << text;
    for (const MemorySpace& level : machine.memory)
      EXPECT_TRUE(is_speed(level.bandwidth)) << processor.name << "\n" << text;
    EXPECT_EQ(machine.vector_bytes, processor.vector_bytes);
    EXPECT_EQ(machine.registers, assumed.registers);
  }
}

TEST_F(Calibration, IsWhatTheDeviceCpuGoesBy) {
  const Target target = find_device("CPU").target();
  if (target.vector_bytes == 0) GTEST_SKIP() << "built without LLVM";
  find_device("CPU").compiler_key();  // which keeps the processor's name, in the cache from before
  const std::string assumed = cpu::speeds_of(cpu::host_machine(target.vector_bytes));
  const auto speeds = [] { return cpu::speeds_of(find_device("CPU").target().machine); };
  const Context here{{"CACHE_DIR", folder_.c_str()}, {"CALIBRATE", 1}};
  {
    const Context without{{"CALIBRATE", 0}};
    EXPECT_EQ(speeds(), assumed);
    EXPECT_TRUE(fs::is_empty(folder_));
  }
  const std::string first = speeds();
  ASSERT_EQ(files_in(folder_).size(), 1U);
  std::ifstream in(files_in(folder_)[0]);
  const std::string entry{std::istreambuf_iterator<char>(in), {}};
  EXPECT_TRUE(entry.ends_with(first)) << entry;
  const Context nowhere{{"CACHE_DIR", "none"}};
  DeviceModel known = cpu::host_machine(target.vector_bytes);
  cpu::set_known_ports(cpu::host_processor().model, known);
  EXPECT_EQ(speeds(), cpu::speeds_of(known));
  const Context without{{"CACHE_DIR", folder_.c_str()}, {"CALIBRATE", 0}};
  EXPECT_EQ(speeds(), assumed);
}

}  // namespace
}  // namespace weft
