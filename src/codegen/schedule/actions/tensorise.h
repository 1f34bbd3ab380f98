// Sums of products that an instruction computes.
#pragma once

#include <weft/dev/device/mma.h>
#include <weft/dev/ir/uop.h>

namespace weft {

// A read that is converted; null for what is none.
const Node* converted_read(const Node* value);

// Whether it sums products of what the instruction multiplies: of a read that changes with the row and one that changes
// with the column.
bool is_product_for(const Node* sum, const MmaShape& shape, const Node* row, const Node* column);

}  // namespace weft
