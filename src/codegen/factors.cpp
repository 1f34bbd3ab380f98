// Factors of a sum that its inner loops do not change: they multiply what these add up, once.
//
// After schedules, which take loops one inside of the other as one sum.

#include <algorithm>
#include <vector>

#include <weft/dev/codegen/lower.h>
#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rewrite/rule.h>
#include <weft/settings.h>

namespace weft {
namespace {

using Nodes = std::vector<const Node*>;

void add_factors(const Node* product, Nodes& factors) {
  if (product->op() != Op::Mul) return factors.push_back(product);
  for (const Node* factor : product->src()) add_factors(factor, factors);
}

bool changes_with_any(const Node* value, const Nodes& ranges) {
  return std::ranges::any_of(ranges, [&](const Node* range) { return changes_with(value, range); });
}

UOp product_of(const Nodes& factors) {
  UOp product(factors[0]);
  for (std::size_t i = 1; i < factors.size(); ++i) product = product * UOp(factors[i]);
  return product;
}

UOp sum_over(const Node* sum, const UOp& value, const Nodes& ranges) {
  std::vector<UOp> src{value};
  for (const Node* range : ranges) src.emplace_back(range);
  return make(Op::Reduce, src, {}, sum->arg<ReduceArg>());
}

// The loops inside of all that some factor changes with. Lanes are added once all else is.
struct SumLoops {
  Nodes outer, inner;
};

SumLoops loops_of(const Node* sum, const Nodes& factors) {
  SumLoops loops;
  Nodes& inner = loops.inner;
  const NodeList own = sum->src().subspan(1);
  const auto is_lanes = [](const Node* range) {
    return range->arg<RangeArg>().kind == LoopKind::Vector;
  };
  bool is_outside = false;
  for (std::size_t i = own.size(); i-- > 0;) {
    const auto stays = [&](const Node* factor) {
      return changes_with(factor, own[i]) && !changes_with_any(factor, inner);
    };
    const bool is_lane = is_lanes(own[i]);
    is_outside |= !is_lane && !inner.empty() && std::ranges::any_of(factors, stays);
    (is_lane || is_outside ? loops.outer : inner).push_back(own[i]);
  }
  std::ranges::reverse(loops.outer);
  std::ranges::reverse(inner);
  return loops;
}

UOp split(const Match& m) {
  const Node* sum = m.root();
  if (sum->arg<ReduceArg>().op != Op::Add || !sum->dtype().is_float()) return {};
  if (sum->size() < 3 || sum->src(0)->op() != Op::Mul) return {};
  Nodes factors;
  add_factors(sum->src(0), factors);
  const SumLoops loops = loops_of(sum, factors);
  Nodes outside, inside;
  for (const Node* factor : factors)
    (changes_with_any(factor, loops.inner) ? inside : outside).push_back(factor);
  if (outside.empty() || inside.empty() ||
      !changes_with_any(product_of(outside).node(), loops.outer))
    return {};
  const UOp part = sum_over(sum, product_of(inside), loops.inner);
  return sum_over(sum, product_of(outside) * part, loops.outer);
}

}  // namespace

std::vector<UOp> factors(const std::vector<UOp>& roots, const RewriteOptions& options) {
  static const RuleSet rules{"factors", {rule(with_more(node(Op::Reduce)), split)}};
  return setting_int("NOOPT") != 0 ? roots : rewrite(roots, rules, options);
}

}  // namespace weft
