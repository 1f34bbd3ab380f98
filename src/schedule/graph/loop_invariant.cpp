#include "loop_invariant.h"

#include <algorithm>
#include <optional>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>
#include <weft/dev/ir/value.h>
#include <weft/settings.h>

#include "factor_values.h"
#include "rebuild.h"
#include "reshape.h"

namespace weft {
namespace {

// Returns whether a view repeats the same elements along an axis.
bool is_invariant_along(const Node* view, std::size_t axis) {
  for (; whole_views.contains(view->op()); view = view->src(0)) {
    if (view->dims()[axis]->is_const_int(1) || repeats(view, axis)) return true;
    const auto before = source_axis(view, axis);
    if (!before) return false;
    axis = *before;
  }
  return view->dims().size() > axis && view->dims()[axis]->is_const_int(1);
}

// A product or quotient with one user, read through views with one user each, and the index of its
// source (a factor or the divisor) that can be hoisted.
struct Product {
  const Node* node;
  std::size_t factor;
};

class FactorHoister {
 public:
  explicit FactorHoister(const std::vector<UOp>& tensors) {
    for (const Node* node : toposort(nodes_of(tensors))) {
      users_.set(node, 0);
      for (const Node* source : node->src()) users_.set(source, *users_.find(source) + 1);
    }
    for (const UOp& tensor : tensors) users_.set(tensor.node(), *users_.find(tensor.node()) + 1);
  }

  // Adds the users of `of` to those of `node`, which replaces it.
  void inherit_users(const Node* node, const Node* of) {
    if (node == of) return;
    const int* users = users_.find(node);
    users_.set(node, (users != nullptr ? *users : 0) + *users_.find(of));
  }

  // Returns the value with all invariant factors and divisors hoisted.
  UOp with_all_hoisted(const UOp& value) const {
    const UOp found = with_one_hoisted(value.node());
    return found.is_null() ? value
                           : make(found->op(), {with_all_hoisted(found.src(0)), found.src(1)});
  }

 private:
  // Returns the sum with one factor or divisor hoisted; null if there is none.
  UOp with_one_hoisted(const Node* sum) const {
    if (sum->op() != Op::Reduce || sum->arg<ReduceArg>().op != Op::Add) return {};
    const Node* value = sum->src(0);
    // In a 16-bit type, the factor may be what keeps the products finite.
    const bool is_wide = value->dtype().is_float() && value->dtype().bytes() >= 4;
    if (value->op() != Op::Mul || !is_wide || !has_one_user(value)) return {};
    const Axes axes = sum->arg<ReduceArg>().axes.get();
    const auto may_be_empty = [&](std::int64_t axis) {
      return value->dims()[static_cast<std::size_t>(axis)]->bounds().lo < 1;
    };
    if (std::ranges::any_of(axes, may_be_empty)) return {};  // first_along needs an element
    for (const std::size_t side : {0, 1}) {
      const auto product = product_in(value->src(side), axes);
      if (!product) continue;
      const UOp view(value->src(side)), from(product->node);
      const UOp source = from.src(product->factor);
      const UOp factor =
          source->is_const() ? source : first_along(rebased(view, from, source), axes);
      const UOp others =
          rebased(view, from, from.src(1 - product->factor)) * UOp(value->src(1 - side));
      return make(from->op(), {reduce(Op::Add, others, axes), factor});
    }
    return {};
  }

  // A node that this pass has just built is not counted yet and has one user.
  bool has_one_user(const Node* node) const {
    const int* users = users_.find(node);
    return users == nullptr || *users == 1;
  }

  std::optional<Product> product_in(const Node* view, const Axes& axes) const {
    const Node* node = view;
    while (whole_views.contains(node->op()) && has_one_user(node)) node = node->src(0);
    if (!OpSet{Op::Mul, Op::Div}.contains(node->op()) || !has_one_user(node)) return std::nullopt;
    for (const std::size_t factor : {1, 0}) {
      if (factor == 0 && node->op() == Op::Div) break;  // the dividend
      if (!may_stand_outside(node, factor)) continue;
      if (node->src(factor)->is_const()) return Product{node, factor};
      if (!std::ranges::equal(node->src(0)->dims(), node->src(1)->dims())) continue;
      const UOp seen = rebased(UOp(view), UOp(node), UOp(node->src(factor)));
      const auto is_same = [&](std::int64_t axis) {
        return is_invariant_along(seen.node(), static_cast<std::size_t>(axis));
      };
      if (std::ranges::all_of(axes, is_same)) return Product{node, factor};
    }
    return std::nullopt;
  }

  // Returns whether the sum without it overflows, or is NaN, only for extreme values.
  static bool may_stand_outside(const Node* product, std::size_t factor) {
    if (setting_int("FASTMATH") != 0) return true;
    const Node* value = product->src(factor);
    if (product->op() == Op::Mul)
      return is_plain_factor(value, are_codes(product->src(1 - factor)));
    return value->is_const() ? is_plain_factor(value, false) && !is_zero(value)
                             : is_never_negative(value);
  }

  static bool is_zero(const Node* number) {
    return double_from_bits(number->arg<ConstArg>().bits, number->dtype()) == 0;
  }

  static UOp first_along(const UOp& factor, const Axes& axes) {
    Sizes sizes = sizes_of(factor);
    const Sizes start(sizes.size(), const_int(0));
    for (const std::int64_t axis : axes) sizes[static_cast<std::size_t>(axis)] = const_int(1);
    return shrink(factor, start, sizes);
  }

  NodeMap<int> users_;
};

}  // namespace

// Sources come before users, so that a factor hoisted out of an inner sum can leave the enclosing
// sum as well.
std::vector<UOp> with_invariants_hoisted(const std::vector<UOp>& tensors) {
  FactorHoister factors(tensors);
  return rebuilt(tensors, [&](const Node* node, const std::vector<UOp>& sources) {
    const UOp made = factors.with_all_hoisted(with_sources(UOp(node), sources));
    factors.inherit_users(made.node(), node);
    return made;
  });
}

}  // namespace weft
