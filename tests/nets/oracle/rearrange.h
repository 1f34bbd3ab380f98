// Movement beyond movement.h, made of it: views stay views.
#pragma once

#include "array.h"

namespace nets {

Array movedim(const Array& x, std::int64_t from, std::int64_t to);
Array swapaxes(const Array& x, std::int64_t a, std::int64_t b);
Array flatten(const Array& x, std::int64_t first, std::int64_t last);
Array unflatten(const Array& x, std::int64_t axis, const Numbers& sizes);
Array open_reshape(const Array& x, const Numbers& shape);  // one size is -1
Array squeeze_all(const Array& x);
// Of one axis, so many from the start.
Array narrow(const Array& x, std::int64_t axis, std::int64_t start, std::int64_t length);
Array select(const Array& x, std::int64_t axis, std::int64_t index);
// The parts that an axis is cut into: of a size, into so many, or into so many that differ by 1 at most.
Array split_part(const Array& x, std::int64_t axis, std::int64_t size, std::int64_t part);
Array chunk_part(const Array& x, std::int64_t axis, std::int64_t parts, std::int64_t part);
Array tensor_split_part(const Array& x, std::int64_t axis, std::int64_t parts, std::int64_t part);
Array rot90(const Array& x, std::int64_t times, std::int64_t a, std::int64_t b);
Array diagonal_of(const Array& x, std::int64_t offset, std::int64_t a, std::int64_t b);
Array atleast(const Array& x, std::int64_t rank);
Array meshgrid_part(const std::vector<Array>& all, std::size_t part, bool is_xy);

// What follows copies.
Array tile(const Array& x, const Numbers& times);
Array diff(const Array& x, std::int64_t times, std::int64_t axis);
Array trace(const Array& x);
Array diag_embed(const Array& x, std::int64_t offset);
enum class Beyond : std::uint8_t { Reflect, Replicate, Circular };
Array pad_from_inside(const Array& x, const Numbers& widths, Beyond mode);
Array kron(const Array& x, const Array& y);
Array outer(const Array& x, const Array& y);
Array block_diag(const std::vector<Array>& blocks);
Array hstack(const std::vector<Array>& all);
Array vstack(const std::vector<Array>& all);
Array dstack(const std::vector<Array>& all);
Array column_stack(const std::vector<Array>& all);
Array vander(const Array& x, std::int64_t columns, bool is_increasing);
Array cartesian_prod(const std::vector<Array>& all);

}  // namespace nets
