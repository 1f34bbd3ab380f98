// Lanes with a condition each, in vectors that are wider than registers. Behind every buffer is
// memory that nobody may touch.

#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include <weft/dev/codegen/lower.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device.h>

#include "../support/errors.h"
#include "../support/guarded.h"
#include "../support/kernels.h"

namespace weft {
namespace {

class MaskedLanes : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string error = error_of([] { return &find_device(GetParam()); });
    if (error != "no error") GTEST_SKIP() << error;
  }

 private:
  Arena arena_;
  const InternerScope scope_{arena_};
};

// With lanes of two ranges a value would be their diagonal.
TEST(Lanes, AreTheTripsOfOneRange) {
  Arena arena;
  const InternerScope scope(arena);
  const UOp i = range(4, 1, LoopKind::Vector), k = range(4, 2, LoopKind::Vector);
  const UOp x = load(place(param(1, Access::Read, {size(4), size(4)}), {i, k}));
  const UOp out = param(0, Access::Write, {size(4)});
  const auto error = [](const UOp& effect) {
    return error_of([&] { return expand({effect}, {}); });
  };
  const std::string wanted = "a value has the lanes of two VECTOR ranges";
  EXPECT_NE(error(over(put(place(out, {i}), x), {i, k})).find(wanted), std::string::npos);
  EXPECT_NE(error(over(put(place(out, {i}), reduce(Op::Add, {x, k})), {i})).find(wanted),
            std::string::npos);
  const UOp row = load(place(param(1, Access::Read, {size(4)}), {i}));
  EXPECT_EQ(error(over(put(place(out, {i}), row), {i})), "no error");
}

// The sums of columns, in 20 of 32 lanes, over 23 of 24 rows: in the last iteration no lane is
// valid.
TEST_P(MaskedLanes, AreNeitherReadNorWritten) {
  constexpr std::int64_t rows = 23, columns = 20;
  const UOp i = range(columns, fresh_id().value);
  const UOp k = range(rows, fresh_id().value, LoopKind::Reduce);
  const UOp x = load(place(param(1, Access::Read, {size(rows), size(columns)}), {k, i}));
  const UOp out = place(param(0, Access::Write, {size(columns)}), {i});
  const UOp effect = over(put(out, reduce(Op::Add, {x, k})), {i});
  const char* schedule = "pad k0 2; tile r0 16 mask; order k0 r0.1 r0; vector r0.1; upcast r0";
  Device& device = find_device(GetParam());
  const UOp kernel = make(Op::Sink, {effect}, {}, KernelArg{Symbol("k"), Symbol(schedule)});
  const UOp program = run_pipeline({kernel}, {.target = device.target()})[0];

  Guarded to(columns * 4), from(rows * columns * 4);
  std::iota(from.as<float>().begin(), from.as<float>().end(), 0.F);
  device.load(device.compile(device.render(program.node())))
      ->run(std::vector<Argument>{{to.data(), 0, to.size()}, {from.data(), 0, from.size()}}, {});
  for (std::int64_t column = 0; column < columns; ++column)
    EXPECT_EQ(to.as<float>()[static_cast<std::size_t>(column)],
              static_cast<float>(rows * column + columns * rows * (rows - 1) / 2));
}

// An offset for each row, added to what a window finds: lanes go along the window's positions, some
// of which are none.
TEST_P(MaskedLanes, ReadOneForAllOnce) {
  constexpr std::int64_t rows = 3, columns = 16;
  const UOp r = range(rows, fresh_id().value), i = range(columns, fresh_id().value);
  const UOp from_five = const_int(4) < i;
  const UOp offset = load(place(param(1, Access::Read, {size(rows)}), {r}, from_five));
  const UOp out = place(param(0, Access::Write, {size(rows), size(columns)}), {r, i});
  const char* schedule = "tile r1 8; vector r1.1";
  Device& device = find_device(GetParam());
  const UOp kernel = make(Op::Sink, {over(put(out, offset), {r, i})}, {},
                          KernelArg{Symbol("k"), Symbol(schedule)});
  const UOp program = run_pipeline({kernel}, {.target = device.target()})[0];
  const std::string source = device.render(program.node());
  EXPECT_EQ(source.find("masked.gather"), std::string::npos) << source;

  Guarded to(rows * columns * 4), from(rows * 4);
  std::iota(from.as<float>().begin(), from.as<float>().end(), 1.F);
  device.load(device.compile(source))
      ->run(std::vector<Argument>{{to.data(), 0, to.size()}, {from.data(), 0, from.size()}}, {});
  for (std::int64_t at = 0; at < rows * columns; ++at)
    EXPECT_EQ(to.as<float>()[static_cast<std::size_t>(at)],
              at % columns > 4 ? static_cast<float>(at / columns + 1) : 0);
}

INSTANTIATE_TEST_SUITE_P(Processors, MaskedLanes,
                         testing::Values("CPU:LLVM", "CPU:LLVM:x86-64-v2", "CPU:LLVM:x86-64-v3",
                                         "CPU:LLVM:x86-64-v4"));

}  // namespace
}  // namespace weft
