// Translates an option into a plan of the cost model.

#include <algorithm>
#include <ranges>

#include "option.h"

namespace weft {
namespace {

std::int64_t ceil_div(std::int64_t iterations, std::int64_t parts) {
  return (iterations + parts - 1) / parts;
}

Piece piece_of(const Nest& nest, const Option& option, const OuterPiece& outer) {
  const std::int64_t step = in_registers(option, outer.loop);
  const std::int64_t iterations = iterations_around(nest, option, outer.loop);
  switch (outer.role) {
    case OuterPiece::Whole: return {outer.loop, iterations, step};
    case OuterPiece::Threads:
      return {outer.loop, std::min(option.threads, iterations),
              step * ceil_div(iterations, option.threads), LoopKind::Thread};
    case OuterPiece::InThread: return {outer.loop, ceil_div(iterations, option.threads), step};
    case OuterPiece::Parts:
      return {outer.loop, ceil_div(iterations, option.part), step * option.part};
    case OuterPiece::InPart: return {outer.loop, option.part, step};
    case OuterPiece::Blocks:
      return {outer.loop, nest.loops[outer.loop].size / option.block, option.block};
    case OuterPiece::InBlock: return {outer.loop, option.block / step, step};
    case OuterPiece::Across: {
      const std::int64_t inside = std::max<std::int64_t>(1, tiles_inside(option, outer.loop));
      const bool is_shared = option.threads > 1 && outer.loop == option.order[0];
      return {outer.loop, ceil_div(iterations, inside), step * inside,
              is_shared ? LoopKind::Thread : LoopKind::Loop};
    }
    case OuterPiece::InAcross: return {outer.loop, tiles_inside(option, outer.loop), step};
  }
  return {};
}

void add_registers(const Option& option, NestPlan& plan) {
  for (const auto& [loop, count] : {option.copies, option.inner})
    if (count > 1)
      plan.pieces.push_back({static_cast<std::size_t>(loop), count, 1, LoopKind::Upcast});
  if (option.vector < 0) return;
  const auto v = static_cast<std::size_t>(option.vector);
  if (option.vectors > 1)
    plan.pieces.push_back({v, option.vectors, option.lanes, LoopKind::Upcast});
  plan.pieces.push_back({v, option.lanes, 1, LoopKind::Vector});
}

// Returns the loop around the nest at which to stage an access so that invariant loops inside reuse
// it, or -1. That is outside of the innermost run of invariant loops or, if the access changes with
// the innermost loop, outside of the first invariant one, but never outside of the outermost loop.
// A loop that threads will split is not used, as a STAGE would hold all iterations of a part.
int place_around(const Nest& nest, const NestAccess& access) {
  const int around = static_cast<int>(nest.around());
  int last = -1, first = around;
  for (int i = around - 1; i >= 0; --i)
    if (!access.changes_with(static_cast<std::size_t>(i)))
      first = i;
    else if (last < 0)
      last = i;
  const int place = last + 1 < around ? last : first - 1;
  if (first == around || (place >= 0 && nest.loops[static_cast<std::size_t>(place)].is_cut))
    return -1;
  return std::max(place, 0);
}

// Returns the piece at which to stage an access: a loop around the nest if it is reused there, else
// the last piece that it changes with before the reduction, or before its loop inside a block.
int stage_place(const Nest& nest, const std::vector<OuterPiece>& outer, const NestAccess& access,
                Staging staging) {
  if (const int around = place_around(nest, access); around >= 0 && staging != Staging::Near)
    return around;
  int place = -1;
  for (std::size_t i = 0; i < outer.size(); ++i) {
    const auto& [loop, role] = outer[i];
    if (nest.loops[loop].is_reduce && role != OuterPiece::Blocks) break;
    if (access.changes_with(loop)) place = static_cast<int>(i);
  }
  return place;
}

// Whether an output loop with an uneven tail has pieces both outside and inside of the place `at`.
// The shifted start of its last tile is not affine in these, so that a region at this place would
// cover the whole dimension.
bool splits_shifted_loop(const Nest& nest, const Option& option,
                         const std::vector<OuterPiece>& outer, std::size_t at) {
  for (std::size_t inside = at + 1; inside < outer.size(); ++inside) {
    const std::size_t loop = outer[inside].loop;
    if (nest.loops[loop].is_reduce || nest.loops[loop].size % in_registers(option, loop) == 0)
      continue;
    for (std::size_t around = 0; around <= at; ++around)
      if (outer[around].loop == loop) return true;
  }
  return false;
}

// Returns the outermost place where a region fits into about half of an L1 cache, or of an L2 cache
// if outputs along other loops reuse it.
int region_place(const Nest& nest, const Option& option, const std::vector<OuterPiece>& outer,
                 const NestPlan& plan, std::size_t a) {
  const NestAccess& access = nest.accesses[a];
  const double most_bytes = access.overlap == Overlap::Own ? 16384 : 458752;
  for (int at = 0; at < plan.staged[a]; ++at)
    if (!splits_shifted_loop(nest, option, outer, static_cast<std::size_t>(at)) &&
        staged_elements(access, plan, a, static_cast<std::size_t>(at) + 1) * access.bytes <=
            most_bytes)
      return at;
  return plan.staged[a];
}

}  // namespace

std::int64_t in_registers(const Option& option, std::size_t loop) {
  const int at = static_cast<int>(loop);
  if (at == option.vector) return option.lanes * option.vectors;
  if (at == option.inner.loop) return option.inner.count;
  return at == option.copies.loop ? option.copies.count : 1;
}

std::int64_t iterations_around(const Nest& nest, const Option& option, std::size_t loop) {
  return ceil_div(nest.loops[loop].size, in_registers(option, loop));
}

Tail tail_of(const Nest& nest, std::size_t loop, std::int64_t count, Tail uneven) {
  const NestLoop& of = nest.loops[loop];
  if (of.size % count == 0) return Tail::None;
  if (count > of.size) return Tail::Mask;
  return of.is_reduce ? Tail::Remainder : uneven;
}

std::int64_t tiles_inside(const Option& option, std::size_t loop) {
  return static_cast<int>(loop) == option.vector ? option.across : 0;
}

std::size_t first_reduce(const Nest& nest) {
  return static_cast<std::size_t>(std::ranges::find_if(nest.loops, &NestLoop::is_reduce) -
                                  nest.loops.begin());
}

std::size_t last_output(const Nest& nest, const Option& option) {
  const auto is_output = [&](std::size_t loop) { return !nest.loops[loop].is_reduce; };
  return *std::ranges::find_if(option.order | std::views::reverse, is_output);
}

std::vector<OuterPiece> outer_pieces(const Nest& nest, const Option& option) {
  std::vector<OuterPiece> pieces;
  bool has_blocks = option.block == 0;
  const auto add_parts = [&] {
    if (option.part > 0) pieces.push_back({last_output(nest, option), OuterPiece::Parts});
  };
  for (std::size_t loop : option.order) {
    if (option.block > 0 && loop == first_reduce(nest)) {
      pieces.push_back({loop, OuterPiece::InBlock});
    } else if (tiles_inside(option, loop) > 0) {
      pieces.push_back({loop, OuterPiece::Across});
    } else if (option.threads > 1 && pieces.empty()) {
      pieces.push_back({loop, OuterPiece::Threads});
      add_parts();
      if (option.threads < iterations_around(nest, option, loop))
        pieces.push_back({loop, OuterPiece::InThread});
    } else if (option.part > 0 && loop == last_output(nest, option)) {
      pieces.push_back({loop, OuterPiece::InPart});
    } else {
      if (pieces.size() == nest.around()) add_parts();
      pieces.push_back({loop, OuterPiece::Whole});
    }
    if (has_blocks || nest.loops[loop].is_reduce || nest.loops[loop].is_around) continue;
    pieces.push_back({first_reduce(nest), OuterPiece::Blocks});
    has_blocks = true;
  }
  if (option.across > 0)
    pieces.push_back({static_cast<std::size_t>(option.vector), OuterPiece::InAcross});
  return pieces;
}

NestPlan plan_of(const Nest& nest, const Option& option) {
  const std::vector<OuterPiece> outer = outer_pieces(nest, option);
  NestPlan plan;
  for (const OuterPiece& piece : outer) plan.pieces.push_back(piece_of(nest, option, piece));
  add_registers(option, plan);
  plan.staged.assign(nest.accesses.size(), -1);
  plan.by_region.resize(nest.accesses.size());
  plan.kept.resize(nest.accesses.size());
  for (std::size_t a = 0; a < nest.accesses.size(); ++a)
    if (option.staged[a] == Staging::Kept) {
      plan.kept[a] = true;
    } else if (option.staged[a] != Staging::None) {
      plan.by_region[a] = option.staged[a] == Staging::Region;
      plan.staged[a] = stage_place(nest, outer, nest.accesses[a], option.staged[a]);
      if (plan.by_region[a]) plan.staged[a] = region_place(nest, option, outer, plan, a);
    }
  return plan;
}

}  // namespace weft
