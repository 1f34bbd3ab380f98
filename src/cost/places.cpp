#include <weft/dev/cost/places.h>

#include <utility>

#include <weft/dev/ir/graph.h>

namespace weft {

bool is_one_instruction(Op op) {
  constexpr OpSet those{Op::Cast,  Op::Neg,   Op::Add,   Op::Sub, Op::Mul, Op::Max, Op::CmpLt,
                        Op::CmpNe, Op::CmpEq, Op::Where, Op::And, Op::Or,  Op::Xor};
  return those.contains(op);
}

int code_size(const Node* node) {
  // The choice between the padded parts of a concat: each part gets a loop of its own.
  constexpr int code_of_part = 24;
  if (node->op() == Op::Where && node->src(0)->op() == Op::Pad && node->src(1)->op() == Op::Pad)
    return code_of_part;
  constexpr std::pair<Op, int> long_ones[] = {
      {Op::Sin, 20}, {Op::Cos, 20}, {Op::Pow, 10}, {Op::Exp2, 2}, {Op::Log2, 2}};
  if (node->dtype().is_float())
    for (const auto& [op, ops] : long_ones)
      if (node->op() == op) return ops;
  return 1;
}

bool is_cheaper_to_recompute(const Node* tensor) {
  constexpr OpSet passing{Op::Tuple, Op::Detach,
                          Op::Stage};  // such a STAGE holds the indices along an axis
  int ops = 0;
  for (const Node* node : toposort(tensor)) {
    const OpClass cls = info(node->op()).cls;
    if (is_one_instruction(node->op())) {
      if (!node->dtype().is_index()) ++ops;  // an index may only be part of a size
    } else if (cls == OpClass::Movement || passing.contains(node->op())) {
      continue;
    } else if (cls != OpClass::Leaf || node->op() == Op::Buffer) {
      return false;
    }
  }
  return ops <= most_recomputed_ops;
}

}  // namespace weft
