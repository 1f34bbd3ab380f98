// The order in which kernels run.
#pragma once

#include <cstddef>
#include <vector>

namespace weft {

struct OrderedKernel {
  std::size_t place;                       // in program order
  std::vector<std::size_t> reads, writes;  // values, without duplicates
  std::vector<std::size_t> next;           // kernels that wait for this one, without duplicates
};

// Orders the kernels topologically. Among those that are ready, a kernel that frees more memory
// than it takes runs first, then one that frees as much, then the first in program order. This
// keeps little memory in use. `bytes` has the size of each value, or 0 if it outlives the run. The
// result lacks kernels if dependences are cyclic.
std::vector<std::size_t> kernel_order(const std::vector<OrderedKernel>& kernels,
                                      const std::vector<std::size_t>& bytes);

}  // namespace weft
