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
    if (const Nest* loop = nests.of(node))
      add_loop(nests, *loop);
    else
      list_.push_back({Step::Run, node});
  }
  if (nest.inner != nullptr) add_loop(nests, *nest.inner);
}

void Steps::add_loop(const Nests& nests, const Nest& nest) {
  const auto open = static_cast<std::uint32_t>(list_.size());
  const bool is_outermost = nests.of(nest.closer) == &nest;
  list_.push_back({Step::Open, nest.closer, 0, nest.range, is_outermost});
  add(nests, nest);
  list_[open].other = static_cast<std::uint32_t>(list_.size());
  list_.push_back({Step::Close, nest.closer, open, nest.range, false, nest.inner == nullptr});
}

}  // namespace weft::interp
