// What the cost model decides on a machine that is the same everywhere.

#include <weft/dev/codegen/choose.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/symbolic.h>

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "../../src/codegen/schedule/search/nest_of.h"
#include "scheduled_kernels.h"

namespace weft {
namespace {

// Else the nest would count as all of the kernel.
TEST(Nests, AreNotWholeWhereASumChangesWithTheLoopsAroundAlone) {
  Arena arena;
  const InternerScope scope(arena);
  const UOp rows = make(Op::Variable, {}, dtypes::index,
                        VariableArg{Symbol("rows"), fresh_id(), 1, 40}),
            i = range(rows, fresh_id().value), j = loop(50);
  const auto sum = [&](int slot, std::vector<std::int64_t> dims, std::vector<UOp> at) {
    std::vector<UOp> sizes;
    for (const std::int64_t dim : dims) sizes.push_back(size(dim));
    const UOp k = reduction(60);
    sizes.push_back(size(60));
    at.push_back(k);
    return reduce(Op::Add, {load(place(param(slot, Access::Read, sizes), at)), k});
  };
  const auto nests = [&](const UOp& value) {
    const UOp out = place(param(0, Access::Write, {size(40), size(50)}), {i, j});
    const UOp kernel = kernel_of(over(put(out, value), {i, j}));
    std::vector<bool> whole;
    for (const KernelNest& nest : nests_of(kernel.node(), loops_of_kernel(kernel.node()), true))
      whole.push_back(nest.is_whole);
    return whole;
  };
  const UOp of_both = sum(1, {40, 50}, {i, j});
  EXPECT_EQ(nests(of_both), std::vector<bool>{true});
  EXPECT_EQ(nests(of_both + sum(2, {40}, {i})), (std::vector<bool>{false, false}));
}

// A row less its largest, as a share of all that: the sum computes what the output needs.
UOp shares(std::int64_t m, std::int64_t n) {
  const UOp x = param(1, Access::Read, {size(m), size(n)});
  const UOp i = loop(m), j = loop(n), k = reduction(n), l = reduction(n);
  const UOp top = reduce(Op::Max, {load(place(x, {i, k})), k});
  const auto part = [&](const UOp& at) { return make(Op::Exp2, {load(place(x, {i, at})) - top}); };
  const UOp out = place(param(0, Access::Write, {size(m), size(n)}), {i, j});
  return kernel_of(over(put(out, part(j) / reduce(Op::Add, {part(l), l})), {i, j}));
}

// p1: heads x m x k, p2: heads x n x k. Of each row the products with all rows of p2, in memory of
// the kernel's own.
UOp products_of_rows(std::int64_t heads, std::int64_t m, std::int64_t n, std::int64_t k) {
  const UOp h = loop(heads), i = loop(m), j = loop(n), from = loop(n), l = reduction(k);
  const UOp a = load(place(param(1, Access::Read, {size(heads), size(m), size(k)}), {h, i, l}));
  const UOp b = load(place(param(2, Access::Read, {size(heads), size(n), size(k)}), {h, j, l}));
  const UOp row = make(Op::Buffer, {size(n)}, dtypes::f32, BufferArg{fresh_id(), Space::Scratch});
  const UOp begin = make(Op::After, {row, h, i});
  const UOp fill = over(put(place(begin, {j}), reduce(Op::Add, {a * b, l})), {j});
  const UOp value = load(place(make(Op::After, {row, fill}), {from}));
  const UOp out = place(param(0, Access::Write, {size(heads), size(m), size(n)}), {h, i, from});
  return kernel_of(over(put(out, make(Op::Exp2, {value})), {h, i, from}));
}

bool has(const Schedule& schedule, LoopKind kind, std::string_view loop) {
  return std::ranges::any_of(schedule, [&](const Action& action) {
    return action.type == Action::Kind && action.kind == kind &&
           action.name.substr(0, action.name.find('.')) == loop;
  });
}

// Which loop, as it was before tiles, is of this kind; "" where none is.
std::string family_of(const Schedule& schedule, LoopKind kind) {
  for (const Action& action : schedule)
    if (action.type == Action::Kind && action.kind == kind)
      return action.name.substr(0, action.name.find('.'));
  return "";
}

bool stages(const Schedule& schedule, std::string_view read) {
  return std::ranges::any_of(schedule, [&](const Action& action) {
    return action.type == Action::Stage && action.name == read;
  });
}

// In registers at once: the iterations of all that is UPCAST.
std::int64_t copies(const Schedule& schedule) {
  std::map<std::string, std::int64_t> iterations, cuts;
  for (const Action& action : schedule)
    if (action.type == Action::Tile) {
      const std::string family = action.name.substr(0, action.name.find('.'));
      const std::string inner = family + "." + std::to_string(++cuts[family]);
      iterations[inner] = action.count;
      if (action.name != family) iterations[action.name] /= action.count;
    }
  std::int64_t product = 1;
  for (const Action& action : schedule)
    if (action.type == Action::Kind && action.kind == LoopKind::Upcast)
      product *= iterations[action.name];
  return product;
}

// Schedules are applied in an arena, as by passes.
class Choose : public testing::Test {
  Arena arena_;
  const InternerScope scope_{arena_};
};

TEST_F(Choose, MatmulIsATileOfRegisters) {
  const Schedule chosen = choose_schedule(matmul(512, 512, 512).node(), fixed_target());
  EXPECT_EQ(family_of(chosen, LoopKind::Vector), "r1") << to_string(chosen);
  EXPECT_GE(copies(chosen), 16) << to_string(chosen);
  EXPECT_LE(copies(chosen), 32) << to_string(chosen);
}

TEST_F(Choose, MatmulStagesWhatLiesFarApart) {
  const Schedule chosen = choose_schedule(matmul(2048, 2048, 2048).node(), fixed_target());
  EXPECT_TRUE(stages(chosen, "p2")) << to_string(chosen);
  const Schedule small = choose_schedule(matmul(64, 64, 64).node(), fixed_target());
  EXPECT_FALSE(stages(small, "p2")) << to_string(small);
}

// Rows at a distance that divides a way of the cache: six of them stay in it, fourteen do not.
TEST_F(Choose, LargeMatmulStagesThePanelThatAllRowsRead) {
  for (std::int64_t n : {4096, 8192}) {
    const Schedule chosen = choose_schedule(matmul(n, n, n).node(), fixed_target());
    EXPECT_TRUE(stages(chosen, "p2")) << to_string(chosen);
    EXPECT_FALSE(stages(chosen, "p1")) << to_string(chosen);
  }
}

TEST_F(Choose, SumsThatDoNotFitGoOnInParts) {
  const UOp kernel = matmul(16384, 16384, 16384);
  const Schedule chosen = choose_schedule(kernel.node(), fixed_target());
  std::map<std::string, int> cuts;
  for (const Action& action : chosen) cuts[action.name] += action.type == Action::Tile ? 1 : 0;
  EXPECT_EQ(cuts["k0"], 1) << to_string(chosen);
  EXPECT_EQ(cuts["r0"], 2) << to_string(chosen);
  EXPECT_NO_THROW(apply_schedule(kernel, chosen)) << to_string(chosen);
}

// So many channels from as many, by windows of 3 x 3 that reach beyond the images; written, or
// added to what is there.
UOp convolution(std::int64_t images, std::int64_t channels, std::int64_t n,
                Access access = Access::Write) {
  const UOp b = loop(images), to = loop(channels), y = loop(n), x = loop(n);
  const UOp from = reduction(channels), ky = reduction(3), kx = reduction(3);
  const UOp iy = y + ky + -1, ix = x + kx + -1;
  const UOp inside = (iy >= 0) & (iy < n) & (ix >= 0) & (ix < n);
  const UOp image = param(1, Access::Read, {size(images), size(channels), size(n), size(n)});
  const UOp weights = param(2, Access::Read, {size(channels), size(channels), size(3), size(3)});
  const UOp product =
      load(place(image, {b, from, iy, ix}, inside)) * load(place(weights, {to, from, ky, kx}));
  const UOp sum = reduce(Op::Add, std::vector<UOp>{product, from, ky, kx});
  const UOp out =
      place(param(0, access, {size(images), size(channels), size(n), size(n)}), {b, to, y, x});
  const UOp all = access == Access::Write ? sum : sum + load(out);
  return kernel_of(over(put(out, all), {b, to, y, x}));
}

// The same of bytes.
UOp convolution_of_bytes(std::int64_t images, std::int64_t channels, std::int64_t features,
                         std::int64_t n) {
  const UOp b = loop(images), to = loop(features), y = loop(n), x = loop(n);
  const UOp from = reduction(channels), ky = reduction(3), kx = reduction(3);
  const UOp iy = y + ky + -1, ix = x + kx + -1;
  const UOp inside = (iy >= 0) & (iy < n) & (ix >= 0) & (ix < n);
  const UOp image =
      param(1, Access::Read, {size(images), size(channels), size(n), size(n)}, dtypes::i8);
  const UOp weights =
      param(2, Access::Constant, {size(features), size(channels), size(3), size(3)}, dtypes::i8);
  const auto wide = [](const UOp& at) { return cast(load(at), dtypes::i32); };
  const UOp product =
      wide(place(image, {b, from, iy, ix}, inside)) * wide(place(weights, {to, from, ky, kx}));
  const UOp out =
      place(param(0, Access::Write, {size(images), size(features), size(n), size(n)}, dtypes::i32),
            {b, to, y, x});
  const UOp sum = reduce(Op::Add, std::vector<UOp>{product, from, ky, kx});
  return kernel_of(over(put(out, sum), {b, to, y, x}));
}

// Tiles that do not divide the images begin the last one earlier: no region around them is told
// from that.
TEST_F(Choose, RegionsHoldFewImagesWhateverDividesThem) {
  for (const std::int64_t images : {480, 500, 509}) {
    const UOp kernel = convolution_of_bytes(images, 12, 24, 14);
    for (const int workers : {1, 2}) {
      const Target target = fixed_target(workers);
      const Schedule chosen = choose_schedule(kernel.node(), target);
      double bytes = 0;
      const UOp done = apply_schedule(kernel, chosen);
      for (const Node* stage : toposort(done.node())) {
        if (stage->op() != Op::Stage) continue;
        auto held = static_cast<double>(stage->dtype().bytes());
        for (const Node* range : stage->src().subspan(1))
          held *= static_cast<double>(range->src(0)->hi());
        bytes += held;
      }
      EXPECT_LE(bytes, static_cast<double>(target.scratch_bytes)) << to_string(chosen);
    }
  }
}

TEST_F(Choose, PaddingIsPutAroundImagesOnce) {
  const UOp kernel = convolution(8, 64, 32);
  const Schedule chosen = choose_schedule(kernel.node(), fixed_target());
  const auto staged = std::ranges::find_if(chosen, [](const Action& action) {
    return action.type == Action::Stage && action.name == "p1";
  });
  ASSERT_NE(staged, chosen.end()) << to_string(chosen);
  EXPECT_TRUE(staged->by_region) << to_string(chosen);
  EXPECT_NO_THROW(apply_schedule(kernel, chosen));
}

// What is read and written is not computed twice, so that no tile begins earlier than the one
// before ends.
TEST_F(Choose, SumsIntoWhatIsThere) {
  const UOp kernel = convolution(32, 64, 32, Access::ReadWrite);
  const Schedule chosen = choose_schedule(kernel.node(), fixed_target());
  EXPECT_NO_THROW(apply_schedule(kernel, chosen)) << to_string(chosen);
}

// Nor in a loop of its own, which has no tiles.
TEST_F(Choose, SumsIntoWhatIsThereAreMaskedBeyondTheEnd) {
  const UOp kernel = convolution(1, 80, 33, Access::ReadWrite);
  const Schedule chosen = choose_schedule(kernel.node(), fixed_target());
  EXPECT_NO_THROW(apply_schedule(kernel, chosen)) << to_string(chosen);
  const auto tiles = [&](Tail tail) { return std::ranges::count(chosen, tail, &Action::tail); };
  EXPECT_GT(tiles(Tail::Mask), 0) << to_string(chosen);
  EXPECT_EQ(tiles(Tail::Remainder), 0) << to_string(chosen);
}

UOp weight_gradient(std::int64_t images, std::int64_t channels, std::int64_t n) {
  const UOp to = loop(channels), from = loop(channels), ky = loop(3), kx = loop(3);
  const UOp b = reduction(images), y = reduction(n), x = reduction(n);
  const UOp iy = y + ky + -1, ix = x + kx + -1;
  const UOp inside = (iy >= 0) & (iy < n) & (ix >= 0) & (ix < n);
  const UOp image = param(1, Access::Read, {size(images), size(channels), size(n), size(n)});
  const UOp gradient = param(2, Access::Read, {size(images), size(channels), size(n), size(n)});
  const UOp product =
      load(place(image, {b, from, iy, ix}, inside)) * load(place(gradient, {b, to, y, x}));
  const UOp sum = reduce(Op::Add, std::vector<UOp>{product, b, y, x});
  const UOp out = param(0, Access::Write, {size(channels), size(channels), size(3), size(3)});
  return kernel_of(over(put(place(out, {to, from, ky, kx}), sum), {to, from, ky, kx}));
}

TEST_F(Choose, LanesAreNotStoredPagesApart) {
  const Schedule chosen = choose_schedule(weight_gradient(32, 512, 4).node(), fixed_target());
  EXPECT_NE(family_of(chosen, LoopKind::Vector), "r0") << to_string(chosen);
}

// Images of their own for each channel, and windows two apart that reach beyond them.
UOp windows(std::int64_t channels, std::int64_t n) {
  const UOp c = loop(channels), y = loop(n), x = loop(n);
  const UOp ky = reduction(5), kx = reduction(5);
  const UOp iy = y * 2 + ky + -2, ix = x * 2 + kx + -2;
  const UOp inside = (iy >= 0) & (iy < 2 * n) & (ix >= 0) & (ix < 2 * n);
  const UOp image = param(1, Access::Read, {size(channels), size(2 * n), size(2 * n)});
  const UOp weights = param(2, Access::Read, {size(channels), size(5), size(5)});
  const UOp product = load(place(image, {c, iy, ix}, inside)) * load(place(weights, {c, ky, kx}));
  const UOp sum = reduce(Op::Add, std::vector<UOp>{product, ky, kx});
  const UOp to = param(0, Access::Write, {size(channels), size(n), size(n)});
  return kernel_of(over(put(place(to, {c, y, x}), sum), {c, y, x}));
}

TEST_F(Choose, NeighbouringWindowsShareWhatTheyRead) {
  const UOp kernel = windows(144, 28);
  const Schedule chosen = choose_schedule(kernel.node(), fixed_target());
  const auto staged = std::ranges::find(chosen, Action::Stage, &Action::type);
  ASSERT_NE(staged, chosen.end()) << to_string(chosen);
  EXPECT_TRUE(staged->name == "p1" && staged->by_region) << to_string(chosen);
  EXPECT_NO_THROW(apply_schedule(kernel, chosen));
}

// Rows of blocks of two bytes of a scale and 16 of two numbers each, times a vector.
UOp packed_rows(std::int64_t rows, std::int64_t blocks) {
  const UOp row = loop(rows), block = reduction(blocks), half = reduction(2), i = reduction(16);
  const UOp bytes = param(1, Access::Read, {size(rows * blocks), size(18)}, dtypes::u8);
  const UOp at = row * blocks + block;
  const UOp both = load(place(bytes, {at, i + 2}));
  const UOp field = make(Op::Shr, {both, cast(half, dtypes::u8) * 4}) & 15;
  const UOp number = cast(field, dtypes::f32);
  const UOp scale = cast(load(place(bytes, {at, const_int(0)})), dtypes::f32);
  const UOp x =
      load(place(param(2, Access::Read, {size(blocks * 32)}), {block * 32 + half * 16 + i}));
  const UOp sum = reduce(Op::Add, {x * (number * scale), block, half, i});
  return kernel_of(over(put(place(param(0, Access::Write, {size(rows)}), {row}), sum), {row}));
}

TEST_F(Choose, FieldsOfPackedNumbersAreReadTogether) {
  const Schedule chosen = choose_schedule(packed_rows(4096, 128).node(), fixed_target());
  EXPECT_NE(to_string(chosen).find("upcast k1"), std::string::npos) << to_string(chosen);
  EXPECT_EQ(family_of(chosen, LoopKind::Vector), "k2") << to_string(chosen);
}

// They lie in the lines of the numbers.
TEST_F(Choose, ScalesOfBlocksAreNotStaged) {
  const Schedule chosen = choose_schedule(packed_rows(4096, 128).node(), fixed_target());
  EXPECT_EQ(std::ranges::count(chosen, Action::Stage, &Action::type), 0) << to_string(chosen);
}

// The same as a constant, with scales and offsets of two bytes each.
UOp constant_rows(std::int64_t rows, std::int64_t blocks) {
  const UOp row = loop(rows), block = reduction(blocks), half = reduction(2), i = reduction(16);
  const UOp bytes = param(1, Access::Constant, {size(rows), size(blocks), size(20)}, dtypes::u8);
  const auto byte = [&](const UOp& at) { return load(place(bytes, {row, block, at})); };
  const auto wide = [&](std::int64_t at) {
    return cast(byte(const_int(at)), dtypes::f32) + cast(byte(const_int(at + 1)), dtypes::f32);
  };
  const UOp field = make(Op::Shr, {byte(i + 4), cast(half, dtypes::u8) * 4}) & 15;
  const UOp x =
      load(place(param(2, Access::Read, {size(blocks), size(2), size(16)}), {block, half, i}));
  const UOp number = cast(field, dtypes::f32) * wide(0) + wide(2);
  const UOp sum = reduce(Op::Add, {x * number, block, half, i});
  return kernel_of(over(put(place(param(0, Access::Write, {size(rows)}), {row}), sum), {row}));
}

// Then rows are lanes, whose bytes are packed side by side.
TEST_F(Choose, PartsOfAConstantAreKeptAllOrNone) {
  const UOp kernel = constant_rows(4096, 128);
  const Schedule chosen = choose_schedule(kernel.node(), fixed_target());
  EXPECT_EQ(family_of(chosen, LoopKind::Vector), "r0") << to_string(chosen);
  EXPECT_EQ(std::ranges::count(chosen, Space::Constant, &Action::space), 5) << to_string(chosen);
  EXPECT_NO_THROW(apply_schedule(kernel, chosen)) << to_string(chosen);
}

// The products of m rows with a matrix of codes and scales.
UOp decoded_matmul(std::int64_t m, std::int64_t n, std::int64_t blocks) {
  const UOp i = loop(m), j = loop(n), block = reduction(blocks), k = reduction(32);
  const UOp x =
      load(place(param(1, Access::Read, {size(m), size(blocks), size(32)}), {i, block, k}));
  const UOp code = load(place(
      param(2, Access::Constant, {size(n), size(blocks), size(32)}, dtypes::u8), {j, block, k}));
  const UOp scale = load(place(param(3, Access::Constant, {size(n), size(blocks)}), {j, block}));
  const UOp sum = reduce(Op::Add, {x * ((cast(code, dtypes::f32) - 128.0) * scale), block, k});
  const UOp out = place(param(0, Access::Write, {size(m), size(n)}), {i, j});
  return kernel_of(over(put(out, sum), {i, j}));
}

// Few rows all stand in registers.
TEST_F(Choose, ManyRowsShareWhatIsDecodedOnce) {
  for (const auto& [rows, is_staged] : {std::pair(4, false), std::pair(128, true)}) {
    const UOp kernel = decoded_matmul(rows, 4096, 128);
    const Schedule chosen = choose_schedule(kernel.node(), fixed_target());
    EXPECT_EQ(std::ranges::count(chosen, true, &Action::decoded), is_staged) << to_string(chosen);
    EXPECT_EQ(std::ranges::count(chosen, Space::Constant, &Action::space), 2) << to_string(chosen);
    EXPECT_NO_THROW(apply_schedule(kernel, chosen)) << to_string(chosen);
  }
}

// Rows of blocks of four parts of two halves: numbers of five bits, of which a half has the others
// in its byte, and the fifth ones of all are in one.
UOp rows_of_five_bits(std::int64_t rows, std::int64_t blocks) {
  const UOp row = loop(rows), block = reduction(blocks), part = reduction(4), half = reduction(2),
            i = reduction(32);
  const UOp high =
      load(place(param(1, Access::Constant, {size(rows), size(blocks), size(32)}, dtypes::u8),
                 {row, block, i}));
  const UOp both = load(
      place(param(2, Access::Constant, {size(rows), size(blocks), size(4), size(32)}, dtypes::u8),
            {row, block, part, i}));
  const auto field = [](const UOp& byte, const UOp& by, std::int64_t mask) {
    return make(Op::Shr, {byte, cast(by, dtypes::u8)}) & mask;
  };
  const UOp code = field(both, half * 4, 15) | (field(high, part * 2 + half, 1) * 16);
  const UOp x = load(place(param(3, Access::Read, {size(blocks), size(4), size(2), size(32)}),
                           {block, part, half, i}));
  const UOp sum = reduce(Op::Add, {x * cast(code, dtypes::f32), block, part, half, i});
  return kernel_of(over(put(place(param(0, Access::Write, {size(rows)}), {row}), sum), {row}));
}

TEST_F(Choose, FieldsOfTwoLoopsAreReadTogether) {
  const UOp kernel = rows_of_five_bits(4096, 16);
  const Schedule chosen = choose_schedule(kernel.node(), fixed_target());
  for (const char* fields : {"k1", "k2"})
    EXPECT_TRUE(has(chosen, LoopKind::Upcast, fields)) << to_string(chosen);
  EXPECT_NO_THROW(apply_schedule(kernel, chosen)) << to_string(chosen);
}

TEST_F(Choose, SumOfRowsHasLanesAlongTheRow) {
  const Schedule chosen = choose_schedule(rows(256, 4096).node(), fixed_target());
  EXPECT_EQ(family_of(chosen, LoopKind::Vector), "k0") << to_string(chosen);
}

TEST_F(Choose, ElementsAreNotStaged) {
  const Schedule chosen = choose_schedule(elements(1 << 20).node(), fixed_target());
  EXPECT_EQ(family_of(chosen, LoopKind::Vector), "r0") << to_string(chosen);
  EXPECT_FALSE(stages(chosen, "p1")) << to_string(chosen);
}

TEST_F(Choose, TransposeHasLanesAlongTheOneAndCopiesAlongTheOther) {
  for (std::int64_t m : {64, 100, 4096}) {
    const Schedule chosen = choose_schedule(transpose(m, 1024).node(), fixed_target());
    EXPECT_EQ(family_of(chosen, LoopKind::Vector), "r1") << to_string(chosen);
    EXPECT_EQ(family_of(chosen, LoopKind::Upcast), "r0") << to_string(chosen);
    EXPECT_EQ(copies(chosen) % 8, 0) << to_string(chosen);
  }
}

TEST_F(Choose, TransposesGoAlongFewRowsAtOnce) {
  for (std::int64_t m : {1024, 3000, 4096}) {
    const Schedule chosen = choose_schedule(transpose(m, 4096).node(), fixed_target());
    const std::string text = to_string(chosen);
    EXPECT_NE(text.find("tile r1 16"), std::string::npos) << text;
    EXPECT_NE(text.find("order r1 r0 "), std::string::npos) << text;
  }
}

// Of 7 neighbours 8 lanes under a mask, and not 4 twice.
TEST_F(Choose, ShortRowsFillARegister) {
  const UOp i = loop(256), j = loop(7), l = reduction(256);
  const UOp a = load(place(param(1, Access::Read, {size(256), size(256)}), {i, l}));
  const UOp b = load(place(param(2, Access::Read, {size(256), size(7)}), {l, j}));
  const UOp out = place(param(0, Access::Write, {size(256), size(7)}), {i, j});
  const UOp kernel = kernel_of(over(put(out, reduce(Op::Add, {a * b, l})), {i, j}));
  const Schedule chosen = choose_schedule(kernel.node(), fixed_target());
  const Action masked{.type = Action::Tile, .name = "r1", .count = 8, .tail = Tail::Mask};
  EXPECT_NE(std::ranges::find(chosen, masked), chosen.end()) << to_string(chosen);
}

TEST_F(Choose, ThreadsShareWhatTakesLong) {
  const Schedule large = choose_schedule(matmul(512, 512, 512).node(), fixed_target(4));
  EXPECT_NE(family_of(large, LoopKind::Thread), "") << to_string(large);
  const Schedule small = choose_schedule(matmul(8, 16, 8).node(), fixed_target(4));
  EXPECT_EQ(family_of(small, LoopKind::Thread), "") << to_string(small);
}

// Whose outer loop has as many iterations as a run says.
TEST_F(Choose, ThreadsShareOpenLoops) {
  const auto chosen_for = [](std::int64_t most) {
    const UOp n =
        make(Op::Variable, {}, dtypes::index, VariableArg{Symbol("n"), fresh_id(), 1, most});
    const UOp i = range(n, fresh_id().value), j = loop(64), l = reduction(64);
    const UOp a = load(place(param(1, Access::Read, {n, size(64)}), {i, l}));
    const UOp b = load(place(param(2, Access::Read, {size(64), size(64)}), {l, j}));
    const UOp out = place(param(0, Access::Write, {n, size(64)}), {i, j});
    const UOp kernel = kernel_of(over(put(out, reduce(Op::Add, {a * b, l})), {i, j}));
    const Schedule chosen = choose_schedule(kernel.node(), fixed_target(4));
    EXPECT_NO_THROW(apply_schedule(kernel, chosen)) << to_string(chosen);
    return chosen;
  };
  const Schedule many = chosen_for(4096);
  EXPECT_TRUE(has(many, LoopKind::Thread, "r0")) << to_string(many);
  EXPECT_TRUE(has(many, LoopKind::Vector, "r1")) << to_string(many);
  const Schedule few = chosen_for(2);
  EXPECT_EQ(family_of(few, LoopKind::Thread), "") << to_string(few);
}

// (channels, n) of a product that is summed: where all channels read the same of what is open, and
// are many.
TEST_F(Choose, KnownLoopsInsideOfOpenOnesAreLanes) {
  const auto chosen_for = [](std::int64_t channels, bool is_depthwise) {
    const UOp n =
        make(Op::Variable, {}, dtypes::index, VariableArg{Symbol("n"), fresh_id(), 1, 512});
    const UOp c = loop(channels), t = range(n, fresh_id().value), l = reduction(24);
    const UOp row = is_depthwise ? c : l;
    const UOp x = load(place(param(1, Access::Read, {size(64), n}), {row, t}));
    const UOp w = load(place(param(2, Access::Read, {size(channels), size(24)}), {c, l}));
    const UOp out = place(param(0, Access::Write, {size(channels), n}), {c, t});
    const UOp beside = load(place(param(3, Access::Read, {size(channels), n}), {c, t}));
    const UOp kernel = kernel_of(over(put(out, reduce(Op::Add, {x * w, l}) + beside), {c, t}));
    const Schedule chosen = choose_schedule(kernel.node(), fixed_target());
    EXPECT_NO_THROW(apply_schedule(kernel, chosen)) << to_string(chosen);
    return chosen;
  };
  const Schedule many = chosen_for(64, false);
  EXPECT_TRUE(has(many, LoopKind::Vector, "r0")) << to_string(many);
  for (const Schedule& other : {chosen_for(4, false), chosen_for(64, true)})
    EXPECT_FALSE(has(other, LoopKind::Vector, "r0")) << to_string(other);
}

// Dealt in parts, the loop that a window is staged in has its iterations inside of them.
TEST_F(Choose, StagesInTripsOfOpenLoopsThatThreadsShare) {
  const UOp n =
      make(Op::Variable, {}, dtypes::index, VariableArg{Symbol("n"), fresh_id(), 16, 512});
  const UOp c = loop(64), t = range(n, fresh_id().value), l = reduction(64), k = reduction(3);
  const UOp at = t + k - 1, inside = (at >= 0) & (at < n);
  const UOp x = load(place(param(1, Access::Read, {size(64), n}), {l, at}, inside));
  const UOp w = load(place(param(2, Access::Read, {size(64), size(64), size(3)}), {c, l, k}));
  const UOp out = place(param(0, Access::Write, {size(64), n}), {c, t});
  const UOp kernel = kernel_of(over(put(out, reduce(Op::Add, {x * w, l, k})), {c, t}));
  const Schedule chosen = choose_schedule(kernel.node(), fixed_target(4));
  EXPECT_TRUE(stages(chosen, "p2")) << to_string(chosen);
  EXPECT_TRUE(has(chosen, LoopKind::Thread, "r1")) << to_string(chosen);
  EXPECT_NO_THROW(apply_schedule(kernel, chosen)) << to_string(chosen);
}

TEST_F(Choose, EachNestHasLanesOfItsOwn) {
  const Schedule chosen = choose_schedule(shares(512, 4096).node(), fixed_target(4));
  for (const char* loop : {"r1", "k0", "k1", "v1"})
    EXPECT_TRUE(has(chosen, LoopKind::Vector, loop)) << loop << ": " << to_string(chosen);
  EXPECT_TRUE(has(chosen, LoopKind::Thread, "r0")) << to_string(chosen);
  EXPECT_TRUE(has(chosen, LoopKind::Upcast, "k0")) << "one chain: " << to_string(chosen);
}

// Whose iterations read all of it again. Threads in parts of several heads would keep those of a
// part.
TEST_F(Choose, StagesOutsideOfTheLoopsAroundANest) {
  const auto staged_at = [](std::int64_t heads) {
    const UOp kernel = products_of_rows(heads, 64, 64, 32);
    const Schedule chosen = choose_schedule(kernel.node(), fixed_target(4));
    EXPECT_NO_THROW(apply_schedule(kernel, chosen)) << to_string(chosen);
    const auto stage = std::ranges::find(chosen, "p2", &Action::name);
    return stage == chosen.end() ? "" : stage->at;
  };
  EXPECT_EQ(staged_at(12), "r0");
  EXPECT_NE(staged_at(4096), "r0");
}

// Products of one row read all of p2, those of several share what they read.
TEST_F(Choose, RowsGoThroughWhatTheyShareTogether) {
  const Schedule chosen = choose_schedule(products_of_rows(12, 64, 64, 32).node(), fixed_target());
  EXPECT_EQ(chosen[0].type, Action::Batch) << to_string(chosen);
  EXPECT_EQ(chosen[0].name, "r1");
  EXPECT_TRUE(has(chosen, LoopKind::Upcast, "b1")) << to_string(chosen);
}

TEST_F(Choose, KeepsWhatIsDearAndFits) {
  const Schedule row = choose_schedule(shares(512, 4096).node(), fixed_target());
  EXPECT_TRUE(stages(row, "k1")) << to_string(row);
  const Schedule long_row = choose_schedule(shares(2, 1 << 22).node(), fixed_target());
  EXPECT_FALSE(stages(long_row, "k1")) << to_string(long_row);
}

// Rows that come from memory, are read again, and of which each takes a while.
TEST_F(Choose, BringsTheNextRowWhileItComputesOne) {
  const auto brings = [](std::int64_t m, std::int64_t n) {
    return std::ranges::count(choose_schedule(shares(m, n).node(), fixed_target()),
                              Action::Prefetch, &Action::type);
  };
  EXPECT_EQ(brings(8192, 4096), 1);
  EXPECT_EQ(brings(64, 4096), 0) << "it stays in the cache";
  EXPECT_EQ(brings(1 << 20, 16), 0) << "rows are shorter than what caches see coming";
}

// Of each pixel a value of much arithmetic, of all that are so near to it in its channel.
UOp windows(std::int64_t rows, std::int64_t columns, std::int64_t channels, bool is_long = true) {
  constexpr std::int64_t near = 8;
  const UOp i = range(rows, 0), j = range(columns, 1), c = range(channels, 2);
  const UOp x =
      param(1, Access::Read, {size(4 * rows + near), size(4 * columns + near), size(channels)});
  UOp sum = const_float(0, dtypes::f32);
  for (std::int64_t a = 0; a < near; ++a)
    for (std::int64_t b = 0; b < near; ++b) {
      const UOp value = load(place(x, {i * 4 + a, j * 4 + b, c}));
      sum = sum + value * const_float(0.5 + static_cast<double>(a * near + b), dtypes::f32);
      if (is_long) sum = sum * sum + value;
    }
  const UOp out =
      place(param(0, Access::Write, {size(rows), size(columns), size(channels)}), {i, j, c});
  return simplify(
      make(Op::Sink, {over(put(out, sum), {i, j, c})}, {}, KernelArg{Symbol("windows")}));
}

// From beyond the second cache, where an iteration is longer than what a processor looks ahead.
TEST_F(Choose, BringsTheWindowsThatAreNext) {
  const auto begins = [](const UOp& kernel) {
    const Schedule chosen = choose_schedule(kernel.node(), fixed_target());
    return chosen.empty() || chosen[0].type != Action::Prefetch ? "" : to_string({chosen[0]});
  };
  EXPECT_EQ(begins(windows(56, 48, 64)), "prefetch p1 at r1");
  EXPECT_EQ(begins(windows(4, 4, 64)), "") << "it stays in the cache";
  EXPECT_EQ(begins(windows(56, 48, 64, false)), "") << "iterations are short";
}

TEST_F(Choose, SumsOfNeighboursTakeSeveralRowsAtOnce) {
  const Schedule chosen = choose_schedule(matmul(1, 1024, 1024).node(), fixed_target());
  EXPECT_TRUE(has(chosen, LoopKind::Upcast, "k0")) << to_string(chosen);
}

// From memory one row after the other is read ahead; several at once each begin anew.
TEST_F(Choose, SumsOfNeighboursTakeRowsOneAfterTheOtherFromMemory) {
  const Schedule chosen = choose_schedule(matmul(1, 4096, 4096).node(), fixed_target());
  EXPECT_FALSE(has(chosen, LoopKind::Upcast, "k0")) << to_string(chosen);
}

// Rows of a constant that are read side by side begin anew where they come from memory: they are
// kept as one stream.
TEST_F(Choose, RowsOfConstantsThatComeFromMemoryAreKept) {
  const auto kept = [](bool from_memory) {
    const UOp feature = loop(1248), x = loop(32), k = reduction(208);
    const UOp image = load(place(param(1, Access::Read, {size(208), size(32)}), {k, x}));
    const UOp weights =
        load(place(param(2, Access::Constant, {size(1248), size(208)}), {feature, k}));
    const UOp out = place(param(0, Access::Write, {size(1248), size(32)}), {feature, x});
    const UOp effect = over(put(out, reduce(Op::Add, {image * weights, k})), {feature, x});
    KernelArg arg{Symbol("pointwise")};
    arg.far_constants = from_memory;
    const Schedule chosen =
        choose_schedule(make(Op::Sink, {effect}, {}, arg).node(), fixed_target());
    return std::ranges::count(chosen, Space::Constant, &Action::space);
  };
  EXPECT_EQ(kept(false), 0);
  EXPECT_EQ(kept(true), 1);
}

// Channels are lanes, and the same neighbours are there for all of them: copies around images would
// take as long as the sums.
TEST_F(Choose, NeighboursOfLanesAreReadWhereTheyLie) {
  const UOp y = loop(80), x = loop(80), channel = loop(64), ky = reduction(3), kx = reduction(3);
  const UOp iy = y + ky + -1, ix = x + kx + -1;
  const UOp inside = (iy >= 0) & (iy < 80) & (ix >= 0) & (ix < 80);
  const UOp image = param(1, Access::Read, {size(80), size(80), size(64)});
  const UOp weights = param(2, Access::Constant, {size(64), size(3), size(3)});
  const UOp product =
      load(place(image, {iy, ix, channel}, inside)) * load(place(weights, {channel, ky, kx}));
  const UOp out = place(param(0, Access::Write, {size(80), size(80), size(64)}), {y, x, channel});
  const UOp sum = reduce(Op::Add, std::vector<UOp>{product, ky, kx});
  const Schedule chosen =
      choose_schedule(kernel_of(over(put(out, sum), {y, x, channel})).node(), fixed_target());
  EXPECT_EQ(family_of(chosen, LoopKind::Vector), "r2") << to_string(chosen);
  EXPECT_FALSE(stages(chosen, "p1")) << to_string(chosen);
}

// What is filled for each channel is filled once, though the channels are innermost.
TEST_F(Choose, LoopsThatFillStandAroundThoseThatRead) {
  const UOp i = loop(50), channel = loop(16), j = loop(100), k = reduction(3);
  const UOp x = load(place(param(1, Access::Read, {size(16), size(100)}), {channel, j}));
  const UOp row = make(Op::Buffer, {size(100)}, dtypes::f32, BufferArg{fresh_id(), Space::Scratch});
  const UOp fill = over(put(place(make(Op::After, {row, channel}), {j}), make(Op::Exp2, {x})), {j});
  const UOp largest = reduce(Op::Max, {load(place(make(Op::After, {row, fill}), {i + k})), k});
  const UOp out = place(param(0, Access::Write, {size(50), size(16)}), {i, channel});
  const UOp kernel = kernel_of(over(put(out, largest), {i, channel}));
  const Schedule chosen = choose_schedule(kernel.node(), fixed_target());
  ASSERT_FALSE(chosen.empty());
  EXPECT_EQ(to_string({chosen[0]}), "order r1 r0") << to_string(chosen);
  EXPECT_NO_THROW(apply_schedule(kernel, chosen)) << to_string(chosen);
}

TEST_F(Choose, WhatIsChosenCanBeDone) {
  for (const UOp& kernel :
       {matmul(512, 512, 512), matmul(1, 1000, 77), matmul(13, 17, 7), rows(1000, 1001), rows(3, 5),
        elements(1), elements(1009), shares(100, 77), shares(3, 5), shares(64, 256),
        transpose(4096, 8192), transpose(1000, 999), transpose(37, 5)}) {
    const Schedule chosen = choose_schedule(kernel.node(), fixed_target(4));
    EXPECT_NO_THROW(apply_schedule(kernel, chosen)) << to_string(chosen);
  }
}

}  // namespace
}  // namespace weft
