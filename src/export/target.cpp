#include "target.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/dev/base/parallel.h>
#include <weft/dev/device/device.h>
#include <weft/error.h>
#include <weft/export.h>
#include <weft/settings.h>

#include "machines.h"

namespace weft {
namespace exported {
namespace {

constexpr std::string_view x86 = "x86_64-unknown-linux-gnu", arm = "aarch64-unknown-linux-gnu",
                           riscv = "riscv64-unknown-linux-gnu";

constexpr std::string_view arm_gcc = "aarch64-linux-gnu-gcc", riscv_gcc = "riscv64-linux-gnu-gcc",
                           arm_device = "CPU:LLVM:aarch64", riscv_device = "CPU:LLVM:riscv64";

// clang-format off
constexpr Target targets[] = {
    // name                      planned by             triple model            features                         compiler   machine
    {"cpu=native",               "CPU:LLVM",            "",    "",              "",                              "",        ""},
    {"cpu=x86-64-v2",            "CPU:LLVM:x86-64-v2",  x86,   "x86-64-v2",     "",                              "",        "x86-64-v2"},
    {"cpu=x86-64-v3",            "CPU:LLVM:x86-64-v3",  x86,   "x86-64-v3",     "",                              "",        "x86-64-v3"},
    {"cpu=x86-64-v4",            "CPU:LLVM:x86-64-v4",  x86,   "x86-64-v4",     "",                              "",        "x86-64-v4"},
    {"cpu=aarch64",              arm_device,            arm,   "generic",       "",                              arm_gcc,   "aarch64"},
    {"cpu=aarch64,cortex-a53",   arm_device,            arm,   "cortex-a53",    "",                              arm_gcc,   "cortex-a53"},
    {"cpu=aarch64,cortex-a72",   arm_device,            arm,   "cortex-a72",    "",                              arm_gcc,   "cortex-a72"},
    {"cpu=aarch64,cortex-a76",   arm_device,            arm,   "cortex-a76",    "",                              arm_gcc,   "cortex-a76"},
    // A cortex-a78 beside others of its kind, which LLVM has had for longer.
    {"cpu=aarch64,cortex-a78ae", arm_device,            arm,   "cortex-a78",    "",                              arm_gcc,   "cortex-a78ae"},
    {"cpu=aarch64,neoverse-n1",  arm_device,            arm,   "neoverse-n1",   "",                              arm_gcc,   "neoverse-n1"},
    {"cpu=aarch64,neoverse-v1",  arm_device,            arm,   "neoverse-v1",   "",                              arm_gcc,   "neoverse-v1"},
    {"cpu=aarch64,apple-m1",     arm_device,            arm,   "apple-m1",      "",                              arm_gcc,   "apple-m1"},
    {"cpu=riscv64",              riscv_device,          riscv, "generic",       "+m,+a,+f,+d,+c",                riscv_gcc, "riscv64"},
    // Vectors of 16 bytes, which all have that Linux is made for.
    {"cpu=riscv64,v",            riscv_device,          riscv, "generic",       "+m,+a,+f,+d,+c,+v,+zvl128b",    riscv_gcc, "riscv64,v"},
    // From C for a processor without multiply-add come programs that any processor can run.
    {"c",                        "CPU:CLANG:x86-64-v2", "",    "",              "",                              "",        "any", true},
};
// clang-format on

constexpr const char* kind = "EXPORT";

// Schedules and lowers as the device that plans for a target does, by the numbers of the target's machine, and runs what comes
// of that here: kernels mean the same on all processors. So constants can be computed, in the order that kernels of the target
// read them in.
class StandIn final : public Device {
 public:
  explicit StandIn(const exported::Target& target)
      : name_(fmt::format("{}:{}", kind, target.name)),
        running_(find_device(target.is_c ? "CPU" : "CPU:LLVM")),
        planned_(planned_for(target)) {
    // Constants are computed here.
    const weft::Target here = running_.target();
    if (!(planned_.converts == here.converts)) planned_.converts = {};
    if (!(planned_.rounds == here.rounds)) planned_.rounds = {};
    planned_.ops = OpSet::where([&](Op op) {
      return planned_.ops.contains(op) && (op != Op::Ldexp || here.ops.contains(op));
    });
  }

  std::string_view name() const override { return name_; }
  Allocator& allocator() override { return running_.allocator(); }
  weft::Target target() const override {
    weft::Target target = planned_;
    if (!setting("WEFT_THREADS").empty()) target.machine.set_workers(thread_count());
    target.workers = target.machine.workers();
    return target;
  }
  std::string render(const Node* kernel) override { return running_.render(kernel); }
  std::string compile(std::string_view source) override { return running_.compile(source); }
  std::vector<std::string> compile_all(std::span<const std::string> sources) override {
    return running_.compile_all(sources);
  }
  std::string compiler_key() const override { return running_.compiler_key(); }
  std::unique_ptr<Program> load(std::string_view code) override { return running_.load(code); }

 private:
  // Of the device that plans there is no need to measure how fast it would be here.
  static weft::Target planned_for(const exported::Target& target) {
    const Context unmeasured{{"CALIBRATE", 0}};
    weft::Target planned = find_device(target.device).target();
    planned.machine = machine_named(target.machine);
    return planned;
  }

  std::string name_;
  Device& running_;
  weft::Target planned_;
};

}  // namespace

const Target& target_named(std::string_view name) {
  const auto* found = std::ranges::find(targets, name, &Target::name);
  if (found == std::end(targets)) {
    std::vector<std::string_view> names;
    for (const Target& target : targets) names.push_back(target.name);
    user_error(
        fmt::format("export: there is no target '{}'; there are {}", name, fmt::join(names, ", ")));
  }
  if (!has_llvm() && !found->is_c)
    user_error(fmt::format("export: this build has no LLVM, which makes code for {}", name));
  return *found;
}

LlvmProcessor Target::processor() const {
  if (model.empty()) return llvm_host();
  return {std::string(triple), std::string(model), std::string(features)};
}

}  // namespace exported

std::string export_device(const std::string& target) {
  using namespace exported;
  const exported::Target& found = target_named(target);
  if (found.name == "cpu=native") return setting_int("CLANG") == 0 ? "CPU" : "CPU:LLVM";
  static std::once_flag added;
  std::call_once(added, [] {
    add_named_device(
        kind, "plans for a target of export, and runs here",
        [](std::string_view name) { return std::make_unique<StandIn>(target_named(name)); });
  });
  return fmt::format("{}:{}", kind, target);
}

}  // namespace weft
