#include "spatial_blocking.h"

#include <algorithm>
#include <cmath>

#include <weft/dev/ir/below.h>

namespace weft {

std::int64_t iterations_of(const Node* loop, const Convolution& of, const Tile& tile) {
  const std::int64_t size = iterations_of(loop);
  return of.axis_of(loop) == nullptr ? size : (size + tile.outputs - 1) / tile.outputs;
}

namespace {

double iterations_of(const Ranges& loops, const Convolution& of, const Tile& tile) {
  double iterations = 1;
  for (const Node* loop : loops) iterations *= static_cast<double>(iterations_of(loop, of, tile));
  return iterations;
}

// Returns the outermost loop that can be divided into `times` blocks, else the longest one.
const Node* loop_to_cut(const Ranges& tiles, const Convolution& of, const Tile& tile,
                        double times) {
  const auto iterations = [&](const Node* loop) { return iterations_of(loop, of, tile); };
  const auto found = std::ranges::find_if(
      tiles, [&](const Node* loop) { return static_cast<double>(iterations(loop)) >= times; });
  return found != tiles.end() ? *found : *std::ranges::max_element(tiles, {}, iterations);
}

}  // namespace

SpatialBlocks spatial_blocks_of(const Convolution& of, const Tile& tile, double most_bytes,
                                std::int64_t threads) {
  Ranges tiles, filters, groups;
  for (const Node* loop : of.loops()) {
    const bool is_of_filter = changes_with(of.filter, loop);
    (is_of_filter ? filters : tiles).push_back(loop);
    if (is_of_filter && changes_with(of.input, loop)) groups.push_back(loop);
  }
  const double products = std::pow(tile.outputs + tile.taps - 1, of.axes.size());
  const double rows = iterations_of(of.channels(), of, tile) * iterations_of(groups, of, tile) +
                      iterations_of(filters, of, tile);
  const double bytes = iterations_of(tiles, of, tile) * products * rows * dtypes::f32.bytes();
  // Each block rereads the filter, which should be small beside what else it reads and writes.
  const double of_filter = iterations_of(filters, of, tile) *
                           iterations_of(of.channels(), of, tile) * products * dtypes::f32.bytes();
  const double most_of_band = std::max(most_bytes, 2 * of_filter);
  if (most_bytes <= 0 || bytes <= most_of_band) return {};
  const Node* loop = loop_to_cut(tiles, of, tile, bytes / most_of_band);
  const bool is_axis = of.axis_of(loop) != nullptr;
  const std::int64_t all = iterations_of(loop, of, tile),
                     step = is_axis ? std::min(threads, all) : 1;
  const auto most =
      std::max(step, static_cast<std::int64_t>(static_cast<double>(all) * most_of_band / bytes));
  SpatialBlocks best;
  for (std::int64_t iterations = most - most % step; iterations > most / 2; iterations -= step) {
    const std::int64_t count = (all + iterations - 1) / iterations;
    const bool has_less_beyond =
        best.loop == nullptr || count * iterations < best.count * best.iterations;
    if (has_less_beyond && (is_axis || count * iterations == all)) best = {loop, iterations, count};
  }
  if (best.loop == nullptr) best = {loop, step, (all + step - 1) / step};
  return best.count > 1 ? best : SpatialBlocks();
}

}  // namespace weft
