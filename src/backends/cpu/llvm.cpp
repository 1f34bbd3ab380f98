// LLVM in this process: IR text to an object file. The only source besides src/symbols/llvm.cpp that
// includes its headers.

#include <algorithm>

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

#include <weft/dev/base/parallel.h>
#include <weft/dev/render/render.h>
#include <weft/error.h>

#include "compiler.h"
#include "host_machine.h"

namespace weft::cpu {
namespace {

void required(llvm::Error error) {
  if (error) internal_error("LLVM: " + llvm::toString(std::move(error)));
}

// This processor, as LLVM describes it.
struct Host {
  Host() {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    triple = llvm::sys::getProcessTriple();
    name = llvm::sys::getHostCPUName().str();
    std::vector<std::string> list;
    for (const auto& feature : llvm::sys::getHostCPUFeatures())
      list.push_back((feature.second ? "+" : "-") + feature.first().str());
    std::sort(list.begin(), list.end());
    for (const std::string& feature : list) features += (features.empty() ? "" : ",") + feature;
    const auto has = [&](std::string_view feature) {
      return std::find(list.begin(), list.end(), feature) != list.end();
    };
    fuses = has("+fma") || has("+neon");
    vector_bytes = has("+avx512f") ? 64 : has("+avx2") ? 32 : 16;
  }

  // Machines are not shared between threads.
  std::unique_ptr<llvm::TargetMachine> machine() const {
    std::string problem;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, problem);
    if (target == nullptr) internal_error("LLVM: " + problem);
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
    return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
        triple, name, features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small));
  }

  std::string triple, name, features;
  int vector_bytes = 0;
  bool fuses = false;
};

const Host& host() {
  static const Host host;
  return host;
}

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

std::string object_of(const std::string& source) {
  const std::unique_ptr<llvm::TargetMachine> machine = host().machine();
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(source, problem, context);
  if (module == nullptr)
    internal_error(fmt::format("LLVM: line {}: {}\nThe source is\n{}", problem.getLineNo(),
                               problem.getMessage().str(), source));
  module->setTargetTriple(host().triple);
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
  Target target() const override {
    return {.lowered = true,
            .ops = rendered_ops(),
            .kinds = int_kinds | KindSet{Kind::Bool, Kind::F32, Kind::F64},
            .vector_bytes = host().vector_bytes,
            .fuses = host().fuses,
            .workers = thread_count(),
            .machine = host_machine(host().vector_bytes)};
  }

  std::string render(const Node* kernel) const override {
    return render_llvm(kernel, target().scratch_bytes);
  }

  std::vector<std::string> compile(std::span<const std::string> sources) const override {
    std::vector<std::string> objects;
    for (const std::string& source : sources) objects.push_back(object_of(source));
    return objects;
  }

  std::string key() const override {
    return fmt::format("llvm {} small {} {}", LLVM_VERSION_STRING, host().name, host().features);
  }
};

}  // namespace

bool has_llvm() { return true; }

const Compiler& llvm_compiler() {
  static const LlvmCompiler compiler;
  return compiler;
}

}  // namespace weft::cpu
