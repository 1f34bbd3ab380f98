// What a solver is asked. One of z3.cpp and without_z3.cpp is compiled.
#pragma once

#include <weft/dev/validate/bounds.h>

namespace weft {

// About scalars, for all values of their ranges and variables.
struct Claim {
  enum class Form {
    Holds,   // a (a bool)
    Equal,   // a == b, both integers or both bools
    Inside,  // 0 <= a < b, integers
  };
  Form form;
  const Node* a;
  const Node* b = nullptr;
  const Node* given = nullptr;  // a bool: the claim is made only where it holds
};

// The reason of a refutation is the counterexample alone: "r0 = 3, n = 17".
Proof decide(const Claim& claim, unsigned timeout_ms);

}  // namespace weft
