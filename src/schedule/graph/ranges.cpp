#include <weft/dev/schedule/ranges.h>

#include <algorithm>

#include <fmt/core.h>
#include <weft/dev/ir/below.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/ir/value.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/error.h>

#include "reshape.h"

namespace weft {

UOp place(const UOp& tensor, const UOp& valid, const std::vector<UOp>& indices) {
  std::vector<UOp> src{tensor, valid};
  src.insert(src.end(), indices.begin(), indices.end());
  return make(Op::Index, src);
}

UOp element(const UOp& tensor, const UOp& valid, const std::vector<UOp>& indices) {
  return make(Op::Load, {place(tensor, valid, indices)});
}

namespace {

// The node that a rule matches: LOAD(INDEX(tensor, valid, indices ...)).
struct Element {
  explicit Element(const Match& m) : Element(m.root()->src(0)) {
    if (indices.size() != tensor->dims().size())
      internal_error(fmt::format("{} indices for {}", indices.size(), expression_text(tensor)));
  }
  explicit Element(const Node* index) : tensor(index->src(0)), valid(index->src(1)) {
    for (const Node* node : index->src().subspan(2)) indices.emplace_back(node);
  }

  // Returns an element of one of the tensor's sources.
  UOp of(std::size_t source, const std::vector<UOp>& at) const {
    return element(UOp(tensor->src(source)), valid, at);
  }
  // Returns the element of a source at the same indices. A scalar takes no indices.
  UOp of(const Node* source) const {
    return element(UOp(source), valid, source->shape() == nullptr ? std::vector<UOp>{} : indices);
  }
  const Node* size(std::size_t axis) const { return tensor->src(0)->dims()[axis]; }

  const Node* tensor;
  UOp valid;
  std::vector<UOp> indices;
};

UOp through_elementwise(const Match& m) {
  const Element e(m);
  std::vector<UOp> src;
  for (const Node* source : e.tensor->src()) src.push_back(e.of(source));
  return with_sources(UOp(e.tensor), src);
}

UOp through_leaf(const Match& m) {
  const Node* leaf = m.root()->src(0)->src(0);
  return UOp(leaf->op() == Op::Bind ? leaf->src(0) : leaf);
}

UOp through_detach(const Match& m) {
  const Element e(m);
  return e.of(0, e.indices);
}

UOp through_reshape(const Match& m) {
  const Element e(m);
  return e.of(0, reshaped_indices(e.tensor->src(0)->dims(), e.tensor->dims(), e.indices));
}

UOp through_permute(const Match& m) {
  const Element e(m);
  std::vector<UOp> at(e.indices.size());
  const auto& axes = e.tensor->arg<AxesArg>().axes.get();
  for (std::size_t i = 0; i < axes.size(); ++i)
    at[static_cast<std::size_t>(axes[i])] = e.indices[i];
  return e.of(0, at);
}

// Returns `valid` without the clauses that share no range with the indices, nor with a clause that
// does. Such clauses do not affect what is read here, and the user of the value checks them itself.
// If they stayed, a sum would depend on their ranges and be recomputed in each of their iterations.
UOp valid_for(const std::vector<UOp>& indices, const UOp& valid) {
  std::vector<const Node*> read = nodes_of(indices), clauses = clauses_of(valid.node());
  const auto is_read = [&](const Node* range) {
    return std::ranges::any_of(read, [&](auto* node) { return changes_with(node, range); });
  };
  const auto stays = [&](const Node* clause) {
    return clause->ranges().empty() || std::ranges::any_of(clause->ranges(), is_read);
  };
  UOp result = const_bool(true);
  for (auto next = std::ranges::find_if(clauses, stays); next != clauses.end();
       next = std::ranges::find_if(clauses, stays)) {
    result = result & UOp(*next);
    read.push_back(*next);
    clauses.erase(next);
  }
  return result;
}

bool is_in_a_reduction(const std::vector<UOp>& indices) {
  return std::ranges::any_of(indices, [](const UOp& index) {
    return std::ranges::any_of(index->ranges(), [](const Node* range) {
      return range->arg<RangeArg>().kind == LoopKind::Reduce;
    });
  });
}

// A symbolic size may be 1 at run time. The index along an expanded axis is dropped, and in
// reductions the clauses about it: they would make a scan of each output one of its own.
UOp through_expand(const Match& m) {
  const Element e(m);
  std::vector<UOp> at;
  for (std::size_t i = 0; i < e.indices.size(); ++i) {
    const UOp size = size_as_index(e.size(i)), first = const_int(0);
    if (e.size(i) == e.tensor->dims()[i])
      at.push_back(e.indices[i]);
    else
      at.push_back(size->is_const_int(1) ? first : where(size < 2, first, e.indices[i]));
  }
  const UOp valid = is_in_a_reduction(e.indices) ? valid_for(at, e.valid) : e.valid;
  return element(UOp(e.tensor->src(0)), valid, at);
}

// Every index is within the padded tensor, so that a side without padding needs no check.
UOp through_pad(const Match& m) {
  const Element e(m);
  const NodeList before = e.tensor->src(1)->src(), after = e.tensor->src(2)->src();
  UOp inside = const_bool(true);
  std::vector<UOp> at;
  for (std::size_t i = 0; i < e.indices.size(); ++i) {
    at.push_back(e.indices[i] - size_as_index(before[i]));
    if (!before[i]->is_const_int(0)) inside = inside & (at[i] >= 0);
    if (!after[i]->is_const_int(0)) inside = inside & (at[i] < size_as_index(e.size(i)));
  }
  const UOp value = element(UOp(e.tensor->src(0)), e.valid & inside, at);
  return where(inside, value, const_int(0, value->dtype()));
}

UOp through_shrink(const Match& m) {
  const Element e(m);
  const NodeList start = e.tensor->src(1)->src();
  std::vector<UOp> at;
  for (std::size_t i = 0; i < e.indices.size(); ++i)
    at.push_back(e.indices[i] + size_as_index(start[i]));
  return e.of(0, at);
}

UOp through_flip(const Match& m) {
  const Element e(m);
  std::vector<UOp> at = e.indices;
  for (std::int64_t axis : e.tensor->arg<AxesArg>().axes.get()) {
    const auto i = static_cast<std::size_t>(axis);
    at[i] = size_as_index(e.size(i)) - 1 - at[i];
  }
  return e.of(0, at);
}

// A reduction along axes becomes a reduction over ranges. Every set of indices gets new ranges,
// because a range is closed only once. A reduction over an axis of size 0 is the identity element.
UOp through_reduce(const Match& m) {
  const Element e(m);
  const auto& arg = e.tensor->arg<ReduceArg>();
  if (arg.axes.empty()) return {};
  std::vector<UOp> at = e.indices, src{UOp()};
  for (std::int64_t axis : arg.axes.get()) at[static_cast<std::size_t>(axis)] = const_int(0);
  const UOp valid = valid_for(at, e.valid);
  for (std::int64_t axis : arg.axes.get()) {
    const auto i = static_cast<std::size_t>(axis);
    if (e.size(i)->is_const_int(0))
      return const_bits(e.tensor->dtype(),
                        identity_bits(info(arg.op).identity, e.tensor->dtype().scalar()));
    at[i] = range(size_as_index(e.size(i)), fresh_id().value, LoopKind::Reduce);
    src.push_back(at[i]);
  }
  src[0] = element(UOp(e.tensor->src(0)), valid, at);
  return make(Op::Reduce, src, {}, ReduceArg{arg.op, {}});
}

// Inlines a STAGE in registers that is arithmetic on its ranges alone, such as the index along an
// axis. It is cheaper to recompute than to keep.
UOp through_stage(const Match& m) {
  const Node* stage = m.root()->src(0)->src(0);
  if (stage->arg<StageArg>().space != Space::Register) return {};
  for (const Node* node : toposort(stage->src(0)))
    if (!is_elementwise(node->op()) && info(node->op()).cls != OpClass::Leaf) return {};
  const Element e(m.root()->src(0));
  Substitution by;
  for (std::size_t i = 1; i < stage->size(); ++i)
    if (stage->src(i)->op() == Op::Range)
      by.emplace(stage->src(i), cast(e.indices[i - 1], stage->src(i)->dtype()));
  return substitute(UOp(stage->src(0)), by);
}

// A gather: its indices are tensors. Where they are not valid, its value is the second source of
// the LOAD, or 0.
UOp through_load(const Match& m) {
  const Element e(m);
  const Element read(e.tensor->src(0));
  std::vector<UOp> at;
  for (const UOp& index : read.indices) at.push_back(cast(e.of(index.node()), dtypes::index));
  const UOp valid = e.of(read.valid.node());
  const UOp value = element(UOp(read.tensor), e.valid & valid, at);
  const UOp other = e.tensor->size() > 1 ? e.of(e.tensor->src(1)) : const_int(0, value->dtype());
  return where(valid, value, other);
}

// Removes WHERE(c, LOAD, 0) if the validity of the LOAD contains all clauses of c: an invalid LOAD
// is 0 already, and so is its CAST.
UOp without_mask(const Match& m) {
  const Node* value = m.root()->src(1);
  const Node* load = value->op() == Op::Cast ? value->src(0) : value;
  const Node* zero = m.root()->src(2);
  if (load->op() != Op::Load || load->size() != 1 || !zero->is_const() ||
      zero->arg<ConstArg>().bits != 0)
    return {};
  const auto known = clauses_of(load->src(0)->src(1));
  const bool implied = std::ranges::all_of(clauses_of(m.root()->src(0)), [&](const Node* clause) {
    return std::ranges::find(known, clause) != known.end();
  });
  return implied ? UOp(value) : UOp();
}

Pat element_of(const OpSet& ops) {
  return node(Op::Load, {with_more(node(Op::Index, {node(ops)}))});
}

}  // namespace

const RuleSet& push_rules() {
  static const OpSet leaves{Op::Const, Op::Variable, Op::Bind};
  static const RuleSet rules{
      "push",
      {
          rule(element_of(OpSet::where(is_elementwise)), through_elementwise),
          rule(element_of(leaves), through_leaf),
          rule(element_of({Op::Detach}), through_detach),
          rule(element_of({Op::Reshape}), through_reshape),
          rule(element_of({Op::Permute}), through_permute),
          rule(element_of({Op::Expand}), through_expand),
          rule(element_of({Op::Pad}), through_pad),
          rule(element_of({Op::Shrink}), through_shrink),
          rule(element_of({Op::Flip}), through_flip),
          rule(element_of({Op::Reduce}), through_reduce),
          rule(element_of({Op::Load}), through_load),
          rule(element_of({Op::Stage}), through_stage),
          rule(node(Op::Where, {any("c"), node({Op::Load, Op::Cast}), any_const("zero")}),
               without_mask),
      }};
  return rules;
}

const RuleSet& ranges_rules(Algebra which) {
  static const RuleSet sets[] = {
      {"ranges", {&push_rules()}},
      {"ranges", {&push_rules(), &algebra(Algebra::Exact), &reduction_rules()}},
      {"ranges", {&push_rules(), &algebra(Algebra::Fast), &reduction_rules()}}};
  return sets[static_cast<std::size_t>(which)];
}

std::vector<UOp> ranges(const std::vector<UOp>& roots, const RewriteOptions& options) {
  return rewrite(roots, ranges_rules(), options);
}

}  // namespace weft
