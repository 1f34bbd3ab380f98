#include <array>
#include <chrono>
#include <ostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/validate/bounds.h>
#include <weft/error.h>

#include "../support/nodes.h"

namespace weft {

static bool operator==(const Proof& a, const Proof& b) {
  return a.verdict == b.verdict && a.reason == b.reason;
}

static void PrintTo(const Proof& proof, std::ostream* out) {
  *out << std::array{"proved", "refuted", "unknown"}[static_cast<std::size_t>(proof.verdict)]
       << ": " << proof.reason;
}

namespace {

const Proof proved{Verdict::Proved, ""};
Proof refuted(std::string reason) { return {Verdict::Refuted, std::move(reason)}; }
Proof unknown(std::string reason) { return {Verdict::Unknown, std::move(reason)}; }

constexpr unsigned patience_ms = 20'000;  // what is decided takes a fraction of a second

Proof prove(const UOp& condition) { return prove(condition.node(), nullptr, patience_ms); }
Proof prove(const UOp& condition, const UOp& given) {
  return prove(condition.node(), given.node(), patience_ms);
}
Proof prove_equal(const UOp& a, const UOp& b) {
  return prove_equal(a.node(), b.node(), patience_ms);
}

TEST(ProofsWithoutZ3, AreUnknown) {
  if (can_prove()) GTEST_SKIP() << "built with Z3";
  const UOp r = range(8, 0);
  EXPECT_EQ(prove(r < 8), unknown("built without Z3"));
  EXPECT_EQ(prove_equal(r, r + 1), unknown("built without Z3"));
}

class Proofs : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_prove()) GTEST_SKIP() << "built without Z3";
  }
  Arena arena_;
  InternerScope scope_{arena_};
};

TEST_F(Proofs, OfLoops) {
  const UOp r = range(16, 0);
  EXPECT_EQ(prove(r >= 0), proved);
  EXPECT_EQ(prove(r + 1 < 17), proved);
  EXPECT_EQ(prove(r + 1 < 16), refuted("r0 = 15"));
  EXPECT_EQ(prove(r * 4 + range(4, 1) < 64), proved);
  EXPECT_EQ(prove(r != 7, r > 7), proved);
  EXPECT_EQ(prove(r != 7, r > 6), refuted("r0 = 7"));
  const SpecialArg second_local{LoopKind::Local, 1};
  const UOp worker = make(Op::Special, {const_int(32)}, dtypes::void_, second_local);
  EXPECT_EQ(prove(worker < 32), proved);
  EXPECT_EQ(prove(worker < 31), refuted("local1 = 31"));
}

TEST_F(Proofs, OfConstants) {
  EXPECT_EQ(prove(const_bool(true)), proved);
  EXPECT_EQ(prove(const_bool(false)), refuted("all values"));
  EXPECT_EQ(prove(const_bool(false), const_bool(false)), proved);
  EXPECT_EQ(prove(const_int(-1, dtypes::u64) > 5), proved);
}

TEST_F(Proofs, OfSymbolicSizes) {
  const UOp n = Variable("n", 1, 4096), m = Variable("m", 1, 4096);
  const UOp i = range(n, 0), j = range(m, 1);
  EXPECT_EQ(prove(i < n), proved);
  EXPECT_EQ(prove(i * 16 + range(16, 2) < n * 16), proved);
  EXPECT_EQ(prove(i * m + j < n * m), proved);
  EXPECT_EQ(prove_equal((i * m + j) / m, i), proved);
  EXPECT_EQ(prove(i < 4095), refuted("n = 4096, r0 = 4095"));
  EXPECT_EQ(prove(range(make(Op::Bind, {n, const_int(16)}), 3) < n), proved);
}

TEST_F(Proofs, OfEmptyLoops) {
  EXPECT_EQ(prove(range(0, 0) > 5), proved);
  EXPECT_EQ(prove(range(Variable("n", 0, 1) / 2, 0) > 5), proved);
}

TEST_F(Proofs, OfNestedDivisions) {
  const UOp x = Variable("x", -1000, 1000), c = make(Op::CDiv, {x, const_int(12)});
  EXPECT_EQ(prove_equal(x / 12, x / 3 / 4), proved);
  EXPECT_EQ(prove_equal(x % 12 / 4, x / 4 % 3), proved);
  EXPECT_EQ(prove_equal(x / 12 * 12 + x % 12, x), proved);
  EXPECT_EQ(prove(c == x / 12, x >= 0), proved);
  EXPECT_EQ(prove(c == x / 12, x < 0).verdict, Verdict::Refuted);
}

TEST_F(Proofs, OfWhatWraps) {
  for (const DType dtype : {dtypes::i8, dtypes::i32, dtypes::i64, dtypes::index}) {
    SCOPED_TRACE(dtype.str());
    const auto most = static_cast<std::int64_t>(highest_bits(dtype));
    const UOp v = Variable("v", -most - 1, most, dtype);
    EXPECT_EQ(prove(v + 1 > v), refuted(fmt::format("v = {}", most)));
    EXPECT_EQ(prove(v + 1 > v, v < most), proved);
    EXPECT_EQ(prove_equal(v + 1 - 1, v), proved);
    EXPECT_EQ(prove(-v >= 0, v < 0), refuted(fmt::format("v = {}", -most - 1)));
  }
  const UOp u = Variable("u", 0, 255, dtypes::u8), wide = cast(u, dtypes::i32);
  EXPECT_EQ(prove(u - 1 < u), refuted("u = 0"));
  EXPECT_EQ(prove_equal(-u, 255 - u + 1), proved);
  EXPECT_EQ(prove(wide * wide < 65536), proved);
  EXPECT_EQ(prove(wide * wide * wide * 200 >= 0).verdict, Verdict::Refuted);
}

TEST_F(Proofs, OfCasts) {
  const UOp v = Variable("v", -300, 300, dtypes::i32), narrow = cast(v, dtypes::i8);
  EXPECT_EQ(prove_equal(cast(v, dtypes::i64), v), proved);
  EXPECT_EQ(prove(cast(v, dtypes::u8) < 45, v > 255), proved);
  EXPECT_EQ(prove_equal(bitcast(narrow, dtypes::u8), cast(v, dtypes::u8)), proved);
  EXPECT_EQ(prove_equal(cast(cast(narrow, dtypes::i32), dtypes::bool_), narrow != 0), proved);
  EXPECT_EQ(prove_equal(cast(v > 0, dtypes::i32),
                        max(min(v, const_int(1, dtypes::i32)), const_int(0, dtypes::i32))),
            proved);
}

TEST_F(Proofs, OfLanes) {
  const UOp r = range(8, 0);
  const UOp stack = make(Op::Stack, {r, r + 8}), splat = make(Op::Splat, {r}, dtypes::index.vec(2));
  const auto lane = [](const UOp& vector, int at) {
    return make(Op::Lane, {vector}, dtypes::void_, PositionArg{at});
  };
  EXPECT_EQ(prove_equal(lane(stack, 1) - lane(stack, 0), const_int(8)), proved);
  EXPECT_EQ(prove_equal(lane(splat, 1), r), proved);
  EXPECT_EQ(prove_equal(lane(stack + splat, 0), r * 2).verdict, Verdict::Unknown);
  EXPECT_EQ(prove_equal(stack, splat), unknown("vectors are not compared"));
}

// Every op against the table, for all pairs of some small values and some at the dtype's ends.

UOp any_of(const std::vector<UOp>& conditions) {
  UOp any = const_bool(false);
  for (const UOp& condition : conditions) any = any | condition;
  return any;
}

// Whether value is, for each a and b of these leaves, what evaluate() computes.
Proof prove_as_evaluated(const UOp& value, const UOp& a, const UOp& b) {
  std::vector<UOp> cases;
  for (std::int64_t x = a->lo(); x <= a->hi(); ++x)
    for (std::int64_t y = b->lo(); y <= b->hi(); ++y) {
      const auto bits = [](std::int64_t i) { return static_cast<Bits>(i); };
      const Bits result =
          evaluate(value.node(), {{a.node(), bits(x)}, {b.node(), bits(y)}}).value();
      cases.push_back((a == x) & (b == y) & (value == const_bits(value->dtype(), result)));
    }
  return prove(any_of(cases));
}

TEST_F(Proofs, OfEveryIntegerOp) {
  struct Window {
    DType dtype;
    std::int64_t lo, hi, other_lo, other_hi;
  };
  const Window windows[] = {
      {dtypes::index, -5, 5, -3, 3}, {dtypes::i8, -128, -122, -4, 4}, {dtypes::i8, 120, 127, -2, 9},
      {dtypes::u8, 0, 6, 0, 9},      {dtypes::u8, 250, 255, 0, 5},    {dtypes::i32, 3, 9, 30, 33},
  };
  const OpSet left_out = {Op::Threefry, Op::And, Op::Or, Op::Xor};
  for (const Window& w : windows) {
    const UOp a = Variable("a", w.lo, w.hi, w.dtype);
    const UOp b = Variable("b", w.other_lo, w.other_hi, w.dtype);
    for (int i = 0; i < op_count; ++i) {
      const auto op = static_cast<Op>(i);
      if (info(op).cls != OpClass::Binary || has(op, OpFlag::Float) || left_out.contains(op))
        continue;
      EXPECT_EQ(prove_as_evaluated(make(op, {a, b}), a, b), proved)
          << info(op).name << " " << w.dtype.str();
    }
    EXPECT_EQ(prove_as_evaluated(-a, a, b), proved);
    EXPECT_EQ(prove_as_evaluated(make(Op::Trunc, {a}), a, b), proved);
    EXPECT_EQ(prove_as_evaluated(make(Op::MulAcc, {a, b, a}), a, b), proved);
    EXPECT_EQ(prove_as_evaluated(where(a < b, a, b), a, b), proved);
  }
}

TEST_F(Proofs, OfMasks) {
  const UOp none = Variable("none", 0, 0);
  for (const DType dtype : {dtypes::index, dtypes::i8, dtypes::u8})
    for (const std::int64_t mask : {0, 1, 6, 7, 53, 127, -1, -2, -8, -42, -128}) {
      const UOp c = const_int(mask, dtype), b = Variable("b", 0, 0, dtype);
      const UOp a = Variable("a", dtype.is_unsigned() ? 0 : -12, 20, dtype);
      for (const UOp& value : {a & c, c | a, a ^ c})
        EXPECT_EQ(prove_as_evaluated(value, a, b), proved) << expression_text(value.node());
    }
}

TEST_F(Proofs, OfEveryBoolOp) {
  const UOp a = range(2, 0), b = range(2, 1), p = a != 0, q = b != 0;
  for (const Op op : {Op::Add, Op::Sub, Op::Mul, Op::Max, Op::And, Op::Or, Op::Xor, Op::CmpLt,
                      Op::CmpNe, Op::CmpEq})
    EXPECT_EQ(prove_as_evaluated(make(op, {p, q}), a, b), proved) << info(op).name;
  for (const UOp& value : {-p, make(Op::Trunc, {p}), where(p, q, !q), make(Op::MulAcc, {p, q, p})})
    EXPECT_EQ(prove_as_evaluated(value, a, b), proved) << expression_text(value.node());
}

// Random expressions, each against all of its values.

class Random {
 public:
  explicit Random(std::uint64_t seed) : random_(seed) {
    const DType dtypes[] = {dtypes::index, dtypes::i8, dtypes::u8, dtypes::i32};
    dtype_ = pick(dtypes);
    leaves_ = {range(const_int(between(1, 5), dtype_), 0), range(const_int(3, dtype_), 1),
               Variable("v", dtype_.is_unsigned() ? 0 : -3, 3, dtype_)};
    values_ = leaves_;
    for (int i = 0; i < 7; ++i) values_.push_back(next());
  }

  UOp condition() {
    const Op ops[] = {Op::CmpLt, Op::CmpNe, Op::CmpEq};
    const UOp a = values_.back(), b = one_in(2) ? constant() : pick(values_);
    return one_in(2) ? make(pick(ops), {a, b}) : make(pick(ops), {b, a});
  }

  // Calls f for all values of the leaves.
  template <class F>
  void for_all(F f) const {
    Assignment at;
    for (Wide i = leaves_[0]->bounds().lo; i <= leaves_[0]->bounds().hi; ++i)
      for (Wide j = leaves_[1]->bounds().lo; j <= leaves_[1]->bounds().hi; ++j)
        for (Wide k = leaves_[2]->bounds().lo; k <= leaves_[2]->bounds().hi; ++k) {
          at[leaves_[0].node()] = static_cast<Bits>(i);
          at[leaves_[1].node()] = static_cast<Bits>(j);
          at[leaves_[2].node()] = static_cast<Bits>(k);
          f(at);
        }
  }

  // "r0 = 3, v = -2": leaves it does not name may have any value.
  Assignment counterexample(const std::string& reason) const {
    Assignment at;
    for (const UOp& leaf : leaves_) {
      const std::string name = expression_text(leaf.node()) + " = ";
      const std::size_t found = reason.find(name);
      at[leaf.node()] = found == reason.npos
                            ? static_cast<Bits>(leaf->lo())
                            : static_cast<Bits>(std::stoll(reason.substr(found + name.size())));
    }
    return at;
  }

 private:
  std::int64_t between(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(hi - lo + 1));
  }
  bool one_in(int n) { return between(1, n) == 1; }
  template <class List>
  std::decay_t<decltype(std::declval<List>()[0])> pick(const List& list) {
    return list[static_cast<std::size_t>(random_() % std::size(list))];
  }
  UOp constant() {
    const std::int64_t values[] = {0, 1, 2, 3, 4, 7, 8, 12, 100, -1, -2, -5, -128};
    return const_int(pick(values), dtype_);
  }
  UOp next() {
    const Op any[] = {Op::Add,      Op::Add,      Op::Sub,  Op::Mul, Op::Max,
                      Op::FloorDiv, Op::FloorMod, Op::CDiv, Op::CMod};
    const Op with_constant[] = {Op::Mul, Op::FloorDiv, Op::FloorMod, Op::CDiv, Op::CMod,
                                Op::And, Op::Or,       Op::Xor,      Op::Shl,  Op::Shr};
    const UOp a = pick(values_), b = pick(values_);
    if (one_in(8)) return where(condition(), a, b);
    if (one_in(8)) return cast(cast(a, one_in(2) ? dtypes::i8 : dtypes::u16), dtype_);
    if (one_in(2)) return make(pick(with_constant), {a, constant()});
    return make(pick(any), {a, b});
  }

  std::mt19937_64 random_;
  DType dtype_;
  std::vector<UOp> leaves_, values_;
};

// Whether the claim fails there.
bool fails(const UOp& condition, const UOp& given, const Assignment& at) {
  return evaluate(given.node(), at).value() != 0 && evaluate(condition.node(), at).value() == 0;
}

TEST_F(Proofs, OfRandomExpressions) {
  constexpr int count = 200;
  int open = 0, holding = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    Random random(seed);
    const UOp condition = random.condition(), given = random.condition();
    SCOPED_TRACE(fmt::format("seed {}: {} where {}", seed, expression_text(condition.node()),
                             expression_text(given.node())));
    bool holds = true;
    random.for_all([&](const Assignment& at) { holds = holds && !fails(condition, given, at); });
    const Proof proof = prove(condition.node(), given.node(), 500);
    if (proof.verdict == Verdict::Proved) {
      EXPECT_TRUE(holds);
    } else if (proof.verdict == Verdict::Refuted) {
      EXPECT_TRUE(fails(condition, given, random.counterexample(proof.reason))) << proof.reason;
    }
    open += proof.verdict == Verdict::Unknown;
    holding += holds;
  }
  fmt::print("{} of {} hold, {} undecided\n", holding, count, open);
  EXPECT_LE(open, count / 20);
}

// What is not known.

UOp param(const std::vector<UOp>& dims, DType dtype = dtypes::f32) {
  return make(Op::Param, dims, dtype, ParamArg{});
}
UOp place(const UOp& buffer, const UOp& valid, std::vector<UOp> indices) {
  indices.insert(indices.begin(), {buffer, valid});
  return make(Op::Index, indices);
}
UOp load(const UOp& buffer, const UOp& index) {
  return make(Op::Load, {place(buffer, const_bool(true), {index})});
}

TEST_F(Proofs, OfUnknownValues) {
  const UOp r = range(8, 0);
  const UOp x = load(param({const_int(8)}, dtypes::i32), r), f = load(param({const_int(8)}), r);
  EXPECT_EQ(prove(x < 8).verdict, Verdict::Unknown);
  EXPECT_EQ(prove(x < 8).reason.substr(0, 46), "nothing but its bounds is known of load(index(");
  EXPECT_EQ(prove(x < 8, x < 5), proved);
  EXPECT_EQ(prove_equal(x - x, const_int(0, dtypes::i32)), proved);
  EXPECT_EQ(prove((f < f) & (r < 8)).verdict, Verdict::Unknown);
  EXPECT_EQ(prove((f < f) | (r < 8)), proved);
  EXPECT_EQ(prove(cast(f, dtypes::u8) >= 0), proved);  // by its bounds
  EXPECT_EQ(prove((cast(r, dtypes::i32) & x % 8) < 0).verdict, Verdict::Unknown);
  EXPECT_EQ(prove_equal(f, f), proved);
  EXPECT_EQ(prove_equal(f, f + f), unknown("f32 and f32 are not compared"));
}

TEST_F(Proofs, OfWhatIsNoCondition) {
  EXPECT_THROW(prove(range(8, 0)), Error);
  EXPECT_THROW(prove(const_bool(true), range(8, 0)), Error);
}

// An iteration of x*x + 1 modulo a large number: nobody knows.
UOp hard() {
  UOp x = Variable("x", 0, 1 << 20);
  for (int i = 0; i < 6; ++i) x = (x * x + 1) % 1000003;
  return x != 123456;
}

TEST_F(Proofs, OfTime) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(prove(hard().node(), nullptr, 100).verdict, Verdict::Unknown);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST_F(Proofs, OfDepth) {
  UOp sum = range(8, 0), larger = sum;
  for (int i = 0; i < 2000; ++i) {
    sum = sum + i % 3;
    larger = where(larger > i, larger, larger + 1);
  }
  EXPECT_EQ(prove(sum >= 0), proved);
  EXPECT_NE(prove((larger >= 0).node(), nullptr, 100).verdict, Verdict::Refuted);
  for (int i = 0; i < 100'000; ++i) sum = sum + i % 3;
  EXPECT_EQ(prove(sum >= 0).verdict, Verdict::Unknown);
}

TEST_F(Proofs, InManyThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([i] {
      Arena arena;
      const InternerScope scope(arena);
      const UOp r = range(16 + i, 0);
      for (int k = 0; k < 5; ++k) {
        EXPECT_EQ(prove(r + k < 16 + i + k), proved);
        EXPECT_EQ(prove(r + k < 15 + i + k), refuted(fmt::format("r0 = {}", 15 + i)));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

// Indices.

std::vector<Proof> prove_indices_of(const UOp& root) {
  std::vector<Proof> proofs;
  for (const IndexProof& p : prove_indices(nodes_of({root}), patience_ms))
    proofs.push_back(p.proof);
  return proofs;
}
Proof prove_index(const UOp& root) { return prove_indices_of(root).at(0); }

TEST_F(Proofs, OfAPaddedConvolution) {
  const UOp y = range(14, 0) + range(3, 1) - 1, x = range(14, 2) + range(3, 3) - 1;
  const UOp in = param({const_int(14), const_int(14)});
  const UOp above = (y >= 0) & (x >= 0), below = (y < 14) & (x < 14);
  EXPECT_EQ(prove_index(place(in, above & below, {y, x})), proved);
  const std::string reason = prove_index(place(in, above & (x < 14), {y, x})).reason;
  EXPECT_TRUE(reason.starts_with("r0 + r1 - 1 is not in [0, 14) at r0 = 13, r1 = 2, ")) << reason;
  EXPECT_EQ(prove_index(place(in, below, {y, x})).verdict, Verdict::Refuted);
}

TEST_F(Proofs, OfATransposedConvolution) {
  const UOp y = range(14, 0) + 1 - range(3, 1);  // stride 2: every other one meets the input
  const UOp in = param({const_int(7)});
  const UOp inside = (y >= 0) & (y / 2 < 7);
  EXPECT_EQ(prove_index(place(in, inside & (y % 2 == 0), {y / 2})), proved);
  EXPECT_EQ(prove_index(place(in, inside & (y % 2 == 0), {(y + 1) / 2})), proved);
  EXPECT_EQ(prove_index(place(in, inside, {(y + 1) / 2})).verdict, Verdict::Refuted);
}

TEST_F(Proofs, OfSymbolicBuffers) {
  const UOp n = Variable("n", 1, 4096), i = range(n, 0), j = range(16, 1);
  EXPECT_EQ(prove_index(place(param({n, const_int(16)}), const_bool(true), {i, j})), proved);
  EXPECT_EQ(prove_index(place(param({n * 16}), const_bool(true), {i * 16 + j})), proved);
  EXPECT_EQ(prove_index(place(param({n}), i < n - 1, {i + 1})), proved);
  EXPECT_EQ(prove_index(place(param({n}), i < 4095, {i + 1})).verdict, Verdict::Refuted);
}

TEST_F(Proofs, OfAGather) {
  const UOp table = param({const_int(1000), const_int(8)}), j = range(8, 1);
  const UOp token = load(param({const_int(16)}, dtypes::i32), range(16, 0));
  const UOp valid = (token >= 0) & (token < 1000);
  EXPECT_EQ(prove_index(place(table, valid, {token, j})), proved);
  const auto proofs = prove_indices_of(place(table, const_bool(true), {token, j}));
  ASSERT_EQ(proofs.size(), 2U);
  EXPECT_EQ(proofs[0], proved);
  EXPECT_EQ(proofs[1].verdict, Verdict::Unknown);
}

TEST_F(Proofs, OfStages) {
  const UOp r = range(8, 0), s = range(4, 1), value = const_float(1, dtypes::f32);
  const UOp stage = make(Op::Stage, {value, r, s}, dtypes::void_, StageArg{{0}, Space::Shared, {}});
  const UOp i = range(8, 2), j = range(4, 3);
  EXPECT_EQ(prove_index(place(stage, const_bool(true), {i, j})), proved);
  EXPECT_EQ(prove_index(place(stage, i < 5, {j, i})), refuted("r2 is not in [0, 4) at r2 = 4"));
  // A loop of one iteration has become 0.
  const UOp row =
      make(Op::Stage, {value, const_int(0), s}, dtypes::void_, StageArg{{1}, Space::Shared, {}});
  EXPECT_EQ(prove_index(place(row, i < 1, {i, j})), proved);
  EXPECT_EQ(prove_index(place(row, i < 2, {i, j})), refuted("r2 is not in [0, 1) at r2 = 1"));
}

TEST_F(Proofs, OfVectorsOfIndices) {
  const UOp r = range(4, 0), buffer = param({const_int(8)});
  const UOp pair = make(Op::Stack, {r * 2, r * 2 + 1}), next = make(Op::Stack, {r * 2, r * 2 + 2});
  EXPECT_EQ(prove_index(place(buffer, const_bool(true), {pair})), proved);
  EXPECT_EQ(prove_index(place(buffer, const_bool(true), {next})),
            refuted("r0*2 + 2 is not in [0, 8) at r0 = 3"));
  EXPECT_EQ(prove_index(place(buffer, make(Op::Stack, {const_bool(true), r < 3}), {next})), proved);
  const UOp numbers = make(Op::Stack, {const_int(0), const_int(1)});
  const UOp run = make(Op::Splat, {r * 2}, dtypes::index.vec(2)) + numbers;
  EXPECT_EQ(prove_index(place(buffer, const_bool(true), {run})), proved);
  EXPECT_EQ(prove_index(place(buffer, const_bool(true), {run + numbers})),
            refuted("r0*2 + 1 + 1 is not in [0, 8) at r0 = 3"));
  EXPECT_EQ(prove_index(place(buffer, run + numbers < 8, {run + numbers})), proved);
  EXPECT_EQ(prove_index(place(buffer, run != 7, {run + numbers})), proved);
  EXPECT_EQ(prove_index(place(buffer, run != 6, {run + numbers})).verdict, Verdict::Refuted);
  const auto lane = [](const UOp& vector, int at) {
    return make(Op::Lane, {vector}, dtypes::void_, PositionArg{at});
  };
  const UOp valid = run < 7, turned = make(Op::Stack, {lane(valid, 1), lane(valid, 0)});
  const UOp back = make(Op::Stack, {lane(run, 1) + 1, lane(run, 0)});
  EXPECT_EQ(prove_index(place(buffer, turned, {back})), proved);
  EXPECT_EQ(prove_index(place(buffer, valid, {back})),
            refuted("r0*2 + 1 + 1 is not in [0, 8) at r0 = 3"));
  const UOp table = param({const_int(4)}, dtypes::i32);
  const UOp token = make(Op::Load, {place(table, const_bool(true), {pair % 4})});
  const auto proofs = prove_indices_of(place(buffer, const_bool(true), {token}));
  ASSERT_EQ(proofs.size(), 2U);
  EXPECT_EQ(proofs[0], proved);
  EXPECT_EQ(proofs[1].verdict, Verdict::Unknown);
}

TEST_F(Proofs, OfUnknownDimensions) {
  const UOp call = make(Op::Call, {const_float(1)}, dtypes::f32, CallArg{});
  EXPECT_EQ(prove_index(place(call, const_bool(true), {range(8, 0)})),
            unknown("the dimensions are not known"));
}

std::string message_of(const UOp& root, bool strict = false) {
  try {
    validate_indices(nodes_of({root}), "split", strict);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_F(Proofs, OfAWholeGraph) {
  const UOp r = range(8, 0), buffer = param({const_int(8)});
  EXPECT_EQ(message_of(place(buffer, const_bool(true), {r})), "");
  EXPECT_EQ(message_of(place(buffer, r < 7, {r + 2})),
            "internal error: after split, an index leaves its buffer:\n"
            "  p0[r0 + 2] where r0 < 7\n"
            "    r0 + 2 is not in [0, 8) at r0 = 6");
  const UOp token = load(param({const_int(8)}, dtypes::i32), r);
  EXPECT_EQ(message_of(place(buffer, const_bool(true), {token})), "");
  EXPECT_EQ(message_of(place(buffer, const_bool(true), {r}), true), "");
  EXPECT_NE(message_of(place(buffer, const_bool(true), {token}), true).find("is not proved"),
            std::string::npos);
}

}  // namespace
}  // namespace weft
