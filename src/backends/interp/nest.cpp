#include "nest.h"

#include <algorithm>
#include <ranges>

namespace weft::interp {
namespace {

constexpr OpSet closers{Op::End, Op::Reduce, Op::Stage};
// What hands effects on, between a STORE and the END that repeats it.
constexpr OpSet groups{Op::Tuple, Op::Barrier, Op::End};

// For every node the number of its nest: the innermost one that closes a range it changes with, or
// that repeats it as an effect. Inner closers come before outer ones, so the least number is the
// innermost.
class Homes {
 public:
  Homes(NodeList order, const NodeMap<std::uint32_t>& number, std::uint32_t root) : root_(root) {
    for (const Node* node : order)
      if (closers.contains(node->op()))
        for (const Node* range : node->src().subspan(1)) closer_.set(range, *number.find(node));
    for (const Node* node : order) home_.set(node, innermost(node));
    for (const Node* node : order | std::views::reverse)
      if (node->op() == Op::End) repeat(node->src(0), *number.find(node));
    for (const Node* node : order) follow(node, number);
  }

  std::uint32_t of(const Node* node) const { return *home_.find(node); }

 private:
  std::uint32_t innermost(const Node* node) const {
    std::uint32_t least = root_;
    for (const Node* range : node->ranges())
      if (const std::uint32_t* closer = closer_.find(range)) least = std::min(least, *closer);
    return least;
  }

  // An effect runs in the loops of its END even where it does not change with them.
  void repeat(const Node* effect, std::uint32_t end) {
    std::vector<const Node*> open{effect};
    while (!open.empty()) {
      const Node* node = open.back();
      open.pop_back();
      if (of(node) <= end) continue;
      home_.set(node, end);
      if (groups.contains(node->op()))
        for (const Node* source : node->src()) open.push_back(source);
    }
  }

  // What is computed from what runs in a loop runs there too, up to the node that closes it.
  void follow(const Node* node, const NodeMap<std::uint32_t>& number) {
    const std::uint32_t* own = number.find(node);
    for (const Node* source : node->src())
      if (own == nullptr || of(source) != *own) home_.set(node, std::min(of(node), of(source)));
  }

  std::uint32_t root_;
  NodeMap<std::uint32_t> closer_;  // of a range
  NodeMap<std::uint32_t> home_;
};

}  // namespace

Nests::Nests(const Node* kernel) {
  const std::vector<const Node*> order = toposort(kernel);
  for (const Node* node : order)
    if (closers.contains(node->op()) || node == kernel) {
      number_.set(node, static_cast<std::uint32_t>(nests_.size()));
      nests_.push_back({node, {}});
    }
  const Homes homes(order, number_, static_cast<std::uint32_t>(nests_.size() - 1));
  for (const Node* node : order)
    if (node != kernel) nests_[homes.of(node)].body.push_back(node);
}

const Nest* Nests::of(const Node* closer) const {
  const std::uint32_t* number = number_.find(closer);
  return number != nullptr ? &nests_[*number] : nullptr;
}

}  // namespace weft::interp
