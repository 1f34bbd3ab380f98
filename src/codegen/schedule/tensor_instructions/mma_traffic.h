// What the factors of a product of matrices take to come from the caches.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mma_kernel.h"

namespace weft {

double bytes_in_block(const MmaKernel& kernel, const MmaWay& way, const Node* load);

// Whether all rows stay in a core's own cache.
bool rows_stay(const MmaKernel& kernel, const MmaWay& way);

class MmaTraffic {
 public:
  MmaTraffic(const MmaKernel& kernel, const MmaWay& way)
      : kernel_(kernel), way_(way), loops_(kernel.output_loops(way)) {}

  // Blocks of the loops inside of that of columns.
  double inside_of_columns() const;

  // All columns once; and once more for each group of rows after the first, where they do not stay in a core's own cache.
  double cycles_to_stream() const;
  double cycles_to_stream_again() const;
  // All rows that are kept, once or for each group of columns.
  double cycles_to_stream_rows() const;
  // All rows for each group of columns after the first, where those and the next ones leave no room for rows.
  double cycles_to_read_again() const;

  // A loop, in each of whose iterations the columns of the next are prefetched.
  struct Prefetched {
    std::string loop;
    double iterations;
  };
  // Where blocks of rows after the first go along the same columns, there is time to bring the next ones, which stand where
  // nobody prefetches them.
  std::optional<Prefetched> prefetched_columns() const;
  // Rows that all groups of columns read where they lie come from where all cores keep them, but for the last group's.
  bool prefetches_rows() const;

 private:
  const CacheLevel& own_cache() const;
  double bytes_of_columns() const;
  double bytes_of_rows_inside() const;
  bool columns_stay() const;
  bool waits_for_caches() const;
  double cycles_to_bring(double bytes) const;
  double iterations_of_all(const std::vector<std::string>& loops) const;
  double groups_of_rows() const;
  double groups_of_columns() const;
  std::vector<std::string> other_loops_of(const MmaFactor& factor, const Node* own) const;
  bool has_known_sum() const;

  const MmaKernel& kernel_;
  const MmaWay& way_;
  std::vector<std::string> loops_;
};

}  // namespace weft
