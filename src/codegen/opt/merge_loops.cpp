// Two loops are one where every place that changes with them has both as indices of neighbouring
// dimensions, of which the inner loop covers the second.

#include <weft/dev/codegen/merge_loops.h>

#include <algorithm>
#include <map>
#include <optional>

#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>

namespace weft {
namespace {

LoopKind kind_of(const Node* range) { return range->arg<RangeArg>().kind; }
bool is_plain(LoopKind kind) { return kind == LoopKind::Loop || kind == LoopKind::Reduce; }

// Where the outer loop stands among the indices of a place; nothing where they cannot be merged.
std::optional<std::size_t> joined_at(const Node* index, const Node* outer, const Node* inner) {
  const Node* storage = index->src(0);
  if (storage->op() != Op::Param) return std::nullopt;
  const NodeList at = index->src().subspan(2), sizes = storage->dims();
  const auto first = std::ranges::find(at, outer);
  const auto d = static_cast<std::size_t>(first - at.begin());
  if (d + 1 >= at.size() || at[d + 1] != inner || sizes[d + 1] != inner->src(0))
    return std::nullopt;
  if (!sizes[d]->is_const()) return std::nullopt;
  for (std::size_t i = 0; i < index->size(); ++i) {
    const bool is_one_of_them = i == d + 2 || i == d + 3;
    const Node* other = index->src(i);
    if (!is_one_of_them && (changes_with(other, outer) || changes_with(other, inner)))
      return std::nullopt;
  }
  return d;
}

class Pair {
 public:
  Pair(const Node* kernel, const Node* outer, const Node* inner) : outer_(outer), inner_(inner) {
    order_ = toposort(kernel);
  }

  // All places of a param have to agree.
  bool can_merge() {
    for (const Node* node : order_) {
      if (node->op() != Op::Index) {
        if (is_value(node) && uses_itself(node)) return false;
        continue;
      }
      const Node* storage = storage_of(node->src(0));
      const bool changes = changes_with(node, outer_) || changes_with(node, inner_);
      const auto at = changes ? joined_at(node, outer_, inner_) : std::nullopt;
      if (changes && !at) return false;
      if (!note(storage, at)) return false;
    }
    return true;
  }

  UOp merged(const UOp& kernel) const {
    const UOp both = range_like(outer_, outer_->src(0)->lo() * inner_->src(0)->lo());
    NodeMap<const Node*> made;
    const auto now = [&](const Node* node) { return UOp(*made.find(node)); };
    for (const Node* node : order_) made.set(node, rebuilt(node, both, now).node());
    return now(kernel.node());
  }

 private:
  // What is neither an index nor a loop's end.
  static bool is_value(const Node* node) {
    return !OpSet{Op::End, Op::Reduce, Op::Stage, Op::After}.contains(node->op());
  }
  bool uses_itself(const Node* node) const {
    return std::ranges::any_of(
        node->src(), [&](const Node* source) { return source == outer_ || source == inner_; });
  }

  bool note(const Node* storage, std::optional<std::size_t> at) {
    const auto [known, is_new] = places_.try_emplace(storage, at);
    return is_new || known->second == at;
  }
  std::optional<std::size_t> joined(const Node* storage) const {
    const auto known = places_.find(storage);
    return known == places_.end() ? std::nullopt : known->second;
  }

  template <class Now>
  UOp rebuilt(const Node* node, const UOp& both, const Now& now) const {
    if (node == outer_) return both;
    std::vector<UOp> src;
    for (const Node* source : node->src()) src.push_back(now(source));
    const bool is_place = node->op() == Op::Index;
    if (const auto d = joined(is_place ? storage_of(node->src(0)) : node)) {
      const auto inner = static_cast<std::ptrdiff_t>(*d) + 1;
      if (!is_place) src[*d] = const_int(node->src(*d)->lo() * node->src(*d + 1)->lo());
      src.erase(src.begin() + (is_place ? inner + 2 : inner));
    } else if (!is_value(node)) {
      std::erase_if(src, [&](const UOp& source) { return source.node() == inner_; });
    }
    return with_sources(UOp(node), src);
  }

  const Node *outer_, *inner_;
  std::vector<const Node*> order_;
  std::map<const Node*, std::optional<std::size_t>> places_;
};

// The next two loops that can be merged; a null kernel where there are none.
UOp merged_once(const UOp& kernel) {
  for (const Node* closer : toposort(kernel.node())) {
    if (!OpSet{Op::End, Op::Reduce}.contains(closer->op())) continue;
    for (std::size_t i = 1; i + 1 < closer->size(); ++i) {
      const Node *outer = closer->src(i), *inner = closer->src(i + 1);
      if (!outer->src(0)->is_const() || !inner->src(0)->is_const()) continue;
      if (kind_of(outer) != kind_of(inner) || !is_plain(kind_of(outer))) continue;
      if (Pair pair(kernel.node(), outer, inner); pair.can_merge()) return pair.merged(kernel);
    }
  }
  return {};
}

}  // namespace

UOp merge_loops(const UOp& kernel) {
  UOp result = kernel;
  for (UOp next = result; !next.is_null(); next = merged_once(result)) result = next;
  return result;
}

}  // namespace weft
