// Reading and writing at places that arrays say. Outside of an array reads give 0, writes do nothing;
// of several values for one place the last in row-major order stays.
#pragma once

#include "movement.h"

namespace nets {

// Which element of the operand each element of x[parts] is, or none where an index lies outside. With
// arrays and lists among the parts; those that are arrays are given.
struct Selection {
  Numbers shape;
  std::vector<std::optional<std::size_t>> elements;
  bool is_certain = true;
};
Selection selected(const Array& x, const std::vector<Part>& parts,
                   const std::vector<Array>& operands);

Array read(const Array& x, const Selection& selection);
// x itself is written to: with the value, converted and broadcast, or what `op` makes of both.
void write(const Array& x, const Selection& selection, const Array& value,
           std::string_view op = {});

Array gather(const Array& x, std::int64_t axis, const Array& index);
// "put", "add", "mul", "maximum", "minimum".
Array scattered(const Array& x, std::int64_t axis, const Array& index, const Array& source,
                std::string_view op);
Array take(const Array& x, const Array& index, std::int64_t axis);
void assign(const Array& x, const Array& value);

}  // namespace nets
