// Which factors leave the inner loops of a sum.

#include <vector>

#include <gtest/gtest.h>

#include <weft/dev/codegen/lower.h>
#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>
#include <weft/settings.h>

#include "../support/kernels.h"

namespace weft {
namespace {

class Factors : public testing::Test {
 protected:
  static UOp loop(LoopKind kind = LoopKind::Reduce) { return range(8, fresh_id().value, kind); }
  static UOp read(std::int32_t slot, const std::vector<UOp>& at) {
    std::vector<UOp> sizes(at.size(), size(8));
    return load(place(param(slot, Access::Read, sizes), at));
  }
  static UOp code(std::int32_t slot, const std::vector<UOp>& at, DType dtype = dtypes::u8) {
    std::vector<UOp> sizes(at.size(), size(8));
    return cast(load(place(param(slot, Access::Read, sizes, dtype), at)), dtypes::f32);
  }

  // Once factors are outside, the outermost first. The sum is that of an element of the output, or of one for each row.
  static std::vector<UOp> sums_of(const UOp& sum, const UOp& row = {}) {
    const UOp out = place(param(0, Access::Write, {size(8)}), {row.is_null() ? const_int(0) : row});
    const UOp store = row.is_null() ? put(out, sum) : over(put(out, sum), {row});
    const UOp kernel = make(Op::Sink, {store}, {}, KernelArg{Symbol("k"), Symbol("")});
    std::vector<UOp> sums;
    for (const Node* node : toposort(factor_out({kernel})[0].node()))
      if (node->op() == Op::Reduce) sums.emplace(sums.begin(), node);
    return sums;
  }

  // How many loops each has.
  static std::vector<std::size_t> loops_of_sums(const UOp& sum, const UOp& row = {}) {
    std::vector<std::size_t> counts;
    for (const UOp& each : sums_of(sum, row)) counts.push_back(each->size() - 1);
    return counts;
  }

 private:
  Arena arena_;
  const InternerScope scope_{arena_};
};

using Counts = std::vector<std::size_t>;

TEST_F(Factors, ScaleOfABlockStandsOutsideOfIt) {
  const UOp block = loop(), i = loop(), j = loop();
  const UOp product = read(1, {block, i, j}) * (code(2, {block, i, j}) * read(3, {block}));
  EXPECT_EQ(loops_of_sums(reduce(Op::Add, {product, block, i, j})), (Counts{1, 2}));
}

TEST_F(Factors, ScalesWithinScales) {
  const UOp block = loop(), i = loop(), j = loop();
  const UOp product = code(1, {block, i, j}) * code(2, {block, i}) * read(3, {block});
  EXPECT_EQ(loops_of_sums(reduce(Op::Add, {product, block, i, j})), (Counts{1, 1, 1}));
}

// A sum of the rest may be infinite where a mask or a small factor keeps each term finite.
TEST_F(Factors, StayWithLargeNumbers) {
  const UOp block = loop(), i = loop();
  const auto loops_with = [&](const UOp& value) {
    return loops_of_sums(reduce(Op::Add, {value * read(2, {block}), block, i}));
  };
  EXPECT_EQ(loops_with(read(1, {block, i})), (Counts{2}));
  EXPECT_EQ(loops_with(code(1, {block, i}, dtypes::bf16)), (Counts{2}));
  EXPECT_EQ(loops_with(code(1, {block, i}, dtypes::i32)), (Counts{2}));
  EXPECT_EQ(loops_with(read(1, {block, i}) * code(3, {block, i}, dtypes::bool_)), (Counts{2}));
  EXPECT_EQ(loops_with(code(1, {block, i}, dtypes::f16)), (Counts{1, 1}));
  EXPECT_EQ(loops_with(code(1, {block, i}, dtypes::i16)), (Counts{1, 1}));
  const Context fast{{"FASTMATH", 1}};
  EXPECT_EQ(loops_with(read(1, {block, i})), (Counts{1, 1}));
}

// They would be added up in each iteration.
TEST_F(Factors, LanesStayOutside) {
  const UOp block = loop(), i = loop(), lane = loop(LoopKind::Vector);
  const UOp product = code(1, {block, i, lane}) * read(2, {block});
  EXPECT_EQ(loops_of_sums(reduce(Op::Add, {product, block, i, lane})), (Counts{2, 1}));
}

TEST_F(Factors, OthersStayInside) {
  const UOp block = loop(), i = loop();
  const UOp scale = read(3, {block}), value = code(1, {block, i}), by = read(2, {i});
  // It changes in the innermost loop; is added; is no factor of a sum; is in no loop of it.
  EXPECT_EQ(loops_of_sums(reduce(Op::Add, {value * by, block, i})), (Counts{2}));
  EXPECT_EQ(loops_of_sums(reduce(Op::Add, {value + scale, block, i})), (Counts{2}));
  EXPECT_EQ(loops_of_sums(reduce(Op::Max, {value * scale, block, i})), (Counts{2}));
  EXPECT_EQ(loops_of_sums(reduce(Op::Add, {value * read(4, {const_int(0)}), block, i})),
            (Counts{2}));
}

// Of which there would be as many as the exponent.
TEST_F(Factors, PowersStayAsTheyAre) {
  const UOp block = loop(), i = loop();
  UOp power = code(1, {block, i});
  for (int square = 0; square < 40; ++square) power = power * power;
  const UOp rest = power * code(3, {block, i});
  const std::vector<UOp> sums = sums_of(reduce(Op::Add, {rest * read(2, {block}), block, i}));
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_TRUE(sums[1]->src(0) == rest.node());
}

// What two products share may be taken apart again and again.
TEST_F(Factors, AreNotWithoutNumber) {
  const UOp block = loop(), i = loop();
  UOp value = code(1, {block, i});
  for (int step = 0; step < 40; ++step) value = value * (value * read(3, {i}));
  const UOp scaled = read(2, {block}) * code(4, {block, i});
  EXPECT_EQ(loops_of_sums(reduce(Op::Add, {scaled * value, block, i})), (Counts{1, 1}));
}

// Sums of copies of a loop are one sum, but for those of what each has of its own.
TEST_F(Factors, CopiesHaveSumsOfTheirOwnWithFactorsOfTheirOwn) {
  const UOp block = loop(), i = loop(), copy = loop(LoopKind::Upcast);
  const auto loops_with = [&](const UOp& scale) {
    const UOp product = read(1, {block, i, copy}) * code(2, {block, i, copy}) * scale;
    return loops_of_sums(reduce(Op::Add, {product, block, i, copy}));
  };
  EXPECT_EQ(loops_with(read(3, {block})), (Counts{1, 2}));
  EXPECT_EQ(loops_with(read(3, {block, copy})), (Counts{2, 1}));
}

// All in one iteration: factors of some copies are those of the sum of the others.
TEST_F(Factors, OfCopiesAlone) {
  const UOp block = loop(), part = loop(LoopKind::Upcast), copy = loop(LoopKind::Upcast);
  const auto loops_with = [&](const UOp& scale) {
    const UOp product = code(1, {block, part, copy}) * scale;
    return loops_of_sums(reduce(Op::Add, {product, block, part, copy}));
  };
  EXPECT_EQ(loops_with(read(2, {block})), (Counts{1, 2}));
  EXPECT_EQ(loops_with(read(2, {block, part})), (Counts{2, 1}));
  EXPECT_EQ(loops_with(read(2, {block, part, copy})), (Counts{3}));
}

// x * (code * scale - offset), of which rows have codes, scales and offsets of their own.
class OffsetsOfCodes : public Factors {
 protected:
  const UOp block_ = loop(), i_ = loop(), row_ = loop(LoopKind::Vector), x_ = read(1, {block_, i_}),
            code_ = code(2, {row_, block_, i_}), scale_ = read(3, {row_, block_}),
            offset_ = read(4, {row_, block_});

  UOp sum_with(const UOp& value) const { return reduce(Op::Add, {value, block_, i_}); }
  Counts loops_with(const UOp& value) const { return loops_of_sums(sum_with(value), row_); }
};

TEST_F(OffsetsOfCodes, MultiplyASumOfTheirOwn) {
  const Counts split{1, 1, 1};
  EXPECT_EQ(loops_with(x_ * (code_ * scale_ - offset_)), split);
  EXPECT_EQ(loops_with(x_ * (code_ * scale_ + offset_)), split);
  EXPECT_EQ(loops_with(x_ * (offset_ + code_ * scale_)), split);
  EXPECT_EQ(loops_with(x_ * (offset_ - code_ * scale_)), split);
  EXPECT_EQ(loops_with(x_ * ((code_ - 8.0) * scale_)), split);
  EXPECT_EQ(loops_with(x_ * ((code_ - offset_) * scale_)), split);
  EXPECT_EQ(loops_with(x_ * (code(2, {row_, block_, i_}, dtypes::i8) * scale_ - offset_)), split);
}

TEST_F(OffsetsOfCodes, ShareTheSumOfTheOthers) {
  int without_codes = 0;
  for (const UOp& sum : sums_of(sum_with(x_ * (code_ * scale_ - offset_)), row_))
    if (!changes_with(sum->src(0), row_.node())) {
      ++without_codes;
      EXPECT_EQ(sum->src(0)->op(), Op::Load) << "x alone";
    }
  EXPECT_EQ(without_codes, 1);
}

// The sum of x would be taken again for each row, or nothing is gained by it.
TEST_F(OffsetsOfCodes, StayWhereNothingIsShared) {
  const UOp own = read(1, {row_, block_, i_});
  EXPECT_EQ(loops_with(own * (code_ * scale_ - offset_)), (Counts{2}));
  const UOp same = x_ * (code(2, {block_, i_}) * read(3, {block_}) - read(4, {block_}));
  EXPECT_EQ(loops_of_sums(sum_with(same)), (Counts{2}));
  EXPECT_EQ(loops_with(x_ * (code_ * scale_ - read(4, {row_, block_, i_}))), (Counts{2}));
}

// Where both are large and nearly the same, their difference is exact and that of the sums is not.
TEST_F(OffsetsOfCodes, StayOfWhatIsNoCode) {
  const UOp value = read(2, {row_, block_, i_});
  EXPECT_EQ(loops_with(x_ * (value * scale_ - offset_)), (Counts{2}));
  EXPECT_EQ(loops_with(x_ * (value * code_ * scale_ - offset_)), (Counts{2}));
  EXPECT_EQ(loops_with(code(1, {block_, i_}) * (value * scale_ - offset_)), (Counts{2}));
  EXPECT_EQ(loops_with(x_ * (code(2, {row_, block_, i_}, dtypes::i32) * scale_ - offset_)),
            (Counts{2}));
}

// Each sum goes through all of an open loop.
TEST_F(OffsetsOfCodes, LoopsOfOpenSizes) {
  const UOp n = make(Op::Variable, {}, dtypes::index, VariableArg{Symbol("n"), fresh_id(), 1, 8});
  const UOp i = range(n, fresh_id().value, LoopKind::Reduce);
  const UOp value = read(1, {block_, i}) * (code(2, {row_, block_, i}) * scale_ - offset_);
  const std::vector<UOp> sums = sums_of(reduce(Op::Add, {value, block_, i}), row_);
  ASSERT_EQ(sums.size(), 3u);
  for (std::size_t inner : {1, 2}) EXPECT_TRUE(sums[inner]->src(1)->src(0) == n.node());
}

}  // namespace
}  // namespace weft
