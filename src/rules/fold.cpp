// Constants, identities, and integers of which the bounds leave one value.

#include <array>
#include <cmath>
#include <numbers>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/ir/value.h>
#include <weft/dev/rules/symbolic.h>

namespace weft {

bool is_multiple_of_log2e(double factor, DType dtype) {
  if (!KindSet{Kind::F32, Kind::F64}.contains(dtype.kind())) return false;
  const double log2e = double_from_bits(bits_from_double(std::numbers::log2e, dtype), dtype);
  int exponent = 0;
  return std::abs(std::frexp(factor / log2e, &exponent)) == 0.5;
}

namespace {

// exp(c) is EXP2 of such a product. Rounding that would cost as many bits as it has before the binary point, and
// decomposition does not.
bool is_exponent(const Node* product) {
  const DType dtype = product->dtype().scalar();
  if (product->op() != Op::Mul || !dtype.is_float()) return false;
  const auto value_of = [&](std::size_t i) {
    return double_from_bits(product->src(i)->arg<ConstArg>().bits, dtype);
  };
  const auto is_from = [&](double x, double factor) {
    return std::abs(x) > 1 && is_multiple_of_log2e(factor, dtype);
  };
  return is_from(value_of(0), value_of(1)) || is_from(value_of(1), value_of(0));
}

// Ops whose result the table only bounds (EXP2 and the like) stay: a device's own decomposition
// decides their bits, and folds then.
UOp fold_constants(const Match& m) {
  const Node* root = m.root();
  std::array<Bits, 3> operands{};
  for (std::size_t i = 0; i < root->size(); ++i) {
    if (!root->src(i)->is_const()) return {};
    operands[i] = root->src(i)->arg<ConstArg>().bits;
  }
  const DType from = root->src(root->op() == Op::Where ? 1 : 0)->dtype().scalar();
  if (root->op() == Op::Cast)
    return const_bits(root->dtype(), convert(operands[0], from, root->dtype().scalar()));
  if (root->op() == Op::Bitcast && root->dtype().lanes() == root->src(0)->dtype().lanes())
    return const_bits(root->dtype(), reinterpret(operands[0], from, root->dtype().scalar()));
  if (is_exponent(root)) return {};
  const auto value = evaluate(root->op(), from, std::span(operands).first(root->size()));
  return value ? const_bits(root->dtype(), *value) : UOp();
}

UOp pinned_value(const Match& m) {
  const Node* root = m.root();
  if (root->lo() != root->hi()) return {};
  return const_bits(root->dtype(), static_cast<Bits>(root->lo()));
}

// A loop of one iteration has become its only value: nothing is left to close. (A STAGE keeps the
// 0: it has a dimension for each source, and its readers an index.) Nor is memory another in each
// iteration, nor is there an iteration before that a barrier would wait for.
UOp drop_single_iterations(const Match& m) {
  const Node* root = m.root();
  const std::size_t kept = root->op() == Op::Barrier ? 0 : 1;
  std::vector<UOp> src;
  for (std::size_t i = 0; i < root->size(); ++i)
    if (i < kept || !root->src(i)->is_const()) src.emplace_back(root->src(i));
  if (src.size() == root->size()) return {};
  const bool only_body = kept == 1 && src.size() == 1 && src[0]->dtype() == root->dtype();
  return only_body ? src[0] : with_sources(UOp(root), src);
}

UOp take_member(const Match& m) { return UOp(member_of(m.root())); }

UOp drop_cast(const Match& m) {
  return m.root()->dtype() == m.root()->src(0)->dtype() ? UOp(m.root()->src(0)) : UOp();
}

// Whether every value of `from` is one of `to`.
bool holds_all(DType from, DType to) {
  if (from.is_bool()) return !to.is_void();
  if (from.is_int() && to.is_int()) {
    if (from.is_unsigned() == to.is_unsigned()) return from.bits() <= to.bits();
    return from.is_unsigned() && from.bits() < to.bits();
  }
  if (from.is_float() && to.is_float()) return promote(from, to) == to && !from.is_weak();
  return false;
}

bool fits(const Node* node, DType dtype) {
  if (holds_all(node->dtype().scalar(), dtype)) return true;
  if (!node->dtype().is_int() || !dtype.is_int()) return false;
  const Interval b = node->bounds(), all = dtype_interval(dtype);
  return all.lo <= b.lo && b.hi <= all.hi;
}

// cast(cast(x)): the inner one is dropped where it keeps every value of x, or at least those bits
// that the outer one keeps.
UOp merge_casts(const Match& m) {
  const Node* inner = m.root()->src(0);
  const Node* x = inner->src(0);
  const DType through = inner->dtype().scalar(), to = m.root()->dtype().scalar();
  const bool keeps_bits =
      x->dtype().is_int() && through.is_int() && to.is_int() && to.bits() <= through.bits();
  return keeps_bits || fits(x, through) ? cast(UOp(x), m.root()->dtype()) : UOp();
}

UOp merge_bitcasts(const Match& m) {
  return bitcast(UOp(m.root()->src(0)->src(0)), m.root()->dtype());
}

// x / c -> x * (1/c) where 1/c is exact: for powers of 2, both round the same number.
UOp exact_reciprocal(const Match& m) {
  const Node* divisor = m.root()->src(1);
  const DType dtype = divisor->dtype().scalar();
  const double c = double_from_bits(divisor->arg<ConstArg>().bits, dtype), inverse = 1 / c;
  int exponent = 0;
  const bool is_power = std::isfinite(inverse) && std::abs(std::frexp(c, &exponent)) == 0.5;
  const Bits bits = bits_from_double(inverse, dtype);
  if (!is_power || double_from_bits(bits, dtype) != inverse) return {};
  return UOp(m.root()->src(0)) * const_bits(divisor->dtype(), bits);
}

bool never_zero(const Node* node) { return node->bounds().lo > 0 || node->bounds().hi < 0; }

}  // namespace

const RuleSet& fold_rules() {
  static const Pat x = any("x"), y = any("y"), i = ints("i"), b = bools("b");
  static const Pat c = int_const("c");
  static const Pat s = of_kinds("s", signed_kinds);
  static const OpSet elementwise = OpSet::where(is_elementwise);
  static const OpSet pinned =
      OpSet::where([](Op op) { return is_elementwise(op) || op == Op::Variable; });
  static const KindSet integral = int_kinds | KindSet{Kind::Bool};
  // clang-format off
  static const RuleSet rules{"fold", {
    rule(node(elementwise),                        fold_constants),
    rule(with_kinds(node(pinned), integral),       pinned_value),
    rule(node({Op::Range, Op::Special}, {1}),      0),
    rule(node({Op::Reduce, Op::End, Op::After, Op::Barrier}), drop_single_iterations),
    rule(node(Op::Bind, {c, y}),                   c),
    rule(node(Op::GetTuple),                       take_member),

    // Subtraction is addition: one form to reason about. (factor_rules turns it back.) What is
    // unsigned has no -1.
    rule(x - 0,                                    x),
    rule(s - y,                                    s + y * -1),
    rule(-s,                                       s * -1),
    rule(i - i,                                    0),
    rule((i + y) - y,                              i),
    rule((i - y) + y,                              i),
    rule(node(Op::Neg, {node(Op::Neg, {x})}),      x),

    rule(i + 0,                                    i),
    rule(x * 1,                                    x),
    rule(node(Op::Div, {x, 1}),                    x),
    rule(node(Op::Div, {x, any_const("c")}),       exact_reciprocal),
    rule(node(Op::Pow, {x, 1}),                    x),
    rule(node(Op::Pow, {x, 0}),                    1),
    rule(node(Op::Pow, {x, 2}),                    x * x),
    rule(i / 1,                                    i),
    rule(s / -1,                                   s * -1),
    rule(i / i,                                    1, when([](const Match& m) { return never_zero(m.root()->src(0)); })),
    rule(i % i,                                    0),
    rule((i % y) % y,                              i % y),
    rule(node(Op::CDiv, {i, 1}),                   i),
    rule(node({Op::Shl, Op::Shr}, {x, 0}),         [](const Match& m) { return UOp(m.root()->src(0)); }),
    rule(node(Op::Trunc, {i}),                     i),
    rule(node(Op::Trunc, {node(Op::Trunc, {x})}),  node(Op::Trunc, {x})),

    rule(i & -1,                                   i),
    rule(i & c,                                    i, when(lo(i) >= 0 && hi(i) <= c && (c & (c + 1)) == 0)),
    rule(i | 0,                                    i),
    rule(i | -1,                                   -1),
    rule(x ^ 0,                                    x),
    rule(x ^ x,                                    0),
    rule((x ^ y) ^ y,                              x),
    rule(x & x,                                    x),
    rule(x | x,                                    x),
    rule(max(x, x),                                x),
    rule(max(i, y),                                i, when(lo(i) >= hi(y))),

    // A bool's arithmetic is logic.
    rule(b + y,                                    b | y),
    rule(b * y,                                    b & y),
    rule(max(b, y),                                b | y),
    rule(b & 1,                                    b),
    rule(b | 0,                                    b),
    rule(b != 0,                                   b),
    rule(b == 1,                                   b),
    rule(b == 0,                                   !b),
    rule(!(!b),                                    b),
    rule(b & !b,                                   0),
    rule(b | !b,                                   1),
    rule(b ^ 1,                                    !b),
    rule(b < y,                                    (!b) & y),

    rule(node({Op::Cast, Op::Bitcast}),                   drop_cast),
    rule(node(Op::Cast, {node(Op::Cast, {x})}),           merge_casts),
    rule(node(Op::Bitcast, {node(Op::Bitcast, {x})}),     merge_bitcasts),
  }};
  // clang-format on
  return rules;
}

}  // namespace weft
