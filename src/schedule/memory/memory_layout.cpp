#include <weft/dev/schedule/memory_layout.h>

#include <algorithm>
#include <numeric>

namespace weft {
namespace {

constexpr std::size_t line = 64;

std::size_t whole_lines(std::size_t bytes) { return (bytes + line - 1) / line * line; }

bool overlap(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

}  // namespace

std::size_t most_at_once(std::span<const Lifetime> parts) {
  std::vector<std::pair<std::size_t, std::ptrdiff_t>> changes;
  for (const Lifetime& part : parts) {
    const auto bytes = static_cast<std::ptrdiff_t>(whole_lines(part.bytes));
    changes.emplace_back(part.first, bytes);
    changes.emplace_back(part.last + 1, -bytes);
  }
  std::sort(changes.begin(), changes.end());  // at equal steps, ends come first
  std::ptrdiff_t now = 0, most = 0;
  for (const auto& [step, bytes] : changes) most = std::max(most, now += bytes);
  return static_cast<std::size_t>(most);
}

// Places the largest parts first, each at the lowest offset where it fits. Small parts fill the
// gaps.
MemoryLayout lay_out(std::span<const Lifetime> parts) {
  MemoryLayout layout{std::vector<std::size_t>(parts.size()), 0, most_at_once(parts)};
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return parts[a].bytes != parts[b].bytes ? parts[a].bytes > parts[b].bytes : a < b;
  });
  std::vector<std::size_t> placed;  // sorted by offset
  for (std::size_t part : order) {
    const std::size_t bytes = whole_lines(parts[part].bytes);
    std::size_t offset = 0;
    for (std::size_t other : placed) {
      if (!overlap(parts[part], parts[other])) continue;
      if (layout.offsets[other] >= offset + bytes) break;
      offset = std::max(offset, layout.offsets[other] + whole_lines(parts[other].bytes));
    }
    layout.offsets[part] = offset;
    layout.bytes = std::max(layout.bytes, offset + bytes);
    const auto at = std::ranges::upper_bound(
        placed, offset, {}, [&](std::size_t other) { return layout.offsets[other]; });
    placed.insert(at, part);
  }
  return layout;
}

}  // namespace weft
