#include "bench_ops.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>

namespace weft::cli {
namespace {

using Inputs = std::vector<Tensor>;

// Reductions, scans and sorts go along the last axis.
// clang-format off
constexpr BenchOp known_ops[] = {
  {"copy",        1, [](const Inputs& in) { return in[0].clone(); }},
  {"neg",         1, [](const Inputs& in) { return -in[0]; }},
  {"exp",         1, [](const Inputs& in) { return in[0].exp(); }},
  {"log",         1, [](const Inputs& in) { return in[0].log(); }},
  {"sin",         1, [](const Inputs& in) { return in[0].sin(); }},
  {"sqrt",        1, [](const Inputs& in) { return in[0].sqrt(); }},
  {"erf",         1, [](const Inputs& in) { return in[0].erf(); }},
  {"relu",        1, [](const Inputs& in) { return in[0].relu(); }},
  {"gelu",        1, [](const Inputs& in) { return in[0].gelu(); }},
  {"silu",        1, [](const Inputs& in) { return in[0].silu(); }},
  {"sigmoid",     1, [](const Inputs& in) { return in[0].sigmoid(); }},
  {"tanh",        1, [](const Inputs& in) { return in[0].tanh(); }},
  {"add",         2, [](const Inputs& in) { return in[0] + in[1]; }},
  {"sub",         2, [](const Inputs& in) { return in[0] - in[1]; }},
  {"mul",         2, [](const Inputs& in) { return in[0] * in[1]; }},
  {"div",         2, [](const Inputs& in) { return in[0] / in[1]; }},
  {"pow",         2, [](const Inputs& in) { return in[0].pow(in[1]); }},
  {"maximum",     2, [](const Inputs& in) { return in[0].maximum(in[1]); }},
  {"muladd",      3, [](const Inputs& in) { return in[0] * in[1] + in[2]; }},
  {"sum",         1, [](const Inputs& in) { return in[0].sum(-1); }},
  {"mean",        1, [](const Inputs& in) { return in[0].mean(-1); }},
  {"max",         1, [](const Inputs& in) -> Tensor { return in[0].max(-1); }},
  {"argmax",      1, [](const Inputs& in) { return in[0].argmax(-1); }},
  {"softmax",     1, [](const Inputs& in) { return in[0].softmax(-1); }},
  {"log_softmax", 1, [](const Inputs& in) { return in[0].log_softmax(-1); }},
  {"layernorm",   1, [](const Inputs& in) { return in[0].layernorm(-1); }},
  {"cumsum",      1, [](const Inputs& in) { return in[0].cumsum(-1); }},
  {"sort",        1, [](const Inputs& in) { return in[0].sort(-1).values; }},
  {"transpose",   1, [](const Inputs& in) { return in[0].transpose(-1, -2).contiguous(); }},
  {"matmul",      2, [](const Inputs& in) { return in[0].matmul(in[1]); }},
};
// clang-format on

}  // namespace

std::span<const BenchOp> bench_ops() { return known_ops; }

const BenchOp& bench_op(const std::string& name) {
  const auto* found = std::ranges::find(known_ops, name, &BenchOp::name);
  if (found != std::end(known_ops)) return *found;
  std::vector<std::string_view> names;
  for (const BenchOp& op : known_ops) names.push_back(op.name);
  user_error(fmt::format("there is no op '{}'; there are {}", name, fmt::join(names, ", ")));
}

}  // namespace weft::cli
