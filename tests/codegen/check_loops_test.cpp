#include <weft/dev/codegen/check_loops.h>

#include <gtest/gtest.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device.h>
#include <weft/dev/ir/movement.h>
#include <weft/dev/schedule/kernel.h>

namespace weft {
namespace {

class CheckLoops : public testing::Test {
 protected:
  static UOp param(int slot, const Sizes& sizes, Access access = Access::Read) {
    return make(Op::Param, sizes, dtypes::f32, ParamArg{slot, access, 0});
  }
  static UOp element(const UOp& buffer, const std::vector<UOp>& at) {
    std::vector<UOp> src{buffer, const_bool(true)};
    src.insert(src.end(), at.begin(), at.end());
    return make(Op::Index, src);
  }
  static UOp store(const UOp& place, const UOp& value) {
    return make(Op::Store, {place, value}, {}, StoreArg{});
  }
  static UOp sink(const std::vector<UOp>& effects) {
    return make(Op::Sink, effects, {}, KernelArg{Symbol("k")});
  }
  // A loop of `size` iterations that fills the memory.
  static UOp fill(const UOp& size, int slot = 0, std::uint64_t id = 0) {
    const UOp i = range(size, id);
    return make(
        Op::End,
        {store(element(param(slot, {size}, Access::Write), {i}), const_float(1, dtypes::f32)), i});
  }
  static std::int64_t iterations(const UOp& kernel) {
    const LoopCheck check = check_loops(kernel.node());
    EXPECT_TRUE(check.findings.empty()) << check.findings[0];
    return check.most_iterations;
  }
  static std::string first_finding(const UOp& kernel) {
    const LoopCheck check = check_loops(kernel.node());
    EXPECT_EQ(check.most_iterations, 0);
    return check.findings.empty() ? "" : check.findings[0];
  }

  Arena arena_;
  InternerScope scope_{arena_};
};

TEST_F(CheckLoops, CountsInnerTripsInEveryTripOfTheOuter) {
  // 4 rows by 5 columns, each a sum of 6: 4 + 4*5 + 4*5*6.
  const UOp a = param(1, constant_sizes({4, 6})), b = param(2, constant_sizes({6, 5}));
  const UOp i = range(4, 0), j = range(5, 1), k = range(6, 2, LoopKind::Reduce);
  const UOp product = make(Op::Load, {element(a, {i, k})}) * make(Op::Load, {element(b, {k, j})});
  const UOp sum = make(Op::Reduce, {product, k}, {}, ReduceArg{Op::Add, {}});
  const UOp c = param(0, constant_sizes({4, 5}), Access::Write);
  EXPECT_EQ(iterations(sink({make(Op::End, {store(element(c, {i, j}), sum), i, j})})),
            4 + 20 + 120);
}

TEST_F(CheckLoops, CountsLoopsSideBySideOnce) {
  EXPECT_EQ(iterations(sink({fill(const_int(7), 0, 0), fill(const_int(8), 1, 1)})), 15);
  EXPECT_EQ(iterations(sink({})), 0);
}

TEST_F(CheckLoops, TakesTheBoundOfAVariable) {
  const UOp n = Variable("n", 1, 40);
  EXPECT_EQ(iterations(sink({fill(n * 3)})), 120);
  EXPECT_EQ(iterations(sink({fill(Variable("m", -5, 0))})), 0);
}

TEST_F(CheckLoops, CountsWorkersOfALaunch) {
  const UOp worker = make(Op::Special, {const_int(64)}, {}, SpecialArg{LoopKind::Global, 0});
  const UOp i = range(10, 0);
  const UOp place = element(param(0, constant_sizes({640}), Access::Write), {worker * 10 + i});
  EXPECT_EQ(iterations(sink({make(Op::End, {store(place, const_float(1, dtypes::f32)), i})})), 640);
}

TEST_F(CheckLoops, SaturatesWhereThereIsNoNumber) {
  const std::int64_t large = std::int64_t{1} << 40;
  const UOp i = range(large, 0), j = range(large, 1);
  const UOp place = element(param(0, constant_sizes({4}), Access::Write), {(i + j) % 4});
  EXPECT_EQ(iterations(sink({make(Op::End, {store(place, const_float(1, dtypes::f32)), i, j})})),
            INT64_MAX);
}

TEST_F(CheckLoops, CountsABodyAtEveryCall) {
  const UOp body = sink({fill(const_int(9))});
  const auto run = [&](std::uint64_t id) {
    return make(Op::Call, {body}, dtypes::void_, CallArg{UniqueId{id}, Symbol("fill")});
  };
  EXPECT_EQ(iterations(sink({run(1), run(2)})), 18);
  const UOp outer = sink({run(1), fill(const_int(2), 3, 5)});
  const UOp twice = make(Op::Call, {outer}, dtypes::void_, CallArg{UniqueId{3}, Symbol("outer")});
  EXPECT_EQ(iterations(sink({twice, run(2)})), 20);
}

TEST_F(CheckLoops, NamesWhatIsNotBounded) {
  const UOp count =
      make(Op::Load,
           {element(make(Op::Param, constant_sizes({1}), dtypes::i32, ParamArg{1, Access::Read, 0}),
                    {const_int(0)})});
  EXPECT_EQ(
      first_finding(sink({fill(count)})),
      "r0: the number of iterations depends on more than constants, VARIABLEs and enclosing loops");
}

TEST_F(CheckLoops, TakesTheBoundOfALoopAround) {
  const UOp i = range(4, 0), triangle = range(i, 1);
  const UOp place = element(param(0, constant_sizes({4, 4}), Access::Write), {i, triangle});
  const UOp row = make(Op::End, {store(place, const_float(1, dtypes::f32)), triangle});
  EXPECT_EQ(iterations(sink({make(Op::End, {row, i})})), 4 + 4 * 3);
}

TEST_F(CheckLoops, NamesWhatIsNotClosedOnce) {
  const UOp i = range(4, 7);
  const UOp effect = store(element(param(0, constant_sizes({4}), Access::Write), {i}),
                           const_float(1, dtypes::f32));
  EXPECT_EQ(first_finding(sink({effect})), "r7: the loop is still open at the end");
  EXPECT_EQ(first_finding(sink({make(Op::End, {effect, i}),
                                make(Op::End, {make(Op::Barrier, {effect}, {}, ScopeArg{}), i})})),
            "r7: not closed by exactly one END, REDUCE or STAGE");
  const UOp open =
      make(Op::Call, {sink({effect})}, dtypes::void_, CallArg{UniqueId{1}, Symbol("f")});
  EXPECT_NE(first_finding(make(Op::End, {open, i})).find("still open"), std::string::npos);
}

TEST_F(CheckLoops, DoesNotTrustCodeThatItCannotSee) {
  const UOp code = make(Op::Custom, {}, dtypes::void_, CustomArg{Symbol("spin")});
  EXPECT_NE(first_finding(sink({code})).find("not known"), std::string::npos);
}

// Passes change which loops there are, but never whether they end. What they split or share may only
// make iterations fewer, apart from those of loops around parts.
TEST_F(CheckLoops, HoldsAfterEveryPass) {
  const UOp a = param(1, constant_sizes({33, 65})), b = param(2, constant_sizes({65, 17}));
  const UOp rows = expand(reshape(a, constant_sizes({33, 1, 65})), constant_sizes({33, 17, 65}));
  const UOp columns = expand(reshape(permute(b, {1, 0}), constant_sizes({1, 17, 65})),
                             constant_sizes({33, 17, 65}));
  const UOp product = reshape(reduce(Op::Add, rows * columns, {2}), constant_sizes({33, 17}));
  std::vector<UOp> kernel{
      make_kernel("matmul", {{param(0, constant_sizes({33, 17}), Access::Write), product}})};
  const Target target = find_device("CPU").target();
  for (const Pass& pass : all_passes()) {
    kernel = run_pass(pass, kernel, {.target = target});
    EXPECT_GT(iterations(kernel[0]), 0) << pass.name;
    EXPECT_LE(iterations(kernel[0]), 2 * (33 + 33 * 17 + 33 * 17 * 65)) << pass.name;
    if (pass.name == "ranges") {
      EXPECT_EQ(iterations(kernel[0]), 33 + 33 * 17 + 33 * 17 * 65);
    }
  }
}

}  // namespace
}  // namespace weft
