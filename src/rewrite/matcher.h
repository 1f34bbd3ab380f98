// Runs compiled rules on a node.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "compile.h"

namespace weft {

using Programs = std::vector<std::shared_ptr<const CompiledRule>>;

class Matcher {
 public:
  explicit Matcher(Programs programs) : programs_(std::move(programs)) {}
  ~Matcher();
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;

  // Those of a set are those of the sets that it is part of.
  const Programs& programs() const { return programs_; }
  RuleSet::Result apply(const Node* node, Interner& interner, RewriteContext context) const;

 private:
  class Index;
  const Index& index() const;
  static bool matches(const CompiledRule& rule, const Node** registers);
  static const Node* build(const CompiledRule& rule, Match& match);

  Programs programs_;
  mutable std::atomic<const Index*> index_ = nullptr;  // made by the first who applies the rules
};

}  // namespace weft
