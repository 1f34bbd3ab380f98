// The table of gradient rules.

#include "rules.h"

#include <array>
#include <numbers>

#include <weft/dev/ir/movement.h>

namespace weft {
namespace {

struct Entry {
  Op op;
  GradientRule rule;
};

// RULE(op, gradients of the sources ...), in terms of g, y, a, b and c.
#define RULE(op, ...)                                                          \
  Entry {                                                                      \
    Op::op, [](const GradientStep& step) -> Gradients {                        \
      [[maybe_unused]] const auto& [g, y, a, b, c, on_path, placement] = step; \
      return {__VA_ARGS__};                                                    \
    }                                                                          \
  }

constexpr double ln2 = std::numbers::ln2;

UOp zero(const UOp& like) { return literal_like(std::int64_t{0}, like); }
UOp one(const UOp& like) { return literal_like(std::int64_t{1}, like); }

// What `a` gets of max(a, b): all where it is larger, half of a tie. With NaN both get all.
UOp share(const UOp& g, const UOp& a, const UOp& b) {
  return where(a < b, zero(g), where(a == b, g / 2, g));
}

// trunc(a/b) as a constant, from what a mod b has left: a/b may round up to the next integer.
UOp times_taken(const UOp& y, const UOp& a, const UOp& b) {
  return make(Op::Detach, {(a - y) / b});
}

// b*a^(b-1), which is 0 for a = b = 0. There the exponent is replaced, not the result: what a WHERE
// leaves out would come back in further derivatives, as 0 times infinity.
UOp pow_by_base(const UOp& a, const UOp& b) {
  const UOp exponent = where((a == 0) & (b == 0), one(b), b);
  return b * make(Op::Pow, {a, exponent - 1});
}

// a^b * ln a, which is 0 for a = 0 and b >= 0.
UOp pow_by_exponent(const UOp& y, const UOp& a, const UOp& b) {
  const UOp base = where((a == 0) & (b >= 0), one(a), a);
  return y * make(Op::Log2, {base}) * ln2;
}

// Ops that are missing here and in constant_ops (gradient.cpp) cannot be differentiated.
// clang-format off
const Entry entries[] = {
  RULE(Neg,        -g),
  RULE(Recip,      -(g * y * y)),
  RULE(Sqrt,       g / (y * 2)),                       // infinite at 0
  RULE(Exp2,       g * y * ln2),
  RULE(Log2,       g / (a * ln2)),
  RULE(Sin,        g * make(Op::Cos, {a})),
  RULE(Cos,        -(g * make(Op::Sin, {a}))),
  RULE(Cast,       cast(g, a->dtype())),

  RULE(Add,        g, g),
  RULE(Sub,        g, -g),
  RULE(Mul,        g * b, g * a),
  RULE(Div,        g / b, -(g / b * y)),
  RULE(Mod,        g, -(g * times_taken(y, a, b))),
  RULE(Pow,        g * pow_by_base(a, b), g * pow_by_exponent(y, a, b)),
  RULE(Max,        share(g, a, b), share(g, b, a)),
  RULE(Where,      {}, where(a, g, zero(g)), where(a, zero(g), g)),
  RULE(MulAcc,     g * b, g * a, g),

  {Op::Reduce,     of_reduce},

  RULE(Reshape,    reshape(g, sizes_of(a))),
  {Op::Permute,    of_permute},
  {Op::Expand,     of_expand},
  RULE(Pad,        shrink(g, Sizes(b->src().begin(), b->src().end()), sizes_of(a))),
  {Op::Shrink,     of_shrink},
  RULE(Flip,       flip(g, y->arg<AxesArg>().axes.get())),

  {Op::Load,       of_load},
  {Op::Index,      of_index},
  {Op::Store,      of_store},
  {Op::After,      of_after},

  {Op::Copy,       of_copy},
  {Op::Shard,      of_copy},
  {Op::Multi,      of_multi},
  {Op::AllReduce,  of_allreduce},
  RULE(Contiguous, g),
  RULE(Remat,      g),
  {Op::Tuple,      of_tuple},
  {Op::Call,       of_call},
  {Op::Custom,     of_custom},
};
// clang-format on
#undef RULE

}  // namespace

Gradients of_tuple(const GradientStep& step) { return members_of(step.g); }

GradientStep::GradientStep(const Node* node, UOp gradient, const NodeMap<std::uint32_t>& paths,
                           GradientPlacement& where)
    : g(std::move(gradient)), y(node), on_path(paths), placement(where) {
  if (node->size() > 0) a = y.src(0);
  if (node->size() > 1) b = y.src(1);
  if (node->size() > 2) c = y.src(2);
}

GradientRule gradient_rule(Op op) {
  static const auto by_op = [] {
    std::array<GradientRule, op_count> table{};
    for (const Entry& entry : entries) table[static_cast<std::size_t>(entry.op)] = entry.rule;
    return table;
  }();
  return by_op[static_cast<std::size_t>(op)];
}

}  // namespace weft
