#include "plan_of.h"

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>
#include <weft/dev/codegen/choose.h>
#include <weft/dev/rules/scan.h>

#include "nest_of.h"
#include "scan_schedule.h"

namespace weft {
namespace {

// The loops of a nest while actions change them. Loops that run together share the first's name.
class Pieces {
 public:
  explicit Pieces(const Nest& nest) : nest_(nest) {
    for (std::size_t loop = 0; loop < nest.loops.size(); ++loop)
      pieces_.push_back({nest.loops[loop].names[0], {loop, nest.loops[loop].size, 1}});
  }

  void tile(const Action& action) {
    const auto found = find(action.name);
    if (found == pieces_.end()) return;
    const std::string family = action.name.substr(0, action.name.find('.'));
    int number = 1;
    while (find(fmt::format("{}.{}", family, number)) != pieces_.end()) ++number;
    Named inner = *found;
    inner.name = fmt::format("{}.{}", family, number);
    inner.piece.iterations = action.count;
    found->piece.iterations = (found->piece.iterations + action.count - 1) / action.count;
    found->piece.step *= action.count;
    pieces_.insert(found + 1, inner);
  }

  void group(const Action& action) {
    tile(action);
    if (const auto found = find(action.name); found != pieces_.end())
      (found + 1)->piece.kind = LoopKind::Local;
  }

  void pipeline(const Action& action) { buffers_[action.name] = static_cast<int>(action.count); }

  void set_kind(const Action& action) {
    if (const auto found = find(action.name); found != pieces_.end())
      found->piece.kind = action.kind;
  }

  void reorder(const Action& action) {
    std::vector<Named> moved;
    std::vector<std::size_t> places;
    for (const std::string& name : action.loops)
      if (const auto found = find(name); found != pieces_.end()) {
        moved.push_back(*found);
        places.push_back(static_cast<std::size_t>(found - pieces_.begin()));
      }
    std::ranges::sort(places);
    for (std::size_t i = 0; i < places.size(); ++i) pieces_[places[i]] = moved[i];
  }

  void pad(const Action& action) {
    if (const auto found = find(action.name); found != pieces_.end())
      found->piece.iterations +=
          (action.count - found->piece.iterations % action.count) % action.count;
  }

  void swap(const Action& action) {
    const auto first = find(action.loops[0]), second = find(action.loops[1]);
    if (first != pieces_.end() && second != pieces_.end()) std::iter_swap(first, second);
  }

  // Ignores an action: the model does not see prefetches, and other nests are timed by themselves.
  void leave(const Action&) {}

  void stage(const Action& action) { stages_.push_back(action); }

  // Represents a STAGE for the whole kernel as one in an outermost piece of one iteration.
  NestPlan plan() {
    const auto is_whole = [](const Action& stage) {
      return stage.at.empty() && stage.space != Space::Constant;
    };
    if (std::ranges::any_of(stages_, is_whole)) pieces_.insert(pieces_.begin(), {"", {}});
    NestPlan plan;
    std::vector<std::string> names;
    for (const bool wanted : {false, true})
      for (const auto& [name, piece] : pieces_)
        if (is_in_registers(piece) == wanted) {
          plan.pieces.push_back(piece);
          names.push_back(name);
        }
    plan.staged.assign(nest_.accesses.size(), -1);
    plan.by_region.resize(nest_.accesses.size());
    plan.kept.resize(nest_.accesses.size());
    plan.buffers.resize(nest_.accesses.size());
    for (const Action& stage : stages_)
      for (std::size_t a = 0; a < nest_.accesses.size(); ++a)
        if (nest_.accesses[a].name != stage.name) {
          continue;
        } else if (stage.space == Space::Constant) {
          plan.kept[a] = true;
        } else if (const auto at = std::ranges::find(names, stage.at); at != names.end()) {
          plan.staged[a] = static_cast<int>(at - names.begin());
          plan.by_region[a] = stage.by_region;
          if (stage.space == Space::Shared) plan.buffers[a] = std::max(buffers_[stage.name], 1);
        }
    return plan;
  }

 private:
  struct Named {
    std::string name;
    Piece piece;
  };

  static bool is_in_registers(const Piece& piece) {
    return piece.kind == LoopKind::Upcast || piece.kind == LoopKind::Vector;
  }
  std::vector<Named>::iterator find(std::string_view name) {
    return std::ranges::find(pieces_, name, &Named::name);
  }

  const Nest& nest_;
  std::vector<Named> pieces_;
  Schedule stages_;
  std::map<std::string, int> buffers_;  // of values whose stages are pipelined
};

}  // namespace

NestPlan plan_of(const Nest& nest, const Schedule& schedule) {
  using Apply = void (Pieces::*)(const Action&);
  static constexpr Apply apply[] = {
      &Pieces::tile,  &Pieces::set_kind, &Pieces::reorder, &Pieces::stage,    &Pieces::group,
      &Pieces::pad,   &Pieces::swap,     &Pieces::leave,   &Pieces::pipeline, &Pieces::leave,
      &Pieces::leave, &Pieces::leave,    &Pieces::leave,   &Pieces::leave};
  static_assert(std::size(apply) == Action::types);
  Pieces pieces(nest);
  for (const Action& action : schedule) (pieces.*apply[action.type])(action);
  return pieces.plan();
}

std::optional<NestTime> expected_time(const Node* kernel, const Schedule& schedule,
                                      const Target& target) {
  // MMA has a cost model of its own, and MERGE makes a different nest.
  const auto is_other = [](const Action& action) {
    return action.type == Action::Mma || action.type == Action::Merge;
  };
  if (std::ranges::any_of(schedule, is_other)) return std::nullopt;
  const UOp carried = with_scans_carried(UOp(kernel));
  const auto nest = nest_of(carried.node(), target.ops.contains(Op::MulAcc));
  if (!nest || nest->loops.empty()) return std::nullopt;
  return time_of(machine_for(kernel, target.machine), *nest,
                 plan_of(*nest, with_lanes_of_blocks(kernel, schedule, target)));
}

}  // namespace weft
