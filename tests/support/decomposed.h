// Ops as the decompositions leave them.
#pragma once

#include <cstdlib>

#include <weft/dev/codegen/decompose.h>
#include <weft/dev/device/target.h>
#include <weft/dev/rewrite/rewriter.h>
#include <weft/dev/rules/spec.h>

#include "flat_program.h"

namespace weft {

// WEFT_FULL=1 in the environment: everything, not a sample.
inline bool is_full() { return std::getenv("WEFT_FULL") != nullptr; }

// A value of any dtype, and the variable that holds its bits. Variables are scalar integers, and
// none of u64 reaches the upper half.
struct Leaf {
  explicit Leaf(DType dtype) {
    const DType scalar = dtype.scalar();
    const DType word = scalar.is_int() && scalar.bits() < 64 ? scalar
                       : scalar.bits() == 64                 ? dtypes::i64
                       : scalar.bits() == 32                 ? dtypes::u32
                       : scalar.bits() == 16                 ? dtypes::u16
                                                             : dtypes::u8;
    const Interval all = dtype_interval(scalar.is_bool() ? scalar : word);
    bits =
        Variable("x", static_cast<std::int64_t>(all.lo), static_cast<std::int64_t>(all.hi), word);
    const UOp lane = scalar.is_bool() ? cast(bits, scalar) : bitcast(bits, scalar);
    value = dtype.lanes() == 1 ? lane : make(Op::Splat, {lane}, dtype);
  }
  UOp bits, value;
};

inline UOp decomposed(const UOp& root, const RuleSet& rules = decompositions(),
                      const Target& target = {}) {
  const UOp result = rewrite(root, rules, {.context = &target});
  verify(nodes_of(std::span(&result, 1)), Level::Any, rules.name());
  return result;
}

// One op on leaves of these dtypes, decomposed.
struct Decomposed {
  Decomposed(Op op, const std::vector<DType>& dtypes, DType to = dtypes::void_,
             const RuleSet& rules = decompositions(), const Target& target = {}) {
    std::vector<UOp> operands;
    for (const DType dtype : dtypes) {
      const Leaf leaf(dtype);
      leaves.push_back(leaf.bits);
      operands.push_back(leaf.value);
    }
    before = make(op, operands, to);
    after = decomposed(before, rules, target);
  }
  FlatProgram program() const { return {after, leaves}; }

  std::vector<UOp> leaves;
  UOp before, after;
};

// The first op of the set in the graph, and its dtype; empty where there is none.
inline std::string first_op_left(const UOp& root, const OpSet& ops) {
  for (const Node* node : toposort(root.node()))
    if (ops.contains(node->op()))
      return std::string(info(node->op()).name) + " " + node->dtype().str();
  return "";
}

}  // namespace weft
