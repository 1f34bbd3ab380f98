#include "register_tiles.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "candidate_time.h"

namespace weft {
namespace {

constexpr std::int64_t most_values = 32;  // result vectors of a tile
// Instructions of an innermost loop that hide all latency and make the loop's own ones negligible:
// a tile of more vectors only takes time to compile and to fetch. And those of all loops together.
constexpr double most_inside = 512, most_instructions = 4096;
constexpr std::int64_t most_fields = 4;     // fields of a packed number
constexpr std::size_t most_tiles = 5;       // kept from each ranking
constexpr std::size_t most_promising = 32;  // ranked again with staged lanes
// A tile whose instructions alone take so many times as long as the fastest one is not looked at
// further.
constexpr double too_slow = 2;
// Tiles with the same vector loop and number of vectors that a ranking keeps before any others.
constexpr std::ptrdiff_t most_of_kind = 2;

class RegisterTiles {
 public:
  RegisterTiles(const Nest& nest, const Target& target, bool is_ordered, Tail uneven)
      : nest_(nest),
        machine_(target.machine),
        trial_(nest, target, uneven),
        is_ordered_(is_ordered),
        blocks_(trial_.blocks(is_ordered)) {
    for (const NestOps& ops : nest.inner_ops) inside_ += ops.instructions;
    for (const NestAccess& access : nest.accesses) inside_ += access.places;
    for (const NestOps& ops : nest.outer_ops) outside_ += ops.instructions;
  }

  std::vector<Option> all() const {
    Option plain;
    plain.order = natural_order();
    plain.staged.resize(nest_.accesses.size());
    std::vector<Option> tiles;
    add_tile(plain, tiles);
    for (std::size_t v = 0; v < nest_.loops.size(); ++v) {
      if (!may_be_vector(v)) continue;
      Option option = plain;
      option.vector = static_cast<int>(v);
      for (std::int64_t lanes : lanes_for(v)) {
        option.lanes = lanes;
        add_vectors(option, tiles);
      }
    }
    return best(std::move(tiles));
  }

 private:
  // Puts reductions innermost, and last the one whose iterations touch the fewest new cache lines.
  std::vector<std::size_t> natural_order() const {
    std::vector<std::size_t> order(nest_.loops.size());
    std::iota(order.begin(), order.end(), 0);
    if (is_ordered_) return order;
    const auto first =
        std::ranges::find_if(order, [&](std::size_t loop) { return nest_.loops[loop].is_reduce; });
    std::ranges::sort(first, order.end(), {},
                      [&](std::size_t loop) { return std::pair(-bytes_apart(loop), loop); });
    return order;
  }

  // Sums the strides of all accesses in bytes, each limited to a cache line.
  double bytes_apart(std::size_t loop) const {
    double bytes = 0;
    for (const NestAccess& access : nest_.accesses) {
      const double step = access.irregular[loop]
                              ? machine_.line
                              : access.bytes * std::abs(static_cast<double>(access.stride(loop)));
      bytes += std::min(step, machine_.line);
    }
    return bytes;
  }

  bool is_short(double vectors) const {
    return vectors * inside_ <= most_inside && vectors * (inside_ + outside_) <= most_instructions;
  }

  void add_vectors(Option option, std::vector<Option>& tiles) const {
    const std::int64_t size = nest_.loops[static_cast<std::size_t>(option.vector)].size;
    for (std::int64_t vectors : {1, 2, 3, 4, 6, 8}) {
      if (vectors > 1 && option.lanes * vectors > size) break;
      if (vectors > 1 && !is_short(static_cast<double>(vectors))) break;
      option.vectors = vectors;
      add_tile(option, tiles);
      add_unrolls(option, tiles);
      add_short_sums(option, tiles);
    }
    option.vectors = 1;
    const bool sums_lanes = nest_.loops[static_cast<std::size_t>(option.vector)].is_reduce;
    if (nest_.has_reduce() && (sums_lanes || size < 2 * option.lanes))
      add_inner_copies(option, tiles);
  }

  // Adds a tile with the time of its instructions.
  void add_tile(Option option, std::vector<Option>& tiles) const {
    const auto seconds = trial_.seconds(option, true, 0);
    if (!seconds) return;
    option.seconds = *seconds;
    option.number = tiles.size();
    tiles.push_back(std::move(option));
  }

  // Ranks the tiles three times: without staging, with everything staged, and with the reads of the
  // vector loop staged. The cost of copies is left out, since it depends on the loop order. Returns
  // the first of each ranking with the least of their times.
  std::vector<Option> best(std::vector<Option> tiles) const {
    sort_by_time(tiles);
    find_times(tiles, [&](const Option& tile, double most) {
      return trial_.seconds(tile, true, most).value();
    });
    std::vector<Option> least(tiles.size());
    for (const Option& tile : tiles) least[tile.number] = tile;
    std::vector<std::size_t> first;
    const auto take = [&](std::vector<Option>& ranked) {
      for (const Option& tile : ranked)
        least[tile.number].seconds = std::min(least[tile.number].seconds, tile.seconds);
      sort_by_time(ranked);
      for (const Option& tile : of_all_kinds(ranked)) first.push_back(tile.number);
    };
    take(tiles);
    find_times(tiles,
               [&](const Option& tile, double most) { return staged_seconds(tile, true, most); });
    take(tiles);
    tiles.resize(std::min(tiles.size(), most_promising));
    find_times(tiles, [&](const Option& tile, double most) {
      return staged_seconds(least[tile.number], false, most);
    });
    take(tiles);
    std::ranges::sort(first);
    first.erase(std::ranges::unique(first).begin(), first.end());
    std::vector<Option> result;
    for (std::size_t number : first) result.push_back(least[number]);
    sort_by_time(result);
    return result;
  }

  template <class Seconds>
  static void find_times(std::vector<Option>& tiles, Seconds seconds) {
    double fastest = std::numeric_limits<double>::infinity();
    for (Option& tile : tiles) {
      tile.seconds = seconds(tile, too_slow * fastest);
      fastest = std::min(fastest, tile.seconds);
    }
  }

  // Returns the first tiles of a ranking. Those of other kinds precede the third with the same
  // vector loop and number of vectors, because the cost of packing is not known yet.
  static std::vector<Option> of_all_kinds(const std::vector<Option>& tiles) {
    std::vector<Option> result, others;
    for (const Option& tile : tiles) {
      const auto is_alike = [&](const Option& other) {
        return other.vector == tile.vector && other.vectors == tile.vectors;
      };
      (std::ranges::count_if(result, is_alike) >= most_of_kind ? others : result).push_back(tile);
    }
    result.insert(result.end(), others.begin(), others.end());
    result.resize(std::min(result.size(), most_tiles));
    return result;
  }

  double staged_seconds(Option option, bool is_all, double most) const {
    option.staged = staged(option, is_all);
    const auto is_staged = [](Staging staging) { return staging != Staging::None; };
    if (std::ranges::none_of(option.staged, is_staged)) return option.seconds;
    // Blocks of the reduction need less scratch memory, and are about as fast.
    option.block = blocks_.back();
    auto seconds = trial_.seconds(option, false, most);
    if (is_all && seconds) return std::min(option.seconds, *seconds);
    option.block = 0;
    const auto whole = trial_.seconds(option, false, most);
    // The vector of a matrix-vector product has no outer loop at which it could be staged.
    if (is_all && !whole) return staged_seconds(option, false, most);
    seconds = std::min(seconds.value_or(option.seconds), whole.value_or(option.seconds));
    return std::min(option.seconds, *seconds);
  }

  std::vector<Staging> staged(const Option& option, bool is_all) const {
    std::vector<Staging> result(nest_.accesses.size());
    if (option.vector < 0 || !nest_.has_reduce() || !has_outputs(nest_)) return result;
    const auto v = static_cast<std::size_t>(option.vector);
    for (std::size_t a = 0; a < nest_.accesses.size(); ++a) {
      const NestAccess& access = nest_.accesses[a];
      const std::vector<Staging> stagings = trial_.stagings(access);
      if (stagings.empty()) continue;
      // A region keeps the strides of the buffer, which suits contiguous lanes.
      const bool is_apart =
          access.stride(v) > 1 && !has_short_stride(access.stride(v), most_lanes(v));
      if (is_all)
        result[a] = is_apart ? stagings[0] : stagings.back();
      else if (access.changes_with(v))
        result[a] = stagings[0];
    }
    return result;
  }

  bool may_unroll(const Option& option, std::size_t loop) const {
    const int at = static_cast<int>(loop);
    return at != option.vector && at != option.inner.loop && !nest_.loops[loop].is_reduce &&
           !nest_.loops[loop].is_fixed && !nest_.loops[loop].is_around;
  }

  void add_unrolls(Option option, std::vector<Option>& tiles) const {
    for (std::size_t u = 0; u < nest_.loops.size(); ++u) {
      if (!may_unroll(option, u)) continue;
      for (std::int64_t copies : copies_beside(static_cast<std::size_t>(option.vector), u)) {
        if (copies > nest_.loops[u].size) break;
        const std::int64_t values = copies * option.vectors * sums_of(option.inner);
        if (values > most_values) break;
        if (nest_.has_reduce() && 2 * copies <= nest_.loops[u].size && 4 * values <= most_values)
          continue;  // twice as many hide more latency and reuse more
        option.copies = {static_cast<int>(u), copies};
        add_tile(option, tiles);
      }
    }
  }

  // Returns how many accumulators the copies need: those of a reduction share one.
  std::int64_t sums_of(const Unroll& copies) const {
    const bool is_summed =
        copies.loop >= 0 && nest_.loops[static_cast<std::size_t>(copies.loop)].is_reduce;
    return is_summed ? 1 : copies.count;
  }

  // Unrolls two loops beside the vectors, where the vector loop fills only one or is a reduction.
  void add_inner_copies(const Option& option, std::vector<Option>& tiles) const {
    for (std::size_t u = 0; u < nest_.loops.size(); ++u) {
      if (!may_unroll(option, u)) continue;
      for (std::int64_t copies : {2, 3, 4}) {
        if (copies > nest_.loops[u].size) break;
        Option with = option;
        with.inner = {static_cast<int>(u), copies};
        add_unrolls(with, tiles);
      }
    }
  }

  // Fully unrolls one or two short reductions whose iterations read the same vectors, such as the
  // fields of packed numbers.
  void add_short_sums(Option option, std::vector<Option>& tiles) const {
    for (std::size_t u = first_reduce(nest_) + 1; u < nest_.loops.size(); ++u) {
      if (!may_unroll_fully(option, u)) continue;
      option.inner = {static_cast<int>(u), nest_.loops[u].size};
      add_tile(option, tiles);
      add_unrolls(option, tiles);
      for (std::size_t other = u + 1; other < nest_.loops.size(); ++other) {
        if (!may_unroll_fully(option, other)) continue;
        Option both = option;
        both.copies = {static_cast<int>(other), nest_.loops[other].size};
        add_tile(both, tiles);
      }
    }
  }

  bool may_unroll_fully(const Option& option, std::size_t u) const {
    const auto v = static_cast<std::size_t>(option.vector);
    const NestLoop& loop = nest_.loops[u];
    const auto is_shared = [&](const NestAccess& access) {
      return !access.is_write && access.changes_with(v) && !access.changes_with(u) &&
             changes_with_long_sums(access);
    };
    if (u == v || !loop.is_reduce || loop.size < 2 || loop.size > most_fields) return false;
    return std::ranges::any_of(nest_.accesses, is_shared);
  }

  // Whether an access changes with all long reductions, as packed numbers do and the scales of
  // their blocks do not.
  bool changes_with_long_sums(const NestAccess& access) const {
    for (std::size_t loop = 0; loop < nest_.loops.size(); ++loop)
      if (nest_.loops[loop].is_reduce && nest_.loops[loop].size > most_fields &&
          !access.changes_with(loop))
        return false;
    return true;
  }

  // Returns the unroll factors to try for u beside vectors of v. Without a reduction, it pays only
  // where lanes are strided and iterations of u contiguous: stores interleave, or loads are
  // transposed in registers.
  std::vector<std::int64_t> copies_beside(std::size_t v, std::size_t u) const {
    if (nest_.has_reduce()) return {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14};
    const std::int64_t between = nest_.loops[u].size;
    const bool fills = std::ranges::any_of(nest_.accesses, [&](const NestAccess& access) {
      return access.is_write && access.stride(u) == 1 && access.stride(v) == between;
    });
    if (fills && (between == 2 || between == 4)) return {between};
    const bool is_transposed = std::ranges::any_of(nest_.accesses, [&](const NestAccess& access) {
      return !access.is_write && !access.irregular[v] && !access.irregular[u] &&
             access.stride(u) == 1 && access.stride(v) != 0;
    });
    return is_transposed ? std::vector<std::int64_t>{4, 8, 16} : std::vector<std::int64_t>{};
  }

  bool may_be_vector(std::size_t loop) const {
    if (nest_.loops[loop].size < 4 || nest_.loops[loop].has_others) return false;
    if (nest_.loops[loop].is_around) return false;
    return is_contiguous_for_some(loop) || may_store_strided(loop);
  }

  bool is_contiguous_for_some(std::size_t loop) const {
    return std::ranges::any_of(nest_.accesses, [&](const NestAccess& access) {
      return !access.irregular[loop] && access.stride(loop) == 1;
    });
  }

  // Whether a loop may be vectorised although its results are stored with a stride. It may if each
  // contiguous output loop is too short for a vector, as with small images, or needs strided loads.
  bool may_store_strided(std::size_t loop) const {
    if (!nest_.has_reduce() || nest_.loops[loop].is_reduce ||
        nest_.loops[loop].size < most_lanes(loop))
      return false;
    for (std::size_t other = nest_.around(); other < nest_.loops.size(); ++other)
      if (!nest_.loops[other].is_reduce && nest_.loops[other].size >= most_lanes(other) &&
          is_contiguous_for_some(other) && !has_strided_load(other))
        return false;
    return true;
  }

  bool has_strided_load(std::size_t loop) const {
    return std::ranges::any_of(nest_.accesses, [&](const NestAccess& access) {
      return !access.is_write && !access.irregular[loop] &&
             has_short_stride(access.stride(loop), most_lanes(loop));
    });
  }

  std::int64_t most_lanes(std::size_t loop) const {
    return machine_.vector_bytes / static_cast<std::int64_t>(nest_.loops[loop].widest);
  }

  // Whether lanes beyond the end of a loop may be masked: not if all lanes write one element.
  bool may_be_masked(std::size_t loop) const {
    return nest_.loops[loop].is_reduce ||
           std::ranges::all_of(nest_.accesses, [&](const NestAccess& access) {
             return !access.is_write || access.changes_with(loop);
           });
  }

  // Returns the numbers of lanes to try. For a loop shorter than a vector these are the powers of
  // two below and above its size; the latter is masked.
  std::vector<std::int64_t> lanes_for(std::size_t loop) const {
    const std::int64_t size = nest_.loops[loop].size, most = most_lanes(loop);
    if (size >= most) return {most};
    const auto iterations = static_cast<std::uint64_t>(size);
    const auto less = static_cast<std::int64_t>(std::bit_floor(iterations)),
               more = static_cast<std::int64_t>(std::bit_ceil(iterations));
    return less == more || !may_be_masked(loop) ? std::vector{less} : std::vector{less, more};
  }

  const Nest& nest_;
  const DeviceModel& machine_;
  CandidateTime trial_;
  bool is_ordered_;
  std::vector<std::int64_t> blocks_;
  double inside_ = 0, outside_ = 0;  // instructions per element, of the innermost loop and others
};

}  // namespace

std::vector<Option> register_tiles(const Nest& nest, const Target& target, bool is_ordered,
                                   Tail uneven) {
  return RegisterTiles(nest, target, is_ordered, uneven).all();
}

}  // namespace weft
