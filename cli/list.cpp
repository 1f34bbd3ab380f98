#include <fmt/core.h>
#include <fmt/ranges.h>
#include <weft/dev/codegen/decompose.h>
#include <weft/dev/codegen/lower.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/compile/rule_sets.h>
#include <weft/dev/device/device.h>
#include <weft/dev/device/device_model.h>
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
  for (const Pass& pass : all_passes())
    fmt::print("{:<17} {:<8} {}\n", pass.name,
               pass.need == Pass::Optional ? "optional" : "required", pass.meaning);
}

void list_settings() {
  for (const SettingInfo& setting : all_settings())
    fmt::print("{:<16} {:<4} {}\n", setting.name,
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
  const DeviceModel machine = find_device(default_device()).target().machine;
  const auto line = [](std::string_view name, double value, std::string_view meaning) {
    fmt::print("{:<12} {:<8.4g} {}\n", name, value, meaning);
  };
  line("GHz", machine.hertz / 1e9, "");
  line("workers", machine.workers(), "threads");
  line("launch", machine.launch() * 1e6, "microseconds until all of them have started");
  line("vector", machine.vector_bytes, "bytes of a vector register");
  line("registers", machine.registers, "vector registers");
  line("fma_ports", machine.fma_ports, "vector multiply-adds that start in one cycle");
  line("fma_latency", machine.fma_latency, "cycles until one that depends on it can start");
  line("load_ports", machine.load_ports, "vector loads that start in one cycle");
  line("halves", machine.halves, "times as many of both, of vectors of half a register or less");
  for (std::size_t i = 0; i < machine.memory.size(); ++i) {
    const MemorySpace& level = machine.memory[i];
    fmt::print("level {}      {:.6g} KiB, filled at {:.3g} GB/s{}\n", i + 1, level.bytes / 1024,
               level.bandwidth / 1e9, level.is_shared ? ", shared by all threads" : "");
  }
}

void list_models() {
  for (const std::string& name : known_models()) {
    const DeviceModel model = find_model(name);
    fmt::print("{:<12} {} multiprocessors at {:.4g} GHz, {:.4g} GB/s\n", name,
               model.parallel[0].units, model.hertz / 1e9, model.memory.back().bandwidth / 1e9);
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
    {"ops", "List all ops: name, number of sources (+: or more), meaning as an equation", list_ops},
    {"passes", "List the passes of the compiler in order: name, whether SKIP may omit it, meaning",
     list_passes},
    {"settings", "List the settings, which are environment variables: name, default, meaning",
     list_settings},
    {"devices", "List the devices of this build: name, meaning", list_devices},
    {"machine", "List the processor's figures that the cost model uses, measured when first needed",
     list_machine},
    {"models", "List the GPUs whose descriptions weft knows, for weft kernels --model",
     list_models},
    {"onnx",
     "List the supported ONNX operators: domain, name, the opset versions that change its meaning",
     list_onnx},
    {"rules", "List the rewrite rules with their source lines", list_rules},
};

}  // namespace

std::span<const Listing> listings() { return table; }

}  // namespace weft::cli
