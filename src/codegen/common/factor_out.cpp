// Moves factors of a sum that are invariant in its inner loops out of these loops, such as the
// scales of quantised blocks. Also moves out offsets of codes: sum(x * (code*scale - offset))
// becomes scale * sum(x*code) - offset * sum(x). The rest has to hold a number that is known to be small: without a
// mask of zeros, or a tiny factor, other finite values may add up to infinity.
//
// Runs after schedules, which expect the nested loops of a sum to be one reduction.

#include <algorithm>
#include <utility>
#include <vector>

#include <weft/dev/codegen/lower.h>
#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rewrite/rule.h>
#include <weft/settings.h>

#include "loops.h"

namespace weft {
namespace {

using Nodes = std::vector<const Node*>;

// Limits the factors of a product. Shared subproducts multiply them: a power by repeated squaring
// has as many factors as its exponent.
constexpr std::size_t most_factors = 16;

bool is_square(const Node* value) {
  return value->op() == Op::Mul && value->src(0) == value->src(1);
}

void add_factors(const Node* product, Nodes& factors) {
  const std::size_t first = factors.size();
  factors.push_back(product);
  for (std::size_t i = first; i < factors.size() && factors.size() - first < most_factors;) {
    const Node* factor = factors[i];
    if (factor->op() != Op::Mul || (is_square(factor) && is_square(factor->src(0)))) {
      ++i;
      continue;
    }
    factors[i] = factor->src(0);
    factors.insert(factors.begin() + static_cast<std::ptrdiff_t>(i) + 1, factor->src(1));
  }
}

bool changes_with_any(const Node* value, const Nodes& ranges) {
  return std::ranges::any_of(ranges, [&](const Node* range) { return changes_with(value, range); });
}

bool changes_with_all(const Node* value, const Nodes& ranges) {
  return std::ranges::all_of(ranges, [&](const Node* range) { return changes_with(value, range); });
}

UOp product_of(const Nodes& factors) {
  UOp product(factors[0]);
  for (std::size_t i = 1; i < factors.size(); ++i) product = product * UOp(factors[i]);
  return product;
}

UOp sum_over(const Node* sum, const UOp& value, const Nodes& ranges) {
  return closed_over(UOp(sum), value, list_of(ranges));
}

// The loops of a sum, split so that hoisted factors change with the outer ones only. VECTOR ranges
// are outer, so lanes are added up last. An UPCAST range is outer if a hoisted factor changes with
// it.
struct SumLoops {
  Nodes outer, inner;
};

// Hoists out of as few inner loops as possible: factors that change with the last of the outer
// loops and none inside it.
SumLoops split_loops(const Node* sum, const Nodes& factors) {
  Nodes loops, copies, lanes;
  for (const Node* range : sum->src().subspan(1))
    (kind_of(range) == LoopKind::Vector   ? lanes
     : kind_of(range) == LoopKind::Upcast ? copies
                                          : loops)
        .push_back(range);
  for (std::size_t around = loops.size();; --around) {
    const auto first_inner = loops.begin() + static_cast<std::ptrdiff_t>(around);
    SumLoops result{{loops.begin(), first_inner}, {first_inner, loops.end()}};
    Nodes hoisted;
    for (const Node* factor : factors)
      if (around > 0 && changes_with(factor, loops[around - 1]) &&
          !changes_with_any(factor, result.inner) &&
          (!result.inner.empty() || !changes_with_all(factor, copies)))
        hoisted.push_back(factor);
    if (around > 0 && hoisted.empty()) continue;
    for (const Node* copy : copies) {
      const bool is_of_hoisted = std::ranges::any_of(
          hoisted, [&](const Node* factor) { return changes_with(factor, copy); });
      (is_of_hoisted ? result.outer : result.inner).push_back(copy);
    }
    result.outer.insert(result.outer.end(), lanes.begin(), lanes.end());
    if (around == 0 || !result.inner.empty()) return result;
  }
}

struct Factors {
  Factors(const Nodes& factors, const Nodes& inner) {
    for (const Node* factor : factors)
      (changes_with_any(factor, inner) ? inside : outside).push_back(factor);
  }
  Nodes inside, outside;
};

// Returns the sum over the inner loops, multiplied by the hoisted factors.
UOp scaled(const Node* sum, const Factors& factors, const Nodes& inner) {
  const UOp part = sum_over(sum, product_of(factors.inside), inner);
  return product_of(factors.outside) * part;
}

// The same as scaled() over new ranges, since a RANGE is closed once.
UOp scaled_again(const Node* sum, const Factors& factors, const Nodes& inner) {
  UOp value = product_of(factors.inside);
  std::vector<UOp> loops;
  for (const Node* range : inner) {
    loops.push_back(range_like(range));
    value = with_range_replaced(with_fresh_loops(value, range), range, loops.back());
  }
  return product_of(factors.outside) * closed_over(UOp(sum), value, loops);
}

// Whether its type or bounds limit the factor to 65536, as codes are. One such factor says that the sum is of dequantised
// numbers, which are not extreme. Masks are none: what they hide is often the lowest float.
bool is_small(const Node* factor) {
  constexpr std::int64_t most = 65536;  // of f16 and narrower floats too
  if (factor->op() != Op::Cast) return false;
  const Node* value = factor->src(0);
  if (value->dtype().is_float())
    return value->dtype().bytes() <= 2 && value->dtype().scalar() != dtypes::bf16;
  return value->dtype().is_int() && value->lo() >= -most && value->hi() <= most;
}

bool may_leave_the_rest(const Factors& factors) {
  return setting_int("FASTMATH") != 0 || std::ranges::any_of(factors.inside, is_small);
}

bool is_profitable(const Factors& factors, const SumLoops& loops) {
  return !factors.outside.empty() && !factors.inside.empty() &&
         changes_with_any(product_of(factors.outside).node(), loops.outer);
}

UOp split_product(const Node* sum, const Nodes& factors) {
  const SumLoops loops = split_loops(sum, factors);
  const Factors parts(factors, loops.inner);
  if (!is_profitable(parts, loops) || !may_leave_the_rest(parts)) return {};
  return sum_over(sum, scaled(sum, parts, loops.inner), loops.outer);
}

// The largest magnitude of codes. Moving an offset out subtracts two sums that may nearly cancel,
// but little accuracy is lost if codes are small.
constexpr std::int64_t most_codes = 256;

bool is_code(const Node* factor) {
  if (factor->op() != Op::Cast || !factor->src(0)->dtype().is_int()) return false;
  return factor->src(0)->lo() >= -most_codes && factor->src(0)->hi() <= most_codes;
}

// Returns whether the product is a code times factors that are invariant in the inner loops. For
// other products, the difference of terms may be far more accurate than the difference of sums.
bool is_scaled_code(const Node* product, const Nodes& inner) {
  Nodes factors;
  add_factors(product, factors);
  const Nodes inside = Factors(factors, inner).inside;
  return !inside.empty() && std::ranges::all_of(inside, is_code);
}

// Returns whether copies or lanes of the output share the inner sum, but not the hoisted factors.
bool is_shared(const Factors& factors) {
  const UOp added = product_of(factors.inside), own = product_of(factors.outside);
  return std::ranges::any_of(own->ranges(), [&](const Node* range) {
    return (kind_of(range) == LoopKind::Upcast || kind_of(range) == LoopKind::Vector) &&
           !changes_with(added.node(), range);
  });
}

// Splits a sum of x * (code * scale - offset). The codes are in operand `side` of factor `at`.
UOp split_offset(const Node* sum, const Nodes& factors, std::size_t at, std::size_t side) {
  const Node* decoded = factors[at];
  if (decoded->op() != Op::Add && decoded->op() != Op::Sub) return {};
  const Node *code = decoded->src(side), *offset = decoded->src(1 - side);
  Nodes others = factors;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(at));
  Nodes product = others, with_offset = others;
  add_factors(code, product);
  add_factors(offset, with_offset);
  const SumLoops loops = split_loops(sum, product);
  const Factors codes(product, loops.inner), offsets(with_offset, loops.inner);
  if (!is_profitable(codes, loops) || !is_scaled_code(code, loops.inner)) return {};
  if (changes_with_any(offset, loops.inner) || offsets.inside.empty() || !is_shared(offsets))
    return {};
  std::vector<UOp> parts{scaled(sum, codes, loops.inner), scaled_again(sum, offsets, loops.inner)};
  if (side == 1) std::swap(parts[0], parts[1]);
  return sum_over(sum, make(decoded->op(), parts), loops.outer);
}

UOp split(const Match& m) {
  const Node* sum = m.root();
  if (sum->arg<ReduceArg>().op != Op::Add || !sum->dtype().is_float()) return {};
  if (sum->size() < 3 || sum->src(0)->op() != Op::Mul) return {};
  Nodes factors;
  add_factors(sum->src(0), factors);
  for (std::size_t i = 0; i < factors.size(); ++i)
    for (const std::size_t side : {0, 1})
      if (const UOp result = split_offset(sum, factors, i, side); !result.is_null()) return result;
  return split_product(sum, factors);
}

}  // namespace

std::vector<UOp> factor_out(const std::vector<UOp>& roots, const RewriteOptions& options) {
  static const RuleSet rules{"factor_out", {rule(with_more(node(Op::Reduce)), split)}};
  return setting_int("NOOPT") != 0 ? roots : rewrite(roots, rules, options);
}

}  // namespace weft
