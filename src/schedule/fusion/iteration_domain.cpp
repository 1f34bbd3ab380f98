#include "iteration_domain.h"

#include <algorithm>

#include <fmt/core.h>
#include <weft/dev/cost/places.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/rules/scan.h>
#include <weft/dev/schedule/ranges.h>
#include <weft/error.h>

#include "graph/reshape.h"

namespace weft {
namespace {

// The effort of an op that a processor cannot start in every cycle. Exponentials count as one op,
// because kernels that recompute those of a softmax are fast.
constexpr double slow = 4;
constexpr OpSet slow_ops{Op::Sqrt, Op::Div, Op::Recip, Op::Pow, Op::Mod, Op::Sin, Op::Cos};

// Returns whether the node is arithmetic on data. Index arithmetic and conditions on indices do not
// count.
bool is_work(const Node* node) {
  if (!is_elementwise(node->op()) || node->dtype().is_weak() || is_converted_read(node))
    return false;
  return std::ranges::none_of(node->src(), [](auto s) { return s->dtype().is_index(); });
}

class Reader {
 public:
  explicit Reader(IterationDomain& body) : body_(body) {
    for (std::size_t i = 0; i < body.loops.size(); ++i)
      if (body.loops[i]->op() == Op::Range) own_.set(body.loops[i].node(), i);
    const UOp value = carried(body.value);
    std::vector<const Node*> roots{value.node()};
    if (!body.place.is_null()) roots.push_back(body.place.node());
    nodes_ = toposort(roots);
  }

  void read() {
    body_.size = 0;
    for (const Node* node : nodes_) body_.size += code_size(node);
    // Visits users first: the loops around a reduction are known before its own.
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node)
      if ((*node)->op() == Op::Reduce) open(*node);
    if (outermost_.size() == 1)
      for (const Node* range : outermost_[0]->src().subspan(1))
        if (range->op() == Op::Range) body_.reduction.push_back(range);
    NodeMap<Op> summed;
    for (const Node* node : nodes_)
      if (node->op() == Op::Reduce) summed.set(node->src(0), node->arg<ReduceArg>().op);
    for (const Node* node : nodes_) {
      if (node->op() == Op::Load && node->src(0)->src(0)->op() == Op::Buffer) {
        body_.accesses.push_back(access(node->src(0)));
        if (const Op* op = summed.find(node)) body_.accesses.back().summed = *op;
      }
      if (is_work(node))
        count(node->ranges(), slow_ops.contains(node->op()) ? slow : 1);
      else if (node->op() == Op::Reduce)
        count(node->src(0)->ranges(), 1);
    }
  }

 private:
  struct Loop {
    const Node* outer = nullptr;  // the innermost reduce range around it
    std::size_t depth = 0;        // the number of these ranges
    double iterations = 1;        // of it and of those around it
    std::vector<std::size_t> own;
  };

  void open(const Node* reduce) {
    Loop loop;
    for (const Node* range : reduce->ranges()) join(range, loop);
    if (loop.outer == nullptr) outermost_.push_back(reduce);
    for (const Node* range : reduce->src().subspan(1)) {
      if (range->op() != Op::Range) continue;
      if (loop.outer != nullptr) loop.depth = at(loop.outer).depth + 1;
      loop.iterations *= iterations(range);
      number_.set(range, loops_.size());
      loops_.push_back(loop);
      loop.outer = range;
    }
  }

  // Replaces each scan along one loop of the domain by what an iteration of that loop would compute
  // if it carried the scan.
  UOp carried(UOp value) {
    for (bool is_done = false; !is_done;) {
      is_done = true;
      for (const Node* node : toposort(value.node())) {
        const auto scan = scan_of(node);
        if (!scan || scan->steps.size() != 1 || !own_.contains(scan->steps[0].range)) continue;
        value = substitute(value, {{node, new_in_iteration(node, *scan)}});
        const Scan::Step& step = scan->steps[0];
        body_.carried_scans.push_back({*own_.find(step.range), scan->rises == (step.factor > 0),
                                       iterations(scan->range), terms_before(*scan)});
        is_done = false;
        break;
      }
    }
    return value;
  }

  const Loop& at(const Node* range) const { return loops_[*number_.find(range)]; }

  // Adds what the range depends on: a loop of the domain, or a reduce loop and those around it.
  void join(const Node* range, Loop& loop) const {
    if (const std::size_t* own = own_.find(range)) {
      loop.own.push_back(*own);
    } else if (number_.contains(range)) {
      const Loop& other = at(range);
      loop.own.insert(loop.own.end(), other.own.begin(), other.own.end());
      if (loop.outer == nullptr || at(loop.outer).depth < other.depth) {
        loop.outer = range;
        loop.iterations = other.iterations;
      }
    }
  }

  Loop around(NodeList ranges) const {
    Loop loop;
    for (const Node* range : ranges) join(range, loop);
    std::ranges::sort(loop.own);
    loop.own.erase(std::ranges::unique(loop.own).begin(), loop.own.end());
    return loop;
  }

  ReadAccess access(const Node* index) const {
    Loop loop = around(index->ranges());
    ReadAccess result{.index = index, .own = std::move(loop.own), .used = {}, .inner = {}};
    for (const Node* range : index->ranges())
      if (const std::size_t* own = own_.find(range)) result.used.push_back(*own);
    for (const Node* range = loop.outer; range != nullptr; range = at(range).outer)
      result.inner.push_back(range);
    std::ranges::reverse(result.inner);
    return result;
  }

  void count(NodeList ranges, double effort) {
    Loop loop = around(ranges);
    auto same = std::ranges::find(body_.operations, loop.own, &Operations::own);
    if (same == body_.operations.end()) same = body_.operations.insert(same, {std::move(loop.own)});
    same->count += loop.iterations;
    same->effort += effort * loop.iterations;
  }

  IterationDomain& body_;
  std::vector<const Node*> nodes_;
  NodeMap<std::size_t> own_;
  NodeMap<std::size_t> number_;  // index into loops_
  std::vector<Loop> loops_;
  std::vector<const Node*> outermost_;  // reductions that are inside no other
};

// Computes the domains of the points. One rewrite of all of them processes common subexpressions
// only once.
void open_up(const Partition& partition, const std::vector<std::size_t>& points,
             std::vector<IterationDomain>& result) {
  std::vector<UOp> opened;
  for (std::size_t number : points) {
    const PartitionPoint& point = partition.points[number];
    const std::vector<UOp> loops = loops_over(target_of(point)->dims());
    opened.push_back(element_in(point.value, loops));
    opened.push_back(target_in(point, loops));
    opened.insert(opened.end(), loops.begin(), loops.end());
  }
  opened = ranges(opened);
  auto next = opened.begin();
  for (std::size_t number : points) {
    const PartitionPoint& point = partition.points[number];
    IterationDomain& body = result[number];
    body.value = *next++;
    const UOp target = *next++;
    const auto rank = static_cast<std::ptrdiff_t>(target_of(point)->dims().size());
    body.loops.assign(next, next + rank);
    next += rank;
    if (!point.place.is_null()) {
      if (target->op() != Op::Load)
        user_error(fmt::format("cannot assign to {}: it is no view of memory",
                               expression_text(point.place.node())));
      body.place = target.src(0);
    }
    Reader(body).read();
  }
}

}  // namespace

bool IterationDomain::decodes() const {
  const auto is_of_bytes = [](const ReadAccess& access) {
    const DType read = access.index->src(0)->dtype();
    return read.is_int() && read.bytes() == 1;
  };
  return reduction.empty() && value->dtype().is_float() &&
         std::ranges::any_of(accesses, is_of_bytes);
}

bool is_converted_read(const Node* node) {
  return node->op() == Op::Cast && node->src(0)->op() == Op::Load;
}

double iterations(const Node* range) {
  return static_cast<double>(std::max<Wide>(0, range->src(0)->bounds().hi));
}

double trip_count(NodeList loops) {
  double count = 1;
  for (const Node* loop : loops)
    if (loop->op() == Op::Range) count *= iterations(loop);
  return count;
}

std::vector<UOp> loops_over(NodeList dims) {
  std::vector<UOp> loops;
  for (const Node* size : dims) loops.push_back(range(size_as_index(size), fresh_id().value));
  return loops;
}

UOp element_in(const UOp& tensor, const std::vector<UOp>& loops) {
  return element(tensor, const_bool(true), tensor->shape() == nullptr ? std::vector<UOp>{} : loops);
}

UOp target_in(const PartitionPoint& point, const std::vector<UOp>& loops) {
  const UOp& target = target_of(point);
  return element_in(target->op() == Op::Index ? make(Op::Load, {target}) : target, loops);
}

std::vector<IterationDomain> domains(const Partition& partition, const Partition& other,
                                     const std::vector<IterationDomain>& known) {
  std::vector<IterationDomain> result(partition.points.size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < partition.points.size(); ++i) {
    const PartitionPoint& point = partition.points[i];
    const auto same = other.point_of(point.placeholder.node());
    if (same && point.value.is(other.points[*same].value) &&
        point.place.is(other.points[*same].place))
      result[i] = known[*same];
    else if (point.loop == nullptr)
      open.push_back(i);
  }
  open_up(partition, open, result);
  return result;
}

}  // namespace weft
