#include "workload.h"

#include <algorithm>

#include <weft/dev/schedule/region.h>

namespace weft {
namespace {

// Fusion may repeat work, up to this many times what the kernels apart do.
constexpr double most_repeated = 2;
// Loops go one way: a kernel with another scan, from the other end, would take n^2 steps for it.
constexpr int most_scans = 1;
// Index arithmetic counts among a kernel's nodes: some of it for every op on data.
constexpr std::int64_t nodes_per_op = 8;

double bytes_of(const UOp& tensor) {
  return elements(tensor->dims()) * static_cast<double>(tensor->dtype().bytes());
}

// As a kernel of its own, where the loops are around each other in order.
double flops_apart(const Body& body) {
  double flops = 0;
  for (const Operations& operations : body.operations) {
    const std::size_t depth = operations.own.empty() ? 0 : operations.own.back() + 1;
    double runs = 1;
    for (std::size_t i = 0; i < depth; ++i)
      if (body.loops[i]->op() == Op::Range) runs *= trips(body.loops[i].node());
    flops += operations.count * runs;
  }
  return flops;
}

void unite(std::vector<bool>& set, const std::vector<bool>& other) {
  for (std::size_t i = 0; i < other.size(); ++i) set[i] = set[i] || other[i];
}

}  // namespace

Work Workload::work() const {
  double bytes = output_bytes;
  for (const auto& [leaf, read] : inputs) bytes += read;
  return {flops, bytes, longest > 0 ? flops / longest : 1};
}

double Estimator::shared(double runs) const {
  return std::clamp(runs, 1.0, static_cast<double>(profile_.workers));
}

void Estimator::add_inputs(Workload& kernel, const Body& body) const {
  for (const Reading& reading : body.readings) {
    const UOp source = UOp(reading.index->src(0));
    double reads = static_cast<double>(source->dtype().bytes());
    for (std::size_t i : reading.own) reads *= trips(body.loops[i].node());
    for (const Node* range : reading.inner) reads *= trips(range);
    double& known = kernel.inputs[source.node()];
    known = std::min(bytes_of(source), std::max(known, reads));
  }
}

Workload Estimator::alone(std::size_t cut, const Instance& root) const {
  Workload kernel;
  const Cut& piece = graph_.cuts[cut];
  kernel.outputs = {cut};
  kernel.output_bytes = bytes_of(piece.place.is_null() ? piece.leaf : piece.place);
  if (piece.is_copy)
    kernel.inputs[copied_from(piece).buffer] = bytes_of(piece.value);
  else
    add_inline(kernel, cut, {root});
  kernel.follows = piece.follows;
  return kernel;
}

void Estimator::add_inline(Workload& kernel, std::size_t cut,
                           const std::vector<Instance>& places) const {
  const Body& body = bodies_[cut];
  for (const Instance& place : places) {
    const double flops = place.flops(body);
    kernel.flops += flops;
    kernel.longest += flops / shared(place.runs());
    kernel.size += body.size;
    kernel.scans += static_cast<int>(body.scanned.size());
  }
  kernel.flops_apart += flops_apart(body);
  add_inputs(kernel, body);
}

void Estimator::add_stage(Workload& kernel, std::size_t cut, const Instance& stage,
                          std::size_t depth) const {
  const Body& body = bodies_[cut];
  const double flops = stage.flops(body);
  kernel.flops += flops;
  kernel.longest += flops / shared(stage.runs(depth));
  kernel.size += body.size;
  kernel.scratch += stage.runs() / std::max(1.0, stage.runs(depth)) *
                    static_cast<double>(graph_.cuts[cut].leaf->dtype().bytes());
  kernel.flops_apart += flops_apart(body);
  add_inputs(kernel, body);
}

void Estimator::merge(Workload& kernel, const Workload& other) {
  kernel.outputs.insert(kernel.outputs.end(), other.outputs.begin(), other.outputs.end());
  for (const auto& [leaf, bytes] : other.inputs) {
    double& known = kernel.inputs[leaf];
    known = std::max(known, bytes);
  }
  kernel.output_bytes += other.output_bytes;
  kernel.flops += other.flops;
  kernel.longest += other.longest;
  kernel.flops_apart += other.flops_apart;
  kernel.scratch += other.scratch;
  kernel.size += other.size;
  kernel.scans += other.scans;
  unite(kernel.follows, other.follows);
}

bool Estimator::is_allowed(const Workload& kernel) const {
  return kernel.flops <= most_repeated * kernel.flops_apart && kernel.scans <= most_scans &&
         kernel.scratch <= static_cast<double>(profile_.scratch) &&
         kernel.size <= nodes_per_op * profile_.most_ops &&
         std::ssize(kernel.inputs) + std::ssize(kernel.outputs) <= profile_.most_params;
}

}  // namespace weft
