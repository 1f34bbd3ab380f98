// Transposes by schedule: every size of element, on vectors of every width. Behind every buffer is
// memory that nobody may touch.

#include <cstring>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device.h>

#include "../support/errors.h"
#include "../support/guarded.h"
#include "../support/kernels.h"

namespace weft {
namespace {

constexpr auto npos = std::string::npos;

struct Case {
  DType dtype;
  std::int64_t rows, columns;  // of the output
  const char* schedule;        // of r0, its rows, and r1
};

class Turn : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string error = error_of([] { return &find_device(GetParam()); });
    if (error != "no error") GTEST_SKIP() << error;
  }

  Device& device() const { return find_device(GetParam()); }

  UOp lowered(const UOp& effect, const char* schedule) const {
    const UOp kernel = make(Op::Sink, {effect}, {}, KernelArg{Symbol("k"), Symbol(schedule)});
    return run_pipeline({kernel}, {.target = device().target()})[0];
  }

  // What the kernel makes of param 1, byte by byte.
  std::vector<std::uint8_t> result_of(const UOp& kernel,
                                      const std::vector<std::uint8_t>& from) const {
    return result_of(kernel, from, from.size());
  }
  std::vector<std::uint8_t> result_of(const UOp& kernel, const std::vector<std::uint8_t>& from,
                                      std::size_t bytes) const {
    Guarded to(bytes), source(from.size());
    std::memcpy(source.data(), from.data(), from.size());
    const std::vector<Argument> arguments{{to.data(), 0, to.size()},
                                          {source.data(), 0, source.size()}};
    device().load(device().compile(device().render(kernel.node())))->run(arguments, {});
    const auto written = to.as<std::uint8_t>();
    return {written.begin(), written.end()};
  }

 private:
  Arena arena_;
  const InternerScope scope_{arena_};
};

std::vector<std::uint8_t> some_bytes(std::size_t count) {
  std::mt19937 numbers(1);
  std::vector<std::uint8_t> bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(numbers());
  return bytes;
}

// out[i, j] = in[at of j, at of i]
template <class Row, class Column>
UOp transpose(const Case& c, Row row, Column column) {
  const UOp i = range(c.rows, fresh_id().value), j = range(c.columns, fresh_id().value);
  const UOp in = param(1, Access::Read, {size(c.columns), size(c.rows)}, c.dtype);
  const UOp out = param(0, Access::Write, {size(c.rows), size(c.columns)}, c.dtype);
  return over(put(place(out, {i, j}), load(place(in, {row(j), column(i)}))), {i, j});
}

template <class Row, class Column>
std::vector<std::uint8_t> transposed(const Case& c, const std::vector<std::uint8_t>& in, Row row,
                                     Column column) {
  std::vector<std::uint8_t> out(in.size());
  const auto bytes = static_cast<std::int64_t>(c.dtype.bytes());
  for (std::int64_t i = 0; i < c.rows; ++i)
    for (std::int64_t j = 0; j < c.columns; ++j)
      std::memcpy(&out[static_cast<std::size_t>((i * c.columns + j) * bytes)],
                  &in[static_cast<std::size_t>((row(j) * c.rows + column(i)) * bytes)],
                  c.dtype.bytes());
  return out;
}

const Case cases[] = {
    {dtypes::f32, 64, 96,
     "tile r1 16; tile r0 16; order r0 r1 r0.1 r1.1; upcast r0.1; vector r1.1"},
    {dtypes::f32, 8, 24, "tile r1 8; tile r0 4; order r1 r0 r0.1 r1.1; upcast r0.1; vector r1.1"},
    {dtypes::f32, 4, 4, "upcast r0; vector r1"},
    {dtypes::i32, 6, 16, "upcast r0; vector r1"},
    {dtypes::f32, 2, 8, "upcast r0; vector r1"},
    {dtypes::f32, 8, 2, "upcast r0; vector r1"},
    {dtypes::f32, 19, 37,
     "tile r1 16 shift; tile r0 8 shift; order r0 r1 r0.1 r1.1; upcast r0.1; vector r1.1"},
    {dtypes::f32, 19, 37,
     "tile r1 8 remainder; tile r0 4 remainder; order r0 r1 r0.1 r1.1; upcast r0.1; vector r1.1"},
    {dtypes::f64, 8, 16, "tile r1 8; order r1 r0 r1.1; upcast r0; vector r1.1"},
    {dtypes::i64, 6, 2, "upcast r0; vector r1"},
    {dtypes::f16, 8, 32, "upcast r0; vector r1"},
    {dtypes::bf16, 24, 8, "tile r0 8; order r0 r0.1 r1; upcast r0.1; vector r1"},
    {dtypes::i16, 8, 16, "upcast r0; vector r1"},
    {dtypes::u8, 16, 64, "upcast r0; vector r1"},
    {dtypes::i8, 16, 16, "upcast r0; vector r1"},
    {dtypes::u8, 4, 16, "upcast r0; vector r1"},
};

TEST_P(Turn, ReadsRowsAndTurnsThem) {
  const auto same = [](const auto& at) { return at; };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.dtype.str() + ": " + c.schedule);
    const auto in = some_bytes(static_cast<std::size_t>(c.rows * c.columns) * c.dtype.bytes());
    const UOp kernel = lowered(transpose(c, same, same), c.schedule);
    EXPECT_EQ(result_of(kernel, in), transposed(c, in, same, same));
    const std::string source = device().render(kernel.node());
    EXPECT_NE(source.find("shufflevector <"), std::string::npos);
    const bool has_remainder = c.rows == 19;
    EXPECT_TRUE(has_remainder || source.find("masked.gather") == std::string::npos) << source;
  }
}

// Backwards along one axis, and along the other.
TEST_P(Turn, TakesNegativeDistances) {
  const Case c{dtypes::f32, 12, 16, "tile r0 4; order r0 r0.1 r1; upcast r0.1; vector r1"};
  const auto in = some_bytes(12 * 16 * 4);
  const auto same = [](const auto& at) { return at; };
  const auto from_last = [](const auto& at) { return 15 - at; };
  const auto from_end = [](const auto& at) { return 11 - at; };
  const UOp rows = lowered(transpose(c, from_last, same), c.schedule);
  EXPECT_EQ(result_of(rows, in), transposed(c, in, from_last, same));
  const UOp columns = lowered(transpose(c, same, from_end), c.schedule);
  EXPECT_EQ(result_of(columns, in), transposed(c, in, same, from_end));
}

// Lanes two apart, as a convolution in steps reads them: rows of neighbours overlap.
TEST_P(Turn, TakesRowsThatOverlap) {
  const UOp i = range(2, fresh_id().value), j = range(8, fresh_id().value);
  const UOp in = param(1, Access::Read, {size(16)}),
            out = param(0, Access::Write, {size(2), size(8)});
  const UOp effect = over(put(place(out, {i, j}), load(place(in, {j * 2 + i}))), {i, j});
  const auto from = some_bytes(16 * 4);
  std::vector<std::uint8_t> expected(from.size());
  for (std::size_t at = 0; at < 16; ++at)
    std::memcpy(&expected[at * 4], &from[(at % 8 * 2 + at / 8) * 4], 4);
  EXPECT_EQ(result_of(lowered(effect, "upcast r0; vector r1"), from), expected);
}

// A few elements apart: the last lane is the last element. Padded, some lanes are not there.
TEST_P(Turn, ReadsWhatLiesBetweenLanes) {
  for (const DType dtype : {dtypes::f32, dtypes::u8, dtypes::f16, dtypes::f64})
    for (const std::int64_t stride : {2, 3, 4, 5})
      for (const std::int64_t padding : {0, 1, 7}) {
        SCOPED_TRACE(fmt::format("{} {} {}", dtype.str(), stride, padding));
        constexpr std::int64_t count = 16;
        const std::int64_t size = stride * (count - 1) + 1 - 2 * padding;
        const UOp j = range(count, fresh_id().value), at = j * stride - padding;
        const UOp in = param(1, Access::Read, {weft::size(size)}, dtype),
                  out = param(0, Access::Write, {weft::size(count)}, dtype);
        const UOp valid = (at >= 0) & (at < size);
        const UOp value = load(make(Op::Index, {in, valid, at}));
        const UOp kernel = lowered(over(put(place(out, {j}), value), {j}), "vector r0");
        const auto bytes = static_cast<std::int64_t>(dtype.bytes());
        const auto from = some_bytes(static_cast<std::size_t>(size * bytes));
        std::vector<std::uint8_t> expected(static_cast<std::size_t>(count * bytes));
        for (std::int64_t lane = 0; lane < count; ++lane) {
          const std::int64_t source = lane * stride - padding;
          if (source < 0 || source >= size) continue;
          std::memcpy(&expected[static_cast<std::size_t>(lane * bytes)],
                      &from[static_cast<std::size_t>(source * bytes)], dtype.bytes());
        }
        EXPECT_EQ(result_of(kernel, from, expected.size()), expected);
        const bool has_gather = device().render(kernel.node()).find("masked.gather") != npos;
        EXPECT_EQ(has_gather, stride == 5 && padding > 0);
      }
}

// Copies that are neighbours, or one by itself, where a loop outside says that there is nothing.
TEST_P(Turn, ReadsUnderOneConditionForAllLanes) {
  constexpr std::int64_t blocks = 4, lanes = 8, stride = 5, row = 41;
  for (const DType dtype : {dtypes::f32, dtypes::u8})
    for (const std::int64_t copies : {1, 3, 4}) {
      SCOPED_TRACE(fmt::format("{} {}", dtype.str(), copies));
      const UOp block = range(blocks, fresh_id().value), copy = range(copies, fresh_id().value),
                lane = range(lanes, fresh_id().value);
      const UOp in = param(1, Access::Read, {size((blocks - 1) * row)}, dtype),
                out = param(0, Access::Write, {size(blocks), size(copies), size(lanes)}, dtype);
      const UOp valid = (block >= 1) & (block < blocks - 1);
      const UOp value = load(make(Op::Index, {in, valid, block * row + lane * stride + copy}));
      const UOp kernel =
          lowered(over(put(place(out, {block, copy, lane}), value), {block, copy, lane}),
                  copies > 1 ? "upcast r1; vector r2" : "vector r1");
      const auto bytes = static_cast<std::size_t>(dtype.bytes());
      const auto from = some_bytes((blocks - 1) * row * bytes);
      std::vector<std::uint8_t> expected(blocks * copies * lanes * bytes);
      for (std::int64_t at = copies * lanes; at < (blocks - 1) * copies * lanes; ++at) {
        const std::int64_t source =
            at / (copies * lanes) * row + at % lanes * stride + at / lanes % copies;
        std::memcpy(&expected[static_cast<std::size_t>(at) * bytes],
                    &from[static_cast<std::size_t>(source) * bytes], bytes);
      }
      EXPECT_EQ(result_of(kernel, from, expected.size()), expected);
      EXPECT_EQ(device().render(kernel.node()).find("masked.gather"), npos);
    }
}

INSTANTIATE_TEST_SUITE_P(Processors, Turn,
                         testing::Values("CPU:LLVM", "CPU:LLVM:x86-64-v2", "CPU:LLVM:x86-64-v3",
                                         "CPU:LLVM:x86-64-v4"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase_if(name, [](char c) { return std::isalnum(c) == 0; });
                           return name;
                         });

}  // namespace
}  // namespace weft
