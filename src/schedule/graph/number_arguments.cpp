#include <weft/dev/schedule/number_arguments.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/value.h>

namespace weft {
namespace {

// Returns whether the value decides which code is generated: 0, a power of two, or not finite.
bool decides_code(const Node* number) {
  const double value = double_from_bits(number->arg<ConstArg>().bits, number->dtype());
  int exponent = 0;
  return !std::isfinite(value) || value == 0 || std::abs(std::frexp(value, &exponent)) == 0.5;
}

bool is_number(const Node* node) {
  const DType dtype = node->dtype();
  const bool is_wide = dtype.is_float() || (dtype.is_int() && dtype.bytes() >= 4);
  return node->is_const() && !dtype.is_weak() && !dtype.is_index() && is_wide &&
         dtype.lanes() == 1 && !decides_code(node);
}

// Converts a variable, which holds the bits of a number, to the number.
UOp number_of(const UOp& variable, DType dtype) {
  constexpr DType words[] = {dtypes::u8, dtypes::u16, dtypes::u32, dtypes::u64};
  const DType word = words[std::countr_zero(static_cast<unsigned>(dtype.bytes()))];
  return bitcast(cast(variable, word), dtype);
}

}  // namespace

std::vector<NumberUse> constant_uses(const std::vector<const Node*>& nodes) {
  constexpr OpSet users{Op::Add,   Op::Sub,   Op::Mul,   Op::Div,   Op::Max,    Op::MulAcc,
                        Op::CmpLt, Op::CmpEq, Op::CmpNe, Op::Where, Op::Reshape};
  // EXP2(x * c) is lowered with the unrounded product for a constant c, which must stay a constant.
  NodeMap<bool> exponents;
  for (const Node* node : nodes)
    if (node->op() == Op::Exp2) exponents.set(node->src(0), true);
  std::vector<NumberUse> uses;
  for (const Node* node : nodes)
    if (users.contains(node->op()) && !exponents.contains(node))
      for (std::size_t i = 0; i < node->size(); ++i)
        if (is_number(node->src(i))) uses.push_back({node, i, node->src(i)});
  return uses;
}

std::vector<UOp> with_constants_as_variables(const std::vector<UOp>& roots,
                                             const std::vector<const Node*>& nodes,
                                             const std::vector<NumberUse>& uses,
                                             const std::vector<UOp>& variables) {
  auto use = uses.begin();
  return with_other_sources(roots, nodes, [&](const Node* user, std::size_t source) {
    if (use == uses.end() || use->user != user || use->source != source) return UOp();
    const UOp& variable = variables[static_cast<std::size_t>(use - uses.begin())];
    const DType dtype = (use++)->number->dtype();
    return variable.is_null() ? UOp() : number_of(variable, dtype);
  });
}

std::vector<UOp> without_constants(const std::vector<UOp>& roots,
                                   const std::vector<const Node*>& nodes,
                                   const std::vector<NumberUse>& uses) {
  std::vector<UOp> all;
  for (std::size_t i = 0; i < uses.size(); ++i)
    all.push_back(Variable("number", 0, 0, dtypes::i64));
  return with_constants_as_variables(roots, nodes, uses, all);
}

UOp number_variable() {
  return Variable("number", std::numeric_limits<std::int64_t>::min(),
                  std::numeric_limits<std::int64_t>::max(), dtypes::i64);
}

}  // namespace weft
