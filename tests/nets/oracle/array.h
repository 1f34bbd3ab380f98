// Arrays with NumPy's semantics: views are lists of places in a storage that they share with others.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "type.h"

namespace nets {

using Numbers = std::vector<std::int64_t>;

inline constexpr double unknown = std::numeric_limits<double>::infinity();

// An element: an integer or a float, as its array's type says, and by how much a correct
// implementation may differ from it. 0: not at all, as for whatever is exact in every order of
// computing. Infinite: it may be anything.
struct Cell {
  union {
    std::int64_t whole = 0;
    double real;
  };
  double error = 0;
  // What rounding changed in a product: a sum that it is a term of may leave that rounding out.
  double slack = 0;

  static Cell of(std::int64_t whole, double error = 0) {
    Cell cell;
    cell.whole = whole, cell.error = error;
    return cell;
  }
  static Cell of_real(double real, double error = 0) {
    Cell cell;
    cell.real = real, cell.error = error;
    return cell;
  }
  bool is_unknown() const { return !(error < unknown); }
};

// What a program must not do: a step with such operands is no program.
struct Invalid : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline void want(bool holds, const char* what) {
  if (!holds) throw Invalid(what);
}

using Storage = std::vector<Cell>;

struct Array {
  Type type = Type::F32;
  Numbers shape;
  std::shared_ptr<Storage> storage;
  std::vector<std::size_t> places;  // of each element in row-major order

  std::int64_t rank() const { return static_cast<std::int64_t>(shape.size()); }
  std::size_t size() const { return places.size(); }
  Cell& operator[](std::size_t i) { return (*storage)[places[i]]; }
  const Cell& operator[](std::size_t i) const { return (*storage)[places[i]]; }
};

std::int64_t count_of(const Numbers& shape);
std::size_t at(std::int64_t axis);                           // an axis as an index of the shape
std::int64_t axis_in(std::int64_t axis, std::int64_t rank);  // negative ones count from the end

Array fresh(Type type, const Numbers& shape);  // zeros
Array copied(const Array& x);
Array scalar(Type type, const Cell& cell);
// Of a cell of any type; of the same: itself. Errors grow by what rounding may change.
Cell converted(const Cell& cell, Type from, Type to);
Array cast(const Array& x, Type to);

// Row-major positions: the place of an element by its coordinates, and back.
std::size_t position(const Numbers& coordinates, const Numbers& shape);
Numbers coordinates_of(std::size_t position, const Numbers& shape);

Numbers broadcast_shape(const Numbers& a, const Numbers& b);
Array expanded(const Array& x, const Numbers& shape);  // as broadcasting does: axes may be missing

// The float that a computation gives whose exact result is `value` and whose operands' errors
// change that by up to `error`: it rounds once, and is off by `halves` half units in the last place
// besides.
Cell rounded_cell(double value, double error, Type type, double halves = 0);

std::string text_of(const Cell& cell, Type type);

}  // namespace nets
