#include <weft/dev/compile/extra_rules.h>

#include <algorithm>
#include <mutex>

#include <fmt/core.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/error.h>

namespace weft {
namespace {

// Whoever compiles keeps the list that it began with. It is made when it is asked for: a set may go where there is no memory.
struct InForce {
  std::mutex mutex;
  ExtraRuleList sets;
  std::shared_ptr<const ExtraRuleList> list;  // null where the sets have changed
  std::uint64_t added = 0;
};

InForce& in_force() {
  // Leaked on purpose: guards in static objects may go after any destructor here.
  static auto& all = *new InForce;
  return all;
}

std::shared_ptr<const ExtraRuleSet> add(std::string_view name, std::vector<Rule> rules,
                                        ExtraRules::Side side, std::string_view pass) {
  InForce& all = in_force();
  const std::lock_guard lock(all.mutex);
  for (const auto& set : all.sets)
    if (set->rules.name() == name)
      user_error(fmt::format("there are extra rules '{}' already", name));
  const std::shared_ptr<const ExtraRuleSet> set(
      new ExtraRuleSet{RuleSet(name, std::move(rules)), ++all.added, side, std::string(pass)});
  all.sets.push_back(set);
  all.list.reset();
  return set;
}

std::string_view checked(std::string_view pass) {
  if (find_pass(pass) == nullptr)
    user_error(fmt::format("there is no pass '{}'; `weft list passes` names them", pass));
  return pass;
}

}  // namespace

ExtraRules::ExtraRules(std::string_view name, std::vector<Rule> rules)
    : added_(add(name, std::move(rules), Before, "")) {}

ExtraRules::ExtraRules(std::string_view name, std::vector<Rule> rules, Side side,
                       std::string_view pass)
    : added_(add(name, std::move(rules), side, checked(pass))) {}

ExtraRules::~ExtraRules() {
  InForce& all = in_force();
  const std::lock_guard lock(all.mutex);
  std::erase(all.sets, added_);
  all.list.reset();
}

std::shared_ptr<const ExtraRuleList> extra_rules() {
  InForce& all = in_force();
  const std::lock_guard lock(all.mutex);
  if (all.list == nullptr) all.list = std::make_shared<const ExtraRuleList>(all.sets);
  return all.list;
}

std::string key_of(const ExtraRuleList& extra) {
  std::string key;
  for (const auto& set : extra)
    if (!set->pass.empty()) key += fmt::format(" {}", set->number);
  return key;
}

}  // namespace weft
