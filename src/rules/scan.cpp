// A scan is a REDUCE whose value is the identity unless its range is below, or above, a sum of other
// ranges, with which nothing else in the value changes.

#include <weft/dev/rules/scan.h>

#include <algorithm>
#include <limits>

#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/symbolic.h>

namespace weft {
namespace {

// Without it the reduced value is the identity.
struct Clause {
  const Node* condition;
  bool holds;  // whether it, or its opposite, is what is asked for
};

class Clauses {
 public:
  Clauses(Op op, const Node* value) : op_(op) { collect(value); }
  const std::vector<Clause>& all() const { return all_; }

 private:
  Bits identity(DType dtype) const { return identity_bits(info(op_).identity, dtype.scalar()); }
  bool is_identity(const Node* node) const {
    return node->is_const() && node->arg<ConstArg>().bits == identity(node->dtype());
  }

  // The least value of an integer is not that of a wider one.
  bool keeps_identity(const Node* cast) const {
    return op_ != Op::Max || (cast->dtype().is_float() && cast->src(0)->dtype().is_float());
  }

  void collect(const Node* value) {
    while (value->op() == Op::Cast && keeps_identity(value)) value = value->src(0);
    if (value->op() == Op::Load) {
      const bool is_gated =
          value->size() > 1 ? is_identity(value->src(1)) : identity(value->dtype()) == Bits{0};
      if (is_gated) add(value->src(0)->src(1), true);
    } else if (value->dtype().is_bool() && identity(value->dtype()) == Bits{0}) {
      add(value, true);
    } else if (value->op() == Op::Where && is_identity(value->src(2))) {
      add(value->src(0), true);
      collect(value->src(1));
    } else if (value->op() == Op::Where && is_identity(value->src(1))) {
      add(value->src(0), false);
      collect(value->src(2));
    }
  }

  void add(const Node* condition, bool holds) {
    if (!holds) return all_.push_back({condition, false});
    for (const Node* clause : clauses_of(condition)) all_.push_back({clause, true});
  }

  Op op_;
  std::vector<Clause> all_;
};

// The range that a value is; null where it is none, or counts anew in fewer bits.
const Node* range_of(const Node* value) {
  const Node* inner = value->op() == Op::Cast ? value->src(0) : value;
  return inner->op() == Op::Range && inner->bounds() == value->bounds() ? inner : nullptr;
}

// A sum of multiples of ranges, in whichever form rules have left it.
struct Multiples {
  std::vector<Scan::Step> steps;
  std::int64_t constant = 0;

  // Whether the value is such a sum, which cannot wrap.
  bool add(const Node* value, std::int64_t factor) {
    if (const Node* range = range_of(value)) return add_range(range, factor);
    if (!value->dtype().is_int() || !value->is_exact()) return false;
    std::int64_t scaled = 0;
    switch (value->op()) {
      case Op::Const:
        return !__builtin_mul_overflow(value->lo(), factor, &scaled) &&
               !__builtin_add_overflow(constant, scaled, &constant);
      case Op::Add: return add(value->src(0), factor) && add(value->src(1), factor);
      case Op::Sub: return add(value->src(0), factor) && add(value->src(1), -factor);
      case Op::Mul:
        return value->src(1)->is_const() &&
               !__builtin_mul_overflow(value->src(1)->lo(), factor, &scaled) &&
               scaled != std::numeric_limits<std::int64_t>::min() && add(value->src(0), scaled);
      default: return false;
    }
  }

 private:
  bool add_range(const Node* range, std::int64_t factor) {
    const auto known = std::ranges::find(steps, range, &Scan::Step::range);
    if (known != steps.end()) return !__builtin_add_overflow(known->factor, factor, &known->factor);
    steps.push_back({range, factor});
    return true;
  }
};

// What the clause says of the reduction's range, where it is an order; the value is left open.
std::optional<Scan> limit_of(Clause clause, const Node* range) {
  const Node* condition = clause.condition;
  if (condition->op() == Op::CmpNe && condition->src(1)->is_const_int(1)) {
    condition = condition->src(0);
    clause.holds = !clause.holds;
  }
  Multiples difference;
  if (condition->op() != Op::CmpLt || !difference.add(condition->src(0), 1) ||
      !difference.add(condition->src(1), -1))
    return std::nullopt;
  Scan scan{range, {}, false, {}, {}};
  std::int64_t own = 0;
  for (const Scan::Step& step : difference.steps) {
    if (step.range == range)
      own = step.factor;
    else if (step.factor != 0)
      scan.steps.push_back(step);
  }
  if ((own != 1 && own != -1) || scan.steps.empty()) return std::nullopt;
  scan.rises = clause.holds == (own > 0);
  scan.last = const_int(difference.constant) * -own - (clause.holds ? own : 0);
  for (Scan::Step& step : scan.steps) {
    step.factor *= -own;
    scan.last = scan.last + UOp(step.range) * step.factor;
  }
  scan.last = rewrite(scan.last, symbolic());
  return scan;
}

bool changes_with_steps(const Node* value, const Scan& scan) {
  return std::ranges::any_of(scan.steps, [&](const Scan::Step& step) {
    return std::ranges::find(value->ranges(), step.range) != value->ranges().end();
  });
}

}  // namespace

std::vector<Scan> scans_of(const Node* reduce) {
  std::vector<Scan> found;
  if (reduce->op() != Op::Reduce || reduce->size() != 2) return found;
  const Node *value = reduce->src(0), *range = reduce->src(1);
  if (range->op() != Op::Range || value->op() == Op::Tuple || value->dtype().lanes() > 1)
    return found;
  const Clauses clauses(reduce->arg<ReduceArg>().op, value);
  for (const Clause& clause : clauses.all()) {
    if (!clause.condition->dtype().is_bool() || clause.condition->dtype().lanes() > 1) continue;
    auto scan = limit_of(clause, range);
    if (!scan) continue;
    scan->value = substitute(UOp(value), {{clause.condition, const_bool(clause.holds)}});
    if (!changes_with_steps(scan->value.node(), *scan)) found.push_back(std::move(*scan));
  }
  return found;
}

std::optional<Scan> scan_of(const Node* reduce) {
  std::vector<Scan> all = scans_of(reduce);
  return all.empty() ? std::nullopt : std::optional(std::move(all[0]));
}

double terms_before(const Scan& scan) {
  const Wide size = scan.range->src(0)->bounds().hi;
  const Interval last = scan.last->bounds();
  return static_cast<double>(std::clamp<Wide>(scan.rises ? last.lo : size - 1 - last.hi, 0, size));
}

UOp new_in_iteration(const Node* reduce, const Scan& scan) {
  const UOp added = substitute(scan.value, {{scan.range, scan.last}});
  return make(reduce->arg<ReduceArg>().op, {added, added});
}

UOp with_scans_carried(UOp root) {
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (const Node* node : toposort(root.node())) {
      const auto scan = scan_of(node);
      if (!scan || scan->steps.size() != 1) continue;
      root = substitute(root, {{node, new_in_iteration(node, *scan)}});
      is_done = false;
      break;
    }
  }
  return root;
}

}  // namespace weft
