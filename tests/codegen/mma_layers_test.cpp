// Layers of networks in bf16: what is added to their sums, how these are rounded, and whose weights
// are prefetched.

#include <algorithm>
#include <array>
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
  static constexpr std::int64_t rows = 128, columns = 256, depth = 128;
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
    target.machine.set_workers(1);
    target.machine.memory = {{.bytes = 48 << 10, .bandwidth = 90e9},
                             {.bytes = 2 << 20, .bandwidth = 25e9},
                             {.bytes = 300 << 20, .bandwidth = 15e9}};
    return target;
  }

  static UOp loop(std::int64_t iterations, LoopKind kind = LoopKind::Loop) {
    return range(iterations, fresh_id().value, kind);
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

  // A kernel, after those that fill what it keeps of the weights.
  static void run(Device& device, const std::vector<UOp>& programs,
                  std::vector<Argument> arguments) {
    constexpr std::size_t weights = 2;
    const auto call = [&](const UOp& program, const std::vector<Argument>& given) {
      device.load(device.compile(device.render(program.node())))->run(given, {});
    };
    std::vector<std::byte> kept(std::size_t{1} << 20);
    for (std::size_t i = 1; i < programs.size(); ++i) {
      std::vector<Argument> given(arguments.size());
      given[weights] = arguments[weights];
      given.push_back({kept.data(), 0, kept.size()});
      call(programs[i], given);
      arguments.push_back({kept.data(), 0, kept.size()});
    }
    call(programs[0], arguments);
  }
  template <class T>
  static Argument argument(std::vector<T>& values) {
    return {reinterpret_cast<std::byte*>(values.data()), 0, values.size() * sizeof(T)};
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
    run(device, programs, arguments);
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

// What is added is all that is left: sums of zeros.
TEST_F(MmaLayers, RoundSpecialValues) {
  const std::string_view name = "x86-64-v4-vnni";
  if (!processor(name).runs_here) GTEST_SKIP() << "not run: this processor has no such instruction";
  constexpr std::uint16_t infinity = 0x7f80, nan = 0x7fc1, least_normal = 0x0080, denormal = 0x0041;
  std::vector<std::uint16_t> a(rows * depth), b(depth * columns), c(rows * columns),
      out(rows * columns);
  const std::uint16_t special[] = {infinity,     infinity | 0x8000, nan,
                                   least_normal, denormal,          0x3f80};
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = special[i % std::size(special)];
  Device& device = find_device(fmt::format("CPU:LLVM:{}", name));
  const auto programs =
      run_pipeline({layer(chosen(layer(), target(name)))}, {.target = device.target()});
  run(device, programs, {argument(out), argument(a), argument(b), argument(c)});
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint16_t value = c[i];
    if (value == nan)
      EXPECT_GT(out[i] & 0x7fff, infinity);
    else
      EXPECT_EQ(out[i], value == denormal ? 0 : value) << "of " << i;
  }
}

// A head after the other, each with its own columns.
UOp heads_of(std::int64_t heads, std::int64_t rows, std::int64_t depth, std::int64_t columns,
             std::string_view schedule) {
  const UOp h = range(heads, fresh_id().value), m = range(rows, fresh_id().value),
            n = range(columns, fresh_id().value),
            k = range(depth, fresh_id().value, LoopKind::Reduce);
  const auto read = [](int slot, Access access, const std::vector<UOp>& sizes,
                       const std::vector<UOp>& at) {
    return cast(load(place(param(slot, access, sizes, dtypes::bf16), at)), dtypes::f32);
  };
  const UOp sum = reduce(
      Op::Add, {read(1, Access::Read, {size(rows), size(depth)}, {m, k}) *
                    read(2, Access::Constant, {size(heads), size(depth), size(columns)}, {h, k, n}),
                k});
  const UOp out =
      place(param(0, Access::Write, {size(heads), size(rows), size(columns)}), {h, m, n});
  return make(Op::Sink, {over(put(out, sum), {h, m, n})}, {},
              KernelArg{Symbol("k"), Symbol(std::string(schedule))});
}

TEST_F(MmaLayers, AnnounceTheWeightsOfTheNextHead) {
  const std::string schedule = chosen(heads_of(12, 128, 768, 64, ""), target("sapphirerapids"));
  EXPECT_NE(schedule.find("; prefetch p2 at r0"), nowhere) << schedule;
  Device& interp = find_device("INTERP");
  const auto result = [&](std::string_view by) {
    const auto programs = run_pipeline({heads_of(4, 128, 64, 64, by)}, {.target = interp.target()});
    std::vector<std::uint16_t> a(128 * 64), b(std::size_t{4} * 64 * 64);
    std::vector<float> out(std::size_t{4} * 128 * 64);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = i % 3 == 0 ? 0x3f80 : 0x4000;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = i % 5 == 0 ? 0xbf80 : 0x4040;
    run(interp, programs, {argument(out), argument(a), argument(b)});
    return out;
  };
  EXPECT_EQ(result(schedule), result("none"));
}

// Where it is more than a core keeps: the lines of a block, while its sums are computed.
TEST_F(MmaLayers, AnnounceWhatTheyStore) {
  const Target with = target("sapphirerapids");
  const std::string schedule = chosen(heads_of(1, 1024, 64, 1024, ""), with);
  EXPECT_NE(schedule.find("; prefetch p0 at r"), nowhere) << schedule;
  EXPECT_EQ(chosen(heads_of(1, 128, 64, 128, ""), with).find("prefetch p0"), nowhere);
  const auto programs = run_pipeline({heads_of(1, 1024, 64, 1024, schedule)}, {.target = with});
  EXPECT_NE(compiler("sapphirerapids").render(programs[0].node()).find("i32 1, i32 3, i32 1)"),
            nowhere);
}

// Whatever is left of the loops around a block: one iteration of rows or of columns, a depth of one
// tile.
TEST_F(MmaLayers, AnnounceStoresOfAnyShape) {
  Target with = target("sapphirerapids");
  for (const int workers : {1, 8}) {
    with.machine.set_workers(workers);
    for (const auto& [rows, depth, columns] :
         std::vector<std::array<std::int64_t, 3>>{{16, 64, 65536},
                                                  {32, 32, 65536},
                                                  {65536, 32, 16},
                                                  {65536, 64, 32},
                                                  {48, 96, 32768},
                                                  {65536, 32, 96},
                                                  {50, 33, 40000}}) {
      const UOp kernel = heads_of(1, rows, depth, columns, "");
      EXPECT_EQ(error_of([&] { run_pipeline({kernel}, {.target = with}); }), "no error")
          << rows << " " << depth << " " << columns;
    }
  }
}

// Many rows and few columns: no loop has as many iterations as there are lines.
TEST_F(MmaLayers, AnnounceHoweverManyTripsThereAre) {
  const auto kernel = [](std::string_view schedule) {
    return heads_of(12, 1632, 4096, 16, schedule);
  };
  const Target with = target("sapphirerapids");
  const std::string schedule = chosen(kernel(""), with);
  EXPECT_NE(schedule.find("; prefetch p2 at r0"), nowhere) << schedule;
  const auto programs = run_pipeline({kernel(schedule)}, {.target = with});
  EXPECT_NE(compiler("sapphirerapids").render(programs[0].node()).find("llvm.prefetch"), nowhere);
}

}  // namespace
}  // namespace weft
