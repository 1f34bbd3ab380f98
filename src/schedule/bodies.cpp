#include "bodies.h"

#include <algorithm>

#include <fmt/core.h>
#include <weft/dev/cost/places.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/rules/scan.h>
#include <weft/dev/schedule/ranges.h>
#include <weft/error.h>

#include "reshape.h"

namespace weft {
namespace {

// What a processor does not begin in each cycle takes as long as so many others. Exponentials count as one: kernels in which a
// softmax takes them again are fast.
constexpr double slow = 4;
bool is_slow(Op op) {
  return OpSet{Op::Sqrt, Op::Div, Op::Recip, Op::Pow, Op::Mod, Op::Sin, Op::Cos}.contains(op);
}

std::vector<UOp> loops_over(NodeList dims) {
  std::vector<UOp> loops;
  for (const Node* size : dims) loops.push_back(range(size_as_index(size), fresh_id().value));
  return loops;
}

// Arithmetic on data: what computes places and conditions on them is not counted.
bool is_work(const Node* node) {
  if (!is_elementwise(node->op()) || node->dtype().is_weak() || is_converted_read(node))
    return false;
  return std::ranges::none_of(node->src(), [](auto s) { return s->dtype().is_index(); });
}

class Reader {
 public:
  explicit Reader(Body& body) : body_(body) {
    for (std::size_t i = 0; i < body.loops.size(); ++i)
      if (body.loops[i]->op() == Op::Range) own_.set(body.loops[i].node(), i);
    const UOp value = carried(body.value);
    std::vector<const Node*> roots{value.node()};
    if (!body.place.is_null()) roots.push_back(body.place.node());
    nodes_ = toposort(roots);
  }

  void read() {
    body_.size = 0;
    for (const Node* node : nodes_) body_.size += code_of(node);
    // Users first: the loops around a reduction are known before its own.
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
        body_.readings.push_back(reading(node->src(0)));
        if (const Op* op = summed.find(node)) body_.readings.back().summed = *op;
      }
      if (is_work(node))
        count(node->ranges(), is_slow(node->op()) ? slow : 1);
      else if (node->op() == Op::Reduce)
        count(node->src(0)->ranges(), 1);
    }
  }

 private:
  struct Loop {
    const Node* outer = nullptr;  // the reduce range around it
    std::size_t depth = 0;        // how many are
    double trips = 1;             // of it and those around it
    std::vector<std::size_t> own;
  };

  void open(const Node* reduce) {
    Loop loop;
    for (const Node* range : reduce->ranges()) join(range, loop);
    if (loop.outer == nullptr) outermost_.push_back(reduce);
    for (const Node* range : reduce->src().subspan(1)) {
      if (range->op() != Op::Range) continue;
      if (loop.outer != nullptr) loop.depth = at(loop.outer).depth + 1;
      loop.trips *= trips(range);
      number_.set(range, loops_.size());
      loops_.push_back(loop);
      loop.outer = range;
    }
  }

  // The value with scans as a loop that carries them computes them: from what is new in each trip.
  UOp carried(UOp value) {
    for (bool is_done = false; !is_done;) {
      is_done = true;
      for (const Node* node : toposort(value.node())) {
        const auto scan = scan_of(node);
        if (!scan || scan->steps.size() != 1 || !own_.contains(scan->steps[0].range)) continue;
        value = substitute(value, {{node, new_in_trip(node, *scan)}});
        const Scan::Step& step = scan->steps[0];
        body_.scanned.push_back(
            {*own_.find(step.range), scan->rises == (step.factor > 0), trips(scan->range)});
        is_done = false;
        break;
      }
    }
    return value;
  }

  const Loop& at(const Node* range) const { return loops_[*number_.find(range)]; }

  // Takes the range into account: an own loop, or a reduction's with what is around it.
  void join(const Node* range, Loop& loop) const {
    if (const std::size_t* own = own_.find(range)) {
      loop.own.push_back(*own);
    } else if (number_.contains(range)) {
      const Loop& other = at(range);
      loop.own.insert(loop.own.end(), other.own.begin(), other.own.end());
      if (loop.outer == nullptr || at(loop.outer).depth < other.depth) {
        loop.outer = range;
        loop.trips = other.trips;
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

  Reading reading(const Node* index) const {
    Loop loop = around(index->ranges());
    Reading result{.index = index, .own = std::move(loop.own), .used = {}, .inner = {}};
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
    same->count += loop.trips;
    same->effort += effort * loop.trips;
  }

  Body& body_;
  std::vector<const Node*> nodes_;
  NodeMap<std::size_t> own_;
  NodeMap<std::size_t> number_;  // in loops_
  std::vector<Loop> loops_;
  std::vector<const Node*> outermost_;  // reductions that are in no other
};

bool computes_alike(const Cut& a, const Cut& b) {
  return a.value.is(b.value) && a.place.is(b.place);
}

const UOp& target_of(const Cut& cut) { return cut.place.is_null() ? cut.leaf : cut.place; }

// All at once: what they have in common is rewritten once.
void open_up(const CutGraph& graph, const std::vector<std::size_t>& cuts,
             std::vector<Body>& result) {
  std::vector<UOp> opened;
  const UOp all = const_bool(true);
  for (std::size_t number : cuts) {
    const Cut& cut = graph.cuts[number];
    const UOp& like = target_of(cut);
    const std::vector<UOp> loops = loops_over(like->dims());
    const auto at = [&](const UOp& tensor) {
      return element(tensor, all, tensor->shape() == nullptr ? std::vector<UOp>{} : loops);
    };
    opened.push_back(at(cut.value));
    opened.push_back(at(like->op() == Op::Index ? make(Op::Load, {like}) : like));
    opened.insert(opened.end(), loops.begin(), loops.end());
  }
  opened = ranges(opened);
  auto next = opened.begin();
  for (std::size_t number : cuts) {
    const Cut& cut = graph.cuts[number];
    Body& body = result[number];
    body.value = *next++;
    const UOp target = *next++;
    const auto rank = static_cast<std::ptrdiff_t>(target_of(cut)->dims().size());
    body.loops.assign(next, next + rank);
    next += rank;
    if (!cut.place.is_null()) {
      if (target->op() != Op::Load)
        user_error(fmt::format("cannot assign to {}: it is no view of memory",
                               expression_text(cut.place.node())));
      body.place = target.src(0);
    }
    Reader(body).read();
  }
}

}  // namespace

bool Body::decodes() const {
  const auto is_of_bytes = [](const Reading& reading) {
    const DType read = reading.index->src(0)->dtype();
    return read.is_int() && read.bytes() == 1;
  };
  return reduction.empty() && value->dtype().is_float() &&
         std::ranges::any_of(readings, is_of_bytes);
}

bool is_converted_read(const Node* node) {
  return node->op() == Op::Cast && node->src(0)->op() == Op::Load;
}

double trips(const Node* range) {
  return static_cast<double>(std::max<Wide>(0, range->src(0)->bounds().hi));
}

std::vector<Body> bodies(const CutGraph& graph) { return bodies(graph, {}, {}); }

std::vector<Body> bodies(const CutGraph& graph, const CutGraph& other,
                         const std::vector<Body>& known) {
  std::vector<Body> result(graph.cuts.size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < graph.cuts.size(); ++i) {
    const Cut& cut = graph.cuts[i];
    const auto same = other.cut_of(cut.leaf.node());
    if (same && computes_alike(cut, other.cuts[*same]))
      result[i] = known[*same];
    else if (cut.loop == nullptr)
      open.push_back(i);
  }
  open_up(graph, open, result);
  return result;
}

}  // namespace weft
