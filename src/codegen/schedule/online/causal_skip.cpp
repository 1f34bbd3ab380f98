#include "causal_skip.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include <weft/dev/codegen/strides.h>
#include <weft/dev/rules/symbolic.h>

#include "rescale_rate.h"
#include "schedule/actions/fills.h"

namespace weft {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

// Returns the value that was stored where the load reads, in terms of the indices of the load.
// Returns null if there is no single STORE, or if the store or the load is conditional.
UOp stored(const Node* load) {
  const Node *place = load->src(0), *store = only_store_into(place->src(0));
  const auto is_always_valid = [](const Node* at) { return at->src(1)->is_const_int(1); };
  if (load->size() != 1 || !is_always_valid(place)) return {};
  if (store == nullptr || !is_always_valid(store->src(0))) return {};
  return substitute(UOp(store->src(1)), loops_at(store->src(0), place));
}

// Returns a bound of the place over all loops that are not around: an upper one if `is_high`,
// otherwise a lower one.
UOp bound_over_inner(const Node* place, bool is_high,
                     const std::function<bool(const Node*)>& is_outer) {
  if (std::ranges::all_of(place->ranges(), is_outer)) return UOp(place);
  if (place->op() == Op::Add)
    return bound_over_inner(place->src(0), is_high, is_outer) +
           bound_over_inner(place->src(1), is_high, is_outer);
  if (place->op() == Op::Mul && place->src(1)->is_const() && place->src(1)->lo() > 0)
    return bound_over_inner(place->src(0), is_high, is_outer) * place->src(1)->lo();
  const auto bounds = place->bounds();
  return const_int(static_cast<std::int64_t>(is_high ? bounds.hi : bounds.lo));
}

// Skips CASTs of an index that keep its value.
const Node* strip_casts(const Node* node) {
  while (node->op() == Op::Cast && node->src(0)->dtype().is_index() &&
         node->bounds() == node->src(0)->bounds())
    node = node->src(0);
  return node;
}

class VisibleIterations {
 public:
  VisibleIterations(const Node* blocks, std::function<bool(const Node*)> is_outer)
      : blocks_(blocks), is_outer_(std::move(is_outer)) {}

  // Returns a bound of the iterations in which the value may differ from `hidden`, which is 0 or
  // minus infinity.
  UOp iterations(const Node* value, double hidden) const {
    switch (value->op()) {
      case Op::Load: {
        const UOp what = stored(value);
        return what.is_null() ? UOp() : iterations(what.node(), hidden);
      }
      case Op::Where: return iterations_unless(value, hidden);
      case Op::Mul: return hidden == 0 ? iterations_of_both(value, 0) : iterations_of_scaled(value);
      case Op::Exp2: return hidden == 0 ? iterations(value->src(0), -endless) : UOp();
      case Op::Add: return hidden == 0 ? UOp() : iterations_of_both(value, hidden);
      case Op::Sub: return hidden == 0 ? UOp() : iterations(value->src(0), hidden);
      default: return {};
    }
  }

 private:
  UOp iterations_of_both(const Node* value, double hidden) const {
    return fewer(iterations(value->src(0), hidden), iterations(value->src(1), hidden));
  }

  // Handles the product of a positive constant and a value that may be minus infinity.
  UOp iterations_of_scaled(const Node* product) const {
    for (const std::size_t side : {0, 1})
      if (float_constant(product->src(side)) > 0)
        return iterations(product->src(1 - side), -endless);
    return {};
  }

  // Handles a WHERE of a constant and another branch: the iterations in which that branch may be
  // taken and matters.
  UOp iterations_unless(const Node* choice, double hidden) const {
    for (const bool side : {true, false})
      if (float_constant(choice->src(side ? 2 : 1)) == hidden)
        return fewer(iterations_where(choice->src(0), side),
                     iterations(choice->src(side ? 1 : 2), hidden));
    return {};
  }

  // The iterations in which both bounds hold, and in which at least one holds. Null stands for all
  // iterations.
  static UOp fewer(const UOp& a, const UOp& b) {
    if (a.is_null() || b.is_null()) return a.is_null() ? b : a;
    return min(a, b);
  }
  static UOp more(const UOp& a, const UOp& b) {
    return a.is_null() || b.is_null() ? UOp() : max(a, b);
  }

  // Returns a bound of the iterations in which the condition may be `wanted`.
  UOp iterations_where(const Node* condition, bool wanted) const {
    if (OpSet{Op::And, Op::Or}.contains(condition->op())) {
      const UOp a = iterations_where(condition->src(0), wanted),
                b = iterations_where(condition->src(1), wanted);
      return (condition->op() == Op::And) == wanted ? fewer(a, b) : more(a, b);
    }
    if (condition->op() != Op::CmpLt) return {};
    const Node *less = strip_casts(condition->src(0)), *more = strip_casts(condition->src(1));
    return wanted ? iterations_up_to(less, more, 1) : iterations_up_to(more, less, 0);
  }

  // Returns a bound of the iterations in which a place, which grows with them, may be at most
  // `limit` - `less`.
  UOp iterations_up_to(const Node* place, const Node* limit, std::int64_t less) const {
    if (!place->dtype().is_index() || !limit->dtype().is_index()) return {};
    const auto step = Strides(slice_of(place, blocks_), blocks_).of(place);
    if (!step || *step <= 0 || changes_with(limit, blocks_)) return {};
    const UOp first = bound_over_inner(substitute(UOp(place), {{blocks_, const_int(0)}}).node(),
                                       false, is_outer_);
    const UOp last = bound_over_inner(limit, true, is_outer_);
    return make(Op::FloorDiv, {last - first - less, const_int(*step)}) + 1;
  }

  const Node* blocks_;
  std::function<bool(const Node*)> is_outer_;
};

}  // namespace

UOp visible_iterations(const Node* maximum, const Node* blocks,
                       const std::function<bool(const Node*)>& is_outer) {
  const UOp iterations = VisibleIterations(blocks, is_outer).iterations(maximum->src(0), -endless);
  const UOp all(blocks->src(0));
  return iterations.is_null() ? iterations : max(min(iterations, all), const_int(1));
}

UOp iterations_before_zero(const Node* sum, const Node* range) {
  const VisibleIterations hidden(range, [&](const Node* other) { return other != range; });
  const UOp iterations = hidden.iterations(sum->src(0), 0);
  return iterations.is_null() ? iterations : simplify(iterations);
}

UOp max_iterations(const UOp& iterations, const std::function<bool(const Node*)>& is_outer) {
  return simplify(bound_over_inner(iterations.node(), true, is_outer));
}

}  // namespace weft
