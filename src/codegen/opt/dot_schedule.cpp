#include "dot_schedule.h"

#include <algorithm>
#include <string>
#include <vector>

#include <weft/dev/codegen/choose.h>
#include <weft/dev/ir/below.h>
#include <weft/dev/ir/graph.h>

#include "kernel_loops.h"
#include "mma_kernel.h"
#include "share.h"

namespace weft {
namespace {

constexpr std::int64_t most_vectors = 4;  // of a row
constexpr std::int64_t most_copies = 16;  // that codes are decoded in
constexpr double others_in_cycle = 4;     // instructions beside those that multiply

std::int64_t trips_of(const Node* range) {
  return range->src(0)->is_const() ? range->src(0)->lo() : 0;
}

const Node* converted(const Node* value) { return value->op() == Op::Cast ? value->src(0) : value; }

std::vector<const Node*> reads_along(const Node* value, const Node* range) {
  std::vector<const Node*> reads;
  for (const Node* node : elementwise_below({value}))
    if (node->op() == Op::Load && changes_with(node, range)) reads.push_back(node);
  return reads;
}

bool has_strides(const std::vector<const Node*>& reads, const Node* range, std::int64_t stride) {
  return !reads.empty() && std::ranges::all_of(reads, [&](const Node* read) {
    return first_step(read, range) == stride;
  });
}

// A sum of products over groups: the loop of a group is the last.
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
    for (const Node* range : ranges)
      if (trips_of(range) % shape.columns == 0 && takes_lanes_along(range)) lanes_ = range;
    if (lanes_ != nullptr && ranges[0] != lanes_) rows_ = ranges[0];
  }

  bool is_one() const { return lanes_ != nullptr; }

  Schedule schedule(const Machine& machine) {
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
    const Schedule shared = share_outermost(loops, machine);
    loops.apply(shared);
    schedule_.insert(schedule_.end(), shared.begin(), shared.end());
    is_shared_ = !shared.empty();
    if (is_decoded && rows_ != nullptr && bytes() > machine.levels[1].bytes) announce(loops);
    return schedule_;
  }

  // Of that schedule.
  double seconds(const Machine& machine) const {
    double products = 0, others = 0;
    for (const Node* node : toposort(kernel_)) {
      if (!is_elementwise(node->op()) || node->dtype().is_index()) continue;
      double trips = 1;
      for (const Node* range : node->ranges()) trips *= static_cast<double>(range->src(0)->hi());
      if (changes_with(node, lanes_)) trips /= static_cast<double>(shape_.columns);
      const bool is_grouped = std::ranges::any_of(
          dots_, [&](const Dot& dot) { return changes_with(node, dot.group()); });
      if (is_grouped) trips /= static_cast<double>(shape_.group);
      (is_product(node) ? products : others) += trips;
    }
    const double cycles = products * shape_.cycles / machine.fma_ports + others / others_in_cycle;
    return std::max(cycles / machine.hertz, seconds_to_read(machine)) /
           (is_shared_ ? machine.workers : 1);
  }

 private:
  bool is_product(const Node* node) const {
    return std::ranges::any_of(dots_, [&](const Dot& dot) { return dot.sum->src(0) == node; });
  }

  bool takes_lanes_along(const Node* range) {
    dots_.clear();
    for (const Node* node : toposort(kernel_))
      if (node->op() == Op::Reduce && node->dtype() == shape_.c && !add_dot(node, range))
        return false;
    return !dots_.empty();
  }

  bool add_dot(const Node* sum, const Node* lanes) {
    const Node* product = sum->src(0);
    if (sum->arg<ReduceArg>().op != Op::Add || product->op() != Op::Mul) return false;
    const Node *a = converted(product->src(0)), *b = converted(product->src(1));
    if (changes_with(a, lanes)) std::swap(a, b);
    const Dot dot{sum, b};
    const std::vector<const Node*> reads = reads_along(b, lanes);
    dots_.push_back(dot);
    return trips_of(dot.group()) == shape_.group && a->op() == Op::Load && a->dtype() == shape_.a &&
           b->dtype() == shape_.b && !changes_with(a, lanes) && has_strides({a}, dot.group(), 1) &&
           has_strides(reads, dot.group(), 1) && has_strides(reads, lanes, shape_.group);
  }

  std::string name_of(const Node* range) const {
    return std::ranges::find(names_, range, &NamedLoop::range)->name;
  }
  void set_kind(const std::string& name, LoopKind kind) {
    schedule_.push_back({.type = Action::Kind, .name = name, .kind = kind});
  }

  void take_lanes() {
    std::string name = name_of(lanes_);
    if (const std::int64_t rest = trips_of(lanes_) / shape_.columns; rest > 1) {
      schedule_.push_back({.type = Action::Tile, .name = name, .count = shape_.columns});
      if (rest <= most_vectors) set_kind(name, LoopKind::Upcast);
      name += ".1";
    }
    set_kind(name, LoopKind::Vector);
  }

  // Loops that codes are decoded by: shifts are by numbers that are known where their trips are copies.
  bool is_decoded_by(const Node* range) const {
    if (range == lanes_ || range == rows_ || trips_of(range) > most_copies) return false;
    return std::ranges::any_of(dots_, [&](const Dot& dot) {
      const std::vector<const Node*> parts = elementwise_below({dot.codes});
      return range != dot.group() && std::ranges::find(parts, range) != parts.end();
    });
  }

  // While codes are decoded memory would idle: what the next rows read is asked for.
  void announce(const KernelLoops& loops) {
    std::string at;
    for (const NamedLoop& loop : loops.names())
      if (loop.name == name_of(rows_) || loop.name.starts_with(name_of(rows_) + "."))
        at = loop.name;
    for (const NamedRead& read : loops_.reads())
      if (changes_with(read.load, rows_) && changes_with(read.load, lanes_))
        schedule_.push_back({.type = Action::Prefetch, .name = read.name, .at = at});
  }

  // All memory once.
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
  // From the level that holds it.
  double seconds_to_read(const Machine& machine) const {
    const auto level = std::ranges::find_if(
        machine.levels, [&](const CacheLevel& each) { return bytes() <= each.bytes; });
    return bytes() / (level == machine.levels.end() ? machine.levels.back() : *level).bandwidth;
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
  if (kernel->size() != 1 || kernel->src(0)->op() != Op::End) return std::nullopt;
  for (const MmaShape& shape : target.mma) {
    if (shape.rows > 1 || shape.depth != shape.group || shape.c != dtypes::i32) continue;
    DotKernel dots(kernel, shape);
    if (!dots.is_one()) continue;
    Schedule schedule = dots.schedule(target.machine);
    return MmaSchedule{std::move(schedule), dots.seconds(target.machine)};
  }
  return std::nullopt;
}

}  // namespace weft
