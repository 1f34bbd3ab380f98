#include "dequantized_schedule.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/below.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>

#include "schedule/search/nest_choice.h"
#include "schedule/search/nest_of.h"

namespace weft {
namespace {

constexpr std::size_t most_tried = 8;     // schedules of the products
constexpr double fewest_iterations = 16;  // that share a dequantised element
constexpr double reads_and_stores = 2;    // instructions per element, besides those that dequantise

// A factor of the products that are summed, and the other one.
struct Factor {
  const Node *factor, *other;
};

// The kernel with the factor replaced by a load of a new PARAM, which stands for its dequantised
// values. The PARAM has a dimension for each loop that the factor changes with, those of output
// loops last.
class DequantizedKernel {
 public:
  DequantizedKernel(const Node* kernel, const Factor& of)
      : factor_(of.factor), other_(of.other), reads_(reads_of_kernel(kernel)) {
    const Node* factor = of.factor;
    std::vector<UOp> sizes, at{UOp(), const_bool(true)};
    for (const LoopKind kind : {LoopKind::Reduce, LoopKind::Loop})
      for (const auto& [name, range] : loops_of_kernel(kernel))
        if (range->arg<RangeArg>().kind == kind && changes_with(factor, range)) {
          sizes.emplace_back(range->src(0));
          at.emplace_back(range);
        }
    std::int32_t slot = 0;
    for (const Node* node : toposort(kernel))
      if (node->op() == Op::Param) slot = std::max(slot, node->arg<ParamArg>().slot + 1);
    at[0] = make(Op::Param, sizes, factor->dtype(), ParamArg{slot, Access::Read, 0});
    name_ = fmt::format("p{}", slot);
    kernel_ = substitute(UOp(kernel), {{factor, make(Op::Load, {make(Op::Index, at)})}});
  }

  const UOp& kernel() const { return kernel_; }

  // Returns the name of a read that only the factor uses, one that changes with the most loops. It
  // is empty if anything else reads memory of the factor, since names then differ between the
  // kernels.
  std::string read() const {
    const NamedRead* found = nullptr;
    std::set<const Node*> inside, outside;
    for (const NamedRead& read : reads_) {
      const bool is_inside = depends_on(factor_, read.load);
      const bool is_outside = !is_inside || depends_on(other_, read.load);
      const Node* memory = storage_of(read.load->src(0)->src(0));
      if (is_inside) inside.insert(memory);
      if (is_outside) outside.insert(memory);
      if (is_outside ||
          (found != nullptr && found->load->ranges().size() >= read.load->ranges().size()))
        continue;
      found = &read;
    }
    const auto is_outside = [&](const Node* memory) { return outside.contains(memory); };
    return found == nullptr || std::ranges::any_of(inside, is_outside) ? std::string()
                                                                       : found->name;
  }

  const std::string& name() const { return name_; }

  // Translates a schedule of this kernel into one of the original kernel. It is empty if it does
  // not stage the factor. Reads of the factor that `in_place` prepacks stay prepacked.
  Schedule schedule_of(const Schedule& chosen, const Schedule& in_place) const {
    const auto is_staged = [&](const Action& action) {
      return action.type == Action::Stage && action.name == name_ && !action.by_region;
    };
    if (std::ranges::none_of(chosen, is_staged)) return {};
    Schedule schedule;
    for (const Action& action : chosen) {
      if (!is_staged(action)) {
        schedule.push_back(action);
        continue;
      }
      for (const Action& kept : in_place)
        if (kept.type == Action::Stage && kept.space == Space::Constant && decodes(kept.name))
          schedule.push_back(kept);
      schedule.push_back(action);
      schedule.back().name = read();
      schedule.back().decoded = true;
    }
    return schedule;
  }

 private:
  bool decodes(const std::string& name) const {
    const auto read = std::ranges::find(reads_, name, &NamedRead::name);
    return read != reads_.end() && depends_on(factor_, read->load);
  }

  const Node *factor_, *other_;
  std::vector<NamedRead> reads_;
  std::string name_;
  UOp kernel_;
};

bool is_decoded(const Node* factor) {
  return factor->dtype().is_float() &&
         std::ranges::any_of(elementwise_below({factor}), [](const Node* node) {
           return node->op() == Op::Load && node->dtype().is_int() && node->dtype().bytes() == 1;
         });
}

// Returns the factor of the kernel's only sum that is dequantised from bytes, if many iterations of
// output loops share it.
std::optional<Factor> decoded_factor(const Node* kernel) {
  std::optional<Factor> found;
  const Node* only = nullptr;
  for (const Node* sum : toposort(kernel)) {
    if (sum->op() != Op::Reduce) continue;
    if (only != nullptr || sum->arg<ReduceArg>().op != Op::Add || sum->src(0)->op() != Op::Mul)
      return std::nullopt;
    only = sum;
    const Node* product = sum->src(0);
    for (const std::size_t side : {0, 1})
      if (is_decoded(product->src(side))) found = {product->src(side), product->src(1 - side)};
  }
  if (!found) return std::nullopt;
  double shared = 1;
  for (const auto& [name, range] : loops_of_kernel(kernel))
    if (range->arg<RangeArg>().kind == LoopKind::Loop && !changes_with(found->factor, range))
      shared *= static_cast<double>(range->src(0)->hi());
  return shared >= fewest_iterations ? found : std::nullopt;
}

// Returns whether no reduction has a tail, which would add a sum or change the summed value.
bool has_no_reduction_tail(const Schedule& schedule) {
  return std::ranges::none_of(schedule, [](const Action& action) {
    return action.tail != Tail::None && action.name.starts_with('k');
  });
}

// Returns how many elements the busiest worker dequantises. The memory is filled once per iteration
// of the loops down to the innermost one that its elements change with, and by each thread for
// itself.
double dequantized_elements(const NestAccess& access, const NestPlan& plan, std::size_t a,
                            int workers) {
  const auto at = static_cast<std::size_t>(plan.staged[a]);
  double fills = 1, iterations = 1, threads = 1;
  for (std::size_t i = 0; i <= at; ++i) {
    const Piece& piece = plan.pieces[i];
    iterations *= static_cast<double>(piece.iterations);
    const bool is_thread = piece.kind == LoopKind::Thread;
    if (is_thread) threads *= static_cast<double>(piece.iterations);
    if (is_thread || access.changes_with(piece.loop)) fills = iterations;
  }
  return fills * staged_elements(access, plan, a, at + 1) /
         std::min(threads, static_cast<double>(workers));
}

}  // namespace

std::optional<MmaSchedule> dequantized_schedule(const Node* kernel, const Schedule& in_place,
                                                const Target& target) {
  const auto factor = decoded_factor(kernel);
  if (!factor) return std::nullopt;
  const DequantizedKernel decoded(kernel, *factor);
  if (decoded.read().empty()) return std::nullopt;
  const Node* products = decoded.kernel().node();
  const auto nests = nests_of(products, loops_of_kernel(products), target.ops.contains(Op::MulAcc));
  if (nests.size() != 1 || !nests[0].is_whole) return std::nullopt;
  const Nest& nest = nests[0].nest;
  const auto a = static_cast<std::size_t>(
      std::ranges::find(nest.accesses, decoded.name(), &NestAccess::name) - nest.accesses.begin());
  if (a == nest.accesses.size()) return std::nullopt;
  const DeviceModel& machine = target.machine;
  const double lanes = machine.vector_bytes / static_cast<double>(factor->factor->dtype().bytes());
  const double cycles = (ops_of(factor->factor) + reads_and_stores) / (lanes * machine.fma_ports);
  std::optional<MmaSchedule> best;
  for (const Chosen& chosen : best_of(nests[0], target, most_tried)) {
    Schedule schedule = decoded.schedule_of(chosen.schedule, in_place);
    if (schedule.empty() || !has_no_reduction_tail(schedule)) continue;
    const NestPlan plan = plan_of(nest, chosen.option);
    // Dequantising the factor replaces copying it.
    const double seconds =
        chosen.seconds - time_of(machine, nest, plan).copies +
        dequantized_elements(nest.accesses[a], plan, a, machine.workers()) * cycles / machine.hertz;
    if (!best || seconds < best->seconds) best = {std::move(schedule), seconds};
  }
  return best;
}

}  // namespace weft
