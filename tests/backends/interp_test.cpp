// Kernels on the reference device, against the same loops written out.

#include <weft/dev/device/buffer.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "../support/kernels.h"

namespace weft {
namespace {

// A buffer of the program, as an argument of a kernel.
template <class T>
class Array {
 public:
  explicit Array(std::vector<T> values)
      : values_(std::move(values)),
        buffer_(find_device("INTERP"), std::as_writable_bytes(std::span(values_))) {}
  Argument argument() { return buffer_.argument(); }
  const std::vector<T>& values() const { return values_; }
  T operator[](std::size_t i) const { return values_[i]; }

 private:
  std::vector<T> values_;
  Buffer buffer_;
};

Array<float> random_array(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random() % 2001) / 1000 - 1;
  return Array(std::move(values));
}

class Interp : public testing::Test {
 protected:
  void run(const std::vector<UOp>& effects, const std::vector<Argument>& arguments,
           const std::vector<std::int64_t>& values = {}) {
    Device& device = find_device("INTERP");
    const UOp kernel = make(Op::Sink, effects, {}, KernelArg{Symbol("k")});
    device.load(device.compile(device.render(kernel.node())))->run(arguments, values);
  }

  std::string error_of(const std::vector<UOp>& effects, const std::vector<Argument>& arguments,
                       const std::vector<std::int64_t>& values = {}) {
    try {
      run(effects, arguments, values);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  Arena arena_;
  InternerScope scope_{arena_};
};

TEST_F(Interp, MultipliesMatrices) {
  constexpr std::size_t m = 5, n = 7, k = 3;
  auto a = random_array(m * k, 1), b = random_array(k * n, 2);
  Array c(std::vector<float>(m * n, -1));
  const UOp i = range(m, 0), j = range(n, 1), l = range(k, 2);
  const UOp product = load(place(param(1, Access::Read, {size(m), size(k)}), {i, l})) *
                      load(place(param(2, Access::Read, {size(k), size(n)}), {l, j}));
  const UOp out = place(param(0, Access::Write, {size(m), size(n)}), {i, j});
  run({over(put(out, reduce(Op::Add, {product, l})), {i, j})},
      {c.argument(), a.argument(), b.argument()});
  for (std::size_t x = 0; x < m; ++x)
    for (std::size_t y = 0; y < n; ++y) {
      float sum = 0;
      for (std::size_t z = 0; z < k; ++z) sum += a[x * k + z] * b[z * n + y];
      EXPECT_EQ(c[x * n + y], sum);
    }
}

// A padded window: what is not valid reads as zero, or as what the LOAD names.
TEST_F(Interp, ReadsOnlyWhereItIsValid) {
  auto in = random_array(6, 3);
  Array sums(std::vector<float>(6)), most(std::vector<float>(6));
  const UOp x = range(6, 0), k = range(3, 1, LoopKind::Reduce), at = x + k - 1;
  const UOp window = place(param(2, Access::Read, {size(6)}), {at}, (at >= 0) & (at < 6));
  const UOp low = const_float(-INFINITY, dtypes::f32);
  const UOp k2 = range(3, 2, LoopKind::Reduce), at2 = x + k2 - 1;
  const UOp window2 = place(param(2, Access::Read, {size(6)}), {at2}, (at2 >= 0) & (at2 < 6));
  const UOp sum =
      put(place(param(0, Access::Write, {size(6)}), {x}), reduce(Op::Add, {load(window), k}));
  const UOp largest = put(place(param(1, Access::Write, {size(6)}), {x}),
                          reduce(Op::Max, {make(Op::Load, {window2, low}), k2}));
  run({over(tuple({sum, largest}), {x})}, {sums.argument(), most.argument(), in.argument()});
  for (int i = 0; i < 6; ++i) {
    float total = 0, top = -INFINITY;
    for (int j = std::max(i - 1, 0); j <= std::min(i + 1, 5); ++j) {
      total += in[static_cast<std::size_t>(j)];
      top = std::max(top, in[static_cast<std::size_t>(j)]);
    }
    EXPECT_EQ(sums[static_cast<std::size_t>(i)], total) << i;
    EXPECT_EQ(most[static_cast<std::size_t>(i)], top) << i;
  }
}

// softmax of rows of symbolic length, the exponentials staged once.
TEST_F(Interp, StagesAndSymbolicSizes) {
  constexpr std::size_t rows = 3, most = 11, columns = 9;
  auto in = random_array(rows * columns, 4);
  Array out(std::vector<float>(rows * columns));
  const UOp n = Variable("n", 1, most), row = range(rows, 0);
  const auto column = [&](std::uint64_t id) { return range(n, id); };
  const UOp j = column(1), k = column(2), l = column(3), m = column(4);
  const UOp from = param(1, Access::Read, {size(rows), n});
  const UOp largest = reduce(Op::Max, {load(place(from, {row, j})), j});
  const UOp power = make(Op::Exp2, {load(place(from, {row, k})) - largest});
  const UOp stage = make(Op::Stage, {power, k}, {}, StageArg{{5}, Space::Scratch, {}});
  const UOp sum = reduce(Op::Add, {load(place(stage, {l})), l});
  const UOp to = place(param(0, Access::Write, {size(rows), n}), {row, m});
  run({over(put(to, load(place(stage, {m})) / sum), {row, m})}, {out.argument(), in.argument()},
      {columns});
  for (std::size_t r = 0; r < rows; ++r) {
    const auto value = [&](std::size_t c) { return in[r * columns + c]; };
    float top = value(0), total = 0;
    for (std::size_t c = 0; c < columns; ++c) top = std::max(top, value(c));
    for (std::size_t c = 0; c < columns; ++c) total += std::exp2(value(c) - top);
    for (std::size_t c = 0; c < columns; ++c)
      EXPECT_FLOAT_EQ(out[r * columns + c], std::exp2(value(c) - top) / total);
  }
}

TEST_F(Interp, GathersAndScatters) {
  Array table(std::vector<float>{10, 11, 12, 13}), sums(std::vector<float>(4));
  Array rows(std::vector<std::int32_t>{3, 0, 3, 1, 3});
  Array got(std::vector<float>(5));
  const UOp i = range(5, 0);
  const UOp at = load(place(param(3, Access::Read, {size(5)}, dtypes::i32), {i}));
  const UOp value = load(place(param(2, Access::Read, {size(4)}), {at}));
  const UOp gather = put(place(param(0, Access::Write, {size(5)}), {i}), value);
  const UOp scatter = add_to(place(param(1, Access::ReadWrite, {size(4)}), {at}), value);
  run({over(tuple({gather, scatter}), {i})},
      {got.argument(), sums.argument(), table.argument(), rows.argument()});
  EXPECT_EQ(got.values(), (std::vector<float>{13, 10, 13, 11, 13}));
  EXPECT_EQ(sums.values(), (std::vector<float>{10, 11, 0, 39}));
}

TEST_F(Interp, ReducesTuples) {
  auto in = random_array(8, 5);
  Array out(std::vector<float>(2));
  const UOp i = range(8, 0), j = range(2, 1);
  const UOp x = load(place(param(1, Access::Read, {size(8)}), {i}));
  const UOp both = reduce(Op::Max, {tuple({x, -x}), i});
  const UOp chosen = where(j < 1, member(both, 0, dtypes::f32), -member(both, 1, dtypes::f32));
  run({over(put(place(param(0, Access::Write, {size(2)}), {j}), chosen), {j})},
      {out.argument(), in.argument()});
  EXPECT_EQ(out[0], *std::ranges::max_element(in.values()));
  EXPECT_EQ(out[1], *std::ranges::min_element(in.values()));
}

// Effects repeat even where nothing in them changes; empty reductions give the identity.
TEST_F(Interp, CountsTrips) {
  Array out(std::vector<std::int32_t>{0, 7});
  const UOp n = Variable("n", 0, 9), i = range(4, 0), j = range(3, 1), k = range(n, 2);
  const UOp to = param(0, Access::ReadWrite, {size(2)}, dtypes::i32);
  const UOp one = const_int(1, dtypes::i32);
  const UOp often = over(over(add_to(place(to, {size(0)}), one), {i}), {j});
  const UOp twice = reduce(Op::Add, {one, k});
  const UOp later = make(Op::After, {to, often});
  const std::vector<UOp> kernel{put(place(later, {size(1)}), twice * 100)};
  run(kernel, {out.argument()}, {2});
  EXPECT_EQ(out.values(), (std::vector<std::int32_t>{12, 200}));
  run(kernel, {out.argument()}, {0});
  EXPECT_EQ(out.values(), (std::vector<std::int32_t>{24, 0}));
}

// A store that a loop repeats, and a read of what it stores: both in that loop.
TEST_F(Interp, KeepsReadersInTheLoopOfTheStore) {
  Array out(std::vector<float>(3));
  const UOp r = range(3, 0);
  const UOp scratch = make(Op::Buffer, {size(1)}, dtypes::f32, BufferArg{{9}, Space::Scratch});
  const UOp fill = put(place(scratch, {size(0)}), const_float(5, dtypes::f32));
  const UOp value = load(place(make(Op::After, {scratch, fill}), {size(0)}));
  const UOp to = place(param(0, Access::Write, {size(3)}), {r});
  run({over(tuple({fill, put(to, value)}), {r})}, {out.argument()});
  EXPECT_EQ(out.values(), (std::vector<float>{5, 5, 5}));
}

// A buffer of the kernel's own, written in one loop and read backwards in the next.
TEST_F(Interp, OrdersWhatGoesThroughMemory) {
  Array in(std::vector<float>{1, 2, 3, 4}), out(std::vector<float>(4));
  const UOp i = range(4, 0), j = range(4, 1);
  const UOp scratch = make(Op::Buffer, {size(4)}, dtypes::f32, BufferArg{{9}, Space::Scratch});
  const UOp fill = over(
      put(place(scratch, {i}), load(place(param(1, Access::Read, {size(4)}), {i})) * 2.0), {i});
  const UOp filled = make(Op::After, {scratch, fill});
  run({over(put(place(param(0, Access::Write, {size(4)}), {j}), load(place(filled, {3 - j}))),
            {j})},
      {out.argument(), in.argument()});
  EXPECT_EQ(out.values(), (std::vector<float>{8, 6, 4, 2}));
}

// Lanes of their own places, and a tail that is masked.
TEST_F(Interp, LoadsAndStoresVectors) {
  Array in(std::vector<float>{1, 2, 3, 4, 5, 6}), out(std::vector<float>(7, -1));
  const UOp block = range(2, 0);
  std::vector<UOp> lanes;
  for (int lane = 0; lane < 4; ++lane) lanes.push_back(block * 4 + lane);
  const UOp at = make(Op::Stack, lanes);
  const UOp limit = make(Op::Splat, {size(6)}, at->dtype());
  const UOp value = load(place(param(1, Access::Read, {size(6)}), {at}, at < limit));
  const UOp to = place(param(0, Access::Write, {size(6)}), {at}, at < limit);
  run({over(put(to, value + value), {block})}, {out.argument(), in.argument()});
  EXPECT_EQ(out.values(), (std::vector<float>{2, 4, 6, 8, 10, 12, -1}));
}

TEST_F(Interp, RunsDeepKernels) {
  Array out(std::vector<std::int32_t>(1));
  const UOp zero = range(1, 0);
  UOp x = cast(zero, dtypes::i32);
  for (int i = 0; i < 20'000; ++i) x = x + x + 1;
  run({over(put(place(param(0, Access::Write, {size(1)}, dtypes::i32), {zero}), x), {zero})},
      {out.argument()});
  EXPECT_EQ(out[0], -1);  // all ones
}

TEST_F(Interp, RunsThreadsInOrder) {
  Array out(std::vector<float>{0});
  const UOp to = place(param(0, Access::ReadWrite, {size(1)}), {size(0)});
  run({put(to, load(to) * 10.0 + cast(thread(4), dtypes::f32))}, {out.argument()});
  EXPECT_EQ(out[0], 123);
}

// Each of 4 items puts a number for each of its neighbours, and takes what the next one has put.
struct Neighbours {
  bool waits_before = true, waits_after = true;
  std::int64_t step = 1;

  std::vector<UOp> effects() const {
    const UOp item = worker(LoopKind::Local, 4), iteration = range(3, 0, LoopKind::Reduce);
    const UOp group = worker(LoopKind::Global, 2), all = group * 4 + item;
    const UOp shared =
        make(Op::Buffer, {size(4)}, dtypes::f32, BufferArg{fresh_id(), Space::Shared});
    const UOp begin =
        make(Op::After, {shared, waits_before ? group_barrier({iteration}) : iteration});
    const UOp number = load(place(param(1, Access::Read, {size(3), size(8)}), {iteration, all}));
    const UOp filled = put(place(begin, {item}), number);
    const UOp ready = make(Op::After, {shared, waits_after ? group_barrier({filled}) : filled});
    const UOp taken = load(place(ready, {(item + step) % 4}));
    const UOp sum = reduce(Op::Add, {taken * cast(iteration + 1, dtypes::f32), iteration});
    return {put(place(param(0, Access::Write, {size(8)}), {all}), sum)};
  }
  std::vector<float> expected(const Array<float>& in) const {
    std::vector<float> sums;
    for (std::int64_t i = 0; i < 8; ++i) {
      const auto from = static_cast<std::size_t>(i / 4 * 4 + (i + step) % 4);
      sums.push_back(in[from] + in[8 + from] * 2 + in[16 + from] * 3);
    }
    return sums;
  }
};

TEST_F(Interp, RunsItemsFromBarrierToBarrier) {
  auto in = random_array(24, 6);
  Array out(std::vector<float>(8));
  for (const std::int64_t backward : {0, 1})
    for (const std::int64_t step : {1, 2, 3}) {
      const Context order{{"INTERP_BACKWARD", backward}};
      const auto is_right = [&](bool waits_before, bool waits_after) {
        const Neighbours kernel{waits_before, waits_after, step};
        run(kernel.effects(), {out.argument(), in.argument()});
        return out.values() == kernel.expected(in);
      };
      EXPECT_TRUE(is_right(true, true)) << step;
      EXPECT_FALSE(is_right(true, false)) << step << ": read before it is there";
      EXPECT_FALSE(is_right(false, true)) << step << ": overwritten before it is read";
    }
}

// Nobody checks a text that is loaded as it is.
TEST_F(Interp, NoticesItemsThatMissABarrier) {
  Array out(std::vector<float>(4));
  const UOp item = worker(LoopKind::Local, 4), iteration = range(item + 1, 0);
  const UOp to = place(param(0, Access::Write, {size(4)}), {item});
  const UOp waiting = group_barrier({put(to, cast(iteration, dtypes::f32))});
  const UOp kernel = make(Op::Sink, {over(waiting, {iteration})}, {}, KernelArg{Symbol("k")});
  Device& device = find_device("INTERP");
  try {
    device.load(print_graph("k", {{kernel.node()}}))->run({{out.argument()}}, {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "internal error: INTERP: the items of a work-group wait at different barriers");
  }
}

TEST_F(Interp, RefusesWorkersThatItHasNot) {
  const auto error_with = [&](const UOp& at, const UOp& before) {
    const UOp to = make(Op::After, {param(0, Access::Write, {size(4)}), before});
    return error_of({put(place(to, {at}), const_float(1, dtypes::f32))}, {});
  };
  const UOp zero = size(0), nothing = group_barrier({});
  EXPECT_EQ(error_with(worker(LoopKind::Warp, 4), nothing),
            "INTERP does not run special of kind warp");
  EXPECT_EQ(error_with(zero, make(Op::Barrier, {}, {}, ScopeArg{Scope::Team})),
            "INTERP does not run barrier");
  const UOp i = range(4, 0, LoopKind::Local);
  EXPECT_EQ(
      error_of(
          {over(put(place(param(0, Access::Write, {size(4)}), {i}), const_float(1, dtypes::f32)),
                {i})},
          {}),
      "INTERP does not run range of kind local");
}

TEST_F(Interp, RefusesWhatItCannotRun) {
  const UOp i = range(4, 0);
  const UOp lists = make(Op::Stage, {tuple({i, i}), i}, {}, StageArg{{9}, Space::Scratch, {}});
  const UOp x = load(place(member(lists, 0, dtypes::i32), {i}));
  EXPECT_NE(
      error_of({over(put(place(param(0, Access::Write, {size(4)}, dtypes::i32), {i}), x), {i})}, {})
          .find("error"),
      std::string::npos);
}

TEST_F(Interp, NoticesWhatIsOutsideABuffer) {
  Array in(std::vector<float>(4)), out(std::vector<float>(4));
  const UOp i = range(4, 0);
  const auto copy = [&](std::int64_t from, const UOp& at) {
    return std::vector<UOp>{over(put(place(param(0, Access::Write, {size(4)}), {i}),
                                     load(place(param(1, Access::Read, {size(from)}), {at}))),
                                 {i})};
  };
  EXPECT_EQ(error_of(copy(4, i), {out.argument(), in.argument()}), "no error");
  EXPECT_EQ(error_of(copy(4, i + 1), {out.argument(), in.argument()}),
            "internal error: INTERP: r0 + 1 is 4, outside [0, 4) of p1, in kernel k");
  EXPECT_EQ(error_of(copy(4, i - 1), {out.argument(), in.argument()}),
            "internal error: INTERP: r0 - 1 is -1, outside [0, 4) of p1, in kernel k");
  EXPECT_EQ(error_of(copy(5, i), {out.argument(), in.argument()}),
            "internal error: INTERP: p1 needs 20 bytes and has 16");
  EXPECT_EQ(error_of(copy(4, i), {out.argument()}),
            "internal error: INTERP: k takes 2 buffers and 0 values, not 1 and 0");
  const UOp n = Variable("n", 0, 3);
  EXPECT_EQ(error_of(copy(4, n + i * 0), {out.argument(), in.argument()}, {4}),
            "internal error: INTERP: n = 4 is outside its bounds");
}

}  // namespace
}  // namespace weft
