// Loops that are written iteration by iteration: few iterations of little, where they begin often.
// And conditions that all lanes share.

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device.h>
#include <weft/dev/render/render.h>

#include "../support/kernels.h"

namespace weft {
namespace {

constexpr std::size_t scratch_bytes = 1 << 20;

class ShortLoops : public testing::Test {
 protected:
  Device& device() const { return find_device("CPU:LLVM"); }

  // out[i] = the sum of the `iterations` elements of x from i on; of those whose number in the sum
  // is below `valid`.
  std::string source(std::int64_t count, std::int64_t iterations, std::int64_t valid,
                     const char* schedule) const {
    const UOp i = range(count, fresh_id().value);
    const UOp k = range(iterations, fresh_id().value, LoopKind::Reduce);
    const UOp memory = param(1, Access::Read, {size(count + iterations)});
    const UOp is_valid = k < const_int(valid, dtypes::index);
    const UOp x = load(place(memory, {i + k}, is_valid));
    const UOp out = place(param(0, Access::Write, {size(count)}), {i});
    const UOp effect = over(put(out, reduce(Op::Add, {x, k})), {i});
    const UOp kernel = make(Op::Sink, {effect}, {}, KernelArg{Symbol("k"), Symbol(schedule)});
    const UOp program = run_pipeline({kernel}, {.target = device().target()})[0];
    return render_llvm(program.node(), scratch_bytes, std::size_t{1} << 30);
  }

  std::vector<float> sums(const std::string& source, std::size_t count,
                          std::size_t iterations) const {
    std::vector<float> from(count + iterations), to(count);
    std::iota(from.begin(), from.end(), 1.F);
    const auto bytes_of = [](std::vector<float>& values) {
      return Argument{reinterpret_cast<std::byte*>(values.data()), 0,
                      values.size() * sizeof(float)};
    };
    device().load(device().compile(source))->run(std::vector{bytes_of(to), bytes_of(from)}, {});
    return to;
  }

  static std::size_t times(const std::string& source, std::string_view word) {
    std::size_t found = 0;
    for (auto at = source.find(word); at != source.npos; at = source.find(word, at + 1)) ++found;
    return found;
  }
  static std::size_t loops(const std::string& source) { return times(source, " phi "); }

 private:
  Arena arena_;
  const InternerScope scope_{arena_};
};

constexpr const char* in_lanes = "tile r0 8; order r0 k0 r0.1; vector r0.1";

TEST_F(ShortLoops, AreWrittenTripByTrip) {
  const std::string text = source(4096, 3, 3, in_lanes);
  EXPECT_EQ(loops(text), 1);
  const std::vector<float> found = sums(text, 4096, 3);
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_EQ(found[i], 3 * static_cast<float>(i) + 6) << "element " << i;
}

TEST_F(ShortLoops, OnlyWhereTheyBeginOften) {
  EXPECT_EQ(loops(source(1024, 3, 3, in_lanes)), 2);
  EXPECT_EQ(loops(source(8, 3, 3, in_lanes)), 1) << "the sum's own";
}

TEST_F(ShortLoops, OnlyWhereTheyAreOfFewStatements) {
  EXPECT_EQ(loops(source(4096, 500, 500, in_lanes)), 2);
}

TEST_F(ShortLoops, InsideOfOneAnother) {
  const std::string text =
      source(4096, 6, 6, "tile k0 3; tile r0 8; order r0 k0 k0.1 r0.1; vector r0.1");
  EXPECT_EQ(loops(text), 1);
  const std::vector<float> found = sums(text, 4096, 6);
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_EQ(found[i], 6 * static_cast<float>(i) + 21) << "element " << i;
}

// What is read elsewhere are zeros: no lane by itself has to be left out, which takes long where
// its address is nobody's.
TEST_F(ShortLoops, ReadVectorsUnderOneCondition) {
  for (std::int64_t iterations : {4, 500}) {
    const std::string text = source(4096, iterations, 2, in_lanes);
    EXPECT_EQ(times(text, "masked.load"), 0);
    const std::vector<float> found = sums(text, 4096, static_cast<std::size_t>(iterations));
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_EQ(found[i], 2 * static_cast<float>(i) + 3) << "element " << i;
  }
}

// A choice between two places, in lanes that have conditions of their own as well: nothing is read
// behind either.
TEST_F(ShortLoops, ReadNothingWhereNoLaneIsValid) {
  constexpr std::int64_t rows = 64, columns = 24;
  const UOp i = range(rows, fresh_id().value), j = range(columns, fresh_id().value);
  const UOp is_first = i < 32, is_inside = j < 21;
  const UOp memory = param(1, Access::Read, {size(64), size(columns)});
  const auto half = [&](const UOp& row, const UOp& is_here) {
    return load(place(memory, {row, j}, is_here & is_inside));
  };
  const UOp value = where(is_first, half(i + 32, is_first),
                          half(i - 32, where(is_first, const_bool(false), const_bool(true))));
  const UOp out = place(param(0, Access::Write, {size(rows), size(columns)}), {i, j});
  const UOp kernel = make(Op::Sink, {over(put(out, value), {i, j})}, {},
                          KernelArg{Symbol("k"), Symbol("tile r1 8; vector r1.1")});
  const UOp program = run_pipeline({kernel}, {.target = device().target()})[0];
  const std::string text = render_llvm(program.node(), scratch_bytes, std::size_t{1} << 30);
  EXPECT_GT(times(text, "masked.load"), 0) << text;
  EXPECT_EQ(times(text, "ptr @nowhere"), times(text, "masked.load")) << text;
}

}  // namespace
}  // namespace weft
