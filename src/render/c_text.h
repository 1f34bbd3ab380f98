// Expressions in C: types, constants, ops.
#pragma once

#include <string>
#include <vector>

#include <weft/dev/render/render.h>

#include "program.h"

namespace weft {

// An expression, and how tightly its outermost operator binds.
struct CText {
  static constexpr int equality = 8, call = 19,
                       atom = 20;  // what is an atom is written as often as it is used
  std::string text;
  int level = atom;

  // As an operand of what binds this tightly.
  std::string within(int least) const { return level < least ? "(" + text + ")" : text; }
};

// Of a scalar; of vectors the name alone.
std::string c_type(DType dtype);
CText c_constant(DType dtype, Bits bits);
std::string c_int_constant(std::int64_t value, DType dtype);
CText c_cast(DType from, DType to, const CText& text, CHelpers& helpers);
CText c_apply(const Node* node, const std::vector<CText>& operands, CHelpers& helpers);
// `a op b` where nothing is known about the values.
CText c_combine(Op op, DType dtype, const std::vector<CText>& operands, CHelpers& helpers);

}  // namespace weft
