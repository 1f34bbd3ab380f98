// A width for every index. An index expression becomes the same expression in i32, or where its
// values need it u32 or i64, below a CAST back to index; the casts meet and cancel on the way up,
// and what uses an index takes the integer under it. No index is left: what lies in memory has none
// (spec_checks.cpp).

#include <algorithm>
#include <limits>
#include <optional>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>
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

// The integer below CAST(..., index); null where there is none, or it has other values.
const Node* narrow(const Node* node) {
  if (node->op() != Op::Cast || !is_index(node)) return nullptr;
  const DType from = node->src(0)->dtype();
  return from.is_int() && from.kind() != Kind::U64 ? node->src(0) : nullptr;
}

const Node* bare(const Node* node) { return narrow(node) != nullptr ? narrow(node) : node; }

UOp to_index(const UOp& value) { return cast(value, dtypes::index.vec(value->dtype().lanes())); }

// An integer in another width; a constant at once, and so the numbers of lanes, by which it is seen what lies together.
UOp in_width(const Node* value, DType to) {
  const DType dtype = to.vec(value->dtype().lanes());
  if (value->is_const()) return const_bits(dtype, value->arg<ConstArg>().bits);
  if (value->op() == Op::Stack && std::ranges::all_of(value->src(), &Node::is_const)) {
    std::vector<UOp> lanes;
    for (const Node* lane : value->src()) lanes.push_back(in_width(lane, to));
    return make(Op::Stack, lanes);
  }
  return cast(UOp(value), dtype);
}

UOp narrow_leaf(const Match& m) {
  const Node* root = m.root();
  const DType to = width_for(root->bounds());
  if (root->is_const()) return to_index(in_width(root, to));
  return to_index(make(Op::Variable, {}, to, root->arg<VariableArg>()));
}

UOp narrow_cast(const Match& m) {
  const Node *root = m.root(), *from = root->src(0);
  if (const Node* inner = narrow(from)) return cast(UOp(inner), root->dtype());
  if (!is_index(root) || is_index(from) || narrow(root) != nullptr) return {};
  return to_index(cast(UOp(from), width_for(root->bounds()).vec(root->dtype().lanes())));
}

// An op on indices becomes the same op in the one width that holds its result and what it is
// computed from: all its sources, or the first, which others hand on.
UOp narrow_value(const Match& m) {
  const Node* root = m.root();
  const bool from_all = is_elementwise(root->op()) || root->op() == Op::Stack;
  const std::size_t count = from_all ? root->size() : 1;
  std::optional<Interval> values;
  if (is_index(root)) values = root->bounds();
  for (const Node* source : root->src().first(count)) {
    if (!is_index(source)) continue;
    const Interval b = source->bounds(), a = values.value_or(b);
    values = {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
  }
  if (!values) return {};
  const DType to = width_for(*values);
  std::vector<UOp> src;
  for (const Node* source : root->src())
    src.push_back(src.size() < count && is_index(source) ? in_width(bare(source), to)
                                                         : UOp(bare(source)));
  const UOp result = root->op() == Op::Splat ? make(Op::Splat, src, to.vec(root->dtype().lanes()))
                                             : with_sources(UOp(root), src);
  return is_index(root) ? to_index(result) : result;
}

UOp narrow_member(const Match& m) {
  const Node* member = member_of(m.root());
  return member != nullptr ? cast(UOp(member), m.root()->dtype()) : UOp();
}

// Everything else takes integers of any width as they are.
UOp take_narrow(const Match& m) {
  std::vector<UOp> src;
  for (const Node* source : m.root()->src()) src.emplace_back(bare(source));
  const bool same =
      std::ranges::equal(m.root()->src(), src, {}, {}, [](const UOp& u) { return u.node(); });
  return same ? UOp() : with_sources(UOp(m.root()), src);
}

}  // namespace

const RuleSet& width_rules() {
  static const OpSet leaves{Op::Const, Op::Variable};
  static const OpSet values = OpSet::where([](Op op) {
    return (is_elementwise(op) && op != Op::Cast) || info(op).cls == OpClass::Movement ||
           OpSet{Op::Range, Op::Special, Op::Bind,  Op::Reduce,
                 Op::After, Op::Stack,   Op::Splat, Op::Lane}
               .contains(op);
  });
  static const OpSet takers =
      OpSet::where([](Op op) { return !is_elementwise(op) && !leaves.contains(op); });
  static const RuleSet rules{"width",
                             {
                                 rule(with_kinds(node(leaves), {Kind::Index}), narrow_leaf),
                                 rule(node(Op::Cast), narrow_cast),
                                 rule(with_kinds(node(Op::GetTuple), {Kind::Index}), narrow_member),
                                 rule(node(values), narrow_value),
                                 rule(node(takers), take_narrow),
                             }};
  return rules;
}

std::vector<UOp> width(const std::vector<UOp>& roots, const RewriteOptions& options) {
  std::vector<UOp> result = rewrite(roots, width_rules(), options);
  for (UOp& root : result) root = UOp(bare(root.node()));
  return result;
}

}  // namespace weft
