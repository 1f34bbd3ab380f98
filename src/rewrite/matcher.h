// Runs compiled rules on a node.
#pragma once

#include "compile.h"

namespace weft {

class Matcher {
 public:
  explicit Matcher(const std::vector<Rule>& rules);
  RuleSet::Result apply(const Node* node, Interner& interner, RewriteContext context) const;

 private:
  static bool first_can_be(const CompiledRule& program, int column);
  bool matches(const CompiledRule& rule, const Node** registers) const;
  const Node* build(const CompiledRule& rule, Match& match) const;

  // The programs worth trying for a node: by its op and, one more for leaves, its first source's.
  static constexpr int columns = op_count + 1;
  static std::size_t place(int root, int first) {
    return static_cast<std::size_t>(root) * columns + static_cast<std::size_t>(first);
  }
  struct Bucket {
    std::uint32_t first = 0, last = 0;
  };
  std::vector<CompiledRule> programs_;
  std::vector<OpSet> sets_;
  std::vector<Bucket> buckets_;       // op_count rows
  std::vector<std::uint16_t> order_;  // program indices, bucket after bucket
};

}  // namespace weft
