#include "targets.h"

#include <algorithm>
#include <unordered_map>

#include <weft/dev/engine/realize.h>
#include <weft/dev/engine/storage.h>
#include <weft/dev/ir/graph.h>

namespace weft {
namespace {

const Node* without_movement(const Node* view) {
  while (info(view->op()).cls == OpClass::Movement) view = view->src(0);
  return view;
}

// What has been computed may be in a graph as its memory, as how it is computed, or both. As one node they get one
// gradient: as memory, or where that is no end, as how it is computed.
// A DETACH has the same memory as what is below it: each is looked for by itself.
class OneNode {
 public:
  OneNode(const UOp& graph, std::vector<UOp>& targets, const std::vector<bool>& are_ends)
      : are_ends_(are_ends) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const bool detached = is_detached(without_movement(targets[i].node()));
      const Node* memory = version_below(in_memory(targets[i]));
      (detached ? detached_ : numbers_).emplace(memory, i);
    }
    for (const Node* node : toposort(graph.node())) look_at(node);
    if (by_.empty()) {
      graph_ = graph;
      return;
    }
    graph_ = with_single_reshapes(substitute(graph, by_));
    for (UOp& target : targets) target = with_single_reshapes(substitute(target, expressions_));
  }

  const UOp& graph() const { return graph_; }

 private:
  // Numbers that have been put into memory somewhere are numbers everywhere else.
  static bool may_be_computed(const Node* node) {
    return node->op() != Op::Buffer && !node->is_const();
  }

  static const Node* in_memory(UOp& target) {
    const Node* base = without_movement(target.node());
    const UOp known = may_be_computed(base) ? computed(base) : UOp();
    if (!known.is_null()) target = substitute(target, {{base, like(base, known)}});
    return target.node();
  }

  static UOp like(const Node* node, const UOp& known) {
    return is_detached(node) && !is_detached(known.node()) ? make(Op::Detach, {known}) : known;
  }

  void look_at(const Node* node) {
    const UOp known = may_be_computed(node) ? computed(node) : UOp();
    if (known.is_null()) return;
    const auto& numbers = is_detached(node) ? detached_ : numbers_;
    const auto number = numbers.find(version_below(known.node()));
    if (number == numbers.end()) return;
    const Node* memory = without_reshapes(known.node());
    const bool is_whole = OpSet{Op::Buffer, Op::Multi}.contains(memory->op());
    if (are_ends_[number->second] || node->op() == Op::After || !is_whole || is_detached(node))
      by_.emplace(node, like(node, known));
    else if (by_.emplace(memory, reshape(UOp(node), sizes_of(UOp(memory)))).second)
      expressions_.emplace(memory, by_.at(memory));
  }

  const std::vector<bool>& are_ends_;
  std::unordered_map<const Node*, std::size_t> numbers_, detached_;  // of targets, by their memory
  Substitution by_, expressions_;
  UOp graph_;
};

// What a tensor is a view of, or is assigned to.
const Node* base_of(const Node* node) {
  while (info(node->op()).cls == OpClass::Movement ||
         OpSet{Op::After, Op::Detach}.contains(node->op()))
    node = node->src(0);
  return node;
}

// What a tensor depends on. Nothing below a DETACH.
NodeSet all_below(const Node* tensor) {
  NodeSet reached;
  for (std::vector<const Node*> open{tensor}; !open.empty();) {
    const Node* node = open.back();
    open.pop_back();
    if (reached.insert(node).second && node->op() != Op::Detach)
      open.insert(open.end(), node->src().begin(), node->src().end());
  }
  return reached;
}

}  // namespace

bool is_end(const Tensor::State& target, const UOp& graph, std::size_t targets) {
  if (target.leaf || targets == 1 || version_below(graph.node())->op() == Op::After) return true;
  return std::ranges::any_of(buffers_of(graph.node()), [](const Node* buffer) {
    const auto memory = shared_graph().attached<Buffer>(buffer);
    return memory != nullptr && memory->overwritten() > 0;
  });
}

Targets::Targets(const UOp& loss, std::vector<UOp> nodes, const std::vector<bool>& are_ends)
    : nodes_(std::move(nodes)) {
  graph_ = OneNode(loss, nodes_, are_ends).graph();
  find_all(are_ends);
  if (may_look_back()) {
    graph_ = with_single_reshapes(graph_);
    for (UOp& node : nodes_) node = with_single_reshapes(node);
    find_all(are_ends);
  }
  std::vector<UOp> graphs{graph_};
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (!are_ends[i]) graphs.push_back(nodes_[i]);
  memory_.recall(graphs, ends_);
  graphs = memory_.recalled();
  graph_ = graphs[0];
  for (std::size_t i = 0, next = 1; i < nodes_.size(); ++i)
    if (!are_ends[i]) nodes_[i] = graphs[next++];
  forgotten_ = memory_.forgotten();
  for (const Node* node : gradient_paths(graph_.node(), ends_))
    if (node->op() == Op::Buffer && !ends_.contains(node)) look_at(node);
  reached_ = all_below(graph_.node());
}

void Targets::find_all(const std::vector<bool>& are_ends) {
  memory_ = {};
  ends_.clear();
  own_.clear();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    add(i);
    if (are_ends[i]) end_at(nodes_[i].node());
  }
}

bool Targets::may_look_back() const {
  return std::ranges::any_of(gradient_paths(graph_.node(), ends_), [&](const Node* node) {
    return node->op() == Op::Buffer && !ends_.contains(node) && memory_.may_contain_one(node);
  });
}

void Targets::add(std::size_t i) {
  const Node *node = nodes_[i].node(), *base = base_of(node);
  const UOp known = base->op() == Op::Buffer ? UOp() : computed(base);
  if (!known.is_null() && without_reshapes(known.node())->op() == Op::Buffer)
    memory_.add(without_reshapes(known.node()), i, base);
  for (const Node* buffer : buffers_of(base))
    memory_.add(buffer, i, without_reshapes(node) == buffer ? node : buffer);
  for (const Node* buffer : buffers_of(node)) own_.insert(buffer);
  if (buffers_of(base).empty()) memory_.add_sources(base);
}

// Nothing below it is looked for.
void Targets::end_at(const Node* node) {
  ends_.insert(node);
  for (const Node* buffer : buffers_of(node)) ends_.insert(buffer);
  if (const Node* version = version_below(node); version->op() == Op::After) ends_.insert(version);
}

void Targets::look_at(const Node* buffer) {
  if (!overwritten_ && !own_.contains(buffer)) overwritten_ = memory_.shares(buffer);
  if (!forgotten_) forgotten_ = memory_.stems_from(buffer);
}

}  // namespace weft
