// Lowers scans (scan.h) to loop-carried accumulators: each iteration only adds its new terms. All
// loops of an END determine which of them can carry a scan, and some have to be reversed.

#include <algorithm>
#include <optional>

#include <weft/dev/codegen/accumulator.h>
#include <weft/dev/codegen/filled.h>
#include <weft/dev/codegen/lower.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/scan.h>
#include <weft/dev/rules/symbolic.h>

#include "loops.h"

namespace weft {
namespace {

// Limits the accumulators of a scan. Loops nested in the one that carries it need an accumulator
// for each of their iterations.
constexpr std::int64_t most_bytes = 64 << 10;

// A scan, the loop of an END that can carry it, and the VECTOR range that tiles this loop, if any.
struct Carried {
  const Node* reduce;
  Scan scan;
  std::int64_t before = 0;  // terms before those of the loop
  const Node* loop = nullptr;
  const Node* lane = nullptr;
  bool follows_loop_order = true;  // the loop visits terms in the order of the scan
};

// Returns how many terms come before the one that the iteration with the fewest adds: nothing if
// that is not known, or if these terms are another scan, whose accumulators the loop would reset.
std::optional<std::int64_t> count_before(const Carried& carried) {
  const Scan& scan = carried.scan;
  Substitution first;
  for (const Scan::Step& step : scan.steps)
    first.emplace(step.range,
                  carried.follows_loop_order ? const_int(0) : UOp(step.range->src(0)) - 1);
  const UOp size(scan.range->src(0)), last = substitute(scan.last, first);
  const UOp before = rewrite(scan.rises ? last : size - 1 - last, symbolic());
  if (before->bounds().hi <= 0) return 0;
  const UOp terms =
      make(Op::Reduce, {scan.value, UOp(scan.range)}, {}, carried.reduce->arg<ReduceArg>());
  if (!before->is_const() || scan_of(terms.node())) return std::nullopt;
  return static_cast<std::int64_t>(std::min<Wide>(before->lo(), size->bounds().hi));
}

// Returns whether the node is inside the loop of another reduction. It would need an accumulator
// for each iteration of that loop.
bool is_in_a_reduction(const Node* end, const Node* node) {
  const auto own = end->src().subspan(1);
  return std::ranges::any_of(node->ranges(), [&](const Node* range) {
    return std::ranges::find(own, range) == own.end() && !changes_with(end, range);
  });
}

std::optional<Carried> carried_by(const Node* end, const Node* reduce, Scan scan) {
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
  result.follows_loop_order = result.scan.rises == (unit > 0);
  const auto before = count_before(result);
  if (!before) return std::nullopt;
  result.before = *before;
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

// Reverses a loop of the END.
UOp turned(const UOp& end, const Node* loop) {
  const UOp iteration = range_like(loop);
  std::vector<UOp> src{
      with_range_replaced(UOp(end->src(0)), loop, (UOp(loop->src(0)) - 1) - iteration)};
  for (const Node* other : end->src().subspan(1))
    src.push_back(other == loop ? iteration : UOp(other));
  return make(Op::End, src);
}

// Moves the loop inside all others except VECTOR ranges.
UOp innermost(const UOp& end, const Node* loop) {
  std::vector<UOp> src;
  for (const Node* source : end->src())
    if (source != loop) src.emplace_back(source);
  const auto lanes = std::find_if(src.begin() + 1, src.end(), [](const UOp& range) {
    return kind_of(range.node()) == LoopKind::Vector;
  });
  src.insert(lanes, UOp(loop));
  return make(Op::End, src);
}

// Rewrites an END so that one of its loops carries a scan.
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

  // Returns whether the accumulators for all nested iterations are small enough.
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
    std::vector<UOp> effects = list_members(
        substitute(end_.src(0), {{carried_.reduce, cast(total, carried_.reduce->dtype())}}));
    effects.push_back(store_at(now, total));
    return closed_over(end_, tuple(effects), list_of(end_->src().subspan(1)));
  }

 private:
  // Returns the accumulators with the terms before those of the loop.
  UOp begun() const {
    std::vector<UOp> first, around;
    for (const Node* range : inside_) first.push_back(range_like(range));
    const Space space = inside_.empty() ? Space::Register : Space::Scratch;
    const UOp buffer = memory_for(first, dtype_, space);
    std::vector<const Node*> all(end_->src(0)->ranges().begin(), end_->src(0)->ranges().end());
    for (const Node* range : end_->src().subspan(1))
      if (!changes_with(end_->src(0), range)) all.push_back(range);
    for (const Node* range : all)
      if (range != carried_.loop && range != carried_.lane &&
          std::ranges::find(inside_, range) == inside_.end())
        around.emplace_back(range);
    const UOp place = place_in(with_list(Op::After, buffer, around), first);
    UOp value = sum_before();
    for (std::size_t i = 0; i < first.size(); ++i)
      value = with_range_replaced(with_fresh_loops(value, inside_[i]), inside_[i], first[i]);
    const UOp begun = store_at(place, value);
    return make(Op::After, {buffer, with_list(Op::End, begun, first)});
  }

  // Returns what the terms before those of the loop combine to.
  UOp sum_before() const {
    if (carried_.before == 0) return identity();
    const Scan& scan = carried_.scan;
    const UOp number =
        weft::range(UOp(const_int(carried_.before)), fresh_id().value, LoopKind::Reduce);
    const UOp size(scan.range->src(0));
    const UOp term =
        value_at(scan.rises ? number : size - 1 - number, with_fresh_loops(scan.value, scan.range));
    return make(Op::Reduce, {term, number}, {}, carried_.reduce->arg<ReduceArg>());
  }

  UOp identity() const { return identity_of(op_, dtype_); }

  // Returns the terms that an iteration adds. Those of a vector lane include the terms of the lanes
  // before it.
  UOp added() const {
    const Scan& scan = carried_.scan;
    if (carried_.lane == nullptr) return value_at(scan.last, scan.value);
    const UOp lane(carried_.lane), other = range_like(carried_.lane);
    const UOp value = value_at(substitute(scan.last, {{carried_.lane, other}}), scan.value);
    return make(Op::Reduce, {where(other < lane + 1, value, identity()), other}, {},
                carried_.reduce->arg<ReduceArg>());
  }

  // Returns the term that the body makes in iteration `last` of the reduction, or the identity if
  // there is none.
  UOp value_at(const UOp& last, const UOp& body) const {
    const UOp size(carried_.scan.range->src(0));
    UOp is_there = const_bool(true);
    if (last->bounds().lo < 0) is_there = is_there & (last >= 0);
    if (last->bounds().hi >= size->bounds().lo) is_there = is_there & (last < size);
    const UOp value = cast(with_range_replaced(body, carried_.scan.range, last, is_there), dtype_);
    return is_there->is_const_int(1) ? value : where(is_there, value, identity());
  }

  UOp end_;
  const Carried& carried_;
  Op op_;
  DType dtype_;
  std::vector<const Node*> inside_;  // loops nested in the carrying loop, without `lane`
};

// Splits an END into nested ones, so that each carrying loop is the outermost of an END. Its
// accumulators are initialised before that END.
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

// Rewrites the scans of an END one by one, since one may be part of another. If none follows the
// loop order, the loops of the first scan are reversed.
UOp carried(const Match& m) {
  UOp end(m.root());
  std::vector<Carried> all = all_carried(end.node());
  if (all.empty()) return {};
  if (std::ranges::none_of(all, &Carried::follows_loop_order)) {
    for (const Scan::Step& step : std::vector(all[0].scan.steps)) end = turned(end, step.range);
    all = all_carried(end.node());
  }
  std::vector<const Node*> carrying;
  for (; !all.empty(); all = all_carried(end.node())) {
    const auto next = std::ranges::find_if(all, &Carried::follows_loop_order);
    if (next == all.end()) break;
    if (!Carrier(end, *next).fits()) {
      if (!carrying.empty()) break;  // earlier accumulators rely on the loops nested in theirs
      end = innermost(end, next->loop);
    }
    end = Carrier(end, *next).result();
    carrying.push_back(next->loop);
  }
  return nested(end, carrying);
}

}  // namespace

std::vector<UOp> scans(const std::vector<UOp>& roots, const RewriteOptions& options) {
  const auto is_scan = [](const Node* node) { return scan_of(node).has_value(); };
  if (std::ranges::none_of(toposort(nodes_of(roots)), is_scan)) return roots;
  static const RuleSet rules{"scans", {rule(node(Op::End), carried)}};
  return simplify(rewrite_once(roots, rules, options),
                  {.pass = options.pass, .trace = options.trace});
}

}  // namespace weft
