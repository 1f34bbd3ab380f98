// LLVM IR, compiled by LLVM in this process.

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/core.h>

#include <weft/dev/base/parallel.h>
#include <weft/dev/llvm/llvm.h>
#include <weft/dev/render/render.h>
#include <weft/settings.h>

#include "calibrate.h"
#include "compiler.h"
#include "host_machine.h"
#include "host_processor.h"
#include "known_ports.h"

namespace weft::cpu {
namespace {

constexpr int revision = 3;  // of what the module makes of the same text

class LlvmCompiler final : public Compiler {
 public:
  explicit LlvmCompiler(const Processor& processor) : processor_(processor) {}

  Target target() const override {
    Target target = target_of(processor_);
    target.vector_bytes = processor_.vector_bytes;
    if (processor_.vector_bytes == 64) target.ops.add(Op::Ldexp);  // an instruction of AVX-512
    if (processor_.has_halves) target.converts = {Kind::F16};
    if (processor_.rounds_bf16) target.rounds = {Kind::BF16};
    target.machine = machine();
    for (const MmaShape& shape : mma_shapes())
      if (std::ranges::find(processor_.products, shape.feature) != processor_.products.end())
        target.mma.push_back(shape);
    return target;
  }

  std::string render(const Node* kernel) const override {
    const double caches = host_machine(processor_.vector_bytes).memory.back().bytes;
    return render_llvm(kernel, target_of(processor_).scratch_bytes,
                       static_cast<std::size_t>(caches));
  }

  std::vector<std::string> compile(std::span<const std::string> sources) const override {
    const LlvmProcessor processor = in_words();
    std::vector<std::string> objects(sources.size());
    parallel_tasks(std::ssize(sources), [&](std::int64_t index) {
      const auto i = static_cast<std::size_t>(index);
      objects[i] = llvm_object(sources[i], processor);
    });
    return objects;
  }

  std::string key() const override {
    const LlvmProcessor processor = in_words();
    return fmt::format("llvm {} module {} small {} {} {}", llvm_version(), revision,
                       processor.triple, processor.model, processor.features);
  }

 private:
  LlvmProcessor in_words() const {
    if (processor_.model.empty()) return host_processor();
    return {std::string(processor_.triple), std::string(processor_.model),
            std::string(processor_.features)};
  }

  // Measured where such code runs, by the first who asks.
  DeviceModel machine() const {
    DeviceModel assumed = host_machine(processor_.vector_bytes);
    if (!processor_.runs_here || setting_int("CALIBRATE") == 0) return assumed;
    const std::string& model = host_processor().model;
    set_known_ports(model, assumed);
    const DiskCache cache = disk_cache();
    const std::lock_guard lock(mutex_);
    const auto known = machines_.find({cache.folder(), assumed.workers()});
    if (known != machines_.end()) return known->second;
    const DeviceModel machine = calibrated(cache, machine_key(assumed), assumed, [&] {
      DeviceModel found = measured(assumed, processor_.has_fma, [&](const std::string& loops) {
        return compile({&loops, 1})[0];
      });
      set_known_ports(model, found);  // another thread on the same core takes half of them
      return found;
    });
    return machines_.emplace(std::pair(cache.folder(), assumed.workers()), machine).first->second;
  }

  // All that speeds follow from.
  std::string machine_key(const DeviceModel& assumed) const {
    std::string text =
        fmt::format("speeds 2 {}\n{}\n{} workers, {} bytes, ports {} {} {} {}", key(),
                    host_processor().model, assumed.workers(), assumed.vector_bytes,
                    assumed.fma_ports, assumed.fma_latency, assumed.load_ports, assumed.halves);
    for (const MemorySpace& level : assumed.memory) text += fmt::format(", {}", level.bytes);
    return text;
  }

  const Processor& processor_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<std::filesystem::path, int>, DeviceModel>
      machines_;  // by cache and workers
};

}  // namespace

bool finds_llvm() {
  static const bool is_found = has_llvm() && llvm_problem().empty();
  return is_found;
}

const Compiler& llvm_compiler(const Processor& processor) {
  return compiler_for<LlvmCompiler>(processor);
}

}  // namespace weft::cpu
