// Rules that a program adds to the compiler.
//
//   static const Pat x = floats("x");
//   const ExtraRules exact("roots", {rule(node(Op::Sqrt, {x * x}), max(x, -x))});
//   const ExtraRules late("late", {...}, ExtraRules::After, "simplify");
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <weft/dev/rewrite/rewriter.h>

namespace weft {

struct ExtraRuleSet;
// Those in force at one moment, in the order they were added. Does not change.
using ExtraRuleList = std::vector<std::shared_ptr<const ExtraRuleSet>>;

// As long as this lives, all compilations that begin, of all threads, rewrite by the rules as well, to
// the fixed point. Whoever adds a rule vouches for it. What was compiled under other rules is not used.
class ExtraRules {
 public:
  enum Side { Before, After };

  // On the tensor graph, before it is cut into kernels. No rule may add memory.
  ExtraRules(std::string_view name, std::vector<Rule> rules);
  // On each kernel next to a pass of the pipeline, for devices that have the pass (`weft list passes`).
  ExtraRules(std::string_view name, std::vector<Rule> rules, Side side, std::string_view pass);
  ~ExtraRules();
  ExtraRules(const ExtraRules&) = delete;
  ExtraRules& operator=(const ExtraRules&) = delete;

 private:
  std::shared_ptr<const ExtraRuleSet> added_;
};

struct ExtraRuleSet {
  RuleSet rules;
  std::uint64_t number;  // no two in a process have the same
  ExtraRules::Side side;
  std::string pass;  // empty: the tensor graph
};

std::shared_ptr<const ExtraRuleList> extra_rules();
// Differs where kernels are compiled by different rules.
std::string key_of(const ExtraRuleList& extra);

}  // namespace weft
