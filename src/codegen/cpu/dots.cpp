// Replaces sums of byte products over a DOT range by a dot-product instruction, which adds up a
// group of products in each lane. A factor is rebuilt down to its loads.

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/codegen/lower.h>
#include <weft/dev/codegen/strides.h>
#include <weft/dev/device/target.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/error.h>

#include "common/loops.h"
#include "lanes.h"

namespace weft {
namespace {

constexpr auto is_dot = is_range<LoopKind::Dot>;

[[noreturn]] void refuse(std::string_view why) {
  user_error(fmt::format("schedule: a loop of kind dot: {}", why));
}

// Appends the products that a tree of additions adds up.
void add_products(const Node* sum, std::vector<const Node*>& products) {
  if (sum->op() == Op::Mul) return products.push_back(sum);
  if (sum->op() != Op::Add) refuse("it is not a sum of products");
  for (const Node* part : sum->src()) add_products(part, products);
}

const Node* without_splats(const Node* value) {
  while (value->op() == Op::Splat) value = value->src(0);
  return value;
}

// Returns the value before it is converted to the type of the sum.
const Node* converted(const Node* value) {
  value = without_splats(value);
  return value->op() == Op::Cast ? without_splats(value->src(0)) : value;
}

// Rebuilds a value as the vector of its values in all iterations of the range. The values of one
// lane are adjacent.
class Grouped {
 public:
  explicit Grouped(const Node* range)
      : range_(range), iterations_(static_cast<std::uint32_t>(range->src(0)->lo())) {}

  UOp operator()(const Node* value) const {
    const std::uint32_t lanes = value->dtype().lanes() * iterations_;
    if (!changes_with(value, range_)) {
      const UOp same(value);
      return value->dtype().lanes() == 1
                 ? splat(same, lanes)
                 : shuffled(same, lanes, [this](std::uint32_t i) { return i / iterations_; });
    }
    if (value->op() == Op::Load && value->size() == 1) return load(value);
    if (!is_elementwise(value->op())) refuse("its factors are not elementwise functions of reads");
    std::vector<UOp> src;
    for (const Node* source : value->src()) src.push_back((*this)(source));
    return on_lanes(value, src, lanes);
  }

 private:
  UOp load(const Node* value) const {
    const Node* place = value->src(0);
    if (place->size() != 3 || !place->src(1)->is_const_int(1))
      refuse("conditional reads have to be staged");
    const Node* at = place->src(2);
    const auto [base, first] = base_and_lanes(at);
    const auto step = Strides(slice_of(base, range_), range_).of(base);
    if (!step) refuse("its reads do not have a constant stride");
    std::vector<UOp> numbers;
    for (const std::int64_t number : first)
      for (std::int64_t iteration = 0; iteration < iterations_; ++iteration)
        numbers.push_back(const_int(number + iteration * *step, at->dtype().scalar()));
    const auto lanes = static_cast<std::uint32_t>(numbers.size());
    const UOp start = simplify(substitute(UOp(base), {{range_, const_int(0, range_->dtype())}}));
    const UOp places = splat(start, lanes) + make(Op::Stack, numbers);
    return make(Op::Load, {place_in(UOp(place->src(0)), {places})});
  }

  // Splits an index into its scalar base and the constant offsets of its lanes. `expand` writes
  // either a scalar, or the sum of a SPLAT and a STACK of offsets.
  std::pair<const Node*, std::vector<std::int64_t>> base_and_lanes(const Node* at) const {
    if (at->dtype().lanes() == 1) return {at, {0}};
    if (at->op() != Op::Add) refuse("its lanes are not at constant offsets");
    const std::size_t side = at->src(0)->op() == Op::Splat ? 0 : 1;
    const Node *base = at->src(side), *numbers = at->src(1 - side);
    if (base->op() != Op::Splat || numbers->op() != Op::Stack)
      refuse("its lanes are not at constant offsets");
    std::vector<std::int64_t> lanes;
    for (const Node* number : numbers->src()) {
      if (!number->is_const()) refuse("its lanes are not at constant offsets");
      lanes.push_back(number->lo());
    }
    return {base->src(0), lanes};
  }

  const Node* range_;
  std::uint32_t iterations_;
};

// Adds a product to the sum by one of the instructions.
UOp added_product(const std::vector<MmaShape>& known, const Node* product, const Node* group,
                  const UOp& sum) {
  const Node *a = converted(product->src(0)), *b = converted(product->src(1));
  if (a->dtype().lanes() > 1) std::swap(a, b);
  const auto is_of_these_types = [&](const MmaShape& each) {
    return each.rows == 1 && each.group == each.depth && each.a == a->dtype() &&
           each.b == b->dtype().scalar() && each.c == sum->dtype().scalar() &&
           each.columns == b->dtype().lanes() && each.group == group->src(0)->lo();
  };
  const auto shape = std::ranges::find_if(known, [&](const MmaShape& each) {
    return is_of_these_types(each) && each.may_hold(b->hi());
  });
  if (shape == known.end())
    refuse(std::ranges::any_of(known, is_of_these_types)
               ? "sums of two of its products may saturate"
               : "the device has no such instruction");
  const Grouped grouped(group);
  return make(Op::Mma, {grouped(a), grouped(b), sum}, sum->dtype(),
              NameArg{Symbol(std::string(shape->name))});
}

UOp sum_of_groups(const Match& m) {
  const UOp reduce(m.root());
  const auto* target = m.context<Target>();
  if (target == nullptr) return {};
  std::vector<UOp> loops;
  const Node* group = nullptr;
  for (const Node* range : reduce->src().subspan(1)) {
    if (!is_dot(range))
      loops.emplace_back(range);
    else if (group != nullptr || !range->src(0)->is_const())
      refuse("there are two such loops, or its size is not a constant");
    else
      group = range;
  }
  if (group == nullptr) return {};
  if (reduce->arg<ReduceArg>().op != Op::Add) refuse("it is not a sum of products");
  std::vector<const Node*> products;
  add_products(reduce->src(0), products);
  UOp sum = const_int(0, reduce->dtype());
  for (const Node* product : products) sum = added_product(target->mma, product, group, sum);
  return closed_over(reduce, sum, loops);
}

}  // namespace

std::vector<UOp> dots(const std::vector<UOp>& roots, const RewriteOptions& options) {
  static const RuleSet rules{"dots", {rule(node(Op::Reduce), sum_of_groups)}};
  return rewrite_once(roots, rules, options);
}

}  // namespace weft
