// Constants that can be passed to a kernel as arguments, so that one kernel serves all their
// values. Constants that decide which code is generated stay: 0, powers of two, exponents, sizes.
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

// Returns the uses of such constants in `nodes`, in the same order, which must be topological.
std::vector<NumberUse> constant_uses(const std::vector<const Node*>& nodes);

// Replaces each use by its variable, which holds the bits of the number. A use whose variable is
// null keeps its number.
std::vector<UOp> with_constants_as_variables(const std::vector<UOp>& roots,
                                             const std::vector<const Node*>& nodes,
                                             const std::vector<NumberUse>& uses,
                                             const std::vector<UOp>& variables);

// Replaces all uses by variables. Graphs that differ only in these numbers then have the same
// structural hash.
std::vector<UOp> without_constants(const std::vector<UOp>& roots,
                                   const std::vector<const Node*>& nodes,
                                   const std::vector<NumberUse>& uses);

// Returns a new variable that can hold any bits.
UOp number_variable();

}  // namespace weft
