#include <weft/dev/rewrite/rule.h>

#include <fmt/core.h>

#include <weft/error.h>

#include "matcher.h"

namespace weft {

Rule rule(const Pat& left, const Pat& right, Guard guard, const char* file, int line) {
  return {left, std::make_shared<const Pat>(right), nullptr, std::move(guard), file, line};
}

Rule rule(const Pat& left, RewriteFunction right, Guard guard, const char* file, int line) {
  return {left, nullptr, right, std::move(guard), file, line};
}

std::string Rule::str() const {
  const std::string_view path = file;
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  std::string text = left.str() + " -> " + (right ? right->str() : "function");
  if (guard.condition) text += " when " + guard.condition->str();
  return fmt::format("{} ({}:{})", text, name, line);
}

RuleSet::RuleSet(std::string_view name, std::vector<Rule> rules)
    : name_(name), rules_(std::move(rules)), matcher_(std::make_unique<Matcher>(rules_)) {}

RuleSet::RuleSet(std::string_view name, std::initializer_list<const RuleSet*> parts) : name_(name) {
  for (const RuleSet* part : parts)
    rules_.insert(rules_.end(), part->rules_.begin(), part->rules_.end());
  matcher_ = std::make_unique<Matcher>(rules_);
}

RuleSet::~RuleSet() = default;

RuleSet::Result RuleSet::apply(const Node* node, Interner& interner, RewriteContext context) const {
  // Functions return handles: in a counted interner the result would be gone already.
  if (interner.counted()) internal_error(name_ + ": rules apply in arenas only");
  return matcher_->apply(node, interner, context);
}

}  // namespace weft
