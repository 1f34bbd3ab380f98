#include "steps.h"

namespace weft::interp {

NodeList members_of(const Node* user) {
  const NodeList first = user->src().first(1);
  return first[0]->op() == Op::Tuple ? first[0]->src() : first;
}

std::size_t lanes_of(NodeList nodes) {
  std::size_t lanes = 0;
  for (const Node* node : nodes) lanes += node->dtype().is_void() ? 0 : node->dtype().lanes();
  return lanes;
}

std::size_t lanes_of(const Node* node) {
  return lanes_of(node->op() == Op::Reduce ? members_of(node) : NodeList(&node, 1));
}

Steps::Steps(const Node* kernel) : kernel_(kernel) {
  for (const Node* node : toposort(kernel)) {
    value_.set(node, static_cast<std::uint32_t>(lanes_));
    lanes_ += lanes_of(node);
    if (OpSet{Op::Param, Op::Buffer, Op::Stage}.contains(node->op()))
      storage_.set(node, static_cast<std::uint32_t>(storages_++));
  }
  const Nests nests(kernel);
  add(nests, nests.root());
}

void Steps::add(const Nests& nests, const Nest& nest) {
  for (const Node* node : nest.body) {
    const Nest* inner = nests.of(node);
    if (inner == nullptr) {
      list_.push_back({Step::Run, node});
      continue;
    }
    const auto open = static_cast<std::uint32_t>(list_.size());
    list_.push_back({Step::Open, node});
    add(nests, *inner);
    list_[open].other = static_cast<std::uint32_t>(list_.size());
    list_.push_back({Step::Close, node, open});
  }
}

}  // namespace weft::interp
