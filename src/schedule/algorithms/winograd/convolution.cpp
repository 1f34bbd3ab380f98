#include "convolution.h"

#include <algorithm>
#include <utility>

#include <weft/dev/ir/below.h>
#include <weft/dev/rules/symbolic.h>

namespace weft {

Ranges Convolution::loops() const {
  const NodeList all = end->src().subspan(1);
  return {all.begin(), all.end()};
}

const Axis* Convolution::axis_of(const Node* loop) const {
  for (const Axis& axis : axes)
    if (axis.out == loop || axis.tap == loop) return &axis;
  return nullptr;
}

Ranges Convolution::channels() const {
  Ranges result;
  for (const Node* range : sum->src().subspan(1))
    if (axis_of(range) == nullptr) result.push_back(range);
  return result;
}

namespace {

// Returns whether the value depends on the two loops only through their sum.
bool is_of_sum(const Node* value, const Node* a, const Node* b) {
  const UOp both = range(iterations_of(a) + iterations_of(b) - 1, fresh_id().value);
  const UOp of_both = simplify(substitute(UOp(value), {{a, both}, {b, const_int(0)}}));
  const UOp again = simplify(substitute(of_both, {{both.node(), UOp(a) + UOp(b)}}));
  return !depends_on(of_both.node(), b) && again.is(simplify(UOp(value)));
}

std::optional<Axis> axis_along(const Convolution& of, const Node* tap) {
  if (!changes_with(of.filter, tap)) return {};
  for (const Node* loop : of.end->src().subspan(1))
    if (changes_with(of.input, loop) && !changes_with(of.filter, loop) &&
        is_of_sum(of.input->src(0), loop, tap))
      return Axis{loop, tap};
  return {};
}

// Returns the LOAD of a PARAM that a factor is, below the cast of an integer sum; else null.
const Node* read_of(const Node* factor, DType sum) {
  const Node* read = factor;
  if (sum.is_int()) {
    if (factor->op() != Op::Cast) return nullptr;
    read = factor->src(0);
    if (!read->dtype().is_int() || read->dtype().bytes() != 1) return nullptr;
  }
  return read->op() == Op::Load && read->src(0)->src(0)->op() == Op::Param ? read : nullptr;
}

}  // namespace

std::optional<Convolution> convolution_in(const UOp& kernel) {
  const auto of = sum_kernel_in(kernel);
  if (!of || (of->sum->dtype() != dtypes::f32 && of->sum->dtype() != dtypes::i32)) return {};
  const Node *sum = of->sum, *product = sum->src(0);
  if (product->op() != Op::Mul) return {};
  const Node *a = read_of(product->src(0), sum->dtype()),
             *b = read_of(product->src(1), sum->dtype());
  if (a == nullptr || b == nullptr) return {};
  for (const auto& [input, filter] : {std::pair{a, b}, {b, a}}) {
    Convolution found{*of, input, filter, {}};
    for (const Node* tap : sum->src().subspan(1))
      if (const auto axis = axis_along(found, tap)) found.axes.push_back(*axis);
    const auto is_apart = [&](const Axis& axis) {
      return std::ranges::count(found.axes, axis.out, &Axis::out) == 1;
    };
    if (!found.axes.empty() && found.axes.size() <= 2 && std::ranges::all_of(found.axes, is_apart))
      return found;
  }
  return {};
}

}  // namespace weft
