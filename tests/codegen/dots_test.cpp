// Products of bytes that an instruction adds up in each lane: where the model takes it, that a
// schedule with it means the same, what code is made of, and, on processors that have it, what it
// computes.

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
#include <weft/settings.h>
#include <weft/weft.h>

#include "../../src/backends/cpu/compiler.h"
#include "../support/errors.h"
#include "../support/guarded.h"
#include "../support/kernels.h"

namespace weft {
namespace {

constexpr std::int64_t depth = 24, lanes = 16, group = 4;
constexpr auto npos = std::string::npos;

// Two fields of each byte of a matrix, whose rows are lanes of blocks, times a vector; by two sums.
UOp kernel(std::string_view schedule = {}, std::int64_t blocks = 40, std::int64_t most = 15) {
  const UOp row = range(blocks, fresh_id().value), lane = range(lanes, fresh_id().value);
  const auto sum = [&](std::int64_t of) {
    const UOp field = range(2, fresh_id().value, LoopKind::Reduce),
              step = range(depth, fresh_id().value, LoopKind::Reduce),
              at = range(group, fresh_id().value, LoopKind::Reduce);
    const UOp bytes = load(place(
        param(1, Access::Read, {size(blocks), size(depth), size(lanes), size(group)}, dtypes::u8),
        {row, step, lane, at}));
    const UOp code = make(Op::Shr, {bytes, cast(field, dtypes::u8) * 4}) & most;
    const UOp x =
        load(place(param(2, Access::Read, {size(2), size(2), size(depth * group)}, dtypes::i8),
                   {size(of), field, step * group + at}));
    return reduce(Op::Add, {cast(x, dtypes::i32) * cast(code, dtypes::i32), field, step, at});
  };
  const UOp out =
      place(param(0, Access::Write, {size(blocks), size(lanes)}, dtypes::i32), {row, lane});
  return make(Op::Sink, {over(put(out, sum(1) * 256 + sum(0)), {row, lane})}, {},
              KernelArg{Symbol("k"), Symbol(std::string(schedule))});
}

// The sum over groups of a vector times codes that `code` reads for a block, a step, a lane and a place
// in the group.
template <class Code>
UOp sums_of(Code code, std::int64_t in_group = group, Op op = Op::Add, bool is_square = false) {
  const UOp row = range(40, fresh_id().value), lane = range(lanes, fresh_id().value),
            step = range(depth, fresh_id().value, LoopKind::Reduce),
            at = range(in_group, fresh_id().value, LoopKind::Reduce);
  const UOp x = load(place(param(2, Access::Read, {size(depth * 16)}, dtypes::i8),
                           {step * in_group + (is_square ? at * at : at)}));
  const UOp product = cast(x, dtypes::i32) * cast(code(row, step, lane, at) & 15, dtypes::i32);
  const UOp out = place(param(0, Access::Write, {size(40), size(lanes)}, dtypes::i32), {row, lane});
  return make(Op::Sink, {over(put(out, reduce(op, {product, step, at})), {row, lane})}, {},
              KernelArg{Symbol("k")});
}

std::vector<std::byte> result_of(Device& device, const UOp& of) {
  constexpr std::int64_t blocks = 40;
  Guarded out(blocks * lanes * sizeof(std::int32_t)), codes(blocks * depth * lanes * group),
      x(2 * 2 * depth * group);
  std::mt19937 numbers(5);
  for (std::uint8_t& byte : codes.as<std::uint8_t>()) byte = static_cast<std::uint8_t>(numbers());
  for (std::uint8_t& byte : x.as<std::uint8_t>()) byte = static_cast<std::uint8_t>(numbers());
  const UOp program = run_pipeline({of}, {.target = device.target()})[0];
  device.load(device.compile(device.render(program.node())))
      ->run(std::vector<Argument>{{out.data(), 0, out.size()},
                                  {codes.data(), 0, codes.size()},
                                  {x.data(), 0, x.size()}},
            {});
  return {out.data(), out.data() + out.size()};
}

class Dots : public testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override {
    const std::string error = error_of([] { return compiler().key(); });
    if (error != "no error") GTEST_SKIP() << error;
  }

  static const cpu::Processor& processor() {
    return *std::ranges::find(cpu::processors(), GetParam(), &cpu::Processor::name);
  }
  static const cpu::Compiler& compiler() { return cpu::llvm_compiler(processor()); }

  static Schedule chosen(const UOp& of, int workers = 1) {
    Target target = compiler().target();
    target.machine.set_workers(workers);
    const UOp until = run_pipeline_until("optimise", {of}, {.target = target})[0];
    return choose_schedule(ready_to_schedule(until).node(), target);
  }

 private:
  Arena arena_;
  const InternerScope scope_{arena_};
};

INSTANTIATE_TEST_SUITE_P(Processors, Dots,
                         testing::Values("x86-64-v4-vnni", "x86-64-v3-vnni", "x86-64-v3"),
                         [](const auto& info) {
                           return info.param.ends_with("v4-vnni") ? "avx512"
                                  : info.param.ends_with("vnni")  ? "avx"
                                                                  : "avx2";
                         });

TEST_P(Dots, AreWhatTheModelTakes) {
  const std::string schedule = to_string(chosen(kernel()));
  for (const char* action : {"vector r1", "upcast k0", "dot k2", "upcast k3", "dot k5"})
    EXPECT_NE(schedule.find(action), npos) << action << ": " << schedule;
}

// What is no sum of products of four neighbours, lane after lane, is left to other instructions.
TEST_P(Dots, AreOfGroupsThatLieTogether) {
  using At = const UOp&;
  const auto bytes = [](const std::vector<std::int64_t>& dims, const std::vector<UOp>& at,
                        const UOp& valid = const_bool(true), int slot = 1) {
    std::vector<UOp> sizes;
    for (const std::int64_t dim : dims) sizes.push_back(size(dim));
    return load(place(param(slot, Access::Read, sizes, dtypes::u8), at, valid));
  };
  const auto codes = [&](At r, At s, At l, At a) {
    return bytes({40, depth, lanes, group}, {r, s, l, a});
  };
  const auto is_dot = [](const UOp& of) { return to_string(chosen(of)).find("dot") != npos; };
  EXPECT_TRUE(is_dot(sums_of(codes)));
  EXPECT_FALSE(is_dot(sums_of(codes, group, Op::Max))) << "the largest product";
  EXPECT_FALSE(is_dot(sums_of(codes, group, Op::Add, true))) << "factors without a stride";
  EXPECT_FALSE(is_dot(sums_of(
      [&](At r, At s, At l, At a) { return bytes({40, depth, lanes, 8}, {r, s, l, a}); }, 8)))
      << "groups of eight";
  EXPECT_FALSE(is_dot(sums_of([&](At r, At s, At l, At a) {
    return bytes({40, depth, lanes, group}, {r, s, l, a}, a < 3);
  }))) << "one of four is not there";
  EXPECT_FALSE(is_dot(sums_of([&](At r, At s, At l, At a) {
    return make(Op::Shr, {codes(r, s, l, a), cast(a, dtypes::u8) * 2});
  }))) << "codes by the place in the group";
  EXPECT_FALSE(is_dot(sums_of([&](At r, At s, At l, At a) {
    return codes(r, s, l, a) & bytes({group}, {a}, const_bool(true), 3);
  }))) << "masks by the place in the group";
  EXPECT_FALSE(is_dot(sums_of([&](At r, At s, At l, At a) {
    return bytes({40, depth, group, lanes * 4}, {r, s, a, l * 4});
  }))) << "a group lies apart";
  EXPECT_FALSE(is_dot(sums_of([&](At, At, At l, At) { return cast(l, dtypes::u8); })))
      << "nothing is read";
}

// What comes from beyond a core's own caches is prefetched, where the next rows are another
// thread's too.
TEST_P(Dots, AreReadAhead) {
  for (const int workers : {1, 2, 16, 64})
    for (const std::int64_t blocks : {4096, 5000}) {
      const UOp of = kernel({}, blocks);
      const std::string schedule = to_string(chosen(of, workers));
      EXPECT_NE(schedule.find("prefetch p1.1 at r0"), npos) << schedule;
      EXPECT_EQ(error_of([&] {
                  run_pipeline({kernel(schedule, blocks)}, {.target = compiler().target()});
                }),
                "no error")
          << schedule;
    }
  EXPECT_EQ(to_string(chosen(kernel())).find("prefetch"), npos);
}

TEST_P(Dots, MeanTheSame) {
  Device& interp = find_device("INTERP");
  const std::string schedule = to_string(chosen(kernel()));
  EXPECT_EQ(result_of(interp, kernel(schedule)), result_of(interp, kernel("none"))) << schedule;
}

TEST_P(Dots, AreInstructions) {
  const std::string objdump = find_program({"llvm-objdump-19", "llvm-objdump"});
  if (objdump.empty()) GTEST_SKIP() << "there is no llvm-objdump";
  const UOp program = run_pipeline({kernel()}, {.target = compiler().target()})[0];
  const std::string source = compiler().render(program.node());
  const TemporaryFolder folder;
  write_text(folder / "kernel.o", compiler().compile({&source, 1})[0]);
  const std::string text = run_program({objdump, "-d", "kernel.o"}, folder.path());
  EXPECT_NE(text.find(GetParam() == "x86-64-v3" ? "vpmaddubsw" : "vpdpbusd"), npos) << text;
}

TEST_P(Dots, MultiplyAndAddUp) {
  if (!processor().runs_here) GTEST_SKIP() << "not run: this processor has no such instruction";
  Device& device = find_device(fmt::format("CPU:LLVM:{}", processor().name));
  for (const std::int64_t most : {15, 127, 255})
    EXPECT_EQ(result_of(device, kernel({}, 40, most)),
              result_of(find_device("INTERP"), kernel("none", 40, most)))
        << most;
}

// An instruction whose sums of two products saturate is for codes of seven bits.
TEST_P(Dots, AreOfCodesThatDoNotSaturate) {
  const std::string schedule = to_string(chosen(kernel({}, 40, 127)));
  EXPECT_NE(schedule.find("dot"), npos) << schedule;
  const bool saturates = GetParam() == "x86-64-v3";
  const std::string of_bytes = to_string(chosen(kernel({}, 40, 255)));
  EXPECT_EQ(of_bytes.find("dot") == npos, saturates) << of_bytes;
  const std::string refusal =
      error_of([&] { run_pipeline({kernel(schedule, 40, 255)}, {.target = compiler().target()}); });
  EXPECT_EQ(refusal.find("sums of two of its products may saturate") != npos, saturates) << refusal;
}

TEST_P(Dots, AreRefusedWhereThereIsNoInstruction) {
  const auto refusal = [&](const char* schedule) {
    return error_of(
        [&] { return run_pipeline({kernel(schedule)}, {.target = compiler().target()}); });
  };
  const std::string vector =
      GetParam() == "x86-64-v4-vnni" ? "vector r1" : "tile r1 8; vector r1.1";
  EXPECT_EQ(refusal((vector + "; dot k2; dot k5").c_str()), "no error");
  const char* few_lanes = "tile r1 4; vector r1.1; dot k2";
  EXPECT_NE(refusal(few_lanes).find("the device has no such instruction"), npos)
      << refusal(few_lanes);
  const std::string two = vector + "; tile k1 2; dot k1.1; dot k2";
  EXPECT_NE(refusal(two.c_str()).find("there are two such loops"), npos) << refusal(two.c_str());
  const std::string group_of_two = vector + "; tile k2 2; dot k2.1";
  EXPECT_NE(refusal(group_of_two.c_str()).find("no such instruction"), npos);
  EXPECT_NE(refusal("dot r0").find("it is not a loop of a reduction"), npos) << refusal("dot r0");
}

// Products of bytes that are no such groups, or nearly: they mean the same where there is an
// instruction and where there is none.
TEST(SumsOfFourBytes, AreWhatTheyAreWhereverTheyLie) {
  const auto bytes = [](const Shape& shape) {
    return Tensor::randint(shape, 0, 256).cast(dtypes::u8).realize();
  };
  struct Factors {
    const char* name;
    Tensor w, x;
  };
  const Tensor w = bytes({64, 4}), x = bytes({4}).bitcast(dtypes::i8).realize();
  const Factors all[] = {
      {"as they lie", w, x},
      {"rows that are not there", bytes({60, 4}).pad({{0, 4}, {0, 0}}), x},
      {"a number that is not there", w, x.shrink({{0, 3}}).pad({{0, 1}})},
      {"rows from the fifth", w.roll(5, 0), x},
      {"rows again", bytes({8, 4}).repeat({8, 1}), x},
      {"numbers from the third", w, x.roll(3, 0)},
      {"columns from the third", w.roll(3, 1), x},
      {"rows from the last", w.flip(0), x},
      {"decoded by the place", w + Tensor::arange(4).cast(dtypes::u8), x},
      {"decoded by the row", w + Tensor::arange(64).cast(dtypes::u8).reshape({64, 1}), x},
      {"joined", bytes({32, 4}).cat({bytes({32, 4})}, 0), x},
      {"every other row", bytes({128, 4}).index_select(0, Tensor::arange(64).cast(dtypes::i32) * 2),
       x},
      {"for several rows", bytes({1, 64, 4}), bytes({32, 1, 4}).bitcast(dtypes::i8)},
      {"several kinds of rows", bytes({64, 32, 4}), bytes({64, 1, 4}).bitcast(dtypes::i8)}};
  const Context checked{{"VALIDATE", 1}};
  for (const auto& [name, left, right] : all) {
    const auto sums = [](const Tensor& a, const Tensor& b) {
      return (a.cast(dtypes::i32) * b.cast(dtypes::i32)).sum(-1).to_vector<std::int32_t>();
    };
    EXPECT_EQ(sums(left, right), sums(left.to("INTERP"), right.to("INTERP"))) << name;
  }
}

// Two sums in each iteration, of lanes that are outermost.
TEST(SumsOfFourBytes, MayBeTwo) {
  const Tensor w = Tensor::randint({64, 1, 4}, 0, 256).cast(dtypes::u8).realize();
  const Tensor x = Tensor::randint({2, 4}, -128, 128).cast(dtypes::i8).realize();
  const auto sum = [&](int row, const std::string& device) {
    return (w.to(device).cast(dtypes::i32) *
            x.to(device).shrink({{row, row + 1}, {0, 4}}).cast(dtypes::i32))
        .sum(-1);
  };
  const auto both = [&](const std::string& device) {
    return (sum(0, device) * 3 + sum(1, device)).to_vector<std::int32_t>();
  };
  EXPECT_EQ(both("CPU"), both("INTERP"));
}

}  // namespace
}  // namespace weft
