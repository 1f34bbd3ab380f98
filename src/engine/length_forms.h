// Sizes of a graph that changed from one run to the next, as forms of few lengths.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

using Values = std::vector<std::int64_t>;

// A size by the lengths: a number of times one, or the product of two, and something more.
struct LengthForm {
  std::int64_t factor;
  std::optional<std::size_t> length = {}, other = {};
  std::int64_t more = 0;

  Wide of(const Values& lengths) const;
  UOp of(const std::vector<UOp>& lengths) const;
};

// What was concluded from two runs: which sizes are lengths, and what follows from those for the others.
struct LengthForms {
  std::vector<std::size_t> lengths;
  std::vector<LengthForm> sizes;

  Values lengths_of(const Values& values) const;
  bool fit(const Values& values) const;
};

// Sizes that are equal in both runs are one size. Nothing where too much changes, or a length is 1, which is a case of its own
// in many programs.
std::optional<LengthForms> concluded(const Values& before, const Values& now);

}  // namespace weft
