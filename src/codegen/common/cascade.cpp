// Adding up n floats one after the other loses up to n half ulps. Blocks of b terms reduce that to
// b + n/b, for one more addition per block.

#include "cascade.h"

#include <algorithm>

#include <weft/dev/rules/symbolic.h>

#include "loops.h"

namespace weft {
namespace {

constexpr std::int64_t longest = 4096, block = 1024;

Wide most_iterations(const Node* range) { return std::max<Wide>(range->src(0)->bounds().hi, 1); }

// Returns how many iterations of a loop go into a block: `iterations`, or more if there would be
// too many blocks. Prefers a divisor of the size, which leaves no remainder.
std::int64_t width_of(const UOp& size, std::int64_t iterations) {
  if (!size->is_const()) return iterations;
  const std::int64_t most = std::max(iterations, size->lo() / longest);
  for (std::int64_t width = most; width > most / 2; --width)
    if (size->lo() % width == 0) return width;
  return most;
}

}  // namespace

BlockedSum blocked_sum_of(NodeList ranges) {
  std::size_t whole = ranges.size();  // the loops from here on are entirely within a block
  Wide terms = 1, all = 1;
  for (const Node* range : ranges) all = std::min<Wide>(all * most_iterations(range), longest + 1);
  if (all <= longest) return {};
  while (terms * most_iterations(ranges[whole - 1]) <= block)
    terms *= most_iterations(ranges[--whole]);
  const std::int64_t iterations = block / static_cast<std::int64_t>(terms);

  BlockedSum cascade;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const UOp size(ranges[i]->src(0));
    const auto loop = [&](const UOp& count) { return range_like(ranges[i], count); };
    if (i + 1 != whole || iterations < 2) {
      cascade.iterations.push_back(loop(size));
      (i < whole ? cascade.outer : cascade.inner).push_back(cascade.iterations[i]);
      cascade.rest.push_back(loop(size));
      cascade.places.emplace_back(cascade.iterations[i], cascade.rest.back());
      continue;
    }
    const UOp width = const_int(width_of(size, iterations), size->dtype());
    const UOp blocks = simplify(size / width), left = simplify(size - blocks * width);
    const UOp number = loop(blocks), within = loop(width);
    cascade.outer.push_back(number);
    cascade.inner.push_back(within);
    cascade.iterations.push_back(number * width + within);
    if (left->is_const_int(0)) continue;
    cascade.rest.push_back(loop(left));
    cascade.places.emplace_back(number, blocks);
    cascade.places.emplace_back(within, cascade.rest.back());
  }
  const bool is_cut = cascade.places.size() > cascade.rest.size();
  if (!is_cut) cascade.rest.clear();
  return cascade;
}

UOp remainder_body(const UOp& body, const BlockedSum& cascade) {
  UOp rest = body;
  for (const auto& [range, place] : cascade.places)
    rest = with_range_replaced(with_fresh_loops(rest, range.node()), range.node(), place);
  return rest;
}

}  // namespace weft
