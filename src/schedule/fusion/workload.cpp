#include "workload.h"

#include <algorithm>
#include <functional>

#include <weft/dev/base/size_limits.h>
#include <weft/dev/ir/below.h>
#include <weft/dev/ir/graph.h>

#include "kernel_limits.h"
#include "loops/step_loop.h"
#include "plan_steps.h"

namespace weft {
namespace {

// Fusion may recompute values, up to this many times the flops of separate kernels.
constexpr double most_repeated = 2;
// The loops of a kernel run in one direction. A second scan, from the other end, would take n^2
// steps.
constexpr std::ptrdiff_t most_scans = 1;
// The slowdown of a sum that code generation does not vectorise.
constexpr double times_scalar = 8;
// Vectors carry a scan along its own loop where an element takes no more effort than this.
constexpr double most_effort_in_lanes = 8;
// The slowdown of a sum that competes with another for registers and shares no access with it.
constexpr double times_crowded = 1.5;
// The slowdown of a sum that is inside all loops of another sum and has no innermost loop of its
// own with enough iterations to fill a vector.
constexpr double times_ordered = 2, lanes = 16;
// The slowdowns of a product that a matrix instruction, on tiles or on vectors, would compute if it
// were the kernel's only sum.
constexpr double times_without_tiles = 8, times_without_dots = 2;
// The effort per byte that a stage rereads in each iteration of the loops around it, where the
// bytes exceed a cache.
constexpr double effort_of_far_byte = 1.5;
// The most iterations of a loop around a stage that fill it together (BATCH).
constexpr double iterations_together = 32;
// The part of a kernel's scratch memory that fusion may fill. Schedules want some too.
constexpr double most_of_scratch = 0.5;
// Nodes allowed per op on data. They include index arithmetic.
constexpr std::int64_t nodes_per_op = 8;

// Returns the flops of a kernel of its own, with the loops nested in the order of the dimensions.
double flops_apart(const IterationDomain& body) {
  double flops = 0;
  for (const Operations& operations : body.operations) {
    const std::size_t depth = operations.own.empty() ? 0 : operations.own.back() + 1;
    flops += operations.count * trip_count(nodes_of(std::span(body.loops).first(depth)));
  }
  return flops;
}

// Returns whether the reduction merges with the one around it. A reduction of reductions of the
// same kind becomes one.
bool joins_another(const IterationDomain& body, const ComputeSite& place) {
  return body.value->op() == Op::Reduce && place.summed == body.value->arg<ReduceArg>().op;
}

// Returns how many iterations of a loop around a stage fill it together: of the innermost one, or
// of a longer one that the access does not depend on.
double together_around(const ReadAccess& access, const ComputeSite& place, std::size_t outside) {
  if (outside > place.nest.size()) return 1;
  const auto is_used = [&](const Loop* loop) {
    return std::ranges::any_of(access.used, [&](std::size_t dim) {
      return place.dims[dim].loop != nullptr && place.dims[dim].changes_with(loop);
    });
  };
  double iterations = place.nest[outside - 1]->iterations;
  for (std::size_t i = 0; i + 1 < outside; ++i)
    if (!is_used(place.nest[i])) iterations = std::max(iterations, place.nest[i]->iterations);
  return std::min(iterations_together, iterations);
}

// Returns the effort of rereading accesses that exceed the cache in each iteration of the `outside`
// outermost loops.
double far_effort(const IterationDomain& body, const ComputeSite& place, std::size_t outside,
                  double cache) {
  double effort = 0;
  for (const ReadAccess& access : body.accesses) {
    double bytes = static_cast<double>(access.index->src(0)->dtype().bytes());
    for (const Node* range : body.reduction)
      if (changes_with(access.index, range)) bytes *= iterations(range);
    for (std::size_t dim : access.used)
      if (const DimIndex& bound = place.dims[dim]; bound.loop != nullptr && bound.depth > outside)
        bytes *= bound.loop->iterations;
    if (bytes > cache)
      effort += bytes * place.trip_count(outside) / together_around(access, place, outside) *
                effort_of_far_byte;
  }
  return effort;
}

// Returns the number of iterations of the loops that index a dimension, not counting reductions.
double iterations_of(const DimIndex& bound) {
  if (bound.loop != nullptr) return bound.loop->reduces ? 1 : bound.loop->iterations;
  return trip_count(bound.index->ranges());
}

// Returns the number of loads of a sum over all its iterations. Neighbouring iterations that need
// the same element share a load.
double loads(const IterationDomain& body, const ComputeSite& place) {
  if (body.reduction.empty() || !body.carried_scans.empty()) return 0;
  const double iterations_of_all = place.trip_count() * trip_count(body.reduction);
  const std::size_t outside = place.outside.value_or(0);
  double count = 0;
  for (const ReadAccess& access : body.accesses) {
    double inside = 1, around = 1;  // around a stage, only one loop is batched
    for (std::size_t dim = 0; dim < place.dims.size(); ++dim) {
      const DimIndex& bound = place.dims[dim];
      if (std::ranges::find(access.used, dim) != access.used.end()) continue;
      if (bound.depth > outside)
        inside *= iterations_of(bound);
      else
        around = std::max(around, iterations_of(bound));
    }
    count += place.repeats * iterations_of_all / std::min(inside * around, most_reuse);
  }
  return count;
}

// Returns whether all loops around one sum are also around the other and leave the other no
// innermost loop that fills a vector.
bool takes_lanes(const ReductionCost& outer, const ReductionCost& inner) {
  const auto is_outer = [&](const Loop* loop) { return is_among(loop, outer.place.nest); };
  if (outer.place.nest.empty() ||
      std::ranges::count_if(inner.place.nest, is_outer) != std::ssize(outer.place.nest))
    return false;
  const Loop* last = inner.place.nest.back();
  return outer.place.nest.size() < inner.place.nest.size() &&
         (is_outer(last) || last->iterations < lanes);
}

// Returns whether a maximum goes over a loop of what the sum fills inside the `outside` outermost
// loops, judging by trip counts. The two may then run block by block (ONLINE), and a block of the
// inputs stays in a cache for many iterations of the enclosing loops.
bool may_run_online(const Workload& kernel, const ReductionCost& sum, std::size_t outside) {
  const auto is_maximum_over = [](const ReductionCost& other, double iterations) {
    const UOp& value = other.body->value;
    return value->op() == Op::Reduce && value->arg<ReduceArg>().op == Op::Max &&
           other.iterations == std::vector{iterations};
  };
  const auto& nest = sum.place.nest;
  for (std::size_t i = outside; i < nest.size(); ++i)
    for (const ReductionCost& other : kernel.sums)
      if (is_maximum_over(other, nest[i]->iterations)) return true;
  return false;
}

void slow_down(Workload& kernel, ReductionCost& sum, double times) {
  const double more = times - sum.times;
  if (more <= 0) return;
  kernel.effort += more * sum.effort;
  kernel.critical_effort += more * sum.critical_effort;
  sum.times = times;
}

// Returns whether the sums share an access: the same element in the same iteration of equal loops.
bool read_alike(const ReductionCost& a, const ReductionCost& b) {
  const auto is_source = [&](const Node* placeholder) { return a.sources.contains(placeholder); };
  if (std::ranges::none_of(b.sources, is_source)) return false;
  const auto &own = a.body->loops, &others = b.body->loops;
  if (own.size() != others.size() || a.body->reduction.empty() ||
      a.body->reduction.size() != b.body->reduction.size())
    return true;  // not comparable: assume so
  Substitution same;
  for (std::size_t i = 0; i < own.size(); ++i)
    if (others[i]->op() == Op::Range) same.emplace(others[i].node(), own[i]);
  for (std::size_t i = 0; i < a.body->reduction.size(); ++i)
    same.emplace(b.body->reduction[i], UOp(a.body->reduction[i]));
  return std::ranges::any_of(b.body->accesses, [&](const ReadAccess& access) {
    const UOp index = substitute(UOp(access.index), same);
    return std::ranges::find(a.body->accesses, index.node(), &ReadAccess::index) !=
           a.body->accesses.end();
  });
}

// Returns whether this is a matrix product: a sum of products of two factors, each of which is
// reused along loops of the other.
bool is_product(const IterationDomain& body) {
  const Node* sum = body.value.node();
  if (sum->op() != Op::Reduce || sum->arg<ReduceArg>().op != Op::Add ||
      sum->src(0)->op() != Op::Mul)
    return false;
  const Node *a = sum->src(0)->src(0), *b = sum->src(0)->src(1);
  const auto has_own = [](const Node* factor, const Node* other) {
    return !std::ranges::all_of(factor->ranges(),
                                [&](const Node* range) { return changes_with(other, range); });
  };
  return has_own(a, b) && has_own(b, a);
}

// Returns the slowdown of a product that would fit a matrix instruction
// (codegen/schedule/actions/tensorise.h): its factors are loaded and converted.
double times_without_instruction(const IterationDomain& body, const Target& target) {
  if (!is_product(body)) return 1;
  const Node* sum = body.value.node();
  const Node *a = sum->src(0)->src(0), *b = sum->src(0)->src(1);
  if (!is_converted_read(a) || !is_converted_read(b)) return 1;
  const DType from_a = a->src(0)->dtype(), from_b = b->src(0)->dtype();
  double times = 1;
  for (const MmaShape& shape : target.mma) {
    const bool fits =
        sum->dtype() == shape.c && (shape.takes(from_a, from_b) || shape.takes(from_b, from_a));
    if (fits) times = std::max(times, shape.rows > 1 ? times_without_tiles : times_without_dots);
  }
  return times;
}

// A product gets a matrix instruction only if it is the only sum of its kernel.
void slow_down_products(Workload& kernel) {
  if (kernel.sums.size() < 2) return;
  for (ReductionCost& sum : kernel.sums) slow_down(kernel, sum, sum.slowdown_shared);
}

// Returns whether at most one product is worth a kernel of its own: it takes long, and a cache
// keeps its result. The loops that suit the tiles of one product seldom suit those of another, but
// scores that may be computed block by block share the blocks. Outputs of merged kernels share their
// loops and count as one.
bool has_loops_for_products(const Workload& kernel, double cache) {
  constexpr double worth_a_kernel = 1 << 19;  // operations
  int others = 0, outputs = 0;
  for (const ReductionCost& sum : kernel.sums) {
    if (!is_product(*sum.body) || sum.effort < least_work(worth_a_kernel)) continue;
    if (may_run_online(kernel, sum, sum.place.outside.value_or(0))) continue;
    const double bytes = static_cast<double>(sum.body->value->dtype().bytes()) *
                         trip_count(nodes_of(sum.body->loops));
    if (bytes <= cache) ++(sum.is_output ? outputs : others);
  }
  return others + (outputs + kernel.merged - 1) / kernel.merged <= 1;
}

// Returns whether the innermost loop carries a scan, and does so element by element.
bool runs_in_order(const Workload& kernel) {
  if (kernel.scans.empty() || kernel.root.empty()) return false;
  const Loop* last = kernel.root.back()->same();
  const auto is_last = [&](const Loop* loop) { return loop != nullptr && loop->same() == last; };
  double elements = 1;
  for (const Loop* loop : kernel.root) elements *= loop->iterations;
  return std::ranges::any_of(kernel.scans, is_last) &&
         kernel.effort > most_effort_in_lanes * elements;
}

// Slows down two sums in one nest. They are vectorised together only if they are equally long.
void slow_down_pair(Workload& kernel, ReductionCost& a, ReductionCost& b) {
  const double times = a.iterations != b.iterations ? times_scalar
                       : !read_alike(a, b)          ? times_crowded
                                                    : 1;
  slow_down(kernel, a, times);
  slow_down(kernel, b, times);
}

}  // namespace

Work Workload::work() const {
  double bytes = output_bytes;
  for (const auto& [placeholder, read] : inputs) bytes += read;
  return {flops, bytes, critical_effort > 0 ? effort / critical_effort : 1};
}

Estimator::Estimator(const Partition& partition, const std::vector<IterationDomain>& domains,
                     const Target& target)
    : partition_(partition),
      domains_(domains),
      target_(target),
      most_scratch_(std::min(bytes_of_worker(target.machine),
                             most_of_scratch * static_cast<double>(target.scratch_bytes))) {}

double Estimator::time(const Workload& kernel) const {
  Work work = kernel.work();
  work.flops = kernel.effort * (runs_in_order(kernel) ? times_scalar : 1);
  return seconds_of(target_.machine, work);
}

double Estimator::computing(const Workload& kernel) const {
  const double times = runs_in_order(kernel) ? times_scalar : 1;
  return times * kernel.critical_effort / operations_per_second(target_.machine);
}

double Estimator::keeping(const ComputeSite& stage) const {
  return 2 * stage.trip_count() / shared(stage.shared_trip_count()) /
         operations_per_second(target_.machine);
}

double Estimator::shared(double trip_count) const {
  return std::clamp(trip_count, 1.0, static_cast<double>(target_.machine.workers()));
}

void Estimator::add_inputs(Workload& kernel, const IterationDomain& body) const {
  for (const ReadAccess& access : body.accesses) {
    const UOp source = UOp(access.index->src(0));
    double reads = static_cast<double>(source->dtype().bytes());
    for (std::size_t i : access.own) reads *= iterations(body.loops[i].node());
    reads *= trip_count(access.inner);
    double& known = kernel.inputs[source.node()];
    known = std::min(memory_bytes(source), std::max(known, reads));
  }
}

void Estimator::add_waits(Workload& kernel, std::size_t point) const {
  for (const UOp& placeholder : partition_.points[point].waits)
    kernel.waits.insert(placeholder.node());
}

void Estimator::add_point(Workload& kernel, std::size_t point) const {
  kernel.flops_apart += flops_apart(domains_[point]);
  add_inputs(kernel, domains_[point]);
  add_waits(kernel, point);
}

Workload Estimator::alone(std::size_t point, const ComputeSite& root) const {
  Workload kernel;
  const PartitionPoint& piece = partition_.points[point];
  kernel.outputs = {point};
  kernel.root = root.nest;
  kernel.output_bytes = memory_bytes(target_of(piece));
  if (piece.is_copy) {
    kernel.inputs[copied_from(piece).buffer] = memory_bytes(piece.value);
    add_waits(kernel, point);
  } else if (piece.loop != nullptr) {
    for (const Node* given : piece.value->src()) kernel.inputs[given] = memory_bytes(UOp(given));
    kernel.flops = kernel.effort = kernel.critical_effort = piece.loop->work().flops;
    add_waits(kernel, point);
  } else {
    add_inline(kernel, point, {root});
  }
  kernel.follows = piece.follows;
  return kernel;
}

void Estimator::add_work(Workload& kernel, const IterationDomain& body,
                         const ComputeSite& place) const {
  const double effort = place.operations(body, &Operations::effort);
  ReductionCost sum{.body = &body, .place = place, .effort = effort + loads(body, place)};
  sum.critical_effort = sum.effort / shared(place.shared_trip_count());
  kernel.flops += place.operations(body, &Operations::count);
  kernel.effort += sum.effort;
  kernel.critical_effort += sum.critical_effort;
  for (const Node* range : body.reduction) sum.iterations.push_back(iterations(range));
  if (sum.iterations.empty() || !body.carried_scans.empty()) return;
  // A value that is invariant in the stage has fewer loops than there are around the stage.
  read_again(kernel, sum, std::min(place.outside.value_or(0), place.nest.size()));
  if (joins_another(body, place)) return;
  for (const ReadAccess& access : body.accesses) sum.sources.insert(access.index->src(0));
  const bool is_inside = std::ranges::any_of(place.nest, [&](const Loop* loop) {
    return loop->reduces || is_among(loop, kernel.in_order);
  });
  if (is_inside || place.is_scattered()) slow_down(kernel, sum, times_scalar);
  for (ReductionCost& other : kernel.sums) {
    if (are_same_loops(sum.place.nest, other.place.nest)) slow_down_pair(kernel, sum, other);
    if (takes_lanes(sum, other)) slow_down(kernel, other, times_ordered);
    if (takes_lanes(other, sum)) slow_down(kernel, sum, times_ordered);
  }
  sum.slowdown_shared = times_without_instruction(body, target_);
  sum.is_output = are_same_loops(place.nest, kernel.root);
  kernel.sums.push_back(std::move(sum));
  slow_down_products(kernel);
}

// Adds the effort of rereading for a sum inside the loops around a stage, its own or another's.
void Estimator::read_again(Workload& kernel, ReductionCost& sum, std::size_t outside) const {
  if (outside == 0 || may_run_online(kernel, sum, outside)) return;
  const double cache = bytes_of_worker(target_.machine);
  const double more = far_effort(*sum.body, sum.place, outside, cache) - sum.far;
  if (more <= 0) return;
  sum.far += more;
  kernel.effort += more;
  kernel.critical_effort += more / shared(sum.place.trip_count(outside));
}

void Estimator::add_inline(Workload& kernel, std::size_t point,
                           const std::vector<ComputeSite>& places) const {
  const IterationDomain& body = domains_[point];
  for (const ComputeSite& place : places) {
    add_work(kernel, body, place);
    kernel.size += body.size;
    for (const CarriedScan& scan : body.carried_scans)
      kernel.scans.push_back(place.loop_along(scan.own));
  }
  add_point(kernel, point);
}

void Estimator::add_stage(Workload& kernel, std::size_t point, const ComputeSite& stage,
                          std::size_t depth) const {
  const IterationDomain& body = domains_[point];
  for (ReductionCost& sum : kernel.sums)
    if (sum.place.nest.size() >= depth &&
        are_same_loops(sum.place.outermost(depth), stage.outermost(depth)))
      read_again(kernel, sum, depth);
  add_work(kernel, body, stage);
  for (const CarriedScan& scan : body.carried_scans)
    if (const Loop* loop = stage.loop_along(scan.own);
        loop != nullptr && loop->same() == stage.nest.back()->same())
      kernel.in_order.push_back(loop);
  kernel.size += body.size;
  kernel.scratch += stage.trip_count() / std::max(1.0, stage.trip_count(depth)) *
                    static_cast<double>(partition_.points[point].placeholder->dtype().bytes());
  add_point(kernel, point);
}

void Estimator::merge(Workload& kernel, const Workload& other) {
  kernel.outputs.insert(kernel.outputs.end(), other.outputs.begin(), other.outputs.end());
  for (const auto& [placeholder, bytes] : other.inputs) {
    double& known = kernel.inputs[placeholder];
    known = std::max(known, bytes);
  }
  kernel.output_bytes += other.output_bytes;
  for (ReductionCost sum : other.sums) {
    if (are_same_loops(sum.place.nest, other.root))
      for (ReductionCost& own : kernel.sums)
        if (are_same_loops(own.place.nest, kernel.root)) slow_down_pair(kernel, own, sum);
    kernel.sums.push_back(std::move(sum));
  }
  kernel.flops += other.flops;
  kernel.effort += other.effort;
  kernel.critical_effort += other.critical_effort;
  slow_down_products(kernel);
  kernel.flops_apart += other.flops_apart;
  kernel.scratch += other.scratch;
  kernel.size += other.size;
  kernel.scans.insert(kernel.scans.end(), other.scans.begin(), other.scans.end());
  kernel.in_order.insert(kernel.in_order.end(), other.in_order.begin(), other.in_order.end());
  kernel.merged += other.merged;
  std::transform(other.follows.begin(), other.follows.end(), kernel.follows.begin(),
                 kernel.follows.begin(), std::logical_or{});
  kernel.waits.insert(other.waits.begin(), other.waits.end());
}

bool Estimator::is_allowed(const Workload& kernel) const {
  return kernel.flops <= most_repeated * kernel.flops_apart &&
         std::ssize(kernel.scans) <= most_scans && kernel.scratch <= most_scratch_ &&
         kernel.size <= nodes_per_op * most_ops && std::ssize(kernel.sums) <= most_sums &&
         has_loops_for_products(kernel, bytes_of_worker(target_.machine)) &&
         std::ssize(kernel.inputs) + std::ssize(kernel.outputs) <= most_params;
}

}  // namespace weft
