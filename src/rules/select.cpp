// WHERE: conditions that are settled, nested or repeated.

#include <map>

#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/symbolic.h>

namespace weft {
namespace {

bool is_const_select(const Node* node) {
  return node->op() == Op::Where && node->src(1)->is_const() && node->src(2)->is_const();
}

// op(where(c, k1, k2), k3) with constants k: the op moves into the branches, and folds there. With
// other branches it would be computed twice; where one of them is constant, once, but a WHERE that
// has other users would stay beside the new one, and who uses it cannot be seen from here.
UOp into_branches(const Match& m) {
  const Node* root = m.root();
  const Node *a = root->src(0), *b = root->src(1);
  const bool left = is_const_select(a);
  if (!(left && b->is_const()) && !(a->is_const() && is_const_select(b))) return {};
  const Node* select = left ? a : b;
  const auto branch = [&](std::size_t i) {
    const UOp value(select->src(i)), other(left ? b : a);
    return left ? make(root->op(), {value, other}) : make(root->op(), {other, value});
  };
  return where(UOp(select->src(0)), branch(1), branch(2));
}

// op(where(c, a, b), where(c, d, e)), where one pair of branches is constant: nothing is added.
UOp join_branches(const Match& m) {
  const Node* root = m.root();
  const Node *a = root->src(0), *b = root->src(1);
  if (a->op() != Op::Where || b->op() != Op::Where || a->src(0) != b->src(0)) return {};
  const auto constant = [&](std::size_t i) {
    return a->src(i)->is_const() && b->src(i)->is_const();
  };
  if (!constant(1) && !constant(2)) return {};
  const auto branch = [&](std::size_t i) {
    return make(root->op(), {UOp(a->src(i)), UOp(b->src(i))});
  };
  return where(UOp(a->src(0)), branch(1), branch(2));
}

UOp cast_branches(const Match& m) {
  const Node* select = m.root()->src(0);
  if (!is_const_select(select)) return {};
  const DType to = m.root()->dtype();
  return where(UOp(select->src(0)), cast(UOp(select->src(1)), to), cast(UOp(select->src(2)), to));
}

// What machines leave open for some operands, which are masked for that.
bool is_total(const Node* value) {
  static const OpSet partial{Op::CDiv, Op::CMod, Op::FloorDiv, Op::FloorMod, Op::Shl, Op::Shr};
  const bool rounds =
      value->op() == Op::Cast && value->src(0)->dtype().is_float() && !value->dtype().is_float();
  return !rounds && !partial.contains(value->op());
}

// A value where it is known which branch is taken, however deep the condition stands in it: padding that went into the
// operands of what it is around comes out of them again. Reads stay as they are, but those of one number, which
// may be read in any case.
class InBranch {
 public:
  InBranch(const Node* condition, std::size_t branch) : condition_(condition), branch_(branch) {}

  UOp operator()(const Node* value) {
    const bool is_open = is_elementwise(value->op()) ? is_total(value) : value->op() == Op::Load;
    if (!is_open) return UOp(value);
    const auto [known, is_new] = known_.try_emplace(value, UOp(value));
    if (!is_new || known_.size() > most_nodes) return known->second;
    const UOp made = value->op() == Op::Load ? number(value) : chosen(value);
    return known_[value] = made;
  }

 private:
  static constexpr std::size_t most_nodes = 64;

  UOp chosen(const Node* value) {
    if (value->op() == Op::Where && value->src(0) == condition_)
      return (*this)(value->src(branch_));
    std::vector<UOp> src;
    for (const Node* source : value->src()) src.push_back((*this)(source));
    return with_sources(UOp(value), src);
  }

  UOp number(const Node* load) const {
    const Node* place = load->src(0);
    const bool is_masked = branch_ == 1 && load->size() == 1 && place->op() == Op::Index &&
                           place->size() == 2 && place->src(1) == condition_;
    return is_masked ? make(Op::Load, {make(Op::Index, {UOp(place->src(0)), const_bool(true)})})
                     : UOp(load);
  }

  const Node* condition_;
  const std::size_t branch_;
  std::map<const Node*, UOp> known_;
};

UOp settle_in_branches(const Match& m) {
  const Node* root = m.root();
  const UOp yes = InBranch(root->src(0), 1)(root->src(1));
  const UOp no = InBranch(root->src(0), 2)(root->src(2));
  if (yes.node() == root->src(1) && no.node() == root->src(2)) return {};
  return where(UOp(root->src(0)), yes, no);
}

}  // namespace

const RuleSet& select_rules() {
  static const Pat a = any("a"), b = any("b"), x = any("x");
  static const Pat p = bools("p"), q = bools("q"), i = ints("i"), j = ints("j");
  static const Pat least = where(i < j, i, j);
  static const OpSet binary = OpSet::where([](Op op) { return info(op).cls == OpClass::Binary; });
  // clang-format off
  static const RuleSet rules{"select", {
    rule(where(1, a, b),                      a),
    rule(where(0, a, b),                      b),
    rule(where(p, a, a),                      a),
    rule(where(!p, a, b),                     where(p, b, a)),
    rule(where(p, 1, 0),                      p,                 when([](const Match& m) { return m.root()->dtype().is_bool(); })),
    rule(where(p, 0, 1),                      !p,                when([](const Match& m) { return m.root()->dtype().is_bool(); })),
    rule(node(Op::Where),                     settle_in_branches),
    rule(where(least < j, least, j),          least),
    rule(where(p, where(q, a, b), b),         where(p & q, a, b)),
    rule(where(p, a, where(q, a, b)),         where(p | q, a, b)),
    rule(where(i < j, j, i),                  max(i, j)),
    rule(where(i < j, i, j),                  i,                 when(hi(i) <= lo(j))),
    rule(node(binary),                        into_branches),
    rule(node(binary),                        join_branches),
    rule(node(Op::Cast, {node(Op::Where)}),   cast_branches),
  }};
  // clang-format on
  return rules;
}

}  // namespace weft
