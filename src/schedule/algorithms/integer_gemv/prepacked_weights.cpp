#include "prepacked_weights.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <weft/dev/ir/below.h>
#include <weft/dev/ir/graph.h>

namespace weft {
namespace {

using Values = std::vector<const Node*>;

class PackedValues {
 public:
  explicit PackedValues(const QuantizedGemv& sum) : row_(sum.row), parts_(sum.parts_of_matrix()) {}

  Values all() {
    Values found;
    for (const Node* part : parts_) add(of(part), found);
    return found;
  }

 private:
  static void add(const Values& more, Values& values) {
    for (const Node* value : more)
      if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  }

  const Values& of(const Node* node) {
    if (const auto known = known_.find(node); known != known_.end()) return known->second;
    Values below;
    if (changes_with(node, row_)) {
      for (const Node* source : node->src()) add(of(source), below);
      if (is_one(node, below)) below = {node};
    }
    return known_.emplace(node, std::move(below)).first->second;
  }

  // Returns whether a node is prepacked: a LOAD, or a value computed from one PARAM that takes no
  // more memory than the values that it replaces. Those that are needed elsewhere too do not count.
  bool is_one(const Node* node, const Values& below) const {
    if (std::ranges::count(toposort(node), Op::Param, &Node::op) != 1) return false;
    if (node->op() == Op::Load) return true;
    if (!is_elementwise(node->op()) || node->dtype().is_bool() || node->dtype().is_index())
      return false;
    const Values others = nodes_below(
        parts_, [&](const Node* each) { return each == node ? NodeList{} : each->src(); });
    std::int64_t bytes = 0;
    for (const Node* value : below)
      if (std::ranges::find(others, value) == others.end()) bytes += bytes_of(value);
    return bytes_of(node) <= bytes;
  }

  // Returns the bytes of one row.
  std::int64_t bytes_of(const Node* value) const {
    std::int64_t bytes = value->dtype().bytes();
    for (const Node* range : value->ranges())
      if (range != row_) bytes *= iterations_of(range);
    return bytes;
  }

  const Node* row_;
  Values parts_;
  std::unordered_map<const Node*, Values> known_;
};

}  // namespace

std::vector<const Node*> prepacked_weights(const QuantizedGemv& sum) {
  return PackedValues(sum).all();
}

}  // namespace weft
