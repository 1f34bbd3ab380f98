// The arguments that convolutions and pools have in common.
#pragma once

#include "golden.h"

namespace weft::golden {

inline PerDim per_dim(const Case& c, std::string_view key, std::int64_t fallback) {
  return c.numbers(key, Numbers{fallback});
}

// By name, with both sides, or the same for both.
inline Padding padding(const Case& c) {
  if (c.has("mode")) return c.text("mode") == "same" ? Padding("same") : Padding("valid");
  if (!c.has("sides")) return per_dim(c, "padding", 0);
  std::vector<Padding::Sides> sides;
  for (const Numbers& pair : c.lists("sides")) sides.emplace_back(pair.at(0), pair.at(1));
  return sides;
}

}  // namespace weft::golden
