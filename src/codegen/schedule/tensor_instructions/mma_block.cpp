#include "mma_block.h"

#include <algorithm>
#include <limits>

namespace weft {
namespace {

constexpr double in_flight = 4;         // independent products that hide the latency of one
constexpr double cycles_of_load = 0.5;  // per fragment, relative to a product, caches included

// Returns the time of a block of fragments, in products.
double products_of(double rows, double columns) {
  return std::max(rows * columns, in_flight) + cycles_of_load * (rows + columns);
}

std::int64_t parts(std::int64_t size, std::int64_t part) { return (size + part - 1) / part; }

}  // namespace

// Registers hold the sums, the fragments of the shorter side, and one fragment of the other side.
MmaBlock block_for(const MmaShape& shape, std::int64_t rows, std::int64_t columns) {
  const std::int64_t most_rows = parts(rows, shape.rows),
                     most_columns = parts(columns, shape.columns);
  MmaBlock best{shape.rows, shape.columns};
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t r = 1; r <= std::min(most_rows, shape.registers); ++r)
    for (std::int64_t c = 1; c <= most_columns && r * c + std::min(r, c) < shape.registers; ++c) {
      const std::int64_t blocks = parts(most_rows, r) * parts(most_columns, c);
      const double time =
          static_cast<double>(blocks) * products_of(static_cast<double>(r), static_cast<double>(c));
      if (time < least) {
        least = time;
        best = {r * shape.rows, c * shape.columns};
      }
    }
  return best;
}

// Tile instructions have a unit of their own. Vector instructions use all FMA ports.
double cycles_of(const MmaShape& shape, const MmaBlock& block, const DeviceModel& machine) {
  const std::int64_t rows = block.rows / shape.rows, columns = block.columns / shape.columns;
  const double products = products_of(static_cast<double>(rows), static_cast<double>(columns));
  return products * shape.cycles / (shape.rows == 1 ? machine.fma_ports : 1);
}

}  // namespace weft
