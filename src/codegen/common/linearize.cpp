// Each node belongs to the innermost of the loops that it changes with, that repeat it as an
// effect, or whose values it uses. Inner loops are closed before outer ones, so the innermost of
// the loops around a node is the one that is closed first. Appending the nodes to their loops in
// topological order gives each loop its body in order. A closer belongs to the loop around its own.

#include <weft/dev/codegen/linearize.h>

#include <algorithm>
#include <iterator>
#include <ranges>

namespace weft {
namespace {

// Ops that pass effects on, from a STORE to the END that repeats it.
constexpr OpSet groups{Op::Tuple, Op::Barrier, Op::End};

// Returns the loops that a node closes. A dimension of 1 of a STAGE has no loop.
std::vector<const Node*> loops_of(const Node* closer) {
  std::vector<const Node*> loops;
  if (has(closer->op(), OpFlag::Closes))
    std::ranges::copy_if(closer->src().subspan(1), std::back_inserter(loops),
                         [](const Node* node) { return node->op() == Op::Range; });
  return loops;
}

// Assigns nodes to loops, which are numbered from the innermost. The kernel itself is the last.
class Loops {
 public:
  explicit Loops(const std::vector<const Node*>& order) {
    for (const Node* node : order)
      for (const Node* range : loops_of(node) | std::views::reverse) number_.set(range, count_++);
    for (const Node* node : order) loop_.set(node, innermost(node));
    for (const Node* node : order | std::views::reverse) propagate_effects(node);
    for (const Node* node : order) follow(node);
  }

  std::uint32_t of(const Node* node) const { return *loop_.find(node); }
  std::uint32_t number(const Node* range) const { return *number_.find(range); }
  std::uint32_t kernel() const { return count_; }

 private:
  std::uint32_t innermost(const Node* node) const {
    std::uint32_t least = count_;
    for (const Node* range : node->ranges())
      if (const std::uint32_t* number = number_.find(range)) least = std::min(least, *number);
    return least;
  }

  void sink_into(const Node* node, std::uint32_t loop) {
    if (loop < of(node)) loop_.set(node, loop);
  }

  // An effect runs in the loops of its END, even if it does not change with them.
  void propagate_effects(const Node* node) {
    const bool repeats = node->op() == Op::End && node->size() > 1;
    if (!repeats && !repeated_.contains(node)) return;
    const std::uint32_t inside = repeats ? number(node->src().back()) : of(node);
    for (const Node* effect : node->src().first(repeats ? 1 : node->size())) {
      sink_into(effect, inside);
      if (groups.contains(effect->op())) repeated_.set(effect, true);
    }
  }

  // A node that uses values of a loop runs in that loop as well, unless it closes the loop.
  void follow(const Node* node) {
    const std::vector<const Node*> own = loops_of(node);
    const auto closes = [&](std::uint32_t loop) {
      return std::ranges::any_of(own, [&](const Node* range) { return number(range) == loop; });
    };
    for (const Node* source : node->src())
      if (!closes(of(source))) sink_into(node, of(source));
  }

  std::uint32_t count_ = 0;
  NodeMap<std::uint32_t> number_, loop_;
  NodeMap<bool> repeated_;
};

}  // namespace

std::vector<const Node*> linearize(const Node* kernel) {
  const std::vector<const Node*> order = toposort(kernel);
  const Loops loops(order);
  std::vector<std::vector<const Node*>> bodies(loops.kernel() + 1);
  for (const Node* node : order)
    if (node->op() != Op::Range) bodies[loops.of(node)].push_back(node);

  // Concatenates the bodies, last node first in `open`. A closer is reached twice: before its loops
  // and after them.
  std::vector<const Node*> program, open{bodies.back().rbegin(), bodies.back().rend()};
  NodeMap<bool> opened;
  while (!open.empty()) {
    const Node* node = open.back();
    const std::vector<const Node*> own = loops_of(node);
    if (own.empty() || !opened.insert(node, true)) {
      program.push_back(node);
      open.pop_back();
      continue;
    }
    for (const Node* range : own | std::views::reverse) {
      const std::vector<const Node*>& body = bodies[loops.number(range)];
      open.insert(open.end(), body.rbegin(), body.rend());
      open.push_back(range);
    }
  }
  return program;
}

}  // namespace weft
