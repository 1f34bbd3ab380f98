// What copies of a loop's body read from one memory, and what each needs its own for.

#include <algorithm>

#include <gtest/gtest.h>

#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/target.h>
#include <weft/dev/ir/graph.h>

#include "../support/kernels.h"

namespace weft {
namespace {

class FilledAlike : public testing::Test {
 protected:
  // r0: 32, r1: 64, k0: 128; p1 and p2.
  static UOp matmul() {
    const UOp m = loop(32), n = loop(64), k = range(128, fresh_id().value, LoopKind::Reduce);
    const UOp a = load(place(param(1, Access::Read, {size(32), size(128)}), {m, k}));
    const UOp b = load(place(param(2, Access::Read, {size(128), size(64)}), {k, n}));
    const UOp out = place(param(0, Access::Write, {size(32), size(64)}), {m, n});
    return over(put(out, reduce(Op::Add, {a * b, k})), {m, n});
  }

  // k0: 128, k1: 128; the sums of a column, and of its squares.
  static UOp moments() {
    const UOp n = loop(64);
    const UOp x = param(1, Access::Read, {size(128), size(64)});
    const auto sum = [&](bool is_squared) {
      const UOp k = range(128, fresh_id().value, LoopKind::Reduce);
      const UOp value = load(place(x, {k, n}));
      return reduce(Op::Add, {is_squared ? value * value : value, k});
    };
    const UOp out = place(param(0, Access::Write, {size(64)}), {n});
    return over(put(out, sum(false) + sum(true)), {n});
  }

  // The bytes of scratch of each memory in the program.
  static std::vector<std::int64_t> scratch(const UOp& effect, const char* schedule) {
    const Target target{.lowered = true, .ops = {Op::MulAcc}, .vector_bytes = 32};
    const UOp kernel = make(Op::Sink, {effect}, {}, KernelArg{Symbol("k"), Symbol(schedule)});
    const UOp program = run_pipeline({kernel}, {.target = target})[0];
    std::vector<std::int64_t> bytes;
    for (const Node* node : toposort(program.node()))
      if (node->op() == Op::Buffer && node->arg<BufferArg>().space == Space::Scratch)
        bytes.push_back(node->src(0)->lo() * static_cast<std::int64_t>(node->dtype().bytes()));
    return bytes;
  }

 private:
  static UOp loop(std::int64_t size) { return range(size, fresh_id().value); }

  Arena arena_;
  const InternerScope scope_{arena_};
};

using Bytes = std::vector<std::int64_t>;

TEST_F(FilledAlike, ForCopiesOfASum) {
  EXPECT_EQ(
      scratch(matmul(),
              "tile r0 4; tile r1 16; tile r1.1 8; tile k0 8; order r0 r1 k0 k0.1 r0.1 r1.1 r1.2; "
              "stage p2 at k0; upcast r0.1; upcast r1.1; vector r1.2"),
      Bytes{8 * 16 * 4});
}

TEST_F(FilledAlike, ForEachOfWhatIsRead) {
  EXPECT_EQ(
      scratch(matmul(),
              "tile r0 4; tile r1 8; tile k0 16; order r0 r1 k0 k0.1 r0.1 r1.1; stage p1 at k0; "
              "stage p2 at k0; upcast r0.1; vector r1.1"),
      (Bytes{16 * 4 * 4, 16 * 8 * 4}));
}

TEST_F(FilledAlike, ForTheSumsOfOneLoop) {
  EXPECT_EQ(scratch(moments(),
                    "tile r0 8; tile k0 16; tile k1 16; order r0 k0 k1 k0.1 k1.1 r0.1; "
                    "stage p1.0 at k0; stage p1.1 at k1; vector r0.1"),
            Bytes{16 * 8 * 4});
}

TEST_F(FilledAlike, NotForOtherTrips) {
  EXPECT_EQ(scratch(matmul(),
                    "tile r0 4; tile r1 8; tile k0 32; order r0 r1 k0 k0.1 r0.1 r1.1; unroll k0; "
                    "stage p2 at k0; upcast r0.1; vector r1.1"),
            (Bytes(4, 32 * 8 * 4)));
}

}  // namespace
}  // namespace weft
