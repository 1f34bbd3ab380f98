// Random legal graphs stay legal through the passes, keep what values they have, and have no dtype
// index after `width`.
//
// WEFT_FULL=1 draws many more. A case follows from its seed alone.

#include <cstdlib>

#include <gtest/gtest.h>

#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/spec.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/error.h>

#include "../support/random_graph.h"
#include "../support/values.h"

namespace weft {
namespace {

constexpr std::uint64_t first_seed = 20250401;
constexpr int most_failures = 3;

// Whether the value is one of scalar arithmetic on leaves that can be chosen. What devices decompose
// has no one value.
bool has_value(const Node* root) {
  static const OpSet computed = OpSet::where([](Op op) {
    constexpr OpSet bounded{Op::Exp2, Op::Log2, Op::Sin, Op::Cos, Op::Pow};
    return (is_elementwise(op) && !bounded.contains(op)) ||
           OpSet{Op::Const, Op::Variable, Op::Range, Op::Bind}.contains(op);
  });
  return std::ranges::all_of(toposort(root), [](const Node* node) {
    return computed.contains(node->op()) && node->dtype().lanes() == 1;
  });
}

std::string illegal(std::string_view pass, const std::vector<UOp>& roots) {
  const std::vector<std::string> found = spec_violations(nodes_of(roots), Level::Any);
  return found.empty() ? "" : fmt::format("after {}: {}", pass, fmt::join(found, "\n"));
}

std::string remaining_index(const std::vector<UOp>& roots) {
  for (const Node* node : toposort(nodes_of(roots)))
    if (node->dtype().is_index()) return "still an index: " + expression_text(node);
  return "";
}

std::string other_value(std::string_view pass, const std::vector<UOp>& before,
                        const std::vector<UOp>& after) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!has_value(before[i].node())) continue;
    if (const std::string found = difference(before[i], after[i], 40); !found.empty())
      return fmt::format("after {}: {} as {}: {}", pass, expression_text(before[i].node()),
                         expression_text(after[i].node()), found);
  }
  return "";
}

// The first thing that is wrong; empty where nothing is.
std::string wrong(const std::vector<UOp>& roots) {
  try {
    const std::vector<UOp> simple = simplify(roots), narrow = width(simple), direct = width(roots);
    for (const std::string& finding :
         {illegal("drawing", roots), illegal("simplify", simple), illegal("width", narrow),
          illegal("width alone", direct), remaining_index(narrow), remaining_index(direct),
          other_value("simplify", roots, simple), other_value("width", roots, narrow),
          other_value("width alone", roots, direct)})
      if (!finding.empty()) return finding;
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(LegalityProperty, PassesKeepGraphsLegal) {
  const int count = std::getenv("WEFT_FULL") != nullptr ? 200'000 : 4'000;
  int failures = 0, values = 0;
  Arena arena;
  const InternerScope scope(arena);
  for (int i = 0; i < count && failures < most_failures; ++i) {
    arena.reset();
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
    // Every node is a root, so that whatever has a value is compared.
    const std::vector<UOp> roots = RandomGraph(seed).all(1 + i % 60);
    values += static_cast<int>(
        std::ranges::count_if(roots, [](const UOp& root) { return has_value(root.node()); }));
    const std::string found = wrong(roots);
    if (found.empty()) continue;
    ++failures;
    ADD_FAILURE() << "seed " << seed << "\n"
                  << found << "\n"
                  << print_graph("before", nodes_of(roots));
  }
  EXPECT_GT(values, count) << "hardly anything has a value";
}

}  // namespace
}  // namespace weft
