// Scans (scan.h) to accumulators that a loop hands on: each iteration adds what is new in it.
//
// A traversal and not a rule: which loop can carry a scan is read off all loops that an END closes, and some
// have to run backwards for it.

#include <algorithm>
#include <optional>

#include <weft/dev/codegen/accumulator.h>
#include <weft/dev/codegen/filled.h>
#include <weft/dev/codegen/lower.h>
#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/scan.h>
#include <weft/dev/rules/symbolic.h>

#include "traversal.h"

namespace weft {
namespace {

// What loops inside of the one that carries a scan may need: an accumulator for each of their iterations.
constexpr std::int64_t most_bytes = 64 << 10;

UOp store(const UOp& place, const UOp& value) {
  return make(Op::Store, {place, value}, {}, StoreArg{});
}

// A scan, the loop of an END that can carry it, and the lanes of a tile of that loop.
struct Carried {
  const Node* reduce;
  Scan scan;
  const Node* loop = nullptr;
  const Node* lane = nullptr;
  bool is_ahead = true;  // the loop meets what it takes in the order of the scan
};

bool starts_at_the_end(const Scan& scan) {
  return scan.rises ? scan.last->bounds().lo <= 0
                    : scan.last->bounds().hi >= scan.range->src(0)->bounds().hi - 1;
}

// In the loop of another reduction an accumulator for each of its iterations would be needed.
bool is_in_a_reduction(const Node* end, const Node* node) {
  const auto own = end->src().subspan(1);
  return std::ranges::any_of(node->ranges(), [&](const Node* range) {
    return std::ranges::find(own, range) == own.end() &&
           std::ranges::find(end->ranges(), range) == end->ranges().end();
  });
}

std::optional<Carried> carried_by(const Node* end, const Node* reduce, Scan scan) {
  if (!starts_at_the_end(scan)) return std::nullopt;
  Carried result{reduce, std::move(scan)};
  std::int64_t factor = 0, between = 0;
  for (const Scan::Step& step : result.scan.steps) {
    const auto own = end->src().subspan(1);
    if (std::ranges::find(own, step.range) == own.end()) return std::nullopt;
    const LoopKind kind = kind_of(step.range);
    const bool is_lane = kind == LoopKind::Vector;
    if ((is_lane ? result.lane : result.loop) != nullptr) return std::nullopt;
    if (!is_lane && kind != LoopKind::Loop) return std::nullopt;
    (is_lane ? result.lane : result.loop) = step.range;
    (is_lane ? between : factor) = step.factor;
  }
  if (result.loop == nullptr) return std::nullopt;
  if (result.lane != nullptr && result.lane != end->src().back()) return std::nullopt;
  const std::int64_t unit = result.lane != nullptr ? between : factor;
  const std::int64_t iterations = result.lane != nullptr ? result.lane->src(0)->lo() : 1;
  if ((unit != 1 && unit != -1) || factor != unit * iterations) return std::nullopt;
  result.is_ahead = result.scan.rises == (unit > 0);
  return result;
}

std::vector<Carried> all_carried(const Node* end) {
  std::vector<Carried> all;
  for (const Node* node : toposort(end->src(0))) {
    if (node->op() != Op::Reduce || is_in_a_reduction(end, node)) continue;
    for (Scan& scan : scans_of(node))
      if (auto carried = carried_by(end, node, std::move(scan))) {
        all.push_back(std::move(*carried));
        break;
      }
  }
  return all;
}

// The loop from its last iteration to the first.
UOp turned(const UOp& end, const Node* loop) {
  const UOp iteration = range(UOp(loop->src(0)), fresh_id().value, kind_of(loop));
  std::vector<UOp> src{at_place(UOp(end->src(0)), loop, (UOp(loop->src(0)) - 1) - iteration)};
  for (const Node* other : end->src().subspan(1))
    src.push_back(other == loop ? iteration : UOp(other));
  return make(Op::End, src);
}

// The END with the loop inside of all others but lanes.
UOp innermost(const UOp& end, const Node* loop) {
  std::vector<UOp> src;
  for (const Node* source : end->src())
    if (source != loop) src.emplace_back(source);
  const auto lanes = std::ranges::find_if(src.begin() + 1, src.end(), [](const UOp& range) {
    return kind_of(range.node()) == LoopKind::Vector;
  });
  src.insert(lanes, UOp(loop));
  return make(Op::End, src);
}

// One scan that a loop of the END carries.
class Carrier {
 public:
  Carrier(const UOp& end, const Carried& carried)
      : end_(end),
        carried_(carried),
        op_(carried.reduce->arg<ReduceArg>().op),
        dtype_(accumulator_of(op_, carried.reduce->dtype())) {
    bool is_inside = false;
    for (const Node* range : end->src().subspan(1)) {
      if (is_inside && range != carried.lane) inside_.push_back(range);
      is_inside = is_inside || range == carried.loop;
    }
  }

  // Whether the accumulators for all iterations inside are memory that a kernel can have.
  bool fits() const {
    std::int64_t bytes = static_cast<std::int64_t>(dtype_.bytes());
    for (const Node* range : inside_) {
      const LoopKind kind = kind_of(range);
      if (!range->src(0)->is_const() || (kind != LoopKind::Loop && kind != LoopKind::Vector))
        return false;
      if (__builtin_mul_overflow(bytes, range->src(0)->lo(), &bytes) || bytes > most_bytes)
        return false;
    }
    return true;
  }

  UOp result() const {
    const UOp now = place_in(make(Op::After, {begun(), UOp(carried_.loop)}), list_of(inside_));
    const UOp total = make(op_, {make(Op::Load, {now}), added()});
    std::vector<UOp> effects = effects_of(
        substitute(end_.src(0), {{carried_.reduce, cast(total, carried_.reduce->dtype())}}));
    effects.push_back(store(now, total));
    std::vector<UOp> src = list_of(end_->src());
    src[0] = tuple(effects);
    return make(Op::End, src);
  }

 private:
  static std::vector<UOp> list_of(const auto& nodes) {
    std::vector<UOp> list;
    for (const Node* node : nodes) list.emplace_back(node);
    return list;
  }
  static std::vector<UOp> effects_of(const UOp& what) {
    return what->op() == Op::Tuple ? list_of(what->src()) : std::vector<UOp>{what};
  }

  // The accumulators, as they are before the loop.
  UOp begun() const {
    std::vector<UOp> sizes, first, around;
    for (const Node* range : inside_) {
      sizes.emplace_back(range->src(0));
      first.push_back(range_like(range, range->src(0)->lo()));
    }
    const Space space = inside_.empty() ? Space::Register : Space::Scratch;
    const UOp buffer = make(Op::Buffer, sizes, dtype_, BufferArg{fresh_id(), space});
    std::vector<const Node*> all(end_->src(0)->ranges().begin(), end_->src(0)->ranges().end());
    for (const Node* range : end_->src().subspan(1))
      if (!changes_with(end_->src(0), range)) all.push_back(range);
    for (const Node* range : all)
      if (range != carried_.loop && range != carried_.lane &&
          std::ranges::find(inside_, range) == inside_.end())
        around.emplace_back(range);
    const UOp cleared = store(place_in(with_list(Op::After, buffer, around), first), identity());
    return make(Op::After, {buffer, with_list(Op::End, cleared, first)});
  }

  UOp identity() const { return identity_of(op_, dtype_); }

  // What is new in a iteration; of lanes, each with those before it.
  UOp added() const {
    if (carried_.lane == nullptr) return value_at(carried_.scan.last);
    const UOp lane(carried_.lane), other = range_like(carried_.lane, lane->src(0)->lo());
    const UOp value = value_at(substitute(carried_.scan.last, {{carried_.lane, other}}));
    return make(Op::Reduce, {where(other < lane + 1, value, identity()), other}, {},
                carried_.reduce->arg<ReduceArg>());
  }

  // Nothing where the reduction has no such iteration.
  UOp value_at(const UOp& last) const {
    const UOp size(carried_.scan.range->src(0));
    UOp is_there = const_bool(true);
    if (last->bounds().lo < 0) is_there = is_there & (last >= 0);
    if (last->bounds().hi >= size->bounds().lo) is_there = is_there & (last < size);
    const UOp value =
        cast(at_place(carried_.scan.value, carried_.scan.range, last, is_there), dtype_);
    return is_there->is_const_int(1) ? value : where(is_there, value, identity());
  }

  UOp end_;
  const Carried& carried_;
  Op op_;
  DType dtype_;
  std::vector<const Node*> inside_;  // loops in each iteration of the one that carries
};

// What an accumulator begins with stands before the loop that carries it: that loop begins an END of its own.
UOp nested(const UOp& end, const std::vector<const Node*>& carrying) {
  UOp what = end.src(0);
  std::vector<UOp> loops;
  for (std::size_t i = end->size(); i-- > 1;) {
    loops.insert(loops.begin(), end.src(i));
    if (i > 1 && std::ranges::find(carrying, end->src(i)) == carrying.end()) continue;
    what = with_list(Op::End, what, loops);
    loops.clear();
  }
  return what;
}

// Of scans one by one, since one may be part of another. All go the way that the first does.
UOp carried(UOp end) {
  std::vector<Carried> all = all_carried(end.node());
  if (all.empty()) return end;
  if (std::ranges::none_of(all, &Carried::is_ahead)) {
    for (const Scan::Step& step : std::vector(all[0].scan.steps)) end = turned(end, step.range);
    all = all_carried(end.node());
  }
  std::vector<const Node*> carrying;
  for (; !all.empty(); all = all_carried(end.node())) {
    const auto next = std::ranges::find_if(all, &Carried::is_ahead);
    if (next == all.end()) break;
    if (!Carrier(end, *next).fits()) {
      if (!carrying.empty()) break;  // they count on what is inside of them
      end = innermost(end, next->loop);
    }
    end = Carrier(end, *next).result();
    carrying.push_back(next->loop);
  }
  return nested(end, carrying);
}

class Scans {
 public:
  explicit Scans(NodeList roots) {
    for (const Node* node : toposort(roots)) {
      std::vector<UOp> src;
      for (const Node* source : node->src()) src.push_back((*this)[source]);
      const UOp result = with_sources(UOp(node), src);
      made_.set(node, (node->op() == Op::End ? carried(result) : result).node());
    }
  }

  UOp operator[](const Node* node) const { return UOp(*made_.find(node)); }

 private:
  NodeMap<const Node*> made_;
};

}  // namespace

std::vector<UOp> scans(const std::vector<UOp>& roots, const RewriteOptions& options) {
  const auto is_scan = [](const Node* node) { return scan_of(node).has_value(); };
  if (std::ranges::none_of(toposort(nodes_of(roots)), is_scan)) return roots;
  return simplify(traversed<Scans>(roots), {.pass = options.pass, .trace = options.trace});
}

}  // namespace weft
