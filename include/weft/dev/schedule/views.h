// Views: the elements that a chain of movement ops selects, for people and tests to read. The
// compiler itself uses none: it pushes indices through the ops (ranges.h).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// Element i ... of a view is the element offset + i0*strides[0] + ... of its row-major source if
// mask[k].first <= ik < mask[k].last on every axis, otherwise 0. Views are canonical: equal maps
// are equal views. An axis with at most one valid index has stride 0.
struct View {
  struct Extent {
    std::int64_t first, last;
    friend bool operator==(const Extent&, const Extent&) = default;
  };
  std::vector<std::int64_t> shape, strides;
  std::int64_t offset = 0;
  std::vector<Extent> mask;

  static View row_major(std::vector<std::int64_t> shape);

  bool is_masked() const;  // some element is 0
  // Returns the position of an element in the source, or nothing if the element is masked.
  std::optional<std::int64_t> place(std::vector<std::int64_t> at) const;
  std::string str() const;
  friend bool operator==(const View&, const View&) = default;
};

// The first view selects from the base, each other one from the view before it. There are several
// only if no single view has the same map. This is decided exactly for up to 2^16 elements; for
// more, two views may remain that one could replace.
struct Views {
  UOp base;
  std::vector<View> list;

  bool is_one() const { return list.size() == 1; }
  std::optional<std::int64_t> place(std::vector<std::int64_t> at) const;
  std::string str() const;
  friend std::ostream& operator<<(std::ostream& out, const Views& views);
};

// Returns the views of the movement ops at the top of the tensor. The base is their source. All
// sizes must be constants.
Views views_of(const UOp& tensor);

}  // namespace weft
