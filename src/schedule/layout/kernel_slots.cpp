#include "kernel_slots.h"

#include <weft/dev/ir/below.h>

namespace weft {
namespace {

const Node* param_of(const Node* index) {
  return index->op() == Op::Index && index->src(0)->op() == Op::Param ? index->src(0) : nullptr;
}

bool is_sum(const Node* node) {
  return node->op() == Op::Reduce && node->arg<ReduceArg>().op == Op::Add;
}

bool is_fixed(const Node* index) { return index->ranges().empty(); }

// Returns whether different iterations are known to access different elements. If several
// iterations stored to one element, reordering loops could change which of them is the last.
bool is_one_to_one(const Node* index) {
  if (index->op() == Op::Add && is_fixed(index->src(1))) index = index->src(0);
  return index->op() == Op::Range || is_fixed(index);
}

// Sorts the loops of an END in the order of the stored dimensions that they index.
void sort_loops(std::vector<const Node*>& end) {
  const Node* store = end[0]->op() == Op::Tuple ? end[0]->src(0) : end[0];
  if (store->op() != Op::Store || store->src(0)->op() != Op::Index) return;
  const NodeList at = store->src(0)->src().subspan(2);
  if (!std::ranges::all_of(at, is_one_to_one)) return;
  const auto place = [&](const Node* range) {
    const auto moves = [&](const Node* index) { return changes_with(index, range); };
    return std::ranges::find_if(at, moves) - at.begin();
  };
  std::vector<std::pair<std::pair<std::ptrdiff_t, std::size_t>, const Node*>> loops;
  for (std::size_t i = 1; i < end.size(); ++i) loops.push_back({{place(end[i]), i}, end[i]});
  std::ranges::sort(loops);
  std::ranges::transform(loops, end.begin() + 1, [](const auto& loop) { return loop.second; });
}

}  // namespace

KernelSlots::KernelSlots(const Step& step, std::size_t number)
    : number_(number), step_(&step), kernel_(step.kernel) {
  for (const Node* node : toposort(kernel_.node())) {
    if (param_of(node) != nullptr) indices_.push_back(node);
    if (is_sum(node)) note_products(node);
    for (const Node* source : node->src())
      if (source->op() == Op::Param && node->op() != Op::Index)
        touched_otherwise_.insert(slot(source));
  }
}

bool KernelSlots::writes_to(std::uint32_t of) const {
  return std::ranges::any_of(indices_, [&](const Node* index) {
    return slot(index->src(0)) == of && writes(index->src(0)->arg<ParamArg>().access);
  });
}

void KernelSlots::note_products(const Node* sum) {
  std::vector<const Node*> reads;
  for (const Node* node : toposort(sum->src(0)))
    if (param_of(node) != nullptr) reads.push_back(node);
  for (const Node* range : sum->src().subspan(1)) {
    const auto moves = [&](const Node* read) { return changes_with(read, range); };
    if (std::ranges::count_if(reads, moves) < 2) continue;
    for (const Node* read : reads)
      for (std::size_t d = 2; d < read->size(); ++d)
        if (read->src(d) == range) summed_.emplace(slot(read->src(0)), static_cast<int>(d - 2));
  }
}

std::set<SlotDimension> KernelSlots::stored_along() const {
  std::set<SlotDimension> found;
  for (const Node* index : indices_)
    if (index->size() > 2 && writes(index->src(0)->arg<ParamArg>().access))
      found.emplace(slot(index->src(0)), static_cast<int>(index->size()) - 3);
  return found;
}

std::set<SlotDimension> KernelSlots::beside(const SlotDimension& place) const {
  const auto [of, dimension] = place;
  std::set<const Node*> loops;
  for (const Node* index : indices_)
    if (slot(index->src(0)) == of)
      loops.insert(index->src(static_cast<std::size_t>(dimension) + 2));
  std::set<SlotDimension> found;
  for (const Node* index : indices_)
    for (std::size_t d = 2; d < index->size(); ++d)
      if (index->src(d)->op() == Op::Range && loops.contains(index->src(d)) &&
          slot(index->src(0)) != of)
        found.emplace(slot(index->src(0)), static_cast<int>(d - 2));
  return found;
}

UOp KernelSlots::ordered(const std::vector<int>& last) const {
  NodeMap<const Node*> made;
  for (const Node* node : toposort(kernel_.node())) {
    std::vector<const Node*> src;
    for (const Node* source : node->src()) src.push_back(*made.find(source));
    made.set(node, rebuilt(node, std::move(src), last));
  }
  return UOp(*made.find(kernel_.node()));
}

const Node* KernelSlots::rebuilt(const Node* node, std::vector<const Node*> src,
                                 const std::vector<int>& last) const {
  if (node->op() == Op::Param) src = with_last(std::move(src), last[slot(node)]);
  if (const Node* param = param_of(node)) {
    const auto order = with_last(std::vector(src.begin() + 2, src.end()), last[slot(param)]);
    std::ranges::copy(order, src.begin() + 2);
  }
  if (node->op() == Op::End) sort_loops(src);
  return with_sources(Interner::current(), node, src);
}

}  // namespace weft
