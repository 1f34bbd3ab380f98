// A width for every index. An index expression becomes the same expression in i32, or where its
// values need it u32 or i64, below a CAST back to index; the casts meet and cancel on the way up,
// and what uses an index takes the integer under it.

#include <algorithm>
#include <limits>

#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/symbolic.h>

namespace weft {
namespace {

DType width_for(Interval values) {
  using I32 = std::numeric_limits<std::int32_t>;
  if (I32::min() <= values.lo && values.hi <= I32::max()) return dtypes::i32;
  if (0 <= values.lo && values.hi <= std::numeric_limits<std::uint32_t>::max()) return dtypes::u32;
  return dtypes::i64;
}

bool is_index(const Node* node) { return node->dtype().is_index(); }

// The integer below CAST(..., index); null where there is none.
const Node* narrow(const Node* node) {
  return node->op() == Op::Cast && is_index(node) && node->src(0)->dtype().is_int() ? node->src(0)
                                                                                    : nullptr;
}

UOp to_index(const UOp& value) { return cast(value, dtypes::index.vec(value->dtype().lanes())); }

// An integer in another width; a constant at once.
UOp in_width(const Node* value, DType to) {
  if (value->is_const()) return const_bits(to, value->arg<ConstArg>().bits);
  return cast(UOp(value), to);
}

UOp narrow_leaf(const Match& m) {
  const Node* root = m.root();
  const DType to = width_for(root->bounds()).vec(root->dtype().lanes());
  if (root->is_const()) return to_index(const_bits(to, root->arg<ConstArg>().bits));
  if (root->op() == Op::Variable)
    return to_index(make(Op::Variable, {}, to, root->arg<VariableArg>()));
  return {};
}

// A loop counts in the width of its size.
UOp narrow_range(const Match& m) {
  const Node* root = m.root();
  const Node* size = narrow(root->src(0));
  if (size == nullptr) return {};
  return to_index(with_sources(UOp(root), {UOp(size)}));
}

UOp narrow_op(const Match& m) {
  const Node* root = m.root();
  const std::size_t first = root->op() == Op::Where ? 1 : 0;
  const bool compares = has(root->op(), OpFlag::Compare);
  Interval values = compares ? root->src(0)->bounds() : root->bounds();
  for (std::size_t i = first; i < root->size(); ++i) {
    if (narrow(root->src(i)) == nullptr) return {};
    const Interval b = root->src(i)->bounds();
    values = {std::min(values.lo, b.lo), std::max(values.hi, b.hi)};
  }
  const DType to = width_for(values).vec(root->src(first)->dtype().lanes());
  std::vector<UOp> src;
  if (first == 1) src.push_back(UOp(root->src(0)));
  for (std::size_t i = first; i < root->size(); ++i)
    src.push_back(in_width(narrow(root->src(i)), to));
  const UOp result = make(root->op(), src);
  return compares ? result : to_index(result);
}

UOp drop_index_cast(const Match& m) {
  const Node* inner = narrow(m.root()->src(0));
  return inner != nullptr ? cast(UOp(inner), m.root()->dtype()) : UOp();
}

// Ops whose dtype is that of source 0: what they hold or hand on becomes narrow with them, as far
// as its values allow.
UOp narrow_holder(const Match& m) {
  const Node* root = m.root();
  std::vector<UOp> src;
  for (const Node* source : root->src())
    src.emplace_back(narrow(source) != nullptr ? narrow(source) : source);
  if (narrow(root->src(0)) == nullptr) return {};
  const Interval a = root->bounds(), b = root->src(0)->bounds();
  const DType to = width_for({std::min(a.lo, b.lo), std::max(a.hi, b.hi)});
  src[0] = cast(src[0], to.vec(root->src(0)->dtype().lanes()));
  if (root->op() == Op::Bind) src[1] = cast(src[1], src[0]->dtype());
  if (root->op() == Op::Stack)
    for (UOp& lane : src) lane = cast(lane, to);
  return to_index(root->op() == Op::Splat ? make(Op::Splat, src, to.vec(root->dtype().lanes()))
                                          : with_sources(UOp(root), src));
}

// Everything else takes integers of any width as they are.
UOp take_narrow(const Match& m) {
  const Node* root = m.root();
  std::vector<UOp> src;
  bool changed = false;
  for (const Node* source : root->src()) {
    const Node* inner = narrow(source);
    changed = changed || inner != nullptr;
    src.emplace_back(inner != nullptr ? inner : source);
  }
  return changed ? with_sources(UOp(root), src) : UOp();
}

}  // namespace

const RuleSet& width_rules() {
  static const OpSet leaves{Op::Const, Op::Variable};
  static const OpSet holders{Op::Bind, Op::Reduce, Op::After,   Op::Stack, Op::Splat,
                             Op::Lane, Op::Stage,  Op::Shuffle, Op::Trunc};
  static const OpSet takers =
      OpSet::where([](Op op) { return !is_elementwise(op) && !leaves.contains(op); });
  static const OpSet ops = OpSet::where([](Op op) {
    const OpClass c = info(op).cls;
    return c == OpClass::Binary || c == OpClass::Ternary || op == Op::Neg;
  });
  static const RuleSet rules{
      "width",
      {
          rule(with_kinds(node(leaves), {Kind::Index}), narrow_leaf),
          rule(with_kinds(node({Op::Range, Op::Special}), {Kind::Index}), narrow_range),
          rule(node(Op::Cast), drop_index_cast),
          rule(node(ops), narrow_op),
          rule(with_kinds(node(holders), {Kind::Index}), narrow_holder),
          rule(node(takers), take_narrow),
      }};
  return rules;
}

}  // namespace weft
