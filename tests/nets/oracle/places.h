// Reads and writes at places beyond indexing.h: whole slices, masks, flat places.
#pragma once

#include "indexing.h"

namespace nets {

Array index_select(const Array& x, std::int64_t axis, const Array& index);
Array index_written(const Array& x, std::int64_t axis, const Array& index, const Array& value,
                    std::string_view op = {});
// The index as one that broadcasts over the other axes.
Array index_over(const Array& x, std::int64_t axis, const Array& index);
Array put(const Array& x, const Array& index, const Array& source, bool accumulate);
Array masked_scatter(const Array& x, const Array& mask, const Array& source);
Array masked_select(const Array& x, const Array& mask, std::int64_t size, const Cell& fill);
// As many rows as are true in a mask of the first axes.
Array picked_by(const Array& x, const Array& mask);
Array expanded_behind(const Array& mask, const Numbers& shape);
Array nonzero(const Array& x, std::int64_t size, std::int64_t fill);
Array one_hot(const Array& x, std::int64_t classes);
// "mean" with what is there; "add", "maximum" without it, where something is written.
Array scattered_mean(const Array& x, std::int64_t axis, const Array& index, const Array& source);
Array scattered_only(const Array& x, std::int64_t axis, const Array& index, const Array& source,
                     std::string_view op);

}  // namespace nets
