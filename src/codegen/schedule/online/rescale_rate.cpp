#include "rescale_rate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <weft/dev/ir/memory.h>
#include <weft/dev/ir/value.h>

#include "schedule/actions/fills.h"

namespace weft {

std::optional<double> float_constant(const Node* value) {
  if (!value->is_const() || !value->dtype().is_float()) return std::nullopt;
  return double_from_bits(value->arg<ConstArg>().bits, value->dtype().scalar());
}

namespace {

// How a value changes if what the memory holds grows by d.
struct Change {
  enum Form : std::uint8_t {
    None,     // not at all
    Read,     // it is the LOAD itself, possibly with a guard
    Added,    // by rate * d: it is a distance from the LOAD
    Scaled,   // by the factor EXP2(rate * d)
    Unknown,  // in any other way
  };
  Form form = Unknown;
  RescaleRate by = {};
};

// Combines the changes of two operands. If both change, it must be by the same distance.
Change combined(const Change& a, const Change& b, double rate) {
  if (a.form == Change::None || b.form == Change::None) return a.form == Change::None ? b : a;
  const bool is_same =
      a.by.read.is(b.by.read) && a.by.from.is(b.by.from) && a.by.is_guarded == b.by.is_guarded;
  if (!is_same) return {};
  Change change = a;
  change.by.rate = rate;
  return change;
}

class ChangeAnalysis {
 public:
  ChangeAnalysis(const Node* value, const Node* memory) : memory_(memory) {
    for (const Node* node : toposort(value)) {
      place_.set(node, static_cast<std::uint32_t>(changes_.size()));
      changes_.push_back(change_of(node));
    }
  }

  const Change& of(const Node* node) const { return changes_[*place_.find(node)]; }

 private:
  bool stays(const Node* node) const { return of(node).form == Change::None; }

  Change change_of(const Node* node) const {
    switch (node->op()) {
      case Op::Load: return read(node);
      case Op::Sub: return distance(node);
      case Op::Mul: return product(node);
      case Op::Exp2: return power(of(node->src(0)));
      case Op::Where: return choice(node);
      case Op::Cast:
        if (node->dtype().is_float()) return of(node->src(0));
        [[fallthrough]];
      default: break;
    }
    const bool all = std::ranges::all_of(node->src(), [&](auto source) { return stays(source); });
    return all && node != memory_ ? Change{Change::None} : Change{};
  }

  // Traces a LOAD to the value that was stored there. The place must not depend on the memory.
  Change read(const Node* load) const {
    const Node *place = load->src(0), *ready = place->src(0);
    if (!std::ranges::all_of(place->src().subspan(1), [&](auto at) { return stays(at); }))
      return {};
    if (storage_of(ready) == memory_) return {Change::Read, {1, UOp(load), {}, false}};
    if (stays(ready)) return {Change::None};
    const Node* store = only_store_into(ready);
    if (store == nullptr) return {};
    Change change = of(store->src(1));
    for (UOp* part : {&change.by.read, &change.by.from})
      if (!part->is_null()) *part = substitute(*part, loops_at(store->src(0), place));
    return change;
  }

  Change distance(const Node* node) const {
    const Change &a = of(node->src(0)), &b = of(node->src(1));
    if (a.form == Change::None && b.form == Change::None) return a;
    if (a.form != Change::None || b.form != Change::Read) return {};
    return {Change::Added, {-1, b.by.read, UOp(node->src(0)), b.by.is_guarded}};
  }

  Change product(const Node* node) const {
    const Change &a = of(node->src(0)), &b = of(node->src(1));
    for (const std::size_t side : {0, 1}) {
      const auto number = float_constant(node->src(side));
      Change other = of(node->src(1 - side));
      if (!number || other.form != Change::Added) continue;
      other.by.rate *= *number;
      return other;
    }
    const auto is_factor = [](const Change& of) {
      return of.form == Change::None || of.form == Change::Scaled;
    };
    if (!is_factor(a) || !is_factor(b)) return {};
    return combined(a, b, a.by.rate + b.by.rate);
  }

  static Change power(Change exponent) {
    if (exponent.form == Change::Added)
      exponent.form = Change::Scaled;
    else if (exponent.form != Change::None)
      return {};
    return exponent;
  }

  // Whether a branch that is a constant changes as the other branch does: minus infinity stays so
  // whatever is added, and 0 whatever it is multiplied by. That requires a guard. Without one the
  // terms of a fully masked row are NaN, except those that are this constant.
  static bool is_compatible_constant(const Node* node, const Change& other) {
    return other.by.is_guarded &&
           ((other.form == Change::Scaled && float_constant(node) == 0) ||
            (other.form == Change::Added && float_constant(node) == -HUGE_VAL));
  }

  Change choice(const Node* node) const {
    const Node *condition = node->src(0), *yes = node->src(1), *no = node->src(2);
    const Change &a = of(yes), &b = of(no);
    if (!stays(condition))
      return condition->op() == Op::CmpNe ? guarded(condition, a, b) : guarded(condition, b, a);
    if (is_compatible_constant(yes, b)) return b;
    if (is_compatible_constant(no, a)) return a;
    return a.form == b.form && a.form != Change::Unknown && a.by.rate == b.by.rate
               ? combined(a, b, a.by.rate)
               : Change{};
  }

  // Recognises a guard that replaces the read only where it is minus infinity, which growth by d
  // does not change.
  Change guarded(const Node* condition, Change change, const Change& other) const {
    if (!OpSet{Op::CmpEq, Op::CmpNe}.contains(condition->op())) return {};
    if (change.form != Change::Read || other.form != Change::None) return {};
    for (const std::size_t side : {0, 1})
      if (float_constant(condition->src(side)) == -HUGE_VAL &&
          of(condition->src(1 - side)).form == Change::Read) {
        change.by.is_guarded = true;
        return change;
      }
    return {};
  }

  const Node* memory_;
  NodeMap<std::uint32_t> place_;
  std::vector<Change> changes_;
};

}  // namespace

std::optional<RescaleRate> rescale_rate_of(const Node* value, const Node* memory) {
  const Change change = ChangeAnalysis(value, memory).of(value);
  if (change.form != Change::Scaled) return std::nullopt;
  return change.by;
}

}  // namespace weft
