// Views: what a chain of movement ops looks at, for people and tests to read. The compiler itself has
// none: it pushes indices through the ops (ranges.h).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// Element i ... is at offset + i0*strides[0] + ... of what is looked at, laid out row-major, where
// mask[k].first <= ik < mask[k].last on every axis; elsewhere it is 0. Canonical: equal maps are equal
// views. An axis with one place or none that is valid has stride 0.
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
  // Where an element is; nothing for those that are 0.
  std::optional<std::int64_t> place(std::vector<std::int64_t> at) const;
  std::string str() const;
  friend bool operator==(const View&, const View&) = default;
};

// The first looks at the base, each other one at the view before it. There is more than one only where
// no single view has the same map: this is decided exactly for up to 2^16 elements. Of more there may
// remain two that one could replace, never the other way round.
struct Views {
  UOp base;
  std::vector<View> list;

  bool is_one() const { return list.size() == 1; }
  std::optional<std::int64_t> place(std::vector<std::int64_t> at) const;
  std::string str() const;
  friend std::ostream& operator<<(std::ostream& out, const Views& views);
};

// Of the movement ops at the top of the tensor; the base is what they start from. Sizes have to be
// constant.
Views views_of(const UOp& tensor);

}  // namespace weft
