// Merges reductions that differ only in the ids of their ranges. A kernel that was fused from
// several has the reductions of each of them.
//
// A traversal, not a rule set: two reductions are compared in a canonical form, in which their
// ranges have common ids.

#include <algorithm>
#include <map>
#include <utility>

#include <weft/dev/codegen/lower.h>
#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>

#include "traversal.h"

namespace weft {
namespace {

class CommonReductions : public Rebuilt {
 public:
  explicit CommonReductions(NodeList roots) {
    for (const Node* node : toposort(roots)) rebuild(node);
  }

 private:
  void rebuild(const Node* node) {
    std::vector<UOp> form;
    for (const Node* source : node->src()) form.emplace_back(*form_.find(source));
    const bool is_sum = node->op() == Op::Reduce;
    const UOp named = is_sum ? with_common_names(node, form) : with_sources(UOp(node), form);
    form_.set(node, named.node());
    const Node* const* first = is_sum ? first_.find(named.node()) : nullptr;
    set(node, first != nullptr ? UOp(*first) : with_new_sources(node));
    if (is_sum) first_.insert(named.node(), (*this)[node].node());
  }

  // Gives the ranges of a reduction common ids, by how deeply reductions are nested in it and by
  // position. No reduction then uses the id of one that is nested in it.
  UOp with_common_names(const Node* reduce, const std::vector<UOp>& form) {
    std::size_t height = 0;
    for (const Node* node : toposort(form[0].node()))
      if (const std::size_t* inner = heights_.find(node)) height = std::max(height, *inner + 1);
    Substitution names;
    for (const Node* own : reduce->src().subspan(1))
      if (own->op() == Op::Range)
        names.emplace(own, range(UOp(own->src(0)), name(height, names.size()), kind_of(own)));
    const UOp named = substitute(with_sources(UOp(reduce), form), names);
    heights_.set(named.node(), height);
    return named;
  }

  std::uint64_t name(std::size_t height, std::size_t position) {
    const auto [found, is_new] = names_.try_emplace({height, position});
    if (is_new) found->second = fresh_id().value;
    return found->second;
  }

  NodeMap<const Node*> form_;     // canonical form
  NodeMap<const Node*> first_;    // by canonical form
  NodeMap<std::size_t> heights_;  // nesting depth, by canonical form
  std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> names_;
};

}  // namespace

std::vector<UOp> common_reductions(const std::vector<UOp>& roots, const RewriteOptions&) {
  const auto is_sum = [](const Node* node) { return node->op() == Op::Reduce; };
  if (std::ranges::count_if(toposort(nodes_of(roots)), is_sum) < 2) return roots;
  return traversed<CommonReductions>(roots);
}

}  // namespace weft
