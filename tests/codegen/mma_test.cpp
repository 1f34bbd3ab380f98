// Products of matrices that are one instruction: where the model takes them, that a schedule with them means the same,
// what code is made of, and, on processors that have them, what they compute.

#include <numeric>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <weft/dev/base/process.h>
#include <weft/dev/base/temporary_folder.h>
#include <weft/dev/codegen/choose.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device.h>
#include <weft/dev/device/mma.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/value.h>

#include "../../src/backends/cpu/compiler.h"
#include "../../src/codegen/schedule/tensor_instructions/mma_block.h"
#include "../support/errors.h"
#include "../support/guarded.h"
#include "../support/kernels.h"

namespace weft {
namespace {

struct Case {
  MmaShape shape;
  std::int64_t rows, columns, depth;
  DType first;  // what rows are of, which may be widened

  std::string name() const {
    const bool is_widened = first != shape.a;
    return fmt::format("{}_{}{}", shape.name, rows,
                       is_widened ? fmt::format("_of_{}", first.str()) : "");
  }
};

// Tiles divide the sizes, or none of them.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const MmaShape& shape : mma_shapes()) {
    if (shape.most > 0) continue;  // it multiplies no reads
    std::vector<DType> rows{shape.a};
    for (const DType narrow : {dtypes::u8, dtypes::i8})
      if (shape.widens(narrow)) rows.push_back(narrow);
    for (const DType first : rows) {
      all.push_back({shape, 32, 64, 128, first});
      all.push_back({shape, 21, 39, 70, first});
    }
  }
  return all;
}

constexpr auto npos = std::string::npos;

// One that has the instruction, and none that is faster.
const cpu::Processor& processor_with(const MmaShape& shape) {
  const std::string_view name = shape.feature == "amx"       ? "sapphirerapids"
                                : shape.feature == "amxfp16" ? "graniterapids"
                                : shape.feature == "avxvnni" ? "x86-64-v3-vnni"
                                : shape.feature == "avx2"    ? "x86-64-v3"
                                                             : "x86-64-v4-vnni";
  return *std::ranges::find(cpu::processors(), name, &cpu::Processor::name);
}

std::string_view instruction_of(const MmaShape& shape) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"amx_bf16", "tdpbf16ps"},    {"amx_f16", "tdpfp16ps"},    {"amx_i8i8", "tdpbssd"},
      {"amx_i8u8", "tdpbsud"},      {"amx_u8i8", "tdpbusd"},     {"amx_u8u8", "tdpbuud"},
      {"avx512_bf16", "vdpbf16ps"}, {"avx512_i8u8", "vpdpbusd"}, {"avx512_u8i8", "vpdpbusd"},
      {"avx_i8u8", "vpdpbusd"},     {"avx_u8i8", "vpdpbusd"},    {"avx2_i16i8", "vpmaddwd"},
      {"avx2_i16u8", "vpmaddwd"},   {"avx2_i16i16", "vpmaddwd"}, {"avx2_i8u7", "vpmaddubsw"}};
  return std::ranges::find(names, shape.name, [](const auto& known) { return known.first; })
      ->second;
}

class Mma : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const std::string error = error_of([] { return compiler().key(); });
    if (error != "no error") GTEST_SKIP() << error;
  }

  static const cpu::Processor& processor() { return processor_with(GetParam().shape); }
  static const cpu::Compiler& compiler() { return cpu::llvm_compiler(processor()); }

  // Each row of `a` times each column of `b`, which may lie along memory.
  static UOp kernel(bool has_turned_columns = false, std::string_view schedule = {}) {
    const auto& [shape, rows, columns, depth, first] = GetParam();
    const UOp m = range(rows, fresh_id().value), n = range(columns, fresh_id().value);
    const UOp k = range(depth, fresh_id().value, LoopKind::Reduce);
    const auto factor = [&](int slot, DType dtype, const UOp& i, std::int64_t is, const UOp& j,
                            std::int64_t js) {
      return cast(load(place(param(slot, Access::Read, {size(is), size(js)}, dtype), {i, j})),
                  shape.c);
    };
    const UOp a = factor(1, first, m, rows, k, depth),
              b = has_turned_columns ? factor(2, shape.b, n, columns, k, depth)
                                     : factor(2, shape.b, k, depth, n, columns);
    const UOp out = place(param(0, Access::Write, {size(rows), size(columns)}, shape.c), {m, n});
    return make(Op::Sink, {over(put(out, reduce(Op::Add, {a * b, k})), {m, n})}, {},
                KernelArg{Symbol("k"), Symbol(std::string(schedule))});
  }

  // Without other instructions, which may be faster for what is small; whatever the machine here can do, vectors of
  // numbers are no faster: two of them in a cycle are as many products of bf16 as the instruction's.
  static Target target() {
    Target target = compiler().target();
    target.machine.fma_ports = 1;
    std::erase_if(target.mma,
                  [](const MmaShape& shape) { return shape.feature != GetParam().shape.feature; });
    return target;
  }

  // By one worker: several take longer to begin than some of these take.
  static Schedule chosen(const UOp& kernel) {
    Target target = Mma::target();
    target.machine.set_workers(1);
    const UOp until = run_pipeline_until("optimise", {kernel}, {.target = target})[0];
    return choose_schedule(ready_to_schedule(until).node(), target);
  }

  // Whole numbers, whose sums are exact in any order.
  static std::vector<std::byte> result_of(Device& device, const UOp& program) {
    const auto& [shape, rows, columns, depth, first] = GetParam();
    const auto bytes = [](std::int64_t count, DType dtype) {
      return static_cast<std::size_t>(count) * dtype.bytes();
    };
    Guarded out(bytes(rows * columns, shape.c)), a(bytes(rows * depth, first)),
        b(bytes(depth * columns, shape.b));
    std::mt19937 numbers(7);
    fill(a, first, numbers);
    fill(b, shape.b, numbers);
    device.load(device.compile(device.render(program.node())))
        ->run(
            std::vector<Argument>{
                {out.data(), 0, out.size()}, {a.data(), 0, a.size()}, {b.data(), 0, b.size()}},
            {});
    return {out.data(), out.data() + out.size()};
  }

  static void fill(Guarded& memory, DType dtype, std::mt19937& numbers) {
    if (dtype.is_float()) {
      for (std::uint16_t& bits : memory.as<std::uint16_t>())
        bits = static_cast<std::uint16_t>(
            bits_from_double(static_cast<int>(numbers() % 17) - 8, dtype));
    } else {
      for (std::uint8_t& byte : memory.as<std::uint8_t>())
        byte = static_cast<std::uint8_t>(numbers());
    }
  }

 private:
  Arena arena_;
  const InternerScope scope_{arena_};
};

INSTANTIATE_TEST_SUITE_P(Instructions, Mma, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name(); });

TEST_P(Mma, IsWhatTheModelTakes) {
  const std::string plain = to_string(chosen(kernel())), turned = to_string(chosen(kernel(true)));
  EXPECT_NE(plain.find(fmt::format(" k0 {}", GetParam().shape.name)), npos) << plain;
  // Both factors lie along the sum: either is the first, which another instruction may be for.
  const std::string_view name = GetParam().shape.name;
  // Of what fills no tile, vectors may be as fast.
  if (GetParam().rows == 32) {
    EXPECT_NE(turned.find(fmt::format(" k0 {}", name.substr(0, name.find('_') + 1))), npos)
        << turned;
  }
  Target without = target();
  without.mma.clear();
  const UOp until = run_pipeline_until("optimise", {kernel()}, {.target = without})[0];
  const std::string schedule = to_string(choose_schedule(ready_to_schedule(until).node(), without));
  EXPECT_EQ(schedule.find("mma"), npos) << schedule;
}

TEST_P(Mma, MeansTheSame) {
  Device& interp = find_device("INTERP");
  const auto result = [&](const UOp& of) {
    return result_of(interp, run_pipeline({of}, {.target = interp.target()})[0]);
  };
  for (const bool has_turned_columns : {false, true}) {
    const std::string schedule = to_string(chosen(kernel(has_turned_columns)));
    EXPECT_EQ(result(kernel(has_turned_columns, schedule)),
              result(kernel(has_turned_columns, "none")))
        << schedule;
  }
}

// Wherever this test runs, code for such a processor is made; it runs where that is one.
TEST_P(Mma, IsAnInstruction) {
  const std::string objdump = find_program({"llvm-objdump-19", "llvm-objdump"});
  if (objdump.empty()) GTEST_SKIP() << "there is no llvm-objdump";
  const UOp program = run_pipeline({kernel()}, {.target = target()})[0];
  const std::string source = compiler().render(program.node());
  const TemporaryFolder folder;
  write_text(folder / "kernel.o", compiler().compile({&source, 1})[0]);
  const std::string text = run_program({objdump, "-d", "kernel.o"}, folder.path());
  const std::string_view expected = instruction_of(GetParam().shape);
  for (const MmaShape& shape : mma_shapes())
    EXPECT_EQ(text.find(instruction_of(shape)) != npos, instruction_of(shape) == expected)
        << instruction_of(shape) << "\n"
        << text;
  const bool has_tiles = GetParam().shape.rows > 1;
  EXPECT_EQ(text.find("ldtilecfg") != npos, has_tiles) << text;
  EXPECT_EQ(text.find("tileloadd") != npos, has_tiles) << text;
}

// A vector's row is no tile of one row, where a processor has both.
TEST_P(Mma, IsTheOneThatIsAskedFor) {
  const cpu::Processor& all = processor_with(*find_mma("amx_f16"));
  const cpu::Compiler& compiler = cpu::llvm_compiler(all);
  const Target target = compiler.target();
  if (std::ranges::find(target.mma, GetParam().shape) == target.mma.end())
    GTEST_SKIP() << all.name << " has no such instruction";
  const std::string schedule = to_string(chosen(kernel()));
  const UOp program = run_pipeline({kernel(false, schedule)}, {.target = target})[0];
  EXPECT_EQ(compiler.render(program.node()).find("x86_amx") != npos, GetParam().shape.rows > 1)
      << schedule;
}

// Nor is one taken for another of the same types, which may saturate.
TEST_P(Mma, IsRefusedWhereThereIsNone) {
  const cpu::Processor& other = processor_with(*find_mma("avx2_i16i8"));
  const Target target = cpu::llvm_compiler(other).target();
  if (std::ranges::find(target.mma, GetParam().shape) != target.mma.end())
    GTEST_SKIP() << other.name << " has the instruction";
  const std::string schedule = to_string(chosen(kernel()));
  const std::string error =
      error_of([&] { run_pipeline({kernel(false, schedule)}, {.target = target}); });
  EXPECT_TRUE(error.find("the device has no such instruction") != npos ||
              error.find("have to be staged as decoded") != npos)
      << schedule << ": " << error;
}

TEST_P(Mma, Multiplies) {
  if (!processor().runs_here) GTEST_SKIP() << "not run: this processor has no such instruction";
  Device& device = find_device(fmt::format("CPU:LLVM:{}", processor().name));
  Device& interp = find_device("INTERP");
  for (const bool has_turned_columns : {false, true})
    EXPECT_EQ(result_of(device,
                        run_pipeline({kernel(has_turned_columns)}, {.target = device.target()})[0]),
              result_of(interp, run_pipeline({kernel(has_turned_columns, "none")},
                                             {.target = interp.target()})[0]));
}

// The rows of an image fill no tile: all of its places follow one another. Weights are kept where they are constant: then
// places may go around all of them.
struct ImageCase {
  std::int64_t channels, features;
  bool is_constant;
  std::string_view schedule;  // a part of it
  std::int64_t size = 7;
  bool is_surrounded = false;  // what is around the image lies in memory with it
};

class MmaOfImages : public testing::TestWithParam<ImageCase> {
 protected:
  static constexpr std::int64_t window = 3;

  static const cpu::Processor& processor() { return processor_with(*find_mma("amx_bf16")); }

  // The channels of a place lie together.
  static UOp kernel(std::string_view schedule = {}) {
    const auto& [channels, features, is_constant, expected, size, is_surrounded] = GetParam();
    const auto loop = [](std::int64_t iterations, LoopKind kind) {
      return range(iterations, fresh_id().value, kind);
    };
    const UOp y = loop(size, LoopKind::Loop), x = loop(size, LoopKind::Loop),
              f = loop(features, LoopKind::Loop), i = loop(window, LoopKind::Reduce),
              j = loop(window, LoopKind::Reduce), c = loop(channels, LoopKind::Reduce);
    const auto dims = [](std::initializer_list<std::int64_t> sizes) {
      std::vector<UOp> list;
      for (const std::int64_t each : sizes) list.push_back(const_int(each));
      return list;
    };
    const std::int64_t before = is_surrounded ? 0 : 1, stored = stored_size();
    const UOp row = y + i - before, column = x + j - before;
    const UOp inside = is_surrounded ? const_bool(true)
                                     : (row >= 0) & (row < size) & (column >= 0) & (column < size);
    const UOp image =
        load(place(param(1, Access::Read, dims({stored, stored, channels}), dtypes::bf16),
                   {row, column, c}, inside));
    const UOp weights = load(place(param(2, is_constant ? Access::Constant : Access::Read,
                                         dims({window, window, channels, features}), dtypes::bf16),
                                   {i, j, c, f}));
    const UOp out = place(param(0, Access::Write, dims({size, size, features})), {y, x, f});
    const UOp sum =
        reduce(Op::Add, {cast(image, dtypes::f32) * cast(weights, dtypes::f32), i, j, c});
    return make(Op::Sink, {over(put(out, sum), {y, x, f})}, {},
                KernelArg{Symbol("k"), Symbol(std::string(schedule))});
  }

  static std::int64_t stored_size() {
    return GetParam().size + (GetParam().is_surrounded ? window - 1 : 0);
  }

  static Target target() {
    Target target = cpu::llvm_compiler(processor()).target();
    std::erase_if(target.mma, [](const MmaShape& shape) { return shape.feature != "amx"; });
    target.machine.set_workers(1);
    return target;
  }

  static std::string chosen() {
    const UOp until = run_pipeline_until("optimise", {kernel()}, {.target = target()})[0];
    return to_string(choose_schedule(ready_to_schedule(until).node(), target()));
  }

  // A kernel of its own makes what is kept.
  static std::vector<float> result_of(Device& device, const std::vector<UOp>& programs) {
    const std::int64_t channels = GetParam().channels, features = GetParam().features;
    const std::int64_t size = GetParam().size, stored = stored_size();
    const auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count); };
    Guarded out(bytes(size * size * features * 4)), image(bytes(stored * stored * channels * 2)),
        weights(bytes(window * window * channels * features * 2));
    std::mt19937 numbers(5);
    for (Guarded* each : {&image, &weights})
      for (std::uint16_t& bits : each->as<std::uint16_t>())
        bits = static_cast<std::uint16_t>(
            std::bit_cast<std::uint32_t>(static_cast<float>(int(numbers() % 17) - 8)) >> 16);
    std::vector<Argument> arguments{{out.data(), 0, out.size()},
                                    {image.data(), 0, image.size()},
                                    {weights.data(), 0, weights.size()}};
    const auto run = [&](const UOp& program, std::vector<Argument> given) {
      device.load(device.compile(device.render(program.node())))->run(given, {});
    };
    std::vector<std::byte> kept(std::size_t{1} << 22);
    for (std::size_t i = 1; i < programs.size(); ++i) {
      run(programs[i], {{}, {}, arguments[2], {kept.data(), 0, kept.size()}});
      arguments.push_back({kept.data(), 0, kept.size()});
    }
    run(programs[0], arguments);
    const auto written = out.as<float>();
    return {written.begin(), written.end()};
  }

 private:
  Arena arena_;
  const InternerScope scope_{arena_};
};

INSTANTIATE_TEST_SUITE_P(
    Channels, MmaOfImages,
    testing::Values(
        ImageCase{40, 24, false, "merge r0 r1"}, ImageCase{64, 24, false, "merge r0 r1"},
        ImageCase{64, 96, true, "merge r0 r1"},
        // Of many channels few columns would be packed at a time: all places go around them, and bring the next.
        ImageCase{512, 64, true, "k0 k1 k2 b1 k2.1 b1.1 k2.2; prefetch p2 at r2"},
        // Where no condition hides what a window reads, rows of tiles are those of the image.
        ImageCase{32, 32, true, "tile r1 28; tile r2 ", 28, true},
        ImageCase{64, 96, true, "merge r0 r1; tile r0 28;", 14, true},
        // And few channels of several places are as deep as tiles.
        ImageCase{4, 64, true, "merge k1 k2; ", 32, true}),
    [](const auto& info) {
      return fmt::format("{}_{}_{}", info.index, info.param.channels, info.param.features);
    });

TEST_P(MmaOfImages, MeanTheSameBySchedulesOfTheirOwn) {
  const std::string schedule = chosen();
  EXPECT_NE(schedule.find(GetParam().schedule), npos) << schedule;
  Device& interp = find_device("INTERP");
  const auto result = [&](std::string_view by) {
    return result_of(interp, run_pipeline({kernel(by)}, {.target = interp.target()}));
  };
  EXPECT_EQ(result(schedule), result("none"));
}

// Rows that are asked for: fewer than fill a tile, as the loop around them has whole numbers of.
TEST_P(MmaOfImages, HaveTilesOfAsManyRowsAsIsSaid) {
  const std::string block = "tile r0 28;", schedule = chosen();
  const std::size_t at = schedule.find(block);
  if (at == npos) GTEST_SKIP() << "28 rows are what this test is about";
  const auto with_rows = [&](const char* rows, const char* tile) {
    std::string text = schedule;
    text.replace(text.find("amx_bf16;"), 9, fmt::format("amx_bf16 {};", rows));
    return text.replace(at, block.size(), tile);
  };
  Device& interp = find_device("INTERP");
  const auto of = [&](Device& device, const std::string& by) {
    return result_of(device, run_pipeline({kernel(by)}, {.target = device.target()}));
  };
  const std::vector<float> expected = of(interp, "none");
  const std::string sevens = with_rows("7", "tile r0 14;");
  EXPECT_EQ(of(interp, sevens), expected);
  const auto refusal = [&](const char* rows) {
    const std::string text = with_rows(rows, block.c_str());
    return error_of([&] { return apply_schedule(kernel(), parse_schedule(text)); });
  };
  for (const char* rows : {"1", "5", "28"})
    EXPECT_EQ(
        refusal(rows),
        fmt::format("schedule: 'mma r0.1 r2.2 k2 amx_bf16 {}': its loops do not fill tiles evenly",
                    rows));
  EXPECT_EQ(refusal("7"),
            "schedule: 'mma r0.1 r2.2 k2 amx_bf16 7': its blocks need more tile registers than "
            "there are");
  if (!processor().runs_here) return;
  EXPECT_EQ(of(find_device(fmt::format("CPU:LLVM:{}", processor().name)), sevens), expected);
}

TEST_P(MmaOfImages, Multiply) {
  if (!processor().runs_here) GTEST_SKIP() << "not run: this processor has no such instruction";
  Device& device = find_device(fmt::format("CPU:LLVM:{}", processor().name));
  Device& interp = find_device("INTERP");
  EXPECT_EQ(result_of(device, run_pipeline({kernel(chosen())}, {.target = device.target()})),
            result_of(interp, run_pipeline({kernel("none")}, {.target = interp.target()})));
}

// A sum of one step has no loop: its tile begins with no zeros from memory, and is stored as it is.
TEST(MmaTiles, OfOneStepBeginAndEndAsTiles) {
  Arena arena;
  const InternerScope scope(arena);
  const cpu::Compiler& compiler = cpu::llvm_compiler(processor_with(*find_mma("amx_bf16")));
  const std::string error = error_of([&] { return compiler.key(); });
  if (error != "no error") GTEST_SKIP() << error;
  const std::int64_t rows = 64, depth = 32;
  const UOp m = range(rows, fresh_id().value), n = range(rows, fresh_id().value);
  const UOp k = range(depth, fresh_id().value, LoopKind::Reduce);
  const auto factor = [&](int slot, std::int64_t first, std::int64_t second, const UOp& i,
                          const UOp& j) {
    return cast(
        load(place(param(slot, Access::Read, {size(first), size(second)}, dtypes::bf16), {i, j})),
        dtypes::f32);
  };
  const UOp sum = reduce(Op::Add, {factor(1, rows, depth, m, k) * factor(2, depth, rows, k, n), k});
  const UOp out = place(param(0, Access::Write, {size(rows), size(rows)}), {m, n});
  const UOp kernel = make(
      Op::Sink, {over(put(out, sum), {m, n})}, {},
      KernelArg{Symbol("k"),
                Symbol("tile r0 32; tile r1 32; tile r1.1 32; mma r0.1 r1.2 k0 amx_bf16; "
                       "order r1 r0 r1.1 r0.1 r1.2; stage p2 at r1 as r1.1 k0 b1 k0.1 b1.1 k0.2")});
  const std::string source =
      compiler.render(run_pipeline({kernel}, {.target = compiler.target()})[0].node());
  EXPECT_NE(source.find("tilezero"), npos) << source;
  EXPECT_NE(source.find("tilestored64"), npos) << source;
  EXPECT_EQ(source.find("vector.to.tile(<256 x float> <"), npos) << source;
}

TEST(MmaBlocks, FitIntoRegisters) {
  for (const MmaShape& shape : mma_shapes())
    for (const std::int64_t rows : {1, 7, 16, 49, 3136})
      for (const std::int64_t columns : {16, 40, 96, 1000}) {
        const MmaBlock block = block_for(shape, rows, columns);
        const std::int64_t r = block.rows / shape.rows, c = block.columns / shape.columns;
        EXPECT_EQ(block.rows % shape.rows + block.columns % shape.columns, 0) << shape.name;
        EXPECT_LE(r * c + std::min(r, c) + 1, shape.registers) << shape.name;
        EXPECT_LT((r - 1) * shape.rows, rows) << shape.name;
        EXPECT_LT((c - 1) * shape.columns, columns) << shape.name;
      }
  const MmaBlock tiles = block_for(*find_mma("amx_u8i8"), 512, 512);
  EXPECT_EQ(tiles.rows, 32);
  EXPECT_EQ(tiles.columns, 32);
}

}  // namespace
}  // namespace weft
