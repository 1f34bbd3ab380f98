// Parts of one block that are needed at different times.

#include <weft/dev/schedule/memory_layout.h>

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace weft {
namespace {

// By looking at every pair.
void expect_apart(const std::vector<Lifetime>& parts, const MemoryLayout& layout) {
  for (std::size_t a = 0; a < parts.size(); ++a) {
    EXPECT_EQ(layout.offsets[a] % 64, 0U);
    EXPECT_LE(layout.offsets[a] + parts[a].bytes, layout.bytes);
    for (std::size_t b = 0; b < a; ++b) {
      const bool meet = parts[a].first <= parts[b].last && parts[b].first <= parts[a].last;
      const bool overlap = layout.offsets[a] < layout.offsets[b] + parts[b].bytes &&
                           layout.offsets[b] < layout.offsets[a] + parts[a].bytes;
      EXPECT_FALSE(meet && overlap && parts[a].bytes > 0 && parts[b].bytes > 0)
          << a << " and " << b;
    }
  }
}

// At each step, what is needed then.
std::size_t most_at_once(const std::vector<Lifetime>& parts) {
  std::size_t most = 0;
  for (const Lifetime& at : parts) {
    std::size_t now = 0;
    for (const Lifetime& part : parts)
      if (part.first <= at.first && at.first <= part.last) now += (part.bytes + 63) / 64 * 64;
    most = std::max(most, now);
  }
  return most;
}

TEST(Layout, OfNothingTakesNothing) { EXPECT_EQ(lay_out({}).bytes, 0U); }

TEST(Layout, WhatIsNotNeededAtOneTimeSharesItsPlace) {
  const std::vector<Lifetime> chain{{640, 0, 1}, {640, 1, 2}, {640, 2, 3}, {640, 3, 4}};
  const MemoryLayout layout = lay_out(chain);
  expect_apart(chain, layout);
  EXPECT_EQ(layout.bytes, 2U * 640);
  EXPECT_EQ(layout.least, 2U * 640);
}

TEST(Layout, RandomPartsAreApartAndNearTheLeast) {
  double waste = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t end) {
      return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
    };
    std::vector<Lifetime> parts;
    for (std::size_t count = 1 + below(60); count > 0; --count) {
      const std::size_t first = below(40);
      parts.push_back({below(5000), first, first + below(8)});
    }
    const MemoryLayout layout = lay_out(parts);
    SCOPED_TRACE(seed);
    expect_apart(parts, layout);
    EXPECT_EQ(layout.least, most_at_once(parts));
    EXPECT_GE(layout.bytes, layout.least);
    waste += static_cast<double>(layout.bytes) /
             static_cast<double>(std::max<std::size_t>(layout.least, 1)) / 200;
  }
  EXPECT_LT(waste, 1.1);
}

}  // namespace
}  // namespace weft
