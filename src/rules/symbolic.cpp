#include <weft/dev/rules/symbolic.h>

#include <algorithm>

#include <weft/dev/ir/graph.h>

namespace weft {

const RuleSet& symbolic() {
  static const RuleSet rules{"symbolic",
                             {&fold_rules(), &order_rules(), &sum_rules(), &divmod_rules(),
                              &compare_rules(), &select_rules(), &gate_rules()}};
  return rules;
}

namespace {

const RuleSet& spread_symbolic() {
  static const RuleSet rules{"spread_symbolic", {&symbolic(), &spread_rules(), &merge_rules()}};
  return rules;
}

// In the one order as well: what is simplified again then stays as it is.
const RuleSet& contracting() {
  static const RuleSet rules{"factor", {&factor_rules(), &order_rules()}};
  return rules;
}

bool same(const std::vector<UOp>& a, const std::vector<UOp>& b) {
  return std::ranges::equal(a, b, [](const UOp& x, const UOp& y) { return x.is(y); });
}

std::size_t op_count_of(const std::vector<UOp>& roots) {
  return static_cast<std::size_t>(std::ranges::count_if(
      toposort(nodes_of(roots)), [](const Node* node) { return is_elementwise(node->op()); }));
}

// What an attempt applied, told only if the attempt is kept. The nodes live as long as their arena.
class Recorded final : public RewriteTrace {
 public:
  void applied(std::string_view pass, const Rule& rule, const Node* before,
               const Node* after) override {
    steps_.push_back({pass, &rule, before, after});
  }
  void tell(RewriteTrace& listener) const {
    for (const Step& step : steps_)
      listener.applied(step.pass, *step.rule, step.before, step.after);
  }

 private:
  struct Step {
    std::string_view pass;
    const Rule* rule;
    const Node *before, *after;
  };
  std::vector<Step> steps_;
};

struct Attempt {
  std::vector<UOp> roots;
  Recorded trace = {};

  void run(const RuleSet& rules, RewriteOptions options) {
    if (options.trace != nullptr) options.trace = &trace;
    roots = rewrite(roots, rules, options);
  }
};

// Spreading a scaled sum lets a remainder meet its quotient, but may part it from equal sums
// elsewhere: which is smaller is seen at the end.
std::vector<UOp> simplified(const std::vector<UOp>& roots, const RewriteOptions& options) {
  static const RuleSet only{"spread", {&spread_rules(), &merge_rules()}};
  const std::vector<UOp> whole = rewrite(roots, symbolic(), options);
  Attempt joined{whole}, spread{whole};
  joined.run(contracting(), options);
  spread.run(only, options);
  const bool is_other = !same(spread.roots, whole);
  if (is_other) {
    spread.run(spread_symbolic(), options);
    spread.run(contracting(), options);
  }
  const bool is_smaller = is_other && op_count_of(spread.roots) < op_count_of(joined.roots);
  const Attempt& kept = is_smaller ? spread : joined;
  if (options.trace != nullptr) kept.trace.tell(*options.trace);
  return kept.roots;
}

}  // namespace

std::vector<UOp> simplify(const std::vector<UOp>& roots, const RewriteOptions& options) {
  return in_arena(roots, [&](const auto& inside) { return simplified(inside, options); });
}

UOp simplify(const UOp& root) { return simplify(std::vector<UOp>{root})[0]; }

}  // namespace weft
