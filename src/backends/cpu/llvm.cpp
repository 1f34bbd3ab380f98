// LLVM in this process: IR text to an object file. The only source besides src/symbols/llvm.cpp that
// includes its headers.

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/core.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <weft/dev/render/render.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "calibrate.h"
#include "compiler.h"
#include "host_machine.h"

namespace weft::cpu {
namespace {

void required(llvm::Error error) {
  if (error) internal_error("LLVM: " + llvm::toString(std::move(error)));
}

// What this one has, sorted.
std::string features_here() {
  std::vector<std::string> list;
  for (const auto& feature : llvm::sys::getHostCPUFeatures())
    list.push_back((feature.second ? "+" : "-") + feature.first().str());
  std::sort(list.begin(), list.end());
  std::string features;
  for (const std::string& feature : list) features += (features.empty() ? "" : ",") + feature;
  return features;
}

// A processor, as LLVM describes it. Made by one thread at a time: LLVM's list of targets has no lock.
struct Description {
  explicit Description(const Processor& processor)
      : triple(processor.triple), name(processor.model) {
    if (processor.is_like_this) {
      llvm::InitializeNativeTarget();
      llvm::InitializeNativeTargetAsmPrinter();
    } else {
      llvm::InitializeAllTargetInfos();
      llvm::InitializeAllTargets();
      llvm::InitializeAllTargetMCs();
      llvm::InitializeAllAsmPrinters();
    }
    if (triple.empty()) triple = llvm::sys::getProcessTriple();
    if (name.empty()) {
      name = llvm::sys::getHostCPUName().str();
      features = features_here();
    }
    std::string problem;
    target = llvm::TargetRegistry::lookupTarget(triple, problem);
    if (target == nullptr) internal_error("LLVM: " + problem);
  }

  // Machines are not shared between threads.
  std::unique_ptr<llvm::TargetMachine> machine() const {
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
    return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
        triple, name, features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small));
  }

  std::string triple, name, features;
  const llvm::Target* target = nullptr;
};

// Memory to registers, and what is computed twice once. Loops and vectors are as they should be.
void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  llvm::ModulePassManager passes;
  required(builder.parsePassPipeline(passes, "function(sroa,early-cse)"));
  passes.run(module, modules);
}

std::string object_of(const std::string& source, const Description& processor) {
  const std::unique_ptr<llvm::TargetMachine> machine = processor.machine();
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(source, problem, context);
  if (module == nullptr)
    internal_error(fmt::format("LLVM: line {}: {}\nThe source is\n{}", problem.getLineNo(),
                               problem.getMessage().str(), source));
  module->setTargetTriple(processor.triple);
  module->setDataLayout(machine->createDataLayout());
  optimise(*module, *machine);
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream out(object);
  llvm::legacy::PassManager emit;
  if (machine->addPassesToEmitFile(emit, out, nullptr, llvm::CodeGenFileType::ObjectFile))
    internal_error("LLVM: no object files for this processor");
  emit.run(*module);
  return {object.begin(), object.end()};
}

class LlvmCompiler final : public Compiler {
 public:
  explicit LlvmCompiler(const Processor& processor)
      : processor_(processor), description_(processor) {}

  Target target() const override {
    Target target = target_of(processor_);
    target.vector_bytes = processor_.vector_bytes;
    target.machine = machine();
    return target;
  }

  std::string render(const Node* kernel) const override {
    const double caches = host_machine(processor_.vector_bytes).levels.back().bytes;
    return render_llvm(kernel, target_of(processor_).scratch_bytes,
                       static_cast<std::size_t>(caches));
  }

  std::vector<std::string> compile(std::span<const std::string> sources) const override {
    std::vector<std::string> objects;
    for (const std::string& source : sources) objects.push_back(object_of(source, description_));
    return objects;
  }

  std::string key() const override {
    return fmt::format("llvm {} small {} {} {}", LLVM_VERSION_STRING, description_.triple,
                       description_.name, description_.features);
  }

 private:
  // Measured where such code runs, by the first who asks.
  Machine machine() const {
    const Machine assumed = host_machine(processor_.vector_bytes);
    if (!processor_.runs_here || setting_int("CALIBRATE") == 0) return assumed;
    const DiskCache cache = disk_cache();
    const std::lock_guard lock(mutex_);
    const auto [known, is_new] = machines_.try_emplace({cache.folder(), assumed.workers}, assumed);
    if (is_new)
      known->second = calibrated(cache, machine_key(assumed), assumed, [&] {
        return measured(assumed, processor_.has_fma,
                        [&](const std::string& loops) { return object_of(loops, description_); });
      });
    return known->second;
  }

  // All that speeds follow from.
  std::string machine_key(const Machine& assumed) const {
    std::string text =
        fmt::format("speeds 1 {}\n{}\n{} workers, {} bytes", key(),
                    llvm::sys::getHostCPUName().str(), assumed.workers, assumed.vector_bytes);
    for (const CacheLevel& level : assumed.levels) text += fmt::format(", {}", level.bytes);
    return text;
  }

  const Processor& processor_;
  Description description_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<std::filesystem::path, int>, Machine>
      machines_;  // by cache and workers
};

}  // namespace

bool has_llvm() { return true; }

const Compiler& llvm_compiler(const Processor& processor) {
  return compiler_for<LlvmCompiler>(processor);
}

}  // namespace weft::cpu
