#include "agreeing_sizes.h"

#include <algorithm>
#include <unordered_map>

#include <weft/dev/ir/below.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/symbolic.h>

namespace weft {
namespace {

class Checker {
 public:
  bool agrees(const Node* node) {
    switch (node->op()) {
      case Op::Reshape: return simplified(product(node->src(0)) - product(node))->is_const_int(0);
      case Op::Expand:
        return std::ranges::equal(node->src(0)->dims(), node->dims(), [&](auto from, auto to) {
          return from->is_const_int(1) || is_same(from, to);
        });
      case Op::Call: return takes_its_arguments(node);
      case Op::Index: return are_alike(node->src().subspan(1));
      case Op::Store: return are_alike(node->src());
      default: return !is_elementwise(node->op()) || are_alike(node->src());
    }
  }

 private:
  UOp simplified(const UOp& size) {
    const auto known = simplified_.find(size.node());
    if (known != simplified_.end()) return known->second;
    return simplified_.emplace(size.node(), simplify(size)).first->second;
  }
  bool is_same(const Node* a, const Node* b) {
    return a == b || simplified(UOp(a)).is(simplified(UOp(b)));
  }
  bool have_one_shape(const Node* a, const Node* b) {
    return std::ranges::equal(a->dims(), b->dims(),
                              [&](auto own, auto other) { return is_same(own, other); });
  }

  static UOp product(const Node* tensor) {
    UOp product = const_int(1);
    for (const Node* size : tensor->dims()) product = product * UOp(size);
    return product;
  }

  // Of those that have a shape.
  bool are_alike(NodeList tensors) {
    const Node* first = nullptr;
    for (const Node* tensor : tensors) {
      if (tensor->shape() == nullptr) continue;
      if (first != nullptr && !have_one_shape(first, tensor)) return false;
      first = tensor;
    }
    return true;
  }

  // What is inside of other calls has arguments of its own.
  bool takes_its_arguments(const Node* call) {
    const auto own = nodes_below({call->src(0)}, [](const Node* node) {
      return node->op() == Op::Call ? node->src().subspan(1) : node->src();
    });
    return std::ranges::all_of(own, [&](const Node* node) {
      if (node->op() != Op::Param) return true;
      const auto argument = static_cast<std::size_t>(node->arg<ParamArg>().slot) + 1;
      return argument < call->size() && have_one_shape(node, call->src(argument));
    });
  }

  std::unordered_map<const Node*, UOp> simplified_;
};

}  // namespace

bool sizes_agree(const std::vector<UOp>& roots) {
  Checker checker;
  return std::ranges::all_of(toposort(nodes_of(roots)),
                             [&](const Node* node) { return checker.agrees(node); });
}

// A slice, and where it begins, may be lengths that do not know of each other.
std::vector<UOp> sizes_below_zero(const std::vector<UOp>& roots) {
  std::vector<UOp> found;
  const auto add = [&](const UOp& size) {
    const auto is_same = [&](const UOp& other) { return other.is(size); };
    if (size->bounds().lo < 0 && std::ranges::none_of(found, is_same)) found.push_back(size);
  };
  for (const Node* node : toposort(nodes_of(roots))) {
    if (!OpSet{Op::Pad, Op::Shrink}.contains(node->op())) continue;
    const NodeList first = node->src(1)->src(), second = node->src(2)->src(),
                   from = node->src(0)->dims();
    for (std::size_t i = 0; i < from.size(); ++i) {
      add(UOp(first[i]));
      add(UOp(second[i]));
      if (node->op() == Op::Shrink) add(simplify(UOp(from[i]) - UOp(first[i]) - UOp(second[i])));
    }
  }
  return found;
}

}  // namespace weft
