#include "dot_schedule.h"

#include <algorithm>
#include <string>
#include <vector>

#include <weft/dev/codegen/choose.h>
#include <weft/dev/codegen/strides.h>
#include <weft/dev/ir/below.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>

#include "mma_kernel.h"
#include "schedule/actions/kernel_loops.h"
#include "schedule/search/share.h"

namespace weft {
namespace {

constexpr std::int64_t most_vectors = 4;  // along the lanes' loop, for it to be unrolled
constexpr std::int64_t most_copies = 16;  // of an unrolled loop that decodes
constexpr double others_in_cycle = 4;     // instructions besides dot products

std::int64_t iterations_of(const Node* range) {
  return range->src(0)->is_const() ? range->src(0)->lo() : 0;
}

const Node* converted(const Node* value) { return value->op() == Op::Cast ? value->src(0) : value; }

std::vector<const Node*> reads_along(const Node* value, const Node* range) {
  std::vector<const Node*> reads;
  for (const Node* node : elementwise_below({value}))
    if (node->op() == Op::Load && changes_with(node, range)) reads.push_back(node);
  return reads;
}

// Returns the stride of an unconditional load along the range in elements, if it is constant.
std::optional<std::int64_t> stride_along(const Node* load, const Node* range) {
  const Node* place = load->src(0);
  const NodeList sizes = storage_of(place->src(0))->dims();
  if (load->size() != 1 || !place->src(1)->is_const_int(1) || place->size() != sizes.size() + 2)
    return std::nullopt;
  std::int64_t sum = 0, apart = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    const Node* index = place->src(i + 2);
    const auto stride = Strides(slice_of(index, range), range).of(index);
    if (!stride || !sizes[i]->is_const()) return std::nullopt;
    sum += *stride * apart;
    apart *= sizes[i]->lo();
  }
  return sum;
}

bool has_strides(const std::vector<const Node*>& reads, const Node* range, std::int64_t stride) {
  return !reads.empty() && std::ranges::all_of(reads, [&](const Node* read) {
    return stride_along(read, range) == stride;
  });
}

// A sum of products over groups. Its last loop runs over the elements of a group.
struct Dot {
  const Node* sum;
  const Node* codes;  // the factor that changes from lane to lane

  const Node* group() const { return sum->src(sum->size() - 1); }
};

class DotKernel {
 public:
  DotKernel(const Node* kernel, const MmaShape& shape)
      : kernel_(kernel), shape_(shape), loops_(UOp(kernel)), names_(loops_.names()) {
    const NodeList ranges = kernel->src(0)->src().subspan(1);
    for (const Node* range : ranges) {
      if (iterations_of(range) < 1 || iterations_of(range) % shape.columns != 0) continue;
      dots_ = dots_along(range);
      if (dots_.empty()) continue;
      lanes_ = range;
      if (ranges[0] != range) rows_ = ranges[0];
      return;
    }
  }

  bool is_one() const { return lanes_ != nullptr; }

  Schedule schedule(const DeviceModel& machine) {
    take_lanes();
    for (const Dot& dot : dots_) set_kind(name_of(dot.group()), LoopKind::Dot);
    bool is_decoded = false;
    for (const NamedLoop& loop : names_) {
      if (!is_decoded_by(loop.range)) continue;
      set_kind(loop.name, LoopKind::Upcast);
      is_decoded = true;
    }
    KernelLoops loops{UOp(kernel_)};
    loops.apply(schedule_);
    const Schedule shared = parallelise_outermost(loops, machine);
    loops.apply(shared);
    schedule_.insert(schedule_.end(), shared.begin(), shared.end());
    is_shared_ = !shared.empty();
    const bool is_beyond_l2 = machine.memory.size() > 1 && bytes() > machine.memory[1].bytes;
    if (is_decoded && rows_ != nullptr && is_beyond_l2) prefetch(loops);
    return schedule_;
  }

  // Returns the expected time of the schedule that schedule() has made.
  double seconds(const DeviceModel& machine) const {
    double products = 0, others = 0;
    for (const Node* node : toposort(kernel_)) {
      if (!is_elementwise(node->op()) || node->dtype().is_index()) continue;
      double iterations = 1;
      for (const Node* range : node->ranges())
        iterations *= static_cast<double>(range->src(0)->hi());
      if (changes_with(node, lanes_)) iterations /= static_cast<double>(shape_.columns);
      const bool is_grouped = std::ranges::any_of(
          dots_, [&](const Dot& dot) { return changes_with(node, dot.group()); });
      if (is_grouped) iterations /= static_cast<double>(shape_.group);
      (is_product(node) ? products : others) += iterations;
    }
    const double cycles = products * shape_.cycles / machine.fma_ports + others / others_in_cycle;
    const double workers = is_shared_ ? machine.workers() : 1;
    const MemorySpace* filled = last_filled(machine);
    const double memory =
        filled == nullptr ? 0 : bytes() / filled->bandwidth / (filled->is_shared ? 1 : workers);
    return std::max(cycles / machine.hertz / workers, memory);
  }

 private:
  bool is_product(const Node* node) const {
    return std::ranges::any_of(dots_, [&](const Dot& dot) { return dot.sum->src(0) == node; });
  }

  // Returns the sums of the instruction's type; none if one of them cannot use the instruction.
  std::vector<Dot> dots_along(const Node* lanes) const {
    std::vector<Dot> dots;
    for (const Node* node : toposort(kernel_)) {
      if (node->op() != Op::Reduce || node->dtype() != shape_.c) continue;
      const auto dot = dot_of(node, lanes);
      if (!dot) return {};
      dots.push_back(*dot);
    }
    return dots;
  }

  std::optional<Dot> dot_of(const Node* sum, const Node* lanes) const {
    const Node* product = sum->src(0);
    if (sum->arg<ReduceArg>().op != Op::Add || product->op() != Op::Mul) return std::nullopt;
    const Node *a = converted(product->src(0)), *b = converted(product->src(1));
    if (changes_with(a, lanes)) std::swap(a, b);
    const Dot dot{sum, b};
    const bool are_factors = a->op() == Op::Load && a->dtype() == shape_.a &&
                             b->dtype() == shape_.b && shape_.may_hold(b->hi()) &&
                             !changes_with(a, lanes);
    if (!are_factors || iterations_of(dot.group()) != shape_.group || is_used_again(b) ||
        !has_strides({a}, dot.group(), 1) || !is_in_groups(dot, lanes))
      return std::nullopt;
    return dot;
  }

  // Returns whether loads of the codes are contiguous along the group, and groups of adjacent lanes
  // follow one another in memory. The codes may use the group's index in loads only.
  static bool is_in_groups(const Dot& dot, const Node* lanes) {
    const std::vector<const Node*> reads = reads_along(dot.codes, lanes),
                                   parts = elementwise_below({dot.codes});
    return std::ranges::find(parts, dot.group()) == parts.end() &&
           reads == reads_along(dot.codes, dot.group()) && has_strides(reads, dot.group(), 1) &&
           has_strides(reads, lanes, dot.group()->src(0)->lo());
  }

  // Returns whether output loops reuse the codes. Register tiles of products would exploit that.
  bool is_used_again(const Node* codes) const {
    return std::ranges::any_of(kernel_->src(0)->src().subspan(1), [&](const Node* range) {
      return iterations_of(range) != 1 && !changes_with(codes, range);
    });
  }

  std::string name_of(const Node* range) const {
    return std::ranges::find(names_, range, &NamedLoop::range)->name;
  }
  void set_kind(const std::string& name, LoopKind kind) {
    schedule_.push_back({.type = Action::Kind, .name = name, .kind = kind});
  }

  void take_lanes() {
    std::string name = name_of(lanes_);
    if (const std::int64_t rest = iterations_of(lanes_) / shape_.columns; rest > 1) {
      schedule_.push_back({.type = Action::Tile, .name = name, .count = shape_.columns});
      if (rest <= most_vectors) set_kind(name, LoopKind::Upcast);
      name += ".1";
    }
    set_kind(name, LoopKind::Vector);
  }

  // Returns whether the codes are computed from the loop's index, such as shift amounts, which are
  // constants once the loop is unrolled.
  bool is_decoded_by(const Node* range) const {
    if (range == lanes_ || range == rows_ || iterations_of(range) > most_copies) return false;
    return std::ranges::any_of(dots_, [&](const Dot& dot) {
      const std::vector<const Node*> parts = elementwise_below({dot.codes});
      return range != dot.group() && std::ranges::find(parts, range) != parts.end();
    });
  }

  // Prefetches the loads of the next rows, since memory would idle while codes are decoded.
  void prefetch(const KernelLoops& loops) {
    std::string at;
    for (const NamedLoop& loop : loops.names())
      if (loop.name == name_of(rows_) || loop.name.starts_with(name_of(rows_) + "."))
        at = loop.name;
    for (const NamedRead& read : loops_.reads())
      if (changes_with(read.load, rows_) && changes_with(read.load, lanes_))
        schedule_.push_back({.type = Action::Prefetch, .name = read.name, .at = at});
  }

  // Returns the size of all PARAMs.
  double bytes() const {
    double bytes = 0;
    for (const Node* node : toposort(kernel_)) {
      if (node->op() != Op::Param) continue;
      double own = static_cast<double>(node->dtype().bytes());
      for (const Node* size : node->dims()) own *= static_cast<double>(size->hi());
      bytes += own;
    }
    return bytes;
  }
  // Returns the last cache that is too small for all of it, which is filled from behind; null if
  // the first one has room.
  const MemorySpace* last_filled(const DeviceModel& machine) const {
    const MemorySpace* last = nullptr;
    for (const MemorySpace& cache : machine.memory)
      if (bytes() > cache.bytes) last = &cache;
    return last;
  }

  const Node* kernel_;
  const MmaShape& shape_;
  const KernelLoops loops_;
  const std::vector<NamedLoop> names_;
  std::vector<Dot> dots_;
  const Node *lanes_ = nullptr, *rows_ = nullptr;
  Schedule schedule_;
  bool is_shared_ = false;
};

}  // namespace

std::optional<MmaSchedule> dot_schedule(const Node* kernel, const Target& target) {
  const auto may_be_dot = [](const Node* node) {
    return node->op() == Op::Reduce && node->dtype() == dtypes::i32;
  };
  if (kernel->size() != 1 || kernel->src(0)->op() != Op::End ||
      std::ranges::none_of(toposort(kernel), may_be_dot))
    return std::nullopt;
  for (const MmaShape& shape : target.mma) {
    if (shape.rows > 1 || shape.depth != shape.group || shape.a.bytes() > 1) continue;
    DotKernel dots(kernel, shape);
    if (!dots.is_one()) continue;
    Schedule schedule = dots.schedule(target.machine);
    return MmaSchedule{std::move(schedule), dots.seconds(target.machine)};
  }
  return std::nullopt;
}

}  // namespace weft
