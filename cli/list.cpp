#include <fmt/core.h>
#include <fmt/ranges.h>
#include <weft/dev/codegen/decompose.h>
#include <weft/dev/codegen/lower.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/compile/rule_sets.h>
#include <weft/dev/device/device.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/dev/schedule/ranges.h>
#include <weft/onnx.h>
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

// The default device's.
void list_machine() {
  const Machine machine = find_device(default_device()).target().machine;
  const auto line = [](std::string_view name, double value, std::string_view meaning) {
    fmt::print("{:<12} {:<8.4g} {}\n", name, value, meaning);
  };
  line("GHz", machine.hertz / 1e9, "");
  line("workers", machine.workers, "");
  line("launch", machine.launch * 1e6, "microseconds until all of them are at it");
  line("vector", machine.vector_bytes, "bytes");
  line("registers", machine.registers, "vectors");
  line("fma_ports", machine.fma_ports, "multiply-adds of vectors that begin in one cycle");
  line("fma_latency", machine.fma_latency, "cycles until the next of a chain begins");
  line("load_ports", machine.load_ports, "vectors that are read in one cycle");
  line("halves", machine.halves, "times as many of both where they take half a register or less");
  for (std::size_t i = 0; i < machine.levels.size(); ++i) {
    const CacheLevel& level = machine.levels[i];
    fmt::print("level {}      {:.4g} KiB, filled by {:.3g} GB/s{}\n", i + 1, level.bytes / 1024,
               level.bandwidth / 1e9, level.is_shared ? ", which all share" : "");
  }
}

void list_devices() {
  for (const DeviceKind& kind : device_kinds()) fmt::print("{:<12} {}\n", kind.name, kind.meaning);
}

void list_onnx() {
  for (const onnx::SupportedOp& op : onnx::supported_ops())
    fmt::print("{:<24} {:<36} {}\n", op.domain.empty() ? "ai.onnx" : op.domain, op.name,
               fmt::join(op.since, " "));
}

constexpr Listing table[] = {
    {"ops", "The op table: name, number of sources, meaning", list_ops},
    {"passes", "The pipeline, in order", list_passes},
    {"settings", "The environment variables, with their defaults", list_settings},
    {"devices", "The devices that kernels can run on", list_devices},
    {"machine", "The speeds by which schedules are chosen, measured when first asked for",
     list_machine},
    {"onnx", "The operators of ONNX: domain, name, the opsets whose meanings differ", list_onnx},
    {"rules", "The rewrite rules, with their source lines", list_rules},
};

}  // namespace

std::span<const Listing> listings() { return table; }

}  // namespace weft::cli
