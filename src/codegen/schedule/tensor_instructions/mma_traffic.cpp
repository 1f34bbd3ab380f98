#include "mma_traffic.h"

#include <algorithm>

#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>

namespace weft {
namespace {

constexpr double most_of_cache = 0.75;      // share of a core's own cache for data that stays
constexpr double iterations_of_worker = 4;  // fewest for which a prefetch pays
constexpr double most_prefetch_uses = 32;   // uses of prefetched data; beyond, it gains little

}  // namespace

double bytes_in_block(const MmaKernel& kernel, const MmaTiling& tiling, const Node* load) {
  return kernel.elements_of(load, tiling) * static_cast<double>(load->dtype().bytes());
}

namespace {

double bytes_of_rows(const MmaKernel& kernel, const MmaTiling& tiling) {
  return bytes_in_block(kernel, tiling, tiling.a.load) * kernel.iterations_of(tiling, tiling.row);
}

}  // namespace

bool rows_fit(const MmaKernel& kernel, const MmaTiling& tiling) {
  const auto& levels = kernel.target().machine.memory;
  return levels.size() >= 3 && bytes_of_rows(kernel, tiling) <= levels[levels.size() - 2].bytes / 2;
}

double MmaTraffic::uses_of_columns() const {
  double count = 1;
  for (auto at = std::ranges::find(loops_, tiling_.column) + 1; *at != tiling_.column + ".1"; ++at)
    count *= kernel_.iterations_of(tiling_, *at);
  return count;
}

const MemorySpace& MmaTraffic::own_cache() const {
  const auto& levels = kernel_.target().machine.memory;
  return levels[levels.size() - 2];
}

double MmaTraffic::bytes_of_columns() const {
  const Node* load = tiling_.b.load;
  return kernel_.elements_of(load, tiling_) * kernel_.iterations_of(tiling_, tiling_.column) *
         static_cast<double>(load->dtype().bytes());
}

double MmaTraffic::iterations_of_all(const std::vector<std::string>& loops) const {
  double iterations = 1;
  for (const std::string& name : loops) iterations *= kernel_.iterations_of(tiling_, name);
  return iterations;
}

// Returns the bytes of rows in the loops that columns do not change with, which run inside the
// column loop. This is at most the size of the memory, since windows overlap.
double MmaTraffic::bytes_of_rows_inside() const {
  const Node* memory = storage_of(tiling_.a.load->src(0)->src(0));
  double bytes = bytes_of_rows(kernel_, tiling_), all = memory->dtype().bytes();
  for (const std::string& name : other_loops_of(tiling_.a, tiling_.row_range))
    if (!changes_with(tiling_.b.load, kernel_.range_of(name)))
      bytes *= kernel_.iterations_of(tiling_, name);
  for (const Node* size : memory->dims()) all *= static_cast<double>(size->bounds().hi);
  return std::min(bytes, all);
}

bool MmaTraffic::columns_fit() const {
  return bytes_of_columns() <= most_of_cache * own_cache().bytes;
}

// Vector instructions compute so long that the next data arrives meanwhile.
bool MmaTraffic::is_cache_bound() const {
  return tiling_.shape.rows > 1 && kernel_.target().machine.memory.size() >= 3;
}

// Data comes from the shared cache, or from memory if it does not fit there.
double MmaTraffic::load_cycles(double bytes) const {
  if (!is_cache_bound()) return 0;
  const DeviceModel& machine = kernel_.target().machine;
  const MemorySpace& last = machine.memory.back();
  return bytes / (bytes > last.bytes ? last.bandwidth : own_cache().bandwidth) * machine.hertz;
}

double MmaTraffic::cycles_to_stream() const {
  return load_cycles(bytes_of_columns() *
                     iterations_of_all(other_loops_of(tiling_.b, tiling_.column_range)));
}

double MmaTraffic::cycles_to_stream_rows() const {
  if (!is_cache_bound()) return 0;
  const double bytes = bytes_of_rows_inside();
  const bool stay = bytes <= most_of_cache * own_cache().bytes;
  const double times = stay || tiling_.groups_rows ? 1 : groups_of_columns();
  return load_cycles(bytes) * times *
         iterations_of_all(other_loops_of(tiling_.b, tiling_.column_range));
}

double MmaTraffic::cycles_to_read_again() const {
  if (!is_cache_bound() || tiling_.groups_rows) return 0;
  const double rows = bytes_of_rows_inside(), groups = groups_of_columns();
  const double columns = bytes_of_columns() / groups * std::min(groups, 2.0);
  if (rows + columns <= own_cache().bytes) return 0;
  return load_cycles(rows) * (groups - 1) *
         iterations_of_all(other_loops_of(tiling_.b, tiling_.column_range));
}

// Groups of row blocks that use the same columns.
double MmaTraffic::groups_of_rows() const {
  return kernel_.blocks(tiling_) / kernel_.iterations_of(tiling_, tiling_.column) /
         iterations_of_all(other_loops_of(tiling_.b, tiling_.column_range)) /
         static_cast<double>(tiling_.blocks_in_group);
}

double MmaTraffic::cycles_to_stream_again() const {
  if (!tiling_.groups_rows || cycles_to_stream() == 0 || columns_fit()) return 0;
  return cycles_to_stream() * (groups_of_rows() - 1);
}

double MmaTraffic::groups_of_columns() const {
  const double blocks_in_group =
      tiling_.groups_rows ? 1 : static_cast<double>(tiling_.blocks_in_group);
  return kernel_.iterations_of(tiling_, tiling_.column) / blocks_in_group;
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
      tiling_.groups_rows ? static_cast<double>(tiling_.blocks_in_group) : uses_of_columns();
  if (times <= 1 || (!tiling_.groups_rows && times > most_prefetch_uses)) return std::nullopt;
  if (tiling_.groups_rows && groups_of_rows() > 1 && columns_fit()) return std::nullopt;
  Prefetched most{tiling_.column, groups_of_columns()};
  if (const auto around = other_loops_of(tiling_.b, tiling_.column_range); !around.empty())
    if (const double iterations = kernel_.iterations_of(tiling_, around.back());
        iterations > most.iterations && bytes_of_columns() <= own_cache().bytes / 4)
      most = {around.back(), iterations};
  // Threads take iterations in turn. If there are few, the next one is often another thread's.
  const int workers = kernel_.target().machine.workers();
  const double least = workers > 1 && most.loop == loops_[0] ? iterations_of_worker * workers : 2;
  return most.iterations >= least ? std::optional(most) : std::nullopt;
}

bool MmaTraffic::prefetches_rows() const {
  const auto blocks_in_group = static_cast<double>(tiling_.blocks_in_group);
  return tiling_.shape.rows > 1 && !tiling_.groups_rows && has_known_sum() &&
         blocks_in_group <= most_prefetch_uses &&
         kernel_.iterations_of(tiling_, tiling_.column) > blocks_in_group &&
         !rows_fit(kernel_, tiling_) && kernel_.iterations_of(tiling_, tiling_.row) > 1;
}

bool MmaTraffic::has_known_sum() const {
  return std::ranges::all_of(kernel_.sum()->src().subspan(1),
                             [](const Node* range) { return range->src(0)->is_const(); });
}

}  // namespace weft
