// The rewriter: applies a rule set to a graph until nothing matches.
#pragma once

#include <functional>

#include <weft/dev/rewrite/rule.h>

namespace weft {

// Told of every application, in order. Off by default; turning it on costs a call each.
class RewriteTrace {
 public:
  virtual ~RewriteTrace() = default;
  virtual void applied(std::string_view pass, const Rule& rule, const Node* before,
                       const Node* after) = 0;
};

enum class Order {
  BottomUp,  // a node's rules are tried once its sources are final
  TopDown,   // ... before its sources are looked at: a rule sees what was written
};

struct RewriteOptions {
  std::string_view pass = {};  // for traces and errors; the rule set's name by default
  Order order = Order::BottomUp;
  RewriteContext context = {};  // what Match::context gives
  RewriteTrace* trace = nullptr;
  std::uint64_t budget = 0;  // most applications; 0 chooses by the size of the graph
};

// The fixed point: results are rewritten again, each node once (memoised). Works in an arena; a
// root in the shared graph is copied into one and back. Throws internal_error naming the rules
// when they do not come to an end.
UOp rewrite(const UOp& root, const RuleSet& rules, const RewriteOptions& options = {});
std::vector<UOp> rewrite(const std::vector<UOp>& roots, const RuleSet& rules,
                         const RewriteOptions& options = {});

// One walk, sources first: each node meets the rules once, and results are not looked into again.
// For lowering, where a result would match its own rule.
UOp rewrite_once(const UOp& root, const RuleSet& rules, const RewriteOptions& options = {});
std::vector<UOp> rewrite_once(const std::vector<UOp>& roots, const RuleSet& rules,
                              const RewriteOptions& options = {});

// Runs a transformation of several steps in one arena: a shared graph is copied in, and the result
// back, once. Within, the arena is the current interner.
std::vector<UOp> in_arena(const std::vector<UOp>& roots,
                          const std::function<std::vector<UOp>(const std::vector<UOp>&)>& run);

}  // namespace weft
