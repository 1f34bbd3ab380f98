#include "causal_skip.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/value.h>
#include <weft/dev/rules/symbolic.h>

namespace weft {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

std::optional<double> constant_float(const Node* node) {
  if (!node->is_const() || !node->dtype().is_float()) return std::nullopt;
  return double_from_bits(node->arg<ConstArg>().bits, node->dtype().scalar());
}

bool is_always_valid(const Node* place) { return place->src(1)->is_const_int(1); }

// Returns the value that was stored where the load reads, in terms of the indices of the load.
// Returns null if there is no single STORE, or if the store or the load is conditional.
UOp stored(const Node* load) {
  const Node *place = load->src(0), *ready = place->src(0);
  if (load->size() != 1 || !is_always_valid(place)) return {};
  if (ready->op() != Op::After || ready->size() != 2) return {};
  const Node* effect = ready->src(1);
  const Node* store = effect->op() == Op::End ? effect->src(0) : effect;
  if (store->op() != Op::Store || !is_always_valid(store->src(0))) return {};
  Substitution there;
  for (std::size_t i = 2; i < place->size(); ++i)
    if (const Node* own = store->src(0)->src(i); own->op() == Op::Range)
      there.emplace(own, UOp(place->src(i)));
  return substitute(UOp(store->src(1)), there);
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

  // Returns a bound of the iterations in which the value may differ from 0.
  UOp iterations_of_factor(const Node* value) const {
    switch (value->op()) {
      case Op::Load: {
        const UOp what = stored(value);
        return what.is_null() ? UOp() : iterations_of_factor(what.node());
      }
      case Op::Mul:
        return fewer(iterations_of_factor(value->src(0)), iterations_of_factor(value->src(1)));
      case Op::Exp2: return iterations(value->src(0));
      case Op::Where: return iterations_unless(value, 0, &VisibleIterations::iterations_of_factor);
      default: return {};
    }
  }

  // Returns a bound of the iterations in which the value may be greater than minus infinity.
  UOp iterations(const Node* value) const {
    switch (value->op()) {
      case Op::Load: {
        const UOp what = stored(value);
        return what.is_null() ? UOp() : iterations(what.node());
      }
      case Op::Mul:
        for (const std::size_t side : {0, 1})
          if (constant_float(value->src(side)) > 0) return iterations(value->src(1 - side));
        return {};
      case Op::Add: return fewer(iterations(value->src(0)), iterations(value->src(1)));
      case Op::Sub: return iterations(value->src(0));
      case Op::Where: return iterations_unless(value, -endless, &VisibleIterations::iterations);
      default: return {};
    }
  }

 private:
  // Handles a WHERE of a constant and another branch: the iterations in which that branch may be
  // taken and matters.
  UOp iterations_unless(const Node* choice, double constant,
                        UOp (VisibleIterations::*iterations_of)(const Node*) const) const {
    for (const bool side : {true, false})
      if (constant_float(choice->src(side ? 2 : 1)) == constant)
        return fewer(iterations_where(choice->src(0), side),
                     (this->*iterations_of)(choice->src(side ? 1 : 2)));
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
    const auto step = step_of(place);
    if (!step || *step <= 0 || changes_with(limit, blocks_)) return {};
    const UOp first = bound_over_inner(substitute(UOp(place), {{blocks_, const_int(0)}}).node(),
                                       false, is_outer_);
    const UOp last = bound_over_inner(limit, true, is_outer_);
    return make(Op::FloorDiv, {last - first - less, const_int(*step)}) + 1;
  }

  // Returns by how much the place grows from one block to the next; nothing if it is not linear.
  std::optional<std::int64_t> step_of(const Node* place) const {
    if (place == blocks_) return 1;
    if (!changes_with(place, blocks_)) return 0;
    if (place->op() == Op::Mul && place->src(1)->is_const()) {
      const auto step = step_of(place->src(0));
      return step ? std::optional(*step * place->src(1)->lo()) : std::nullopt;
    }
    if (place->op() != Op::Add) return std::nullopt;
    const auto a = step_of(place->src(0)), b = step_of(place->src(1));
    return a && b ? std::optional(*a + *b) : std::nullopt;
  }

  const Node* blocks_;
  std::function<bool(const Node*)> is_outer_;
};

}  // namespace

UOp visible_iterations(const Node* maximum, const Node* blocks, NodeList around) {
  const auto is_outer = [&](const Node* range) {
    return std::ranges::find(around, range) != around.end();
  };
  const UOp iterations = VisibleIterations(blocks, is_outer).iterations(maximum->src(0));
  const UOp all(blocks->src(0));
  return iterations.is_null() ? iterations : max(min(iterations, all), const_int(1));
}

UOp iterations_before_zero(const Node* sum, const Node* range) {
  const VisibleIterations hidden(range, [&](const Node* other) { return other != range; });
  const UOp iterations = hidden.iterations_of_factor(sum->src(0));
  return iterations.is_null() ? iterations : simplify(iterations);
}

UOp max_iterations(const UOp& iterations, const std::function<bool(const Node*)>& is_outer) {
  return simplify(bound_over_inner(iterations.node(), true, is_outer));
}

}  // namespace weft
