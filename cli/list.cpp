#include <fmt/core.h>
#include <weft/dev/codegen/decompose.h>
#include <weft/dev/codegen/lower.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/compile/rule_sets.h>
#include <weft/dev/device/device.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/dev/schedule/ranges.h>
#include <weft/settings.h>

#include "commands.h"

namespace weft::cli {
namespace {

void list_ops() {
  for (int i = 0; i < op_count; ++i) {
    const OpInfo& op = info(static_cast<Op>(i));
    fmt::print("{:<12} {}{}  {}\n", op.name, op.arity.least, op.arity.exact ? " " : "+",
               op.meaning);
  }
}

void list_passes() {
  for (const Pass& pass : all_passes()) fmt::print("{:<12} {}\n", pass.name, pass.meaning);
}

void list_settings() {
  for (const SettingInfo& setting : all_settings())
    fmt::print("{:<12} {:<4} {}\n", setting.name,
               setting.fallback.empty() ? "\"\"" : setting.fallback, setting.meaning);
}

void list_rules_of(const RuleSet& rules) {
  fmt::print("{}\n", rules.name());
  for (const Rule& rule : rules.rules()) fmt::print("  {}\n", rule.str());
}

void list_rules() {
  for (const RuleSet* rules : {&push_rules(), &stages_rules(), &flatten_rules(), &guard_rules()})
    list_rules_of(*rules);
  for (const RuleSet* rules : all_rule_sets())
    if (rules != &symbolic() && rules != &decompositions())
      list_rules_of(*rules);  // those above it
}

void list_devices() {
  for (const DeviceKind& kind : device_kinds()) fmt::print("{:<12} {}\n", kind.name, kind.meaning);
}

constexpr Listing table[] = {
    {"ops", "The op table: name, number of sources, meaning", list_ops},
    {"passes", "The pipeline, in order", list_passes},
    {"settings", "The environment variables, with their defaults", list_settings},
    {"devices", "The devices that kernels can run on", list_devices},
    {"rules", "The rewrite rules, with their source lines", list_rules},
};

}  // namespace

std::span<const Listing> listings() { return table; }

}  // namespace weft::cli
