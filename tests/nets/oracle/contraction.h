// What products and convolutions have in common.
#pragma once

#include <utility>

#include "elementwise.h"
#include "reduce.h"

namespace nets {

// The sum of products in the type that sums are taken in: products of halves are exact there.
struct Contraction {
  Type joint, within;

  Contraction(Type a, Type b) : joint(promoted(a, b)), within(contracted(joint)) {}
  // What is multiplied by the same everywhere, or divided, may be so after the sum.
  Array ready(const Array& x) const {
    Array result = cast(x, within);
    return is_float(within) ? as_inner(std::move(result)) : result;
  }
  Cell sum(const std::vector<std::pair<Cell, Cell>>& factors) const {
    std::vector<Cell> terms;
    for (const auto& [a, b] : factors) terms.push_back(combined("mul", a, b, within));
    return sum_of(terms, within);
  }
  Array result(const Array& x) const { return is_float(joint) ? cast(x, joint) : x; }
};

// Of the products together, whatever their signs.
double size_of(const std::vector<std::pair<Cell, Cell>>& factors);

// Windows of three or five neighbours may be summed by Winograd's form: it rounds as numbers of the size of the largest sum do,
// and spreads what is not finite over the outputs beside.
void open_for_winograd(Array& result, const std::vector<double>& sizes, const Numbers& kernel);

}  // namespace nets
