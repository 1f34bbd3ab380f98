// Vectors in C: a function for each op on them, by what gcc and clang have beyond C, or lane by lane where a compiler
// has it not. Conditions are masks: integers of -1 and 0, as wide as what was compared.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <weft/dev/render/render.h>

namespace weft {

// An expression of several lanes, and what it is in C: no bool, nor a float that C has not.
struct CVector {
  std::string text = {};
  DType held = {};
};

// Of the same width.
DType signed_of(DType held);
DType unsigned_of(DType held);

// Expressions. The types and functions that they name go among the helpers.
std::string c_vector_type(DType held, CHelpers& helpers);
std::string c_vector_list(DType held, std::span<const std::string> lanes, CHelpers& helpers);
std::string c_vector_splat(DType held, const std::string& lane, CHelpers& helpers);
std::string c_vector_zero(DType held, CHelpers& helpers);
std::string c_vector_lane(const CVector& vector, std::int32_t at, CHelpers& helpers);
// Lanes of both, one behind the other.
std::string c_vector_shuffle(const CVector& a, const CVector& b, std::vector<std::int64_t> from,
                             CHelpers& helpers);

// An op on values of this dtype; the condition of a WHERE comes before them.
CVector c_vector_apply(Op op, DType operand, std::vector<CVector> operands, CHelpers& helpers);
// The larger of a value and of a constant that is neither NaN nor -0.
CVector c_vector_above(const CVector& value, const CVector& constant, CHelpers& helpers);
CVector c_vector_cast(DType from, DType to, const CVector& value, CHelpers& helpers);
CVector c_vector_bitcast(DType to, const CVector& value, CHelpers& helpers);
// A mask for values that are wider or narrower than those it is of.
CVector c_mask_for(DType held, const CVector& mask, CHelpers& helpers);

// Elements in a row from an address on, or each at a place behind it. What has no mask has one without text.
struct CRow {
  std::string address = {};
  CVector at = {}, mask = {};
};
std::string c_vector_load(DType held, const CRow& row, const std::string& other, CHelpers& helpers);
std::string c_vector_store(const CVector& value, const CRow& row, CHelpers& helpers);

}  // namespace weft
