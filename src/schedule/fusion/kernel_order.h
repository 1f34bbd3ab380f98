// In which order kernels run.
#pragma once

#include <cstddef>
#include <vector>

namespace weft {

struct OrderedKernel {
  std::size_t place;                       // in the program's order
  std::vector<std::size_t> reads, writes;  // values, each once
  std::vector<std::size_t> next;           // kernels that wait for this one, each once
};

// Each after those that it waits for. Of those that could be next, one that frees more memory than it takes goes
// first, then one that frees as much, so that little is there at one time; else it is the program's order. `bytes`
// of the values: 0 for one that stays. All kernels, by their numbers, if they do not wait for each other.
std::vector<std::size_t> kernel_order(const std::vector<OrderedKernel>& kernels,
                                      const std::vector<std::size_t>& bytes);

}  // namespace weft
