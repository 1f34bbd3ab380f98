// The device CPU by both of its compilers: every op on every dtype against evaluate(), and kernels
// that use what the language of kernels has, against the reference device.

#include <sys/mman.h>

#include <cctype>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <deque>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/buffer.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/settings.h>

#include "../support/errors.h"
#include "../support/kernels.h"

namespace weft {
namespace {

constexpr DType computed[] = {dtypes::bool_, dtypes::i8,  dtypes::i16, dtypes::i32,
                              dtypes::i64,   dtypes::u8,  dtypes::u16, dtypes::u32,
                              dtypes::u64,   dtypes::f32, dtypes::f64};

std::vector<Bits> edge_values(DType dtype) {
  std::vector<Bits> values;
  if (!dtype.is_float()) {
    const Interval all = dtype_interval(dtype);
    for (Wide value : {all.lo, all.lo + 1, all.hi - 1, all.hi})
      values.push_back(static_cast<Bits>(value));
    if (!dtype.is_bool())
      for (std::int64_t value : {0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 100, -1, -2, -7, -8})
        values.push_back(bits_from_int(value, dtype));
    return values;
  }
  for (double value : {0.0,
                       0.5,
                       1.0,
                       1.5,
                       2.5,
                       3.0,
                       127.5,
                       128.0,
                       255.9,
                       3e4,
                       65536.0,
                       2147483520.0,
                       2147483648.0,
                       4294967296.0,
                       9.2e18,
                       9223372036854775808.0,
                       1.9e19,
                       3e38,
                       1e-40,
                       1e300,
                       double(INFINITY)})
    for (double sign : {1.0, -1.0}) values.push_back(bits_from_double(sign * value, dtype));
  values.push_back(bits_from_double(NAN, dtype));
  return values;
}

// A column of values in memory.
std::vector<std::byte> stored(const std::vector<Bits>& values, DType dtype) {
  std::vector<std::byte> bytes(values.size() * dtype.bytes());
  for (std::size_t i = 0; i < values.size(); ++i)
    std::memcpy(&bytes[i * dtype.bytes()], &values[i], dtype.bytes());
  return bytes;
}
std::vector<Bits> loaded(const std::vector<std::byte>& bytes, DType dtype) {
  std::vector<Bits> values(bytes.size() / dtype.bytes());
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::memcpy(&values[i], &bytes[i * dtype.bytes()], dtype.bytes());
    values[i] = canonical_bits(values[i], dtype);
  }
  return values;
}

bool is_nan(Bits bits, DType dtype) {
  return dtype.is_float() && std::isnan(double_from_bits(bits, dtype));
}

UOp kernel_of(const std::vector<UOp>& effects) {
  reserve_id({100});  // the tests' own ids are below
  return make(Op::Sink, effects, {}, KernelArg{Symbol("k")});
}

using Memory = std::vector<std::vector<std::byte>>;

void run(std::string_view name, const UOp& kernel, Memory& memory,
         const std::vector<std::int64_t>& values = {}) {
  Device& device = find_device(name);
  const UOp lowered = run_pipeline({kernel}, {.target = device.target()})[0];
  std::deque<Buffer> buffers;
  std::vector<Argument> arguments;
  for (auto& bytes : memory) {
    buffers.emplace_back(device, bytes.size()).copy_in(bytes);
    arguments.push_back(buffers.back().argument());
  }
  device.load(device.compile(device.render(lowered.node())))->run(arguments, values);
  for (std::size_t slot = 0; slot < memory.size(); ++slot) buffers[slot].copy_out(memory[slot]);
}

// By both compilers, with all that this processor has and with less.
class Cpu : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string error = error_of([] { return &find_device(GetParam()); });
    if (error != "no error") GTEST_SKIP() << error;
  }

  static Device& device() { return find_device(GetParam()); }

  // The kernel does to memory what it does on the reference device.
  void check(const std::vector<UOp>& effects, Memory memory,
             const std::vector<std::int64_t>& values = {}) {
    const UOp kernel = kernel_of(effects);
    Memory expected = memory;
    run("INTERP", kernel, expected, values);
    run(GetParam(), kernel, memory, values);
    for (std::size_t slot = 0; slot < memory.size(); ++slot)
      EXPECT_EQ(loaded(memory[slot], dtypes::u8), loaded(expected[slot], dtypes::u8))
          << "slot " << slot;
  }

  Arena arena_;
  InternerScope scope_{arena_};
};

INSTANTIATE_TEST_SUITE_P(Makes, Cpu,
                         testing::Values("CPU:LLVM", "CPU:CLANG", "CPU:LLVM:x86-64-v2",
                                         "CPU:LLVM:x86-64-v3", "CPU:LLVM:x86-64-v4",
                                         "CPU:CLANG:x86-64-v2", "AARCH64", "AARCH64:CLANG"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name)
                             if (std::isalnum(c) == 0) c = '_';
                           return name;
                         });

// One kernel for each dtype: all ops of all combinations of edge values.
TEST_P(Cpu, ComputesWhatOpsMean) {
  const OpSet ops = device().target().ops;
  for (const DType dtype : computed) {
    const std::vector<Bits> edges = edge_values(dtype);
    const std::size_t count = edges.size() * edges.size();
    std::vector<Bits> a, b, c;
    for (Bits x : edges)
      for (Bits y : edges) {
        a.push_back(x);
        b.push_back(y);
        c.push_back(edges[(a.size() * 7) % edges.size()]);
      }
    const std::vector<UOp> dims{size(static_cast<std::int64_t>(count))};
    const UOp i = range(static_cast<std::int64_t>(count), 0);
    UOp in[3];
    Memory memory{stored(a, dtype), stored(b, dtype), stored(c, dtype)};
    for (int slot = 0; slot < 3; ++slot)
      in[slot] = load(place(param(slot, Access::Read, dims, dtype), {i}));
    std::vector<UOp> stores, values;
    for (int number = 0; number < op_count; ++number) {
      const Op op = static_cast<Op>(number);
      if (!ops.contains(op) || !allows(op, dtype) || op == Op::Cast || op == Op::Bitcast) continue;
      std::vector<UOp> src(in, in + info(op).arity.least);
      if (op == Op::Where) src = {in[0] != in[1], in[1], in[2]};
      if (op == Op::Ldexp) {
        if (dtype != dtypes::f32) continue;  // what code generation makes
        src[1] = bitcast(in[1], dtypes::i32);
      }
      values.push_back(make(op, src));
      const auto slot = static_cast<int>(memory.size());
      const DType to = values.back()->dtype();
      memory.emplace_back(count * to.bytes());
      stores.push_back(put(place(param(slot, Access::Write, dims, to), {i}), values.back()));
    }
    run(GetParam(), kernel_of({over(tuple(stores), {i})}), memory);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const Op op = values[k]->op();
      const DType to = values[k]->dtype();
      const std::vector<Bits> got = loaded(memory[k + 3], to);
      for (std::size_t j = 0; j < count; ++j) {
        std::vector<Bits> operands{a[j], b[j], c[j]};
        operands.resize(info(op).arity.least);
        if (op == Op::Where) operands = {*evaluate(Op::CmpNe, dtype, {{a[j], b[j]}}), b[j], c[j]};
        const Bits expected = *evaluate(op, dtype, operands);
        if (is_nan(expected, to) && is_nan(got[j], to)) continue;
        ASSERT_EQ(got[j], expected)
            << info(op).name << " " << dtype.str() << " of " << a[j] << " " << b[j] << " " << c[j];
      }
    }
  }
}

TEST_P(Cpu, Casts) {
  for (const DType from : computed) {
    const std::vector<Bits> edges = edge_values(from);
    const auto count = static_cast<std::int64_t>(edges.size());
    const UOp i = range(count, 0);
    const UOp x = load(place(param(0, Access::Read, {size(count)}, from), {i}));
    Memory memory{stored(edges, from)};
    std::vector<UOp> stores, values;
    for (const DType to : computed) {
      if (from == to) continue;
      values.push_back(cast(x, to));
      if (from.bits() == to.bits()) values.push_back(bitcast(x, to));
    }
    for (const UOp& value : values) {
      const auto slot = static_cast<int>(memory.size());
      memory.emplace_back(edges.size() * value->dtype().bytes());
      stores.push_back(
          put(place(param(slot, Access::Write, {size(count)}, value->dtype()), {i}), value));
    }
    run(GetParam(), kernel_of({over(tuple(stores), {i})}), memory);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const DType to = values[k]->dtype();
      const std::vector<Bits> got = loaded(memory[k + 1], to);
      for (std::size_t j = 0; j < edges.size(); ++j) {
        const Bits expected = values[k]->op() == Op::Cast ? convert(edges[j], from, to)
                                                          : reinterpret(edges[j], from, to);
        if (is_nan(expected, to) && is_nan(got[j], to)) continue;
        ASSERT_EQ(got[j], expected) << from.str() << " to " << to.str() << " of " << edges[j];
      }
    }
  }
}

// All of f16 to f32, and what lies at and between neighbours back: by an instruction where the processor has one.
TEST_P(Cpu, ConvertsHalves) {
  std::vector<Bits> halves, floats;
  for (Bits code = 0; code < Bits{1} << 16; ++code) {
    halves.push_back(code);
    const Bits at = convert(code, dtypes::f16, dtypes::f32);
    for (const Bits bits : {at, at + (1 << 12), at + (1 << 12) - 1, at + (1 << 12) + 1, code << 16})
      floats.push_back(bits & 0xffffffff);
  }
  const auto check = [&](const std::vector<Bits>& values, DType from, DType to) {
    const auto count = static_cast<std::int64_t>(values.size());
    const UOp i = range(count, 0);
    const UOp x = load(place(param(0, Access::Read, {size(count)}, from), {i}));
    const UOp out = place(param(1, Access::Write, {size(count)}, to), {i});
    Memory memory{stored(values, from), std::vector<std::byte>(values.size() * to.bytes())};
    run(GetParam(), kernel_of({over(put(out, cast(x, to)), {i})}), memory);
    const std::vector<Bits> got = loaded(memory[1], to);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const Bits expected = convert(values[k], from, to);
      if (is_nan(expected, to) && is_nan(got[k], to)) continue;
      ASSERT_EQ(got[k], expected) << from.str() << " to " << to.str() << " of " << values[k];
    }
  };
  check(halves, dtypes::f16, dtypes::f32);
  check(halves, dtypes::f16, dtypes::f64);
  check(halves, dtypes::f16, dtypes::i32);
  check(floats, dtypes::f32, dtypes::f16);
}

Memory random_floats(std::vector<std::size_t> sizes) {
  std::mt19937 random(7);
  Memory memory;
  for (std::size_t count : sizes) {
    std::vector<Bits> values;
    for (std::size_t i = 0; i < count; ++i)
      values.push_back(bits_from_int(static_cast<int>(random() % 41) - 20, dtypes::f32));
    memory.push_back(stored(values, dtypes::f32));
  }
  return memory;
}

// The sum inside does not change with the loop that becomes vectors and a rest, but is in both.
TEST_P(Cpu, SumsOverSums) {
  const UOp i = range(7, 0);
  const UOp j = range(3, 1, LoopKind::Reduce), k = range(8, 2, LoopKind::Reduce);
  const UOp row =
      reduce(Op::Add, {load(place(param(1, Access::Read, {size(3), size(8)}), {j, k})), k});
  const UOp column = load(place(param(2, Access::Read, {size(3), size(7)}), {j, i}));
  const UOp sum = reduce(Op::Add, {max(row, row * row) * column, j});
  check({over(put(place(param(0, Access::Write, {size(7)}), {i}), sum), {i})},
        random_floats({7, 24, 21}));
}

// Helpers of the C for bits of different dtypes may stand in one kernel.
TEST_P(Cpu, ReadsTheBitsOfSeveralDtypes) {
  const UOp i = range(2, 0);
  const auto in = [&](int slot, DType dtype) {
    return load(place(param(slot, Access::Read, {size(2)}, dtype), {i}));
  };
  const UOp sum =
      bitcast(in(1, dtypes::i32), dtypes::f32) + bitcast(in(2, dtypes::u32), dtypes::f32);
  Memory memory = random_floats({2, 2, 2});
  check({over(put(place(param(0, Access::Write, {size(2)}), {i}), sum), {i})}, memory);
}

TEST_P(Cpu, MultipliesMatrices) {
  const UOp i = range(5, 0), j = range(19, 1), k = range(33, 2, LoopKind::Reduce);
  const UOp product = load(place(param(1, Access::Read, {size(5), size(33)}), {i, k})) *
                      load(place(param(2, Access::Read, {size(33), size(19)}), {k, j}));
  const UOp out = place(param(0, Access::Write, {size(5), size(19)}), {i, j});
  check({over(put(out, reduce(Op::Add, {product, k})), {i, j})},
        random_floats({5 * 19, 5 * 33, 33 * 19}));
}

// A tile of registers, as a schedule would ask for it: rows unrolled, columns in lanes.
TEST(CpuVectors, MakeTiles) {
  Arena arena;
  const InternerScope scope(arena);
  const Context llvm{{"CLANG", 0}};
  if (find_device("CPU").target().vector_bytes == 0) GTEST_SKIP() << "built without LLVM";
  const UOp i0 = range(2, 0), i1 = range(3, 1, LoopKind::Upcast), i = i0 * 3 + i1;
  const UOp j0 = range(2, 2), j1 = range(4, 3, LoopKind::Vector), j = j0 * 4 + j1;
  const UOp k = range(5, 4, LoopKind::Reduce);
  const UOp product = load(place(param(1, Access::Read, {size(6), size(5)}), {i, k})) *
                      load(place(param(2, Access::Read, {size(5), size(8)}), {k, j}));
  const UOp out = place(param(0, Access::Write, {size(6), size(8)}), {i, j});
  const UOp kernel = kernel_of({over(put(out, reduce(Op::Add, {product, k})), {i0, j0, i1, j1})});
  const UOp lowered = run_pipeline({kernel}, {.target = find_device("CPU").target()})[0];
  int loops = 0;
  for (const Node* node : toposort(lowered.node())) loops += node->op() == Op::Range;
  EXPECT_EQ(loops, 3);  // one over k for all rows
  Memory memory = random_floats({48, 30, 40}), expected = memory;
  run("INTERP", kernel, expected);
  run("CPU", kernel, memory);
  EXPECT_EQ(loaded(memory[0], dtypes::f32), loaded(expected[0], dtypes::f32));
}

// Never outside: what is not valid lies beyond the buffer.
TEST_P(Cpu, ReadsAndWritesOnlyWhereItIsValid) {
  const UOp x = range(20, 0), k = range(3, 1, LoopKind::Reduce), at = x + k - 1;
  const UOp in = param(1, Access::Read, {size(20)});
  const UOp valid = (at >= 0) & (at < 20);
  const UOp low = const_float(-INFINITY, dtypes::f32);
  const UOp most = reduce(Op::Max, {make(Op::Load, {place(in, {at}, valid), low}), k});
  const UOp far = x * 1'000'000'000;
  const UOp out = param(0, Access::ReadWrite, {size(20)});
  check({over(tuple({put(place(out, {x}, x < 17), most),
                     put(place(param(2, Access::Write, {size(1)}), {far}, x < 1),
                         load(place(in, {far}, x < 1)))}),
              {x})},
        random_floats({20, 20, 1}));
}

// Rows of symbolic length, the differences staged once, in a layout of its own.
TEST_P(Cpu, StagesAndSymbolicSizes) {
  const UOp n = Variable("n", 1, 11), row = range(3, 0);
  const auto column = [&](std::uint64_t id) { return range(n, id); };
  const UOp j = column(1), k = column(2), l = column(3), m = column(4), two = range(2, 6);
  const UOp from = param(1, Access::Read, {size(3), n});
  const UOp largest = reduce(Op::Max, {load(place(from, {row, j})), j});
  const UOp difference = (load(place(from, {row, k})) - largest) * cast(two + 1, dtypes::f32);
  const UOp stage = make(Op::Stage, {difference, k, two, const_int(0)}, {},
                         StageArg{{5}, Space::Scratch, IntList({1, 2, 0})});
  const auto staged = [&](const UOp& at, std::int64_t which) {
    return load(place(stage, {at, const_int(which), const_int(0)}));
  };
  const UOp sum = reduce(Op::Add, {staged(l, 1), l});
  const UOp to = place(param(0, Access::Write, {size(3), n}), {row, m});
  check({over(put(to, staged(m, 0) - sum), {row, m})}, random_floats({33, 33}), {9});
}

TEST_P(Cpu, GathersAndScatters) {
  Memory memory = random_floats({5, 4, 4});
  memory.push_back(stored({3, 0, 3, 1, 3}, dtypes::i32));
  const UOp i = range(5, 0);
  const UOp at = load(place(param(3, Access::Read, {size(5)}, dtypes::i32), {i}));
  const UOp value = load(place(param(2, Access::Read, {size(4)}), {at}));
  check({over(tuple({put(place(param(0, Access::Write, {size(5)}), {i}), value),
                     add_to(place(param(1, Access::ReadWrite, {size(4)}), {at}), value)}),
              {i})},
        memory);
}

// Two members, two reductions more over the same ranges, and one that needs their results.
TEST_P(Cpu, ReducesTuplesAndSharesLoops) {
  const UOp in = param(1, Access::Read, {size(40)}), j = range(2, 1);
  const auto x = [&](const UOp& i) { return load(place(in, {i})); };
  const UOp i = range(40, 0), k = range(40, 2), l = range(40, 3);
  const UOp both = reduce(Op::Max, {tuple({x(i), -x(i)}), i});
  const UOp sum = reduce(Op::Add, {x(k), k});
  const UOp spread = reduce(Op::Add, {(x(l) - sum) * (x(l) - sum), l});
  const UOp chosen =
      where(j < 1, member(both, 0, dtypes::f32), -member(both, 1, dtypes::f32)) + sum + spread;
  check({over(put(place(param(0, Access::Write, {size(2)}), {j}), chosen), {j})},
        random_floats({2, 40}));
}

// Effects repeat even where nothing in them changes; loops without iterations do nothing.
TEST_P(Cpu, CountsTrips) {
  const UOp n = Variable("n", 0, 9), i = range(4, 0), j = range(3, 1), k = range(n, 2);
  const UOp to = param(0, Access::ReadWrite, {size(2)}, dtypes::i32);
  const UOp one = const_int(1, dtypes::i32);
  const UOp often = over(over(add_to(place(to, {size(0)}), one), {i}), {j});
  const UOp twice = reduce(Op::Add, {one, k});
  const UOp later = make(Op::After, {to, often});
  for (std::int64_t iterations : {0, 2})
    check({put(place(later, {size(1)}), twice * 100)}, {stored({0, 7}, dtypes::i32)}, {iterations});
}

// A buffer of the kernel's own, written in one loop and read backwards in the next.
TEST_P(Cpu, OrdersWhatGoesThroughMemory) {
  const UOp i = range(4, 0), j = range(4, 1);
  const UOp scratch = make(Op::Buffer, {size(4)}, dtypes::f32, BufferArg{{9}, Space::Scratch});
  const UOp fill = over(
      put(place(scratch, {i}), load(place(param(1, Access::Read, {size(4)}), {i})) * 2.0), {i});
  const UOp filled = make(Op::After, {scratch, fill});
  check({over(put(place(param(0, Access::Write, {size(4)}), {j}), load(place(filled, {3 - j}))),
              {j})},
        random_floats({4, 4}));
}

// An index that needs all 32 bits of an unsigned integer. The pages in between are never touched.
TEST_P(Cpu, AddressesMoreThanTwoToThe31) {
  if (!device().allocator().uses_addresses()) GTEST_SKIP() << "the memory is elsewhere";
  constexpr std::size_t bytes = 3'000'000'001;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  static_cast<std::uint8_t*>(memory)[bytes - 1] = 7;
  const UOp i = range(2, 0);
  const UOp far = param(1, Access::Read, {size(bytes)}, dtypes::u8);
  const UOp value = load(place(far, {i * 3'000'000'000}));
  const UOp kernel = kernel_of(
      {over(put(place(param(0, Access::Write, {size(2)}, dtypes::u8), {i}), value), {i})});
  Device& device = this->device();
  const UOp lowered = run_pipeline({kernel}, {.target = device.target()})[0];
  std::uint8_t got[2] = {5, 5};
  const Argument arguments[] = {{got, 0, 2}, {memory, 0, bytes}};
  device.load(device.compile(device.render(lowered.node())))->run(arguments, {});
  EXPECT_EQ(got[0], 0);
  EXPECT_EQ(got[1], 7);
  munmap(memory, bytes);
}

// Iterations that need all 32 bits too, whether or not their number is known.
TEST_P(Cpu, LoopsMoreThanTwoToThe31Times) {
  if (!device().allocator().uses_addresses()) GTEST_SKIP() << "this takes minutes there";
  const Context scalar{{"NOOPT", 1}};
  constexpr std::int64_t iterations = (std::int64_t{1} << 31) + 1;
  for (const UOp& count : {size(iterations), UOp(Variable("n", 0, iterations))}) {
    const UOp i = range(count, 0);
    const UOp last = reduce(Op::Max, {cast(i, dtypes::u32), i});
    Memory memory{stored({0}, dtypes::u32)};
    const bool is_known = count->is_const();
    run("CPU",
        kernel_of({put(place(param(0, Access::Write, {size(1)}, dtypes::u32), {size(0)}), last)}),
        memory, is_known ? std::vector<std::int64_t>{} : std::vector{iterations});
    EXPECT_EQ(loaded(memory[0], dtypes::u32), (std::vector<Bits>{iterations - 1}));
  }
}

// Each has a block of its own, and a sum.
TEST_P(Cpu, SplitsWorkAmongThreads) {
  const UOp t = thread(5), n = Variable("n", 1, 9);
  const UOp i = range(16, 0), k = range(16, 1, LoopKind::Reduce);
  const auto in = [&](const UOp& at) {
    return load(place(param(1, Access::Read, {size(80)}), {at}));
  };
  const UOp scaled = in(t * 16 + i) * cast(n, dtypes::f32);
  const UOp sum = reduce(Op::Add, {in(t * 16 + k), k});
  for (int threads : {1, 3, 8}) {
    const Context context{{"WEFT_THREADS", threads}};
    check({over(put(place(param(0, Access::Write, {size(80)}), {t * 16 + i}), scaled), {i}),
           put(place(param(2, Access::Write, {size(5)}), {t}), sum)},
          random_floats({80, 80, 5}), {7});
  }
}

// A third is a little more than it is rounded downward.
TEST_P(Cpu, RoundsToNearestWhateverTheProgramDoes) {
  const UOp t = thread(3);
  const auto in = [&](int slot) { return load(place(param(slot, Access::Read, {size(3)}), {t})); };
  const auto f32 = [](double value) { return bits_from_double(value, dtypes::f32); };
  Memory memory{stored({0, 0, 0}, dtypes::f32), stored({f32(1), f32(1), f32(1)}, dtypes::f32),
                stored({f32(3), f32(3), f32(3)}, dtypes::f32)};
  const UOp third = make(Op::Div, {in(1), in(2)});
  const Context two{{"WEFT_THREADS", 2}};
  std::fesetround(FE_DOWNWARD);
  run(GetParam(), kernel_of({put(place(param(0, Access::Write, {size(3)}), {t}), third)}), memory);
  EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(loaded(memory[0], dtypes::f32), (std::vector<Bits>(3, 0x3eaaaaab)));
}

TEST_P(Cpu, NumbersThreadsInAsManyBitsAsTheyNeed) {
  constexpr std::int64_t far = std::int64_t{1} << 40;
  const UOp t = thread(3), wide = cast(t * far, dtypes::i64);
  check({put(place(param(0, Access::Write, {size(3)}, dtypes::i64), {t}), wide)},
        {stored({9, 9, 9}, dtypes::i64)});
}

TEST_P(Cpu, CompilesDeepKernels) {
  const UOp zero = range(1, 0);
  UOp x = load(place(param(1, Access::Read, {size(1)}, dtypes::i32), {zero}));
  for (int i = 0; i < 2'000; ++i) x = x * 3 + 1;
  check({over(put(place(param(0, Access::Write, {size(1)}, dtypes::i32), {zero}), x), {zero})},
        {stored({0}, dtypes::i32), stored({5}, dtypes::i32)});
}

// Compiling, loading and running at the same time.
TEST_P(Cpu, WorksInThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([t] {
      Arena arena;
      const InternerScope scope(arena);
      const UOp i = range(4, 0);
      const UOp value = cast(i, dtypes::i32) + const_int(t, dtypes::i32);
      Memory memory{stored({9, 9, 9, 9}, dtypes::i32)};
      run("CPU",
          kernel_of(
              {over(put(place(param(0, Access::Write, {size(4)}, dtypes::i32), {i}), value), {i})}),
          memory);
      const auto from = static_cast<Bits>(t);
      EXPECT_EQ(loaded(memory[0], dtypes::i32),
                (std::vector<Bits>{from, from + 1, from + 2, from + 3}));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_P(Cpu, SaysWhatItCannotDo) {
  Device& device = this->device();
  const auto error = [&](const UOp& value, DType dtype, std::string_view before = "") {
    const UOp i = range(4, 0);
    const UOp kernel =
        kernel_of({over(put(place(param(0, Access::Write, {size(4)}, dtype), {i}), value), {i})});
    return error_of([&] {
      return device.render(
          run_pipeline_until(before, {kernel}, {.target = device.target()})[0].node());
    });
  };
  const UOp i = range(4, 0);
  const UOp x = load(place(param(1, Access::Read, {size(4)}), {i}));
  EXPECT_NE(error(make(Op::Exp2, {x}), dtypes::f32, "decompose").find("has no exp2 of f32"),
            std::string::npos);
  const UOp k = range(1'000'000, 3);
  const UOp stage =
      make(Op::Stage, {cast(k, dtypes::f32), k}, {}, StageArg{{5}, Space::Scratch, {}});
  EXPECT_NE(error(load(place(stage, {i})), dtypes::f32).find("bytes of scratch"),
            std::string::npos);
  const auto worker = [&](const UOp& count, LoopKind kind, std::int32_t axis) {
    return error(cast(make(Op::Special, {count}, {}, SpecialArg{kind, axis}), dtypes::i32),
                 dtypes::i32);
  };
  for (const std::string& message :
       {worker(size(4), LoopKind::Thread, 1), worker(Variable("n", 2, 4), LoopKind::Thread, 0)})
    EXPECT_NE(message.find("a processor does not run special"), std::string::npos) << message;
  for (const LoopKind kind : {LoopKind::Global, LoopKind::Local})
    EXPECT_NE(worker(size(4), kind, 0).find("a processor has threads, but no work-groups"),
              std::string::npos);
  EXPECT_NE(error_of([] { find_device("CPU:8"); }).find("there is no CPU:8"), std::string::npos);
  EXPECT_NE(error_of([&] { device.load("nonsense"); }).find("no code"), std::string::npos);
}

TEST(CpuVectors, ScaleByPowersOfTwo) {
  Arena arena;
  const InternerScope scope(arena);
  const Context llvm{{"CLANG", 0}};
  if (!find_device("CPU").target().ops.contains(Op::Ldexp)) GTEST_SKIP() << "it has no such op";
  std::vector<Bits> values, powers;
  for (int i = 0; i < 64; ++i) {
    values.push_back(bits_from_double(i % 5 == 0 ? -1.0 / (i + 1) : 1 + i * 0x1p-20, dtypes::f32));
    powers.push_back(static_cast<std::uint32_t>(9 * i - 300));
  }
  for (const std::int64_t lanes : {1, 2, 3, 4, 6, 8, 16, 17, 24, 32, 64}) {
    const UOp block = range(64 / lanes, 0), lane = range(lanes, 1, LoopKind::Vector);
    const UOp i = block * lanes + lane;
    const auto memory_of = [&](int slot, Access access, DType dtype) {
      return place(param(slot, access, {size(64)}, dtype), {i});
    };
    const UOp scaled = make(Op::Ldexp, {load(memory_of(1, Access::Read, dtypes::f32)),
                                        load(memory_of(2, Access::Read, dtypes::i32))});
    const UOp to = memory_of(0, Access::Write, dtypes::f32);
    Memory memory{std::vector<std::byte>(256), stored(values, dtypes::f32),
                  stored(powers, dtypes::i32)};
    run("CPU", kernel_of({over(put(to, scaled), {block, lane})}), memory);
    const std::vector<Bits> got = loaded(memory[0], dtypes::f32);
    for (std::size_t k = 0; k < static_cast<std::size_t>(64 / lanes * lanes); ++k)
      ASSERT_EQ(got[k], *evaluate(Op::Ldexp, dtypes::f32, {{values[k], powers[k]}}))
          << lanes << " lanes, value " << k;
  }
}

// Lanes of their own places, a tail that is masked, and one place for all lanes.
TEST(CpuVectors, AreLoadedAndStored) {
  Arena arena;
  const InternerScope scope(arena);
  const UOp block = range(2, 0);
  std::vector<UOp> lanes, backwards;
  for (int lane = 0; lane < 4; ++lane) {
    lanes.push_back(block * 4 + lane);
    backwards.push_back(const_int(3 - lane));
  }
  const UOp at = make(Op::Stack, lanes), back = make(Op::Stack, backwards);
  const UOp limit = make(Op::Splat, {size(6)}, at->dtype());
  const UOp in = param(1, Access::Read, {size(6)});
  const UOp other = const_float(3, dtypes::f32.vec(4));
  const UOp value = make(Op::Load, {place(in, {at}, at < limit), other});
  const UOp first = load(place(in, {const_int(2)}, back < limit));
  const UOp to = place(param(0, Access::Write, {size(7)}), {at}, at < limit);
  const UOp kernel = kernel_of({over(put(to, value + load(place(in, {back})) * first), {block})});
  Memory memory = random_floats({7, 6}), expected = memory;
  run("INTERP", kernel, expected);
  const Context llvm{{"CLANG", 0}};
  if (find_device("CPU").target().vector_bytes == 0) GTEST_SKIP() << "built without LLVM";
  run("CPU", kernel, memory);
  EXPECT_EQ(loaded(memory[0], dtypes::f32), loaded(expected[0], dtypes::f32));
}

TEST(Null, WritesCodeAndDoesNothing) {
  Arena arena;
  const InternerScope scope(arena);
  const UOp i = range(4, 0);
  Memory memory{stored({1, 2, 3, 4}, dtypes::i32)};
  const UOp kernel = kernel_of(
      {over(put(place(param(0, Access::Write, {size(4)}, dtypes::i32), {i}), cast(i, dtypes::i32)),
            {i})});
  run("NULL", kernel, memory);
  EXPECT_EQ(loaded(memory[0], dtypes::i32), (std::vector<Bits>{1, 2, 3, 4}));
}

}  // namespace
}  // namespace weft
