// Every way that seems worth a try, in time by the model: first what stands in registers, then, for
// the best of those, the order of the loops around it, what is staged, and blocks of the reduction.

#include "choose.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <weft/dev/ir/graph.h>
#include <weft/settings.h>
#include <cstdio>

#include "merge_loops.h"
#include "nest_of.h"
#include "share.h"
#include "tile.h"

namespace weft {
namespace {

constexpr std::int64_t most_values = 32;  // in registers at once, tried at all
constexpr std::size_t most_tiles = 6;     // kept for the second step
constexpr double worth_threads = 6e-6;    // seconds of work

struct Option {
  int vector = -1, upcast = -1;  // loops
  std::int64_t lanes = 1, vectors = 1, copies = 1;
  std::vector<std::size_t> order = {};  // of the loops, outermost first; reductions stay inside
  std::vector<bool> staged = {};        // by access
  std::int64_t block = 0;               // trips of the first reduction inside its outer loop
  std::int64_t threads = 1;
  double seconds = 0;
  std::size_t number = 0;  // in the order of the tries: the first of equals wins
};

class Chooser {
 public:
  Chooser(const Nest& nest, const Target& target, bool may_shift)
      : nest_(nest), target_(target), machine_(target.machine), may_shift_(may_shift) {}

  // All of them, the fastest first.
  std::vector<Option> ranked() const {
    const std::vector<Option> tiles = register_tiles();
    std::vector<Option> options{tiles[0]};
    for (const Option& tile : tiles)
      for (const auto& order : orders(tile))
        for (std::int64_t block : blocks())
          for (const auto& staged : stages()) {
            Option option = tile;
            option.order = order;
            option.block = block;
            option.staged = staged;
            if (!is_legal(option)) continue;
            option.seconds = seconds(option);
            option.number = options.size();
            options.push_back(std::move(option));
          }
    std::ranges::sort(
        options, {}, [](const Option& option) { return std::pair(option.seconds, option.number); });
    return options;
  }

  // Several parts for each worker, so that none waits long for the last.
  Option with_threads(const Option& option) const {
    const std::size_t loop = option.order[0];
    if (machine_.workers < 2 || nest_.loops[loop].is_reduce) return option;
    if (option.seconds < worth_threads) return option;
    const std::int64_t step = in_registers(option, loop);
    const std::int64_t trips = (nest_.loops[loop].size + step - 1) / step;
    if (trips < 2) return option;
    Option threaded = option;
    threaded.threads = parts_for(trips, machine_.workers, may_shift_);
    if (threaded.threads < 2) return option;
    threaded.seconds = seconds(threaded);
    return threaded.seconds < option.seconds ? threaded : option;
  }

  Schedule schedule_of(const Option& option) const;
  std::string reasons(const Option& option) const {
    return time_of(machine_, nest_, plan_of(option)).str();
  }

 private:
  double seconds(const Option& option) const {
    return time_of(machine_, nest_, plan_of(option)).total();
  }

  std::int64_t in_registers(const Option& option, std::size_t loop) const {
    const int at = static_cast<int>(loop);
    if (at == option.vector) return option.lanes * option.vectors;
    return at == option.upcast ? option.copies : 1;
  }

  std::vector<std::size_t> natural_order() const {
    std::vector<std::size_t> order(nest_.loops.size());
    std::iota(order.begin(), order.end(), 0);
    return order;
  }

  std::vector<Option> register_tiles() const {
    Option plain;
    plain.order = natural_order();
    plain.staged.resize(nest_.accesses.size());
    std::vector<Option> tiles;
    const auto add = [&](Option option) {
      option.seconds = seconds(option);
      tiles.push_back(option);
    };
    add(plain);
    for (std::size_t v = 0; v < nest_.loops.size(); ++v) {
      if (!may_be_vector(v)) continue;
      Option option = plain;
      option.vector = static_cast<int>(v);
      option.lanes = lanes_for(nest_.loops[v].size);
      for (std::int64_t vectors : {1, 2, 3, 4, 6, 8}) {
        option.vectors = vectors;
        if (option.lanes * vectors > nest_.loops[v].size) break;
        option.upcast = -1;
        option.copies = 1;
        add(option);
        for (std::size_t u = 0; u < nest_.loops.size(); ++u) {
          if (u == v || nest_.loops[u].is_reduce || !nest_.has_reduce()) continue;
          for (std::int64_t copies : {2, 3, 4, 5, 6, 7, 8, 10, 12, 14}) {
            if (copies > nest_.loops[u].size || copies * vectors > most_values) break;
            option.upcast = static_cast<int>(u);
            option.copies = copies;
            add(option);
          }
        }
      }
    }
    std::ranges::sort(tiles, {}, &Option::seconds);
    if (tiles.size() > most_tiles) tiles.resize(most_tiles);
    return tiles;
  }

  bool may_be_vector(std::size_t loop) const {
    if (nest_.loops[loop].size < 4) return false;
    return std::ranges::any_of(nest_.accesses, [&](const NestAccess& access) {
      return !access.irregular[loop] && access.stride(loop) == 1;
    });
  }

  std::int64_t lanes_for(std::int64_t size) const {
    std::int64_t lanes = machine_.vector_bytes / static_cast<std::int64_t>(nest_.widest);
    while (lanes > size) lanes /= 2;
    return lanes;
  }

  // Those of the outputs as they are, and each of them outermost or innermost.
  std::vector<std::vector<std::size_t>> orders(const Option& tile) const {
    std::vector<std::vector<std::size_t>> result{tile.order};
    const auto is_output = [&](std::size_t loop) { return !nest_.loops[loop].is_reduce; };
    const auto outputs = static_cast<std::ptrdiff_t>(std::ranges::count_if(tile.order, is_output));
    for (std::ptrdiff_t from = 0; from < outputs; ++from)
      for (std::ptrdiff_t to : {std::ptrdiff_t{0}, outputs - 1}) {
        std::vector<std::size_t> order = tile.order;
        const std::size_t loop = order[static_cast<std::size_t>(from)];
        order.erase(order.begin() + from);
        order.insert(order.begin() + to, loop);
        if (std::ranges::find(result, order) == result.end()) result.push_back(order);
      }
    return result;
  }

  std::vector<std::int64_t> blocks() const {
    std::vector<std::int64_t> result{0};
    const auto first = std::ranges::find_if(nest_.loops, &NestLoop::is_reduce);
    if (first == nest_.loops.end() || first->size < 512) return result;
    for (std::int64_t most : {256, 512, 1024}) {
      std::int64_t block = std::min(most, first->size / 2);
      while (block > most / 2 && first->size % block != 0) --block;
      if (first->size % block == 0 && block > 64) result.push_back(block);
    }
    return result;
  }

  std::vector<std::vector<bool>> stages() const {
    std::vector<std::vector<bool>> result{std::vector<bool>(nest_.accesses.size())};
    if (!nest_.has_reduce()) return result;
    for (std::size_t a = 0; a < nest_.accesses.size(); ++a) {
      if (nest_.accesses[a].is_write || !changes_with_reduce(nest_.accesses[a])) continue;
      const std::size_t count = result.size();
      for (std::size_t i = 0; i < count && result.size() < 8; ++i) {
        result.push_back(result[i]);
        result.back()[a] = true;
      }
    }
    return result;
  }

  bool changes_with_reduce(const NestAccess& access) const {
    for (std::size_t loop = 0; loop < nest_.loops.size(); ++loop)
      if (nest_.loops[loop].is_reduce && access.changes_with(loop)) return true;
    return false;
  }

  // The outer pieces of the loops in order; a block of the reduction goes after the first of them.
  NestPlan plan_of(const Option& option) const {
    NestPlan plan;
    const auto add = [&](std::size_t loop, std::int64_t trips, std::int64_t step, LoopKind kind) {
      plan.pieces.push_back({loop, trips, step, kind});
    };
    bool is_blocked = option.block == 0;
    for (std::size_t loop : option.order) {
      const std::int64_t step = in_registers(option, loop);
      std::int64_t trips = (nest_.loops[loop].size + step - 1) / step;
      if (!nest_.loops[loop].is_reduce || option.block == 0) {
        const bool is_first = plan.pieces.empty() && option.threads > 1;
        if (is_first && option.threads < trips) {
          add(loop, option.threads, step * ((trips + option.threads - 1) / option.threads),
              LoopKind::Thread);
          trips = (trips + option.threads - 1) / option.threads;
          add(loop, trips, step, LoopKind::Loop);
        } else {
          add(loop, trips, step, is_first ? LoopKind::Thread : LoopKind::Loop);
        }
        if (!is_blocked && !nest_.loops[loop].is_reduce) {
          const std::size_t k = first_reduce();
          add(k, nest_.loops[k].size / option.block, option.block, LoopKind::Loop);
          is_blocked = true;
        }
      } else {
        add(loop, loop == first_reduce() ? option.block / step : trips, step, LoopKind::Loop);
      }
    }
    const std::size_t inside = plan.pieces.size();
    if (option.copies > 1)
      add(static_cast<std::size_t>(option.upcast), option.copies, 1, LoopKind::Upcast);
    if (option.vector >= 0) {
      const auto v = static_cast<std::size_t>(option.vector);
      if (option.vectors > 1) add(v, option.vectors, option.lanes, LoopKind::Upcast);
      add(v, option.lanes, 1, LoopKind::Vector);
    }
    plan.staged.assign(nest_.accesses.size(), -1);
    for (std::size_t a = 0; a < nest_.accesses.size(); ++a)
      if (option.staged[a]) plan.staged[a] = stage_place(plan, nest_.accesses[a], inside, option);
    return plan;
  }

  std::size_t first_reduce() const {
    return static_cast<std::size_t>(std::ranges::find_if(nest_.loops, &NestLoop::is_reduce) -
                                    nest_.loops.begin());
  }

  // The last loop around the reduction, or its blocks, that the access changes with.
  int stage_place(const NestPlan& plan, const NestAccess& access, std::size_t inside,
                  const Option& option) const {
    int place = -1;
    for (std::size_t i = 0; i < inside; ++i) {
      const Piece& piece = plan.pieces[i];
      const bool is_block =
          option.block > 0 && piece.loop == first_reduce() && piece.step == option.block;
      if (nest_.loops[piece.loop].is_reduce && !is_block) break;
      if (access.changes_with(piece.loop)) place = static_cast<int>(i);
    }
    return place;
  }

  bool is_legal(const Option& option) const {
    const NestPlan plan = plan_of(option);
    double scratch = 0;
    for (std::size_t a = 0; a < nest_.accesses.size(); ++a) {
      if (!option.staged[a]) continue;
      if (plan.staged[a] < 0) return false;
      scratch += inside_of(plan, nest_.accesses[a], static_cast<std::size_t>(plan.staged[a])) *
                 nest_.accesses[a].bytes;
    }
    if (option.block > 0) {
      // What is summed in parts is kept for all trips inside.
      if (option.vector == static_cast<int>(first_reduce())) return false;
      double values = 1;
      bool is_inside = false;
      for (const Piece& piece : plan.pieces) {
        if (is_inside && !nest_.loops[piece.loop].is_reduce)
          values *= static_cast<double>(piece.trips);
        is_inside = is_inside || nest_.loops[piece.loop].is_reduce;
      }
      scratch += values * 4;
    }
    return scratch <= static_cast<double>(target_.scratch_bytes) / 2;
  }

  static double inside_of(const NestPlan& plan, const NestAccess& access, std::size_t at) {
    double elements = 1;
    for (std::size_t i = at + 1; i < plan.pieces.size(); ++i)
      if (access.changes_with(plan.pieces[i].loop))
        elements *= static_cast<double>(plan.pieces[i].trips);
    return elements;
  }

  const Nest& nest_;
  const Target& target_;
  const Machine& machine_;
  bool may_shift_;
};

// The actions of an option, with the names that tiles give.
class Writer {
 public:
  explicit Writer(const Nest& nest) : nest_(nest), cut_(nest.loops.size()) {}

  // Cuts tiles off the inside of a loop; gives their place among its tiles.
  int tile(std::size_t loop, int of, std::int64_t count, Tail tail) {
    const int inner = ++cut_[loop];
    for (const std::string& name : nest_.loops[loop].names)
      schedule.push_back(
          {.type = Action::Tile, .name = named(name, of), .count = count, .tail = tail});
    return inner;
  }
  void kind(std::size_t loop, int of, LoopKind kind) {
    for (const std::string& name : nest_.loops[loop].names)
      schedule.push_back({.type = Action::Kind, .name = named(name, of), .kind = kind});
  }
  void ordered(std::size_t loop, int of) {
    for (const std::string& name : nest_.loops[loop].names) order.push_back(named(name, of));
  }
  static std::string named(const std::string& name, int of) {
    return of == 0 ? name : fmt::format("{}.{}", name, of);
  }

  Schedule schedule;
  std::vector<std::string> order;

 private:
  const Nest& nest_;
  std::vector<int> cut_;
};

Schedule Chooser::schedule_of(const Option& option) const {
  Writer writer(nest_);
  const auto tail_of = [&](std::size_t loop, std::int64_t count) {
    if (nest_.loops[loop].size % count == 0) return Tail::None;
    return may_shift_ && !nest_.loops[loop].is_reduce ? Tail::Shift : Tail::Remainder;
  };
  const auto v = static_cast<std::size_t>(std::max(option.vector, 0));
  const auto u = static_cast<std::size_t>(std::max(option.upcast, 0));
  int vector = 0, vectors = 0, copies = 0, block = 0, thread = -1;
  if (option.vector >= 0) {
    const std::int64_t count = option.lanes * option.vectors;
    vector = writer.tile(v, 0, count, tail_of(v, count));
    if (option.vectors > 1) {
      vectors = vector;
      vector = writer.tile(v, vectors, option.lanes, Tail::None);
    }
  }
  if (option.copies > 1) copies = writer.tile(u, 0, option.copies, tail_of(u, option.copies));
  if (option.block > 0) block = writer.tile(first_reduce(), 0, option.block, Tail::None);
  const std::size_t first = option.order[0];
  if (option.threads > 1) {
    const std::int64_t step = in_registers(option, first);
    const std::int64_t trips = (nest_.loops[first].size + step - 1) / step;
    const std::int64_t each = (trips + option.threads - 1) / option.threads;
    if (each > 1)
      thread = writer.tile(first, 0, each, trips % each == 0 ? Tail::None : Tail::Shift);
  }
  // Where each piece of the plan comes from.
  const NestPlan plan = plan_of(option);
  std::vector<int> names;
  bool is_open = option.block > 0;
  for (std::size_t loop : option.order) {
    if (!nest_.loops[loop].is_reduce || !(option.block > 0 && loop == first_reduce())) {
      writer.ordered(loop, 0);
      names.push_back(static_cast<int>(writer.order.size()) - 1);
      if (thread > 0 && loop == first) {
        writer.ordered(loop, thread);
        names.push_back(static_cast<int>(writer.order.size()) - 1);
      }
      if (is_open && !nest_.loops[loop].is_reduce) {
        writer.ordered(first_reduce(), 0);
        names.push_back(static_cast<int>(writer.order.size()) - 1);
        is_open = false;
      }
    } else {
      writer.ordered(loop, block);
      names.push_back(static_cast<int>(writer.order.size()) - 1);
    }
  }
  const std::vector<std::string> outer = writer.order;
  if (copies > 0) writer.ordered(u, copies);
  if (vectors > 0) writer.ordered(v, vectors);
  if (vector > 0) writer.ordered(v, vector);
  writer.schedule.push_back({.type = Action::Order, .name = {}, .loops = writer.order});
  for (std::size_t a = 0; a < nest_.accesses.size(); ++a)
    if (option.staged[a])
      writer.schedule.push_back(
          {.type = Action::Stage,
           .name = nest_.accesses[a].name,
           .at = outer[static_cast<std::size_t>(names[static_cast<std::size_t>(plan.staged[a])])]});
  if (option.threads > 1) writer.kind(first, 0, LoopKind::Thread);
  if (copies > 0) writer.kind(u, copies, LoopKind::Upcast);
  if (vectors > 0) writer.kind(v, vectors, LoopKind::Upcast);
  if (vector > 0) writer.kind(v, vector, LoopKind::Vector);
  return writer.schedule;
}

// Kinds other than these are somebody's choice.
bool is_open(const Node* node) {
  if (node->op() != Op::Range) return true;
  const LoopKind kind = node->arg<RangeArg>().kind;
  return kind == LoopKind::Loop || kind == LoopKind::Reduce;
}

}  // namespace

Schedule choose_schedule(const Node* kernel, const Target& target) {
  return best_schedules(kernel, target, 1)[0];
}

std::vector<Schedule> best_schedules(const Node* kernel, const Target& target, std::size_t most) {
  if (!std::ranges::all_of(toposort(kernel), is_open)) return {{}};
  const auto nest = nest_of(kernel, target.ops.contains(Op::MulAcc));
  if (!nest || nest->loops.empty() || target.vector_bytes == 0)
    return {share_outermost(kernel, target.machine)};
  const Chooser chooser(*nest, target, may_store_twice(kernel->src(0)));
  std::vector<Schedule> schedules;
  for (const Option& option : chooser.ranked()) {
    const Option threaded = chooser.with_threads(option);
    Schedule schedule = chooser.schedule_of(threaded);
    if (std::ranges::find(schedules, schedule) != schedules.end()) continue;
    if (setting_int("DEBUG") >= 3)
      fmt::print(stderr, "// schedule: {}\n//   {}\n", to_string(schedule),
                 chooser.reasons(threaded));
    schedules.push_back(std::move(schedule));
    if (schedules.size() >= most) break;
  }
  return schedules;
}

std::vector<Schedule> candidate_schedules(const UOp& kernel, const Target& target,
                                          std::size_t most) {
  return best_schedules(merge_loops(kernel).node(), target, most);
}

}  // namespace weft
