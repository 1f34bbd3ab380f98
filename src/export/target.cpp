#include "target.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/dev/device/device.h>
#include <weft/error.h>
#include <weft/export.h>
#include <weft/settings.h>

namespace weft {
namespace exported {
namespace {

constexpr std::string_view x86 = "x86_64-unknown-linux-gnu", arm = "aarch64-unknown-linux-gnu",
                           riscv = "riscv64-unknown-linux-gnu";

// clang-format off
constexpr Target targets[] = {
    {"cpu=native",    "CPU:LLVM",            "",    "",          "",               ""},
    {"cpu=x86-64-v2", "CPU:LLVM:x86-64-v2",  x86,   "x86-64-v2", "",               ""},
    {"cpu=x86-64-v3", "CPU:LLVM:x86-64-v3",  x86,   "x86-64-v3", "",               ""},
    {"cpu=x86-64-v4", "CPU:LLVM:x86-64-v4",  x86,   "x86-64-v4", "",               ""},
    {"cpu=aarch64",   "CPU:LLVM:aarch64",    arm,   "generic",   "",               "aarch64-linux-gnu-gcc"},
    {"cpu=riscv64",   "CPU:LLVM:riscv64",    riscv, "generic",   "+m,+a,+f,+d,+c", "riscv64-linux-gnu-gcc"},
    // From C for a processor without multiply-add come programs of scalars that any processor can run.
    {"c",             "CPU:CLANG:x86-64-v2", "",    "",          "",               "", true},
};
// clang-format on

constexpr const char* kind = "EXPORT";

// Schedules and lowers as the device that plans for a target does, and runs what comes of that here: kernels
// mean the same on all processors. So constants can be computed, in the order that kernels of the target read them in.
class StandIn final : public Device {
 public:
  explicit StandIn(const exported::Target& target)
      : name_(fmt::format("{}:{}", kind, target.name)),
        planning_(find_device(target.device)),
        running_(find_device(target.is_c ? "CPU" : "CPU:LLVM")) {}

  std::string_view name() const override { return name_; }
  Allocator& allocator() override { return running_.allocator(); }
  weft::Target target() const override {
    weft::Target target = planning_.target();
    const weft::Target here = running_.target();
    if (target.machine.levels.empty()) target.machine = here.machine;
    if (!(target.converts == here.converts)) target.converts = {};  // constants are computed here
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
  std::string name_;
  Device &planning_, &running_;
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
