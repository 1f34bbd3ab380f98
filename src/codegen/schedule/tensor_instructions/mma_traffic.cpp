#include "mma_traffic.h"

#include <algorithm>

#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>

namespace weft {
namespace {

constexpr double most_of_cache = 0.75;      // share of a core's own cache for data that stays
constexpr double iterations_of_worker = 4;  // fewest for which a prefetch pays
constexpr double most_times_ahead = 32;     // uses of prefetched data; beyond, it gains little

}  // namespace

double bytes_in_block(const MmaKernel& kernel, const MmaWay& way, const Node* load) {
  return kernel.elements_of(load, way) * static_cast<double>(load->dtype().bytes());
}

namespace {

double bytes_of_rows(const MmaKernel& kernel, const MmaWay& way) {
  return bytes_in_block(kernel, way, way.a.load) * kernel.iterations_of(way, way.row);
}

}  // namespace

bool rows_stay(const MmaKernel& kernel, const MmaWay& way) {
  const auto& levels = kernel.target().machine.levels;
  return levels.size() >= 3 && bytes_of_rows(kernel, way) <= levels[levels.size() - 2].bytes / 2;
}

double MmaTraffic::inside_of_columns() const {
  double count = 1;
  for (auto at = std::ranges::find(loops_, way_.column) + 1; *at != way_.column + ".1"; ++at)
    count *= kernel_.iterations_of(way_, *at);
  return count;
}

const CacheLevel& MmaTraffic::own_cache() const {
  const auto& levels = kernel_.target().machine.levels;
  return levels[levels.size() - 2];
}

double MmaTraffic::bytes_of_columns() const {
  const Node* load = way_.b.load;
  return kernel_.elements_of(load, way_) * kernel_.iterations_of(way_, way_.column) *
         static_cast<double>(load->dtype().bytes());
}

double MmaTraffic::iterations_of_all(const std::vector<std::string>& loops) const {
  double iterations = 1;
  for (const std::string& name : loops) iterations *= kernel_.iterations_of(way_, name);
  return iterations;
}

// Returns the bytes of rows in the loops that columns do not change with, which run inside the
// column loop. This is at most the size of the memory, since windows overlap.
double MmaTraffic::bytes_of_rows_inside() const {
  const Node* memory = storage_of(way_.a.load->src(0)->src(0));
  double bytes = bytes_of_rows(kernel_, way_), all = memory->dtype().bytes();
  for (const std::string& name : other_loops_of(way_.a, way_.row_range))
    if (!changes_with(way_.b.load, kernel_.range_of(name)))
      bytes *= kernel_.iterations_of(way_, name);
  for (const Node* size : memory->dims()) all *= static_cast<double>(size->bounds().hi);
  return std::min(bytes, all);
}

bool MmaTraffic::columns_stay() const {
  return bytes_of_columns() <= most_of_cache * own_cache().bytes;
}

// Vector instructions compute so long that the next data arrives meanwhile.
bool MmaTraffic::waits_for_caches() const {
  return way_.shape.rows > 1 && kernel_.target().machine.levels.size() >= 3;
}

// Data comes from the shared cache, or from memory if it does not fit there.
double MmaTraffic::cycles_to_bring(double bytes) const {
  if (!waits_for_caches()) return 0;
  const Machine& machine = kernel_.target().machine;
  const CacheLevel& last = machine.levels.back();
  return bytes / (bytes > last.bytes ? last.bandwidth : own_cache().bandwidth) * machine.hertz;
}

double MmaTraffic::cycles_to_stream() const {
  return cycles_to_bring(bytes_of_columns() *
                         iterations_of_all(other_loops_of(way_.b, way_.column_range)));
}

double MmaTraffic::cycles_to_stream_rows() const {
  if (!waits_for_caches()) return 0;
  const double bytes = bytes_of_rows_inside();
  const bool stay = bytes <= most_of_cache * own_cache().bytes;
  const double times = stay || way_.has_rows_around ? 1 : groups_of_columns();
  return cycles_to_bring(bytes) * times *
         iterations_of_all(other_loops_of(way_.b, way_.column_range));
}

double MmaTraffic::cycles_to_read_again() const {
  if (!waits_for_caches() || way_.has_rows_around) return 0;
  const double rows = bytes_of_rows_inside(), groups = groups_of_columns();
  const double columns = bytes_of_columns() / groups * std::min(groups, 2.0);
  if (rows + columns <= own_cache().bytes) return 0;
  return cycles_to_bring(rows) * (groups - 1) *
         iterations_of_all(other_loops_of(way_.b, way_.column_range));
}

// Groups of row blocks that use the same columns.
double MmaTraffic::groups_of_rows() const {
  return kernel_.blocks(way_) / kernel_.iterations_of(way_, way_.column) /
         iterations_of_all(other_loops_of(way_.b, way_.column_range)) /
         static_cast<double>(way_.together);
}

double MmaTraffic::cycles_to_stream_again() const {
  if (!way_.has_rows_around || cycles_to_stream() == 0 || columns_stay()) return 0;
  return cycles_to_stream() * (groups_of_rows() - 1);
}

double MmaTraffic::groups_of_columns() const {
  const double together = way_.has_rows_around ? 1 : static_cast<double>(way_.together);
  return kernel_.iterations_of(way_, way_.column) / together;
}

// Returns the output loops that a factor changes with except its own, outermost first.
std::vector<std::string> MmaTraffic::other_loops_of(const MmaFactor& factor,
                                                    const Node* own) const {
  std::vector<std::string> names;
  for (const std::string& name : loops_) {
    const Node* range = kernel_.range_of(name);
    if (range != nullptr && range != own && changes_with(factor.load, range)) names.push_back(name);
  }
  return names;
}

std::optional<MmaTraffic::Prefetched> MmaTraffic::prefetched_columns() const {
  if (cycles_to_stream() == 0 || !has_known_sum()) return std::nullopt;
  const double times =
      way_.has_rows_around ? static_cast<double>(way_.together) : inside_of_columns();
  if (times <= 1 || (!way_.has_rows_around && times > most_times_ahead)) return std::nullopt;
  if (way_.has_rows_around && groups_of_rows() > 1 && columns_stay()) return std::nullopt;
  Prefetched most{way_.column, groups_of_columns()};
  if (const auto around = other_loops_of(way_.b, way_.column_range); !around.empty())
    if (const double iterations = kernel_.iterations_of(way_, around.back());
        iterations > most.iterations && bytes_of_columns() <= own_cache().bytes / 4)
      most = {around.back(), iterations};
  // Threads take iterations in turn. If there are few, the next one is often another thread's.
  const int workers = kernel_.target().machine.workers;
  const double least = workers > 1 && most.loop == loops_[0] ? iterations_of_worker * workers : 2;
  return most.iterations >= least ? std::optional(most) : std::nullopt;
}

bool MmaTraffic::prefetches_rows() const {
  const auto together = static_cast<double>(way_.together);
  return way_.shape.rows > 1 && !way_.has_rows_around && has_known_sum() &&
         together <= most_times_ahead && kernel_.iterations_of(way_, way_.column) > together &&
         !rows_stay(kernel_, way_) && kernel_.iterations_of(way_, way_.row) > 1;
}

bool MmaTraffic::has_known_sum() const {
  return std::ranges::all_of(kernel_.sum()->src().subspan(1),
                             [](const Node* range) { return range->src(0)->is_const(); });
}

}  // namespace weft
