// Enumerates options and ranks them by modelled time: first register tiles, then, for the best of
// these, the order of the loops around them, staging, and blocks of the reduction.

#include "nest_choice.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <tuple>

#include <fmt/format.h>
#include <weft/dev/base/size_limits.h>
#include <weft/settings.h>

#include "candidate_time.h"
#include "register_tiles.h"
#include "schedule/actions/stores.h"
#include "share.h"

namespace weft {
namespace {

constexpr double worth_a_try = 1.12;       // ranked time of a tile, relative to the best option
constexpr std::size_t most_stages = 11;    // ways to stage the reads of a nest
constexpr std::size_t most_threaded = 16;  // options tried with threads

// Returns the tail of output loops that tiles do not divide. A remainder loop is the last choice,
// as its iterations are not tiled.
Tail tail_of_outputs(const Node* closer) {
  if (closer->op() != Op::End) return Tail::Remainder;
  if (may_store_twice(closer)) return Tail::Shift;
  const auto is_shared = [&](const Node* range) { return writes_are_disjoint(closer, range); };
  return std::ranges::all_of(closer->src().subspan(1), is_shared) ? Tail::Mask : Tail::Remainder;
}

class Chooser {
 public:
  Chooser(const KernelNest& nest, const Target& target)
      : nest_(nest.nest),
        target_(target),
        machine_(target.machine),
        is_ordered_(nest.is_ordered),
        uneven_(tail_of_outputs(nest.closer)),
        trial_(nest.nest, target, uneven_) {}

  // Returns all options, fastest first.
  std::vector<Option> ranked() const {
    std::vector<Option> options;
    double best = std::numeric_limits<double>::infinity();
    for (const Option& tile : register_tiles(nest_, target_, is_ordered_, uneven_)) {
      if (tile.seconds > worth_a_try * best) break;
      add_orders(tile, options);
      for (const Option& option : options) best = std::min(best, option.seconds);
    }
    sort_by_time(options);
    return options;
  }

  void add_orders(const Option& tile, std::vector<Option>& options) const {
    for (const auto& order : orders(tile)) {
      Option option = tile;
      option.order = order;
      for (std::int64_t block : trial_.blocks(is_ordered_))
        for (const auto& staged : stages(tile)) {
          option.block = block;
          option.staged = staged;
          if (!try_out(option, options) && block > 0) try_in_parts(option, options);
        }
      option = tile;
      option.order = order;
      for (std::int64_t bytes : {16384, 65536}) {
        option.across = across_for(tile, bytes / std::max<std::int64_t>(1, bytes_of_tile(tile)));
        if (option.across < 2) continue;
        try_out(option, options);
        // Unrolling the reduction loads and stores the partial sums less often.
        Option together = option;
        together.copies = {static_cast<int>(first_reduce(nest_)), 4};
        if (nest_.loops[first_reduce(nest_)].size % 4 == 0) try_out(together, options);
      }
    }
  }

  bool try_out(Option option, std::vector<Option>& options) const {
    const auto seconds = trial_.seconds(option);
    if (!seconds) return false;
    option.seconds = *seconds;
    option.number = options.size();
    options.push_back(std::move(option));
    return true;
  }

  // Splits the last output loop into the fewest parts for which the partial sums of one part fit
  // into the scratch memory.
  void try_in_parts(Option option, std::vector<Option>& options) const {
    const std::size_t loop = last_output(nest_, option);
    if (loop == option.order[nest_.around()]) return;
    const std::int64_t iterations = iterations_around(nest_, option, loop);
    for (std::int64_t parts : {2, 4, 8, 16, 32}) {
      option.part = part_length(iterations, (iterations + parts - 1) / parts);
      if (option.part < 2 || (!may_shift() && iterations % option.part != 0)) continue;
      if (try_out(option, options)) return;
    }
  }

  // Returns the option with its outermost loop shared by threads, or unchanged if that is not
  // faster. The nest's first loops are those of the END, in the same order.
  Option with_threads(const Option& option, const Node* end) const {
    const std::size_t loop = option.order[0];
    if (machine_.workers() < 2 || nest_.loops[loop].is_reduce || nest_.loops[loop].is_around)
      return option;
    if (option.seconds < least_work(worth_threads) || leaves_remainders(option)) return option;
    if (!worth_parallelising(end, end->src(loop + 1))) return option;
    const std::int64_t iterations = iterations_around(nest_, option, loop);
    if (iterations < 2) return option;
    Option threaded = option;
    if (tiles_inside(option, loop) > 0) {
      threaded.across =
          across_for(option, (iterations + machine_.workers() - 1) / machine_.workers());
      threaded.threads =
          threaded.across == 0 ? 1 : (iterations + threaded.across - 1) / threaded.across;
    } else {
      threaded.threads = thread_parts(iterations, machine_.workers(), may_shift());
    }
    if (threaded.threads < 2) return option;
    threaded.seconds = trial_.seconds(threaded).value_or(option.seconds);
    return threaded.seconds < option.seconds ? threaded : option;
  }

  double scratch_of(const Option& option) const { return trial_.scratch_of(option); }
  Schedule schedule_of(const Option& option) const { return actions_of(nest_, option, uneven_); }
  std::string reasons(const Option& option) const {
    return time_of(machine_, nest_, plan_of(nest_, option)).str();
  }

 private:
  // Returns the tile's loop order and those where one output loop is moved outermost or innermost.
  // Loops with other nests inside stay around the rest.
  std::vector<std::vector<std::size_t>> orders(const Option& tile) const {
    std::vector<std::vector<std::size_t>> result{tile.order};
    const auto is_output = [&](std::size_t loop) { return !nest_.loops[loop].is_reduce; };
    const auto outputs = static_cast<std::ptrdiff_t>(std::ranges::count_if(tile.order, is_output));
    auto first = static_cast<std::ptrdiff_t>(nest_.around());
    const auto has_others = [&](std::ptrdiff_t at) {
      return nest_.loops[tile.order[static_cast<std::size_t>(at)]].has_others;
    };
    while (first < outputs && has_others(first)) ++first;
    for (std::ptrdiff_t at = first; at < outputs; ++at)
      if (has_others(at)) return result;
    for (std::ptrdiff_t from = first; from < outputs; ++from)
      for (std::ptrdiff_t to : {first, outputs - 1}) {
        std::vector<std::size_t> order = tile.order;
        const std::size_t loop = order[static_cast<std::size_t>(from)];
        order.erase(order.begin() + from);
        order.insert(order.begin() + to, loop);
        if (std::ranges::find(result, order) == result.end()) result.push_back(order);
      }
    return result;
  }

  std::int64_t bytes_of_tile(const Option& option) const {
    if (option.vector < 0) return option.vectors;
    const std::size_t widest = nest_.loops[static_cast<std::size_t>(option.vector)].widest;
    return option.lanes * option.vectors * static_cast<std::int64_t>(widest);
  }

  // Returns how many tiles of the vector loop run inside the reductions, at most `most`; 0: none.
  std::int64_t across_for(const Option& option, std::int64_t most) const {
    if (is_ordered_ || option.vector < 0 || option.copies.count > 1 || !nest_.has_reduce())
      return 0;
    const auto v = static_cast<std::size_t>(option.vector);
    if (nest_.loops[v].is_reduce) return 0;
    const std::int64_t iterations = iterations_around(nest_, option, v);
    if (may_shift() || iterations <= most) return std::min(most, iterations);
    std::int64_t tiles = most;
    while (tiles > most / 2 && iterations % tiles != 0) --tiles;
    return tiles > 0 && iterations % tiles == 0 ? tiles : 0;
  }

  std::vector<std::vector<Staging>> stages(const Option& tile) const {
    std::vector<std::vector<Staging>> result{std::vector<Staging>(nest_.accesses.size())};
    if (!nest_.has_reduce() || !has_outputs(nest_)) return result;
    const auto add = [&](const std::vector<Staging>& staged) {
      if (std::ranges::find(result, staged) == result.end()) result.push_back(staged);
    };
    add(all_kept());
    for (const std::size_t way : {0, 1}) add(read_by_lanes(tile, way));
    for (const std::vector<std::size_t>& together : staged_together()) {
      const std::size_t count = result.size();
      for (const Staging staging : trial_.stagings(nest_.accesses[together[0]]))
        for (std::size_t i = 0; i < count && result.size() < most_stages; ++i) {
          std::vector<Staging> staged = result[i];
          for (const std::size_t a : together) staged[a] = staging;
          add(staged);
        }
    }
    return result;
  }

  // Stages all accesses that change with the vector loop, each by entry `way` of its stagings() or
  // the last one.
  std::vector<Staging> read_by_lanes(const Option& tile, std::size_t way) const {
    std::vector<Staging> staged(nest_.accesses.size());
    for (std::size_t a = 0; a < staged.size() && tile.vector >= 0; ++a) {
      const std::vector<Staging> stagings = trial_.stagings(nest_.accesses[a]);
      if (!stagings.empty() &&
          nest_.accesses[a].changes_with(static_cast<std::size_t>(tile.vector)))
        staged[a] = stagings[std::min(way, stagings.size() - 1)];
    }
    return staged;
  }

  bool may_be_kept(std::size_t a) const {
    return trial_.stagings(nest_.accesses[a]) == std::vector{Staging::Kept};
  }

  std::vector<Staging> all_kept() const {
    std::vector<Staging> staged(nest_.accesses.size());
    for (std::size_t a = 0; a < staged.size(); ++a)
      if (may_be_kept(a)) staged[a] = Staging::Kept;
    return staged;
  }

  // Groups accesses that are staged together: reads of one constant, such as the codes and scales
  // of quantised blocks, are prepacked all or none.
  std::vector<std::vector<std::size_t>> staged_together() const {
    std::vector<std::vector<std::size_t>> result;
    for (std::size_t a = 0; a < nest_.accesses.size(); ++a) {
      const auto found = std::ranges::find_if(result, [&](const auto& group) {
        return nest_.accesses[group[0]].storage == nest_.accesses[a].storage && may_be_kept(a) &&
               may_be_kept(group[0]);
      });
      if (found == result.end())
        result.push_back({a});
      else
        found->push_back(a);
    }
    return result;
  }

  bool may_shift() const { return uneven_ == Tail::Shift; }

  // Whether the option leaves remainder loops, which every thread would run.
  bool leaves_remainders(const Option& option) const {
    for (std::size_t loop = 0; loop < nest_.loops.size(); ++loop)
      if (!nest_.loops[loop].is_reduce &&
          tail_of(nest_, loop, in_registers(option, loop), uneven_) == Tail::Remainder)
        return true;
    return false;
  }

  const Nest& nest_;
  const Target& target_;
  const DeviceModel& machine_;
  bool is_ordered_;
  Tail uneven_;
  CandidateTime trial_;
};

bool are_alike(const NestLoop& a, const NestLoop& b) {
  const auto all = [](const NestLoop& loop) {
    return std::tuple(loop.names.size(), loop.size, loop.is_reduce, loop.has_others, loop.is_fixed,
                      loop.is_around, loop.is_cut, loop.widest);
  };
  return all(a) == all(b);
}

bool are_alike(const NestAccess& a, const NestAccess& b) {
  const auto all = [](const NestAccess& access) {
    return std::tie(access.is_write, access.is_masked, access.is_index, access.is_constant,
                    access.bytes, access.sizes, access.step, access.irregular, access.guarded,
                    access.strides, access.overlap, access.places, access.first, access.last);
  };
  return all(a) == all(b) && a.name.empty() == b.name.empty();
}

// Compares all but names and storage; accesses must share storage in the same way.
bool are_alike(const Nest& a, const Nest& b) {
  const auto loops = [](const NestLoop& x, const NestLoop& y) { return are_alike(x, y); };
  const auto accesses = [](const NestAccess& x, const NestAccess& y) { return are_alike(x, y); };
  if (!std::ranges::equal(a.loops, b.loops, loops) ||
      !std::ranges::equal(a.accesses, b.accesses, accesses))
    return false;
  for (std::size_t i = 0; i < a.accesses.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if ((a.accesses[i].storage == a.accesses[k].storage) !=
          (b.accesses[i].storage == b.accesses[k].storage))
        return false;
  return a.inner_ops == b.inner_ops && a.outer_ops == b.outer_ops;
}

void report(const Schedule& schedule, const std::string& reasons) {
  fmt::print(stderr, "// schedule: {}\n//   {}\n", to_string(schedule), reasons);
}

}  // namespace

std::vector<Chosen> best_of(const KernelNest& nest, const Target& target, std::size_t most) {
  const Chooser chooser(nest, target);
  std::vector<Option> options = chooser.ranked();
  if (nest.is_whole) {
    options.resize(std::min(options.size(), std::max(most, most_threaded)));
    for (Option& option : options) option = chooser.with_threads(option, nest.closer);
    sort_by_time(options);
  }
  std::vector<Chosen> best;
  for (const Option& option : options) {
    if (best.size() >= most) break;
    Schedule schedule = chooser.schedule_of(option);
    if (std::ranges::find(best, schedule, &Chosen::schedule) != best.end()) continue;
    if (setting_int("DEBUG") >= 3) report(schedule, chooser.reasons(option));
    best.push_back({option, std::move(schedule), chooser.scratch_of(option), option.seconds});
  }
  return best;
}

// A result found with more scratch memory is still the best if it fits into what there is now.
const NestChoices::Known* NestChoices::find(const KernelNest& nest,
                                            std::size_t scratch_bytes) const {
  const auto found = std::ranges::find_if(known_, [&](const Known& known) {
    return known.nest.is_ordered == nest.is_ordered && known.scratch_bytes >= scratch_bytes &&
           known.chosen.scratch <= static_cast<double>(scratch_bytes) &&
           are_alike(known.nest.nest, nest.nest) &&
           tail_of_outputs(known.nest.closer) == tail_of_outputs(nest.closer);
  });
  return found == known_.end() ? nullptr : &*found;
}

Chosen NestChoices::best(const KernelNest& nest, const Target& target) {
  if (const Known* known = find(nest, target.scratch_bytes)) {
    Chosen chosen = known->chosen;
    chosen.schedule = Chooser(nest, target).schedule_of(chosen.option);
    return chosen;
  }
  known_.push_back({nest, target.scratch_bytes, best_of(nest, target, 1)[0]});
  return known_.back().chosen;
}

}  // namespace weft
