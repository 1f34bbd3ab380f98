#include "hidden.h"

#include <algorithm>
#include <limits>
#include <optional>

#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/value.h>

namespace weft {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

std::optional<double> constant_float(const Node* node) {
  if (!node->is_const() || !node->dtype().is_float()) return std::nullopt;
  return double_from_bits(node->arg<ConstArg>().bits, node->dtype().scalar());
}

bool is_always_valid(const Node* place) { return place->src(1)->is_const_int(1); }

// What has been stored where the value is read; null where that is no single store, or something else in some trips.
const Node* stored(const Node* load) {
  const Node* ready = load->src(0)->src(0);
  if (load->size() != 1 || !is_always_valid(load->src(0))) return nullptr;
  if (ready->op() != Op::After || ready->size() != 2) return nullptr;
  const Node* effect = ready->src(1);
  const Node* store = effect->op() == Op::End ? effect->src(0) : effect;
  return store->op() == Op::Store && is_always_valid(store->src(0)) ? store->src(1) : nullptr;
}

// A place as another type holds it.
const Node* place_behind(const Node* node) {
  while (node->op() == Op::Cast && node->src(0)->dtype().is_index() &&
         node->bounds() == node->src(0)->bounds())
    node = node->src(0);
  return node;
}

class Hidden {
 public:
  Hidden(const Node* blocks, NodeList around) : blocks_(blocks), around_(around) {}

  // The trips in which the value may be more than minus infinity.
  UOp trips(const Node* value) const {
    switch (value->op()) {
      case Op::Load: {
        const Node* what = stored(value);
        return what == nullptr ? UOp() : trips(what);
      }
      case Op::Mul:
        for (const std::size_t side : {0, 1})
          if (constant_float(value->src(side)) > 0) return trips(value->src(1 - side));
        return {};
      case Op::Add: return fewer(trips(value->src(0)), trips(value->src(1)));
      case Op::Where:
        for (const bool side : {true, false})
          if (constant_float(value->src(side ? 2 : 1)) == -endless)
            return fewer(trips_where(value->src(0), side), trips(value->src(side ? 1 : 2)));
        return {};
      default: return {};
    }
  }

 private:
  // Where both bounds hold, and where one of them does. Null is all trips.
  static UOp fewer(const UOp& a, const UOp& b) {
    if (a.is_null() || b.is_null()) return a.is_null() ? b : a;
    return min(a, b);
  }
  static UOp more(const UOp& a, const UOp& b) {
    return a.is_null() || b.is_null() ? UOp() : max(a, b);
  }

  // Those in which the condition may be so.
  UOp trips_where(const Node* condition, bool wanted) const {
    if (OpSet{Op::And, Op::Or}.contains(condition->op())) {
      const UOp a = trips_where(condition->src(0), wanted),
                b = trips_where(condition->src(1), wanted);
      return (condition->op() == Op::And) == wanted ? fewer(a, b) : more(a, b);
    }
    if (condition->op() != Op::CmpLt) return {};
    const Node *less = place_behind(condition->src(0)), *more = place_behind(condition->src(1));
    return wanted ? trips_up_to(less, more, 1) : trips_up_to(more, less, 0);
  }

  // Those in which a place, which grows with them, may be at most `limit` - `less`.
  UOp trips_up_to(const Node* place, const Node* limit, std::int64_t less) const {
    if (!place->dtype().is_index() || !limit->dtype().is_index()) return {};
    const auto step = step_of(place);
    if (!step || *step <= 0 || changes_with(limit, blocks_)) return {};
    const UOp first = furthest(substitute(UOp(place), {{blocks_, const_int(0)}}).node(), false);
    const UOp last = furthest(limit, true);
    return make(Op::FloorDiv, {last - first - less, const_int(*step)}) + 1;
  }

  // How much more the place is in each next block; nothing where it does not grow evenly.
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

  // No place in the loops inside is beyond it: the highest, or the lowest.
  UOp furthest(const Node* place, bool is_high) const {
    const auto stands_around = [&](const Node* range) {
      return std::ranges::find(around_, range) != around_.end();
    };
    if (std::ranges::all_of(place->ranges(), stands_around)) return UOp(place);
    if (place->op() == Op::Add)
      return furthest(place->src(0), is_high) + furthest(place->src(1), is_high);
    if (place->op() == Op::Mul && place->src(1)->is_const() && place->src(1)->lo() > 0)
      return furthest(place->src(0), is_high) * place->src(1)->lo();
    const auto bounds = place->bounds();
    return const_int(static_cast<std::int64_t>(is_high ? bounds.hi : bounds.lo));
  }

  const Node* blocks_;
  NodeList around_;
};

}  // namespace

UOp trips_before_hidden(const Node* maximum, const Node* blocks, NodeList around) {
  const UOp trips = Hidden(blocks, around).trips(maximum->src(0));
  const UOp all(blocks->src(0));
  return trips.is_null() ? trips : max(min(trips, all), const_int(1));
}

}  // namespace weft
