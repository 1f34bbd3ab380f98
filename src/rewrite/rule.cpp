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

namespace {

Programs compiled(const std::vector<Rule>& rules) {
  Programs programs;
  for (const Rule& rule : rules)
    for (CompiledRule& program : compile_rule(rule))
      programs.push_back(std::make_shared<const CompiledRule>(std::move(program)));
  return programs;
}

}  // namespace

RuleSet::RuleSet(std::string_view name, std::vector<Rule> rules)
    : name_(name),
      rules_(std::move(rules)),
      matcher_(std::make_unique<Matcher>(compiled(rules_))) {}

RuleSet::RuleSet(std::string_view name, std::initializer_list<const RuleSet*> parts) : name_(name) {
  Programs programs;
  for (const RuleSet* part : parts) {
    rules_.insert(rules_.end(), part->rules_.begin(), part->rules_.end());
    const Programs& own = part->matcher_->programs();
    programs.insert(programs.end(), own.begin(), own.end());
  }
  matcher_ = std::make_unique<Matcher>(std::move(programs));
}

RuleSet::~RuleSet() = default;

RuleSet::Result RuleSet::apply(const Node* node, Interner& interner, RewriteContext context) const {
  // Functions return handles: in a counted interner the result would be gone already.
  if (interner.counted()) internal_error(name_ + ": rules apply in arenas only");
  return matcher_->apply(node, interner, context);
}

}  // namespace weft
