// LLVM in this process: IR text to an object file, and object files into memory. The only
// source besides src/symbols/llvm.cpp that includes its headers.

#include <algorithm>
#include <atomic>
#include <thread>

#include <fmt/core.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <weft/dev/render/render.h>
#include <weft/error.h>

#include "compiler.h"

namespace weft::cpu {
namespace {

std::string message_of(llvm::Error error) { return llvm::toString(std::move(error)); }

template <class T>
T required(llvm::Expected<T> value) {
  if (!value) internal_error("LLVM: " + message_of(value.takeError()));
  return std::move(*value);
}
void required(llvm::Error error) {
  if (error) internal_error("LLVM: " + message_of(std::move(error)));
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
    vector_bytes = has("+avx512f") ? 64 : has("+avx2") ? 32 : 16;
  }

  // Machines are not shared between threads.
  std::unique_ptr<llvm::TargetMachine> machine() const {
    std::string problem;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, problem);
    if (target == nullptr) internal_error("LLVM: " + problem);
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
    return std::unique_ptr<llvm::TargetMachine>(
        target->createTargetMachine(triple, name, features, options, llvm::Reloc::PIC_,
                                    std::nullopt, llvm::CodeGenOptLevel::Default, /*JIT=*/true));
  }

  std::string triple, name, features;
  int vector_bytes = 0;
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

class LlvmCompiler final : public Compiler {
 public:
  Target target() const override {
    return {.lowered = true,
            .ops = rendered_ops(),
            .kinds = int_kinds | KindSet{Kind::Bool, Kind::F32, Kind::F64},
            .vector_bytes = host().vector_bytes,
            .workers = static_cast<int>(std::thread::hardware_concurrency())};
  }

  std::string render(const Node* kernel) const override {
    return render_llvm(kernel, target().scratch_bytes);
  }

  std::string compile(std::string_view source) const override {
    const std::unique_ptr<llvm::TargetMachine> machine = host().machine();
    llvm::LLVMContext context;
    llvm::SMDiagnostic problem;
    const std::string text(source);
    const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, problem, context);
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

  std::string key() const override {
    return fmt::format("llvm {} {} {}", LLVM_VERSION_STRING, host().name, host().features);
  }
};

// One for the process, and leaked on purpose: programs in static objects may outlive any destructor.
llvm::orc::LLJIT& jit() {
  static llvm::orc::LLJIT& jit = [&]() -> llvm::orc::LLJIT& {
    static_cast<void>(host());
    return *required(llvm::orc::LLJITBuilder().create()).release();
  }();
  return jit;
}

// Each in a library of its own, so that they all can define `kernel`.
class ObjectFile final : public Code {
 public:
  explicit ObjectFile(std::string_view code) {
    static std::atomic<std::uint64_t> count = 0;
    auto library = jit().createJITDylib(fmt::format("kernel {}", ++count));
    if (!library) internal_error("LLVM: " + message_of(library.takeError()));
    library_ = &*library;
    library_->addGenerator(required(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
        jit().getDataLayout().getGlobalPrefix())));
    llvm::SmallVector<char, 0> copy(code.begin(), code.end());
    required(jit().addObjectFile(
        *library_, std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(copy), false)));
    entry_ = required(jit().lookup(*library_, "kernel")).toPtr<Entry>();
  }
  ~ObjectFile() override {
    llvm::consumeError(jit().getExecutionSession().removeJITDylib(*library_));
  }
  ObjectFile(const ObjectFile&) = delete;
  ObjectFile& operator=(const ObjectFile&) = delete;
  Entry entry() const override { return entry_; }

 private:
  llvm::orc::JITDylib* library_ = nullptr;
  Entry entry_ = nullptr;
};

}  // namespace

bool has_llvm() { return true; }

const Compiler& llvm_compiler() {
  static const LlvmCompiler compiler;
  return compiler;
}

std::unique_ptr<Code> load_object_file(std::string_view code) {
  return std::make_unique<ObjectFile>(code);
}

}  // namespace weft::cpu
