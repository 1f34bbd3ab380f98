// Recognises kernels with a single reduction.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

using Ranges = std::vector<const Node*>;

inline std::int64_t iterations_of(const Node* range) { return range->src(0)->lo(); }
std::int64_t iterations_of(const Ranges& ranges);  // of all of them together

// A kernel with a single STORE and a single sum below it.
struct SumKernel {
  const Node *end, *store, *sum;
};

// Recognises such a kernel if its loops have known sizes; returns nothing for others.
std::optional<SumKernel> sum_kernel_in(const UOp& kernel);

}  // namespace weft
