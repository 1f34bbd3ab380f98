// Recognises sums of products that a matrix instruction can compute.
#pragma once

#include <weft/dev/device/mma.h>
#include <weft/dev/ir/uop.h>

namespace weft {

// Returns the LOAD of a converted read; null for other values.
const Node* converted_read(const Node* value);

// Whether it sums products of the types that the instruction multiplies: of one converted read that
// depends on the row but not the column, and one for which the reverse holds.
bool is_product_for(const Node* sum, const MmaShape& shape, const Node* row, const Node* column);

}  // namespace weft
