#include "nest.h"

#include <algorithm>
#include <ranges>

namespace weft::interp {
namespace {

constexpr OpSet closers{Op::End, Op::Reduce, Op::Stage};
// What hands effects on, between a STORE and the END that repeats it.
constexpr OpSet groups{Op::Tuple, Op::Barrier, Op::End};

// The numbers of a closer's loops.
struct Loops {
  std::uint32_t innermost, outermost;
  bool contain(std::uint32_t home) const { return innermost <= home && home <= outermost; }
};

// For every node the number of its loop: the innermost one that it changes with, or that repeats it as an effect. Inner
// loops come before outer ones, so the least number is the innermost.
class Homes {
 public:
  Homes(NodeList order, const std::vector<Nest>& nests, const NodeMap<Loops>& loops)
      : loops_(loops), root_(static_cast<std::uint32_t>(nests.size() - 1)) {
    for (std::uint32_t i = 0; i < root_; ++i)
      if (nests[i].range != nullptr) loop_of_.set(nests[i].range, i);
    for (const Node* node : order) home_.set(node, innermost(node));
    for (const Node* node : order | std::views::reverse)
      if (node->op() == Op::End) repeat(node->src(0), loops_.find(node)->innermost);
    for (const Node* node : order) follow(node);
  }

  std::uint32_t of(const Node* node) const { return *home_.find(node); }

 private:
  std::uint32_t innermost(const Node* node) const {
    std::uint32_t least = root_;
    for (const Node* range : node->ranges())
      if (const std::uint32_t* loop = loop_of_.find(range)) least = std::min(least, *loop);
    return least;
  }

  // An effect runs in the loops of its END even where it does not change with them.
  void repeat(const Node* effect, std::uint32_t loop) {
    std::vector<const Node*> open{effect};
    while (!open.empty()) {
      const Node* node = open.back();
      open.pop_back();
      if (of(node) <= loop) continue;
      home_.set(node, loop);
      if (groups.contains(node->op()))
        for (const Node* source : node->src()) open.push_back(source);
    }
  }

  // What is computed from what runs in a loop runs there too, up to the node that closes it.
  void follow(const Node* node) {
    const Loops* own = loops_.find(node);
    for (const Node* source : node->src())
      if (own == nullptr || !own->contain(of(source)))
        home_.set(node, std::min(of(node), of(source)));
  }

  const NodeMap<Loops>& loops_;
  std::uint32_t root_;
  NodeMap<std::uint32_t> loop_of_;  // of a range
  NodeMap<std::uint32_t> home_;
};

std::vector<const Node*> ranges_of(const Node* closer) {
  std::vector<const Node*> ranges;
  if (closers.contains(closer->op()))
    for (const Node* source : closer->src().subspan(1))
      if (source->op() == Op::Range) ranges.push_back(source);
  if (ranges.empty()) ranges.push_back(nullptr);
  return ranges;
}

}  // namespace

Nests::Nests(const Node* kernel) {
  const std::vector<const Node*> order = toposort(kernel);
  NodeMap<Loops> loops;
  for (const Node* node : order) {
    if (!closers.contains(node->op()) && node != kernel) continue;
    const auto first = static_cast<std::uint32_t>(nests_.size());
    for (const Node* range : ranges_of(node) | std::views::reverse) nests_.push_back({node, range});
    outermost_.set(node, static_cast<std::uint32_t>(nests_.size() - 1));
    loops.set(node, {first, *outermost_.find(node)});
  }
  for (std::size_t i = 1; i < nests_.size(); ++i)
    if (nests_[i - 1].closer == nests_[i].closer) nests_[i].inner = &nests_[i - 1];
  const Homes homes(order, nests_, loops);
  for (const Node* node : order)
    if (node != kernel) nests_[homes.of(node)].body.push_back(node);
}

const Nest* Nests::of(const Node* closer) const {
  const std::uint32_t* number = outermost_.find(closer);
  return number != nullptr ? &nests_[*number] : nullptr;
}

}  // namespace weft::interp
