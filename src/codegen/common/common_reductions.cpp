// Merges reductions that differ only in the ids of their ranges. A kernel that was fused from
// several has the reductions of each of them.
//
// A traversal, not a rule set: two reductions are compared in a canonical form, in which their
// ranges have common ids.

#include <algorithm>

#include <weft/dev/codegen/lower.h>
#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>

#include "traversal.h"

namespace weft {
namespace {

class CommonReductions {
 public:
  explicit CommonReductions(NodeList roots) {
    for (const Node* node : toposort(roots)) rebuild(node);
  }

  UOp operator[](const Node* node) const { return UOp(*made_.find(node)); }

 private:
  void rebuild(const Node* node) {
    std::vector<UOp> made, form;
    for (const Node* source : node->src()) {
      made.push_back((*this)[source]);
      form.emplace_back(*form_.find(source));
    }
    const bool is_sum = node->op() == Op::Reduce;
    const UOp named = is_sum ? with_common_names(node, form) : with_sources(UOp(node), form);
    form_.set(node, named.node());
    const Node* const* first = is_sum ? first_.find(named.node()) : nullptr;
    made_.set(node, first != nullptr ? *first : with_sources(UOp(node), made).node());
    if (is_sum && first == nullptr) first_.set(named.node(), *made_.find(node));
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
        names.emplace(
            own, range(UOp(own->src(0)), name(height, names.size()), own->arg<RangeArg>().kind));
    const UOp named = substitute(with_sources(UOp(reduce), form), names);
    heights_.set(named.node(), height);
    return named;
  }

  std::uint64_t name(std::size_t height, std::size_t position) {
    names_.resize(std::max(names_.size(), height + 1));
    std::vector<std::uint64_t>& own = names_[height];
    while (own.size() <= position) own.push_back(fresh_id().value);
    return own[position];
  }

  NodeMap<const Node*> made_, form_;  // rebuilt; canonical form
  NodeMap<const Node*> first_;        // by canonical form
  NodeMap<std::size_t> heights_;      // nesting depth, by canonical form
  std::vector<std::vector<std::uint64_t>> names_;
};

}  // namespace

std::vector<UOp> common_reductions(const std::vector<UOp>& roots, const RewriteOptions&) {
  const auto is_sum = [](const Node* node) { return node->op() == Op::Reduce; };
  if (std::ranges::count_if(toposort(nodes_of(roots)), is_sum) < 2) return roots;
  return traversed<CommonReductions>(roots);
}

}  // namespace weft
