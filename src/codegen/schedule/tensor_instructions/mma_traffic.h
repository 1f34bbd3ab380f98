// Estimates how long the factors of a matrix product take to arrive from the caches.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mma_kernel.h"

namespace weft {

double bytes_in_block(const MmaKernel& kernel, const MmaTiling& tiling, const Node* load);

// Returns whether all rows stay in a core's own cache.
bool rows_fit(const MmaKernel& kernel, const MmaTiling& tiling);

class MmaTraffic {
 public:
  MmaTraffic(const MmaKernel& kernel, const MmaTiling& tiling)
      : kernel_(kernel), tiling_(tiling), loops_(kernel.output_loops(tiling)) {}

  // Returns how many iterations inside the column loop use each group of columns.
  double uses_of_columns() const;

  // Return the cycles to read all columns once, and to read them again for each group of rows after
  // the first, unless they stay in a core's own cache.
  double cycles_to_stream() const;
  double cycles_to_stream_again() const;
  // Returns the cycles to read prepacked rows, once or for each group of columns.
  double cycles_to_stream_rows() const;
  // Returns the cycles to read all rows again for each group of columns after the first, unless the
  // rows and two groups of columns fit in a core's own cache.
  double cycles_to_read_again() const;

  // A loop each of whose iterations prefetches the columns of the next one.
  struct Prefetched {
    std::string loop;
    double iterations;
  };
  // Returns the loop to prefetch columns in, if any. Several blocks of rows must use the same
  // columns, so that there is time to prefetch the next ones.
  std::optional<Prefetched> prefetched_columns() const;
  // Returns whether to prefetch rows that are read in place. Each group of columns reads them from
  // the shared cache again.
  bool prefetches_rows() const;

 private:
  const MemorySpace& own_cache() const;
  double bytes_of_columns() const;
  double bytes_of_rows_inside() const;
  bool columns_fit() const;
  bool is_cache_bound() const;
  double load_cycles(double bytes) const;
  double iterations_of_all(const std::vector<std::string>& loops) const;
  double groups_of_rows() const;
  double groups_of_columns() const;
  std::vector<std::string> other_loops_of(const MmaFactor& factor, const Node* own) const;
  bool has_known_sum() const;

  const MmaKernel& kernel_;
  const MmaTiling& tiling_;
  std::vector<std::string> loops_;
};

}  // namespace weft
