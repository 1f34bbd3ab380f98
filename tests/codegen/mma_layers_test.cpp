// Layers of networks in bf16: what is added to their sums, how these are rounded, and whose weights are announced.

#include <algorithm>
#include <bit>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <weft/dev/codegen/choose.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device.h>

#include "../../src/backends/cpu/compiler.h"
#include "../support/errors.h"
#include "../support/guarded.h"
#include "../support/kernels.h"

namespace weft {
namespace {

class MmaLayers : public testing::Test {
 protected:
  static constexpr std::int64_t rows = 128, columns = 256, depth = 128, heads = 12;
  static constexpr auto nowhere = std::string::npos;

  void SetUp() override {
    const std::string error = error_of([] { return compiler("sapphirerapids").key(); });
    if (error != "no error") GTEST_SKIP() << error;
  }

  static const cpu::Processor& processor(std::string_view name) {
    return *std::ranges::find(cpu::processors(), name, &cpu::Processor::name);
  }
  static const cpu::Compiler& compiler(std::string_view name) {
    return cpu::llvm_compiler(processor(name));
  }

  // By one worker, with caches that are the same on every machine.
  static Target target(std::string_view name) {
    Target target = compiler(name).target();
    target.machine.workers = 1;
    target.machine.levels = {{.bytes = 48 << 10, .bandwidth = 90e9},
                             {.bytes = 2 << 20, .bandwidth = 25e9},
                             {.bytes = 300 << 20, .bandwidth = 15e9}};
    return target;
  }

  static UOp loop(std::int64_t trips, LoopKind kind = LoopKind::Loop) {
    return range(trips, fresh_id().value, kind);
  }
  static UOp read(int slot, Access access, std::initializer_list<std::int64_t> sizes,
                  const std::vector<UOp>& at) {
    std::vector<UOp> dims;
    for (const std::int64_t size : sizes) dims.push_back(const_int(size));
    return cast(load(place(param(slot, access, dims, dtypes::bf16), at)), dtypes::f32);
  }

  // The sums and something else, rounded.
  static UOp layer(std::string_view schedule = {}) {
    const UOp m = loop(rows), n = loop(columns), k = loop(depth, LoopKind::Reduce);
    const UOp sum = reduce(Op::Add, {read(1, Access::Read, {rows, depth}, {m, k}) *
                                         read(2, Access::Constant, {depth, columns}, {k, n}),
                                     k});
    const UOp out =
        place(param(0, Access::Write, {size(rows), size(columns)}, dtypes::bf16), {m, n});
    const UOp value = sum + read(3, Access::Read, {rows, columns}, {m, n});
    return make(Op::Sink, {over(put(out, cast(value, dtypes::bf16)), {m, n})}, {},
                KernelArg{Symbol("k"), Symbol(std::string(schedule))});
  }

  static std::string chosen(const UOp& kernel, const Target& target) {
    const UOp until = run_pipeline_until("optimise", {kernel}, {.target = target})[0];
    return to_string(choose_schedule(ready_to_schedule(until).node(), target));
  }

  // Whole numbers whose sums f32 holds and bf16 does not.
  static std::vector<std::uint16_t> result_of(Device& device, const std::vector<UOp>& programs) {
    constexpr auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count) * 2; };
    Guarded out(bytes(rows * columns)), a(bytes(rows * depth)), b(bytes(depth * columns)),
        c(bytes(rows * columns));
    std::mt19937 numbers(11);
    for (Guarded* each : {&a, &b, &c})
      for (std::uint16_t& bits : each->as<std::uint16_t>())
        bits = static_cast<std::uint16_t>(
            std::bit_cast<std::uint32_t>(static_cast<float>(int(numbers() % 65) - 32)) >> 16);
    std::vector<Argument> arguments;
    for (Guarded* each : {&out, &a, &b, &c}) arguments.push_back({each->data(), 0, each->size()});
    const auto run = [&](const UOp& program, std::vector<Argument> given) {
      device.load(device.compile(device.render(program.node())))->run(given, {});
    };
    std::vector<std::byte> kept(std::size_t{1} << 20);
    for (std::size_t i = 1; i < programs.size(); ++i) {
      run(programs[i], {{}, {}, arguments[2], {}, {kept.data(), 0, kept.size()}});
      arguments.push_back({kept.data(), 0, kept.size()});
    }
    run(programs[0], arguments);
    const auto written = out.as<std::uint16_t>();
    return {written.begin(), written.end()};
  }
  static std::vector<std::uint16_t> result_of(std::string_view device, std::string_view schedule) {
    Device& by = find_device(device);
    return result_of(by, run_pipeline({layer(schedule)}, {.target = by.target()}));
  }

 private:
  Arena arena_;
  const InternerScope scope_{arena_};
};

TEST_F(MmaLayers, AnnounceWhatTheNextBlockAdds) {
  const std::string schedule = chosen(layer(), target("sapphirerapids"));
  EXPECT_NE(schedule.find("; prefetch p3 at r"), nowhere) << schedule;
  EXPECT_EQ(result_of("INTERP", schedule), result_of("INTERP", "none"));
}

// To the nearest, ties to even: INTERP rounds by the definition.
TEST_F(MmaLayers, AreRoundedByAnInstruction) {
  for (const std::string_view name : {"sapphirerapids", "x86-64-v4-vnni"}) {
    const Target with = target(name);
    const std::string schedule = chosen(layer(), with);
    ASSERT_NE(schedule.find("mma "), nowhere) << schedule;
    const auto source_of = [&](std::string_view by) {
      return compiler(name).render(run_pipeline({layer(by)}, {.target = with})[0].node());
    };
    EXPECT_NE(source_of(schedule).find("fptrunc"), nowhere) << name;
    EXPECT_EQ(source_of("none").find("fptrunc"), nowhere) << "there denormals are numbers";
    if (!processor(name).runs_here) continue;
    const std::string device = fmt::format("CPU:LLVM:{}", name);
    EXPECT_EQ(result_of(device, schedule), result_of("INTERP", "none")) << name;
  }
}

// Of each head the columns of the next, of few columns in all.
TEST_F(MmaLayers, AnnounceTheWeightsOfTheNextHead) {
  const std::int64_t size_of_head = 64, wide = 768;
  const UOp h = loop(heads), m = loop(rows), n = loop(size_of_head),
            k = loop(wide, LoopKind::Reduce);
  const UOp sum =
      reduce(Op::Add, {read(1, Access::Read, {rows, wide}, {m, k}) *
                           read(2, Access::Constant, {heads, wide, size_of_head}, {h, k, n}),
                       k});
  const UOp out =
      place(param(0, Access::Write, {size(heads), size(rows), size(size_of_head)}), {h, m, n});
  const UOp kernel =
      make(Op::Sink, {over(put(out, sum), {h, m, n})}, {}, KernelArg{Symbol("k"), Symbol("")});
  const std::string schedule = chosen(kernel, target("sapphirerapids"));
  EXPECT_NE(schedule.find("; prefetch p2 at r0"), nowhere) << schedule;
}

}  // namespace
}  // namespace weft
