// In which order to contract many tensors, two at a time, so that it takes few multiplications.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace weft {

// Which labels a tensor has: a bit for each.
using Labels = std::uint64_t;

// The k-th pair gives tensor number operands.size() + k, which keeps what the output or a tensor that is
// left needs. The best order of up to 8 tensors; of more, each time the pair that shrinks most.
using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;
Pairs contraction_order(std::span<const Labels> operands, Labels output,
                        std::span<const double> sizes);

}  // namespace weft
