// The processors that the device CPU compiles for: their names, and what code for them is made of.

#include "../../src/backends/cpu/processor.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <weft/dev/base/process.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device.h>
#include <weft/dev/llvm/llvm.h>
#include <weft/settings.h>

#include "../../src/backends/cpu/compiler.h"
#include "../../src/backends/cpu/hardware.h"
#include "../support/errors.h"
#include "../support/kernels.h"

namespace weft {
namespace {

constexpr std::int64_t count = 1024;

std::string opening(std::string_view name) {
  return error_of([&] { return &find_device(name); });
}

// out[i] = a[i] * b[i] + a[i]
std::string code_for(std::string_view name) {
  Arena arena;
  const InternerScope scope(arena);
  const UOp i = range(count, 0);
  const auto in = [&](int slot) {
    return load(place(param(slot, Access::Read, {size(count)}), {i}));
  };
  const UOp value = in(1) * in(2) + in(1);
  const UOp store = put(place(param(0, Access::Write, {size(count)}), {i}), value);
  const UOp kernel = make(Op::Sink, {over(store, {i})}, {}, KernelArg{Symbol("k")});
  Device& device = find_device(name);
  const UOp lowered = run_pipeline({kernel}, {.target = device.target()})[0];
  return device.compile(device.render(lowered.node()));
}

TEST(Processors, AreNamed) {
  EXPECT_EQ(find_device("CPU:CLANG:native:1").name(), "CPU:CLANG:native:1");
  EXPECT_EQ(&find_device("CPU:CLANG:0"), &find_device("CPU:CLANG"));
  EXPECT_NE(&find_device("CPU:CLANG:1"), &find_device("CPU:CLANG"));
  EXPECT_EQ(find_device("CPU:1").name(), "CPU:1");
  EXPECT_EQ(opening("CPU:native:8"), "there is no CPU:native:8; the last is CPU:native:7");
  for (const char* name : {"CPU:", "CPU::1", "CPU:x", "CPU:-1", "CPU:1:CLANG", "CPU:CLANG:",
                           "CPU:CLANG:x86", "CPU:native:CLANG", "CPU:CLANG:CLANG", "INTERP:LLVM:1"})
    EXPECT_NE(opening(name).find(fmt::format("'{}' is not the name of a device", name)),
              std::string::npos)
        << opening(name);
}

TEST(Processors, HaveInstructionSetsWithNames) {
  if (!has_llvm()) GTEST_SKIP() << "built without LLVM";
  const Context assumed{{"CALIBRATE", 0}};
  const std::pair<std::string_view, std::string_view> expected[] = {
      {"x86-64-v2", "SSE"},
      {"x86-64-v3", "AVX2, FMA, F16C"},
      {"x86-64-v3-vnni", "AVX2, FMA, F16C, AVX-VNNI"},
      {"x86-64-v4", "AVX-512, FMA, F16C"},
      {"x86-64-v4-vnni", "AVX-512, FMA, F16C, AVX512-VNNI, AVX512-BF16"},
      {"sapphirerapids", "AVX-512, FMA, F16C, AVX512-VNNI, AVX512-BF16, AMX"},
      {"graniterapids", "AVX-512, FMA, F16C, AVX512-VNNI, AVX512-BF16, AMX, AMX-FP16"},
      {"aarch64", ""},
  };
  for (const auto& [name, sets] : expected) {
    const auto processor = std::ranges::find(cpu::processors(), name, &cpu::Processor::name);
    const Hardware found = cpu::hardware_of(*processor, cpu::llvm_compiler(*processor).target());
    EXPECT_EQ(found.name, name);
    EXPECT_EQ(fmt::format("{}", fmt::join(found.instructions, ", ")), sets) << name;
  }
}

TEST(Processors, AreDescribed) {
  const Hardware here = find_device("CPU").hardware();
  EXPECT_EQ(here.name.empty(), !has_llvm() && here.cores == 0);
  EXPECT_GE(here.cores, 0);
  EXPECT_LE(here.cores, sysconf(_SC_NPROCESSORS_CONF));
  const Hardware reference = find_device("INTERP").hardware();
  EXPECT_EQ(reference.name, "");
  EXPECT_TRUE(reference.instructions.empty());
}

TEST(Processors, HaveCodeOfTheirOwn) {
  const auto key = [](std::string_view name) { return find_device(name).compiler_key(); };
  EXPECT_EQ(key("CPU:CLANG:native"), key("CPU:CLANG"));
  EXPECT_NE(key("CPU:CLANG:aarch64"), key("CPU:CLANG"));
  for (const char* compiler : {"LLVM", "CLANG"}) {
    const std::string v2 = fmt::format("CPU:{}:x86-64-v2", compiler);
    const std::string v3 = fmt::format("CPU:{}:x86-64-v3", compiler);
    if (opening(v2) != "no error" || opening(v3) != "no error") continue;
    EXPECT_NE(key(v2), key(v3));
  }
}

// What runs here does what it should, and what cannot is refused.
void run_or_be_refused(std::string_view compiler) {
  for (const cpu::Processor& processor : cpu::processors()) {
    const std::string name = fmt::format("CPU:{}:{}", compiler, processor.name);
    const std::string error = opening(name);
    if (error.find("no LLVM") != std::string::npos) continue;
    if (processor.is_like_this && !processor.runs_here) {
      EXPECT_EQ(error,
                fmt::format("{}: this processor has not all that {} has", name, processor.name));
      continue;
    }
    ASSERT_EQ(error, "no error");
    const std::string code = code_for(name);
    if (!processor.runs_here) {
      EXPECT_NE(error_of([&] { return find_device(name).load(code); }).find("processor"),
                std::string::npos);
      continue;
    }
    std::vector<float> memory[3] = {std::vector<float>(count), {}, {}};
    for (std::int64_t i = 0; i < count; ++i) {
      memory[1].push_back(static_cast<float>(i));
      memory[2].push_back(static_cast<float>(i % 7));
    }
    std::vector<Argument> arguments;
    for (auto& values : memory)
      arguments.push_back({values.data(), 0, values.size() * sizeof(float)});
    find_device(name).load(code)->run(arguments, {});
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(memory[0][i], static_cast<float>(i * (i % 7) + i)) << name;
  }
}

// e2e/masked.sh runs this on processors that have less.
TEST(Processors, RunOrAreRefusedByLlvm) { run_or_be_refused("LLVM"); }
TEST(Processors, RunOrAreRefusedByClang) { run_or_be_refused("CLANG"); }

std::string disassembled(const std::string& program, const std::string& code) {
  const TemporaryFolder folder;
  write_text(folder / "kernel.o", code);
  return run_program({program, "-d", "kernel.o"}, folder.path());
}

// The widest registers are used, and wider ones are not.
TEST(Processors, UseTheirRegisters) {
  const std::string objdump = find_program({"llvm-objdump-19", "llvm-objdump"});
  if (objdump.empty()) GTEST_SKIP() << "there is no llvm-objdump";
  const struct {
    std::string_view processor, used;
    std::vector<std::string_view> unused;
  } cases[] = {{"x86-64-v2", "xmm", {"ymm", "zmm"}},
               {"x86-64-v3", "ymm", {"zmm"}},
               {"x86-64-v4", "zmm", {}},
               {"aarch64", "v0.4s", {}}};
  for (const auto& [processor, used, unused] : cases)
    for (const char* compiler : {"LLVM", "CLANG"}) {
      const std::string name = fmt::format("CPU:{}:{}", compiler, processor);
      if (opening(name) != "no error") continue;
      const std::string text = disassembled(objdump, code_for(name));
      const bool is_llvm = std::string_view(compiler) == "LLVM";  // clang chooses itself
      EXPECT_TRUE(!is_llvm || text.find(used) != std::string::npos) << name << "\n" << text;
      for (std::string_view registers : unused)
        EXPECT_EQ(text.find(registers), std::string::npos) << name << "\n" << text;
    }
}
}  // namespace
}  // namespace weft
