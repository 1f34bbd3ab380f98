// Constants that can be passed to a kernel as arguments, so that one kernel serves all their values. Those stay constants that
// decide which code is generated: 0, powers of two, exponents, sizes.
#pragma once

#include <cstddef>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

struct NumberUse {
  const Node* user;
  std::size_t source;
  const Node* number;

  Bits bits() const { return number->arg<ConstArg>().bits; }
};

// Of nodes in topological order, as the uses are.
std::vector<NumberUse> numbers_in(const std::vector<const Node*>& nodes);

// The graph with variables, which hold the bits, in place of some uses; null ones leave the number there.
std::vector<UOp> with_variables(const std::vector<UOp>& roots,
                                const std::vector<const Node*>& nodes,
                                const std::vector<NumberUse>& uses,
                                const std::vector<UOp>& variables);

// The graph with all numbers left out: equal for graphs that differ in their numbers alone.
std::vector<UOp> without_numbers(const std::vector<UOp>& roots,
                                 const std::vector<const Node*>& nodes,
                                 const std::vector<NumberUse>& uses);

// Of any bits.
UOp number_variable();

}  // namespace weft
