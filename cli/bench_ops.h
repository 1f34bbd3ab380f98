// What `weft bench op` can name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/tensor.h>

namespace weft::cli {

struct BenchOp {
  std::string_view name;
  std::size_t operands;
  Tensor (*apply)(const std::vector<Tensor>& in);
};
std::span<const BenchOp> bench_ops();

// Throws where there is none of that name.
const BenchOp& bench_op(const std::string& name);

}  // namespace weft::cli
