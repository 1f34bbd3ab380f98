// Writes an option as schedule actions.

#include <algorithm>

#include <fmt/format.h>

#include "option.h"

namespace weft {
namespace {

// A loop or one of the tiles cut off it: 1 is named r1.1 if the loop is r1.
struct TileName {
  std::size_t loop = 0;
  int of = -1;  // 0: the loop itself; -1: there is none
  explicit operator bool() const { return of >= 0; }
};

class ActionWriter {
 public:
  ActionWriter(const Nest& nest, const Option& option, Tail uneven)
      : nest_(nest), option_(option), uneven_(uneven), tiles_(nest.loops.size()) {}

  Schedule schedule() {
    cut_registers();
    cut_around();
    const std::vector<TileName> outer = order();
    stage(outer);
    if (option_.threads > 1) kind({option_.order[0], 0}, LoopKind::Thread);
    kind(copies_, LoopKind::Upcast);
    kind(inner_, LoopKind::Upcast);
    kind(vectors_, LoopKind::Upcast);
    kind(lanes_, LoopKind::Vector);
    return schedule_;
  }

 private:
  void cut_registers() {
    if (option_.vector >= 0) {
      const auto v = static_cast<std::size_t>(option_.vector);
      const std::int64_t count = option_.lanes * option_.vectors;
      lanes_ = tile({v, 0}, count, tail_of(v, count));
      if (option_.vectors > 1) {
        vectors_ = lanes_;
        lanes_ = tile(vectors_, option_.lanes, Tail::None);
      }
    }
    copies_ = copies_of(option_.copies);
    inner_ = copies_of(option_.inner);
  }

  TileName copies_of(const Unroll& copies) {
    if (copies.count == 1) return {};
    const auto loop = static_cast<std::size_t>(copies.loop);
    return tile({loop, 0}, copies.count, tail_of(loop, copies.count));
  }

  void cut_around() {
    if (option_.block > 0) {
      const std::size_t k = first_reduce(nest_);
      in_block_ = tile({k, 0}, option_.block, tail_of(k, option_.block));
    }
    if (option_.part > 0) in_part_ = tile_of_tiles(last_output(nest_, option_), option_.part);
    in_across_ = tile_across(option_.vector);
    const std::int64_t iterations = iterations_around(nest_, option_, option_.order[0]);
    if (option_.threads == 1 || option_.threads >= iterations) return;
    if (tiles_inside(option_, option_.order[0]) > 0) return;
    in_thread_ =
        tile_of_tiles(option_.order[0], (iterations + option_.threads - 1) / option_.threads);
  }

  TileName tile_of_tiles(std::size_t loop, std::int64_t count) {
    const bool is_even = iterations_around(nest_, option_, loop) % count == 0;
    return tile({loop, 0}, count, is_even ? Tail::None : Tail::Shift);
  }

  TileName tile_across(int at) {
    const auto loop = static_cast<std::size_t>(at);
    const std::int64_t inside = at < 0 ? 0 : tiles_inside(option_, loop);
    return inside == 0 ? TileName() : tile_of_tiles(loop, inside);
  }

  Tail tail_of(std::size_t loop, std::int64_t count) const {
    return weft::tail_of(nest_, loop, count, uneven_);
  }

  // Tiles a loop and returns the new inner loop.
  TileName tile(const TileName& tile_name, std::int64_t count, Tail tail) {
    for (const std::string& name : names_of(tile_name))
      schedule_.push_back({.type = Action::Tile, .name = name, .count = count, .tail = tail});
    return {tile_name.loop, ++tiles_[tile_name.loop]};
  }

  void kind(const TileName& tile_name, LoopKind kind) {
    if (!tile_name) return;
    for (const std::string& name : names_of(tile_name))
      schedule_.push_back({.type = Action::Kind, .name = name, .kind = kind});
  }

  // Adds the ORDER and returns the loops around the register tiles, one for each piece of the plan.
  // The loops around the nest are not part of the ORDER.
  std::vector<TileName> order() {
    std::vector<TileName> cuts;
    for (const auto& [loop, role] : outer_pieces(nest_, option_))
      cuts.push_back(role == OuterPiece::InThread   ? in_thread_
                     : role == OuterPiece::InPart   ? in_part_
                     : role == OuterPiece::InBlock  ? in_block_
                     : role == OuterPiece::InAcross ? in_across_
                                                    : TileName{loop, 0});
    std::vector<TileName> all(cuts.begin() + static_cast<std::ptrdiff_t>(nest_.around()),
                              cuts.end());
    for (const TileName& tile_name : {copies_, inner_, vectors_, lanes_})
      if (tile_name) all.push_back(tile_name);
    Action action{.type = Action::Order, .name = {}};
    for (const TileName& tile_name : all)
      for (std::string& name : names_of(tile_name)) action.loops.push_back(std::move(name));
    if (action.loops.size() > 1) schedule_.push_back(std::move(action));
    return cuts;
  }

  void stage(const std::vector<TileName>& outer) {
    const NestPlan plan = plan_of(nest_, option_);
    for (std::size_t a = 0; a < nest_.accesses.size(); ++a)
      if (option_.staged[a] == Staging::Kept)
        schedule_.push_back(
            {.type = Action::Stage, .name = nest_.accesses[a].name, .space = Space::Constant});
      else if (option_.staged[a] != Staging::None)
        schedule_.push_back({.type = Action::Stage,
                             .name = nest_.accesses[a].name,
                             .at = names_of(outer[static_cast<std::size_t>(plan.staged[a])]).back(),
                             .by_region = plan.by_region[a]});
  }

  std::vector<std::string> names_of(const TileName& tile_name) const {
    std::vector<std::string> names;
    for (const std::string& name : nest_.loops[tile_name.loop].names)
      names.push_back(tile_name.of == 0 ? name : fmt::format("{}.{}", name, tile_name.of));
    return names;
  }

  const Nest& nest_;
  const Option& option_;
  Tail uneven_;
  std::vector<int> tiles_;
  TileName lanes_, vectors_, copies_, inner_, in_block_, in_across_, in_thread_, in_part_;
  Schedule schedule_;
};

}  // namespace

Schedule actions_of(const Nest& nest, const Option& option, Tail uneven) {
  return ActionWriter(nest, option, uneven).schedule();
}

}  // namespace weft
