// Random expressions have the same values before and after simplification.
//
// WEFT_FULL=1 draws 200,000 cases, otherwise a sample. A case follows from its seed alone.

#include <cstdlib>

#include <gtest/gtest.h>

#include <weft/dev/rules/symbolic.h>
#include <weft/error.h>

#include "../support/random_expression.h"
#include "../support/shrink.h"
#include "../support/values.h"

namespace weft {
namespace {

constexpr std::uint64_t first_seed = 20250401;
constexpr int most_assignments = 500, most_failures = 3;

int cases(int sample, int full) { return std::getenv("WEFT_FULL") != nullptr ? full : sample; }

using Transform = UOp (*)(const UOp&);

// What is wrong with `after` in place of `before`; empty where nothing is.
std::string difference(const UOp& before, const UOp& after) {
  Values values({before, after});
  std::string found;
  values.for_each(1, most_assignments, [&](const std::vector<Bits>& results) {
    if (const Node* node = values.out_of_bounds())
      found = fmt::format("{} is {} under {}, outside its bounds {}..{}", expression_text(node),
                          values.value_of(node), values.assignment(), node->lo(), node->hi());
    else if (results[0] != results[1])
      found = fmt::format("{} became {} under {}", static_cast<std::int64_t>(results[0]),
                          static_cast<std::int64_t>(results[1]), values.assignment());
    return found.empty();
  });
  return found;
}

// The same for INDEX nodes: the condition holds in the same places, and there the indices agree.
std::string index_difference(const UOp& before, const UOp& after) {
  std::vector<UOp> roots;
  for (const UOp& root : {before, after})
    for (const Node* source : root->src().subspan(1)) roots.emplace_back(source);
  const std::size_t size = roots.size() / 2;
  Values values(roots);
  std::string found;
  values.for_each(1, most_assignments, [&](const std::vector<Bits>& results) {
    for (std::size_t i = 0; i < (results[0] != 0 ? size : 1) && found.empty(); ++i)
      if (results[i] != results[size + i])
        found = fmt::format("source {}: {} became {} under {}", i + 1, static_cast<std::int64_t>(results[i]),
                            static_cast<std::int64_t>(results[size + i]), values.assignment());
    return found.empty();
  });
  return found;
}

std::string wrong(const UOp& before, Transform transform) {
  try {
    const UOp after = transform(before);
    return before->op() == Op::Index ? index_difference(before, after) : difference(before, after);
  } catch (const Error& error) {
    return error.what();
  }
}

template <class Make>
void check_all(int count, Transform transform, Make make_expression) {
  int failures = 0;
  for (int i = 0; i < count && failures < most_failures; ++i) {
    Arena arena;
    const InternerScope scope(arena);
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
    const UOp expression = make_expression(seed);
    if (wrong(expression, transform).empty()) continue;
    ++failures;
    const UOp small = shrink(expression, [&](const UOp& candidate) {
      return candidate->op() == expression->op() || expression->op() != Op::Index ? !wrong(candidate, transform).empty() : false;
    });
    std::string after;
    try {
      after = expression_text(transform(small).node());
    } catch (const Error&) {
    }
    ADD_FAILURE() << "seed " << seed << "\nbefore " << expression_text(small.node()) << "\nafter  " << after
                  << "\n" << wrong(small, transform) << "\n"
                  << print_graph("before", std::vector{small.node()});
  }
}

UOp random_value(std::uint64_t seed, DType dtype) {
  RandomExpression random(seed, dtype);
  return seed % 4 == 0 ? random.condition() : random.integer();
}

TEST(SymbolicProperty, IndicesKeepTheirValue) {
  check_all(cases(4000, 80'000), simplify, [](std::uint64_t seed) { return random_value(seed, dtypes::index); });
}

TEST(SymbolicProperty, FixedWidthsKeepTheirValue) {
  static constexpr DType widths[] = {dtypes::i8, dtypes::u8, dtypes::i32, dtypes::u32, dtypes::i64, dtypes::u64, dtypes::i16};
  check_all(cases(3000, 60'000), simplify, [](std::uint64_t seed) { return random_value(seed, widths[seed % std::size(widths)]); });
}

TEST(SymbolicProperty, GatedIndicesKeepTheirValue) {
  check_all(cases(2000, 40'000), simplify, [](std::uint64_t seed) { return RandomExpression(seed).gated_index(); });
}

TEST(SymbolicProperty, WidthsKeepValues) {
  const Transform widths = [](const UOp& root) { return rewrite(root, width_rules()); };
  check_all(cases(2000, 20'000), widths, [](std::uint64_t seed) { return random_value(seed, dtypes::index); });
}

}  // namespace
}  // namespace weft
