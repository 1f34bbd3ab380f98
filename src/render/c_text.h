// Expressions in C: types, constants, ops.
#pragma once

#include <string>
#include <vector>

#include <weft/dev/render/render.h>

#include "program.h"

namespace weft {

// An expression, and how tightly its outermost operator binds.
struct CText {
  static constexpr int equality = 8, atom = 20;
  std::string text;
  int level = atom;

  // As an operand of what binds this tightly.
  std::string within(int least) const { return level < least ? "(" + text + ")" : text; }
};

std::string c_type(DType dtype);
CText c_constant(const Node* node);
CText c_apply(const Node* node, const std::vector<CText>& operands, CHelpers& helpers);
// `a op b` where nothing is known about the values.
CText c_combine(Op op, DType dtype, const std::vector<CText>& operands, CHelpers& helpers);

}  // namespace weft
