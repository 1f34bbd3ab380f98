// IR text to an object file. A part of the module.

#include <algorithm>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include "module.h"

namespace weft::module {
namespace {

// What this processor has, sorted.
std::string features_here() {
  std::vector<std::string> list;
  for (const auto& feature : llvm::sys::getHostCPUFeatures())
    list.push_back((feature.second ? "+" : "-") + feature.first().str());
  std::sort(list.begin(), list.end());
  std::string features;
  for (const std::string& feature : list) features += (features.empty() ? "" : ",") + feature;
  return features;
}

// Switches that LLVM has for its own command line only. Without the scheduler after register allocation, and with fewer
// accesses that the one before it compares pairwise, compiling takes a fifth less time. Processors that reorder
// instructions themselves need neither much.
void set_switches() {
  for (const auto& [name, value] :
       {std::pair{"post-RA-scheduler", "false"}, {"dag-maps-huge-region", "100"}})
    if (auto found = llvm::cl::getRegisteredOptions().find(name);
        found != llvm::cl::getRegisteredOptions().end())
      found->second->addOccurrence(1, name, value);
}

// One thread at a time: LLVM's list of targets has no lock.
const llvm::Target& target_of(const std::string& triple) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  [[maybe_unused]] static const bool is_set = (set_switches(), true);
  if (llvm::Triple(triple).getArch() == llvm::Triple(llvm::sys::getProcessTriple()).getArch()) {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  } else {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
  }
  std::string problem;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (target == nullptr) throw std::runtime_error(problem);
  return *target;
}

// Machines are not shared between threads.
std::unique_ptr<llvm::TargetMachine> machine_of(const WeftLlvmProcessor& processor) {
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  options.UseInitArray = true;  // what is called when a library is loaded, as all linkers know it
  return std::unique_ptr<llvm::TargetMachine>(
      target_of(processor.triple)
          .createTargetMachine(processor.triple, processor.model, processor.features, options,
                               llvm::Reloc::PIC_, llvm::CodeModel::Small));
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
  if (llvm::Error error = builder.parsePassPipeline(passes, "function(sroa,early-cse)"))
    throw std::runtime_error(llvm::toString(std::move(error)));
  passes.run(module, modules);
}

using Bytes = llvm::SmallVector<char, 0>;

std::unique_ptr<llvm::Module> parsed(const char* source, const llvm::TargetMachine& machine,
                                     llvm::LLVMContext& context) {
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(source, problem, context);
  if (module == nullptr)
    throw std::runtime_error("line " + std::to_string(problem.getLineNo()) + ": " +
                             problem.getMessage().str());
  module->setTargetTriple(machine.getTargetTriple().str());
  module->setDataLayout(machine.createDataLayout());
  return module;
}

Bytes emitted(llvm::Module& module, llvm::TargetMachine& machine) {
  if (machine.getTargetTriple().isX86()) {
    spell_out_casts(module);
    choose_largest_by_range(module, machine);
  }
  optimise(module, machine);
  Bytes object;
  llvm::raw_svector_ostream out(object);
  llvm::legacy::PassManager emit;
  if (machine.addPassesToEmitFile(emit, out, nullptr, llvm::CodeGenFileType::ObjectFile))
    throw std::runtime_error("no object files for this processor");
  emit.run(module);
  return object;
}

Bytes object_of(const char* source, const WeftLlvmProcessor& processor) {
  const std::unique_ptr<llvm::TargetMachine> machine = machine_of(processor);
  llvm::LLVMContext context;
  return emitted(*parsed(source, *machine, context), *machine);
}

// Kernels are all called `kernel`, and some say beside it how many `threads` they want: who calls them in a
// library knows.
void rename_kernel(llvm::Module& module, const char* name) {
  module.getFunction("kernel")->setName(name);
  if (llvm::GlobalVariable* threads = module.getNamedGlobal("threads")) threads->eraseFromParent();
}

Bytes library_of(std::span<const WeftLlvmPart> parts, const WeftLlvmProcessor& processor) {
  const std::unique_ptr<llvm::TargetMachine> machine = machine_of(processor);
  llvm::LLVMContext context;
  llvm::Module all("library", context);
  all.setTargetTriple(processor.triple);
  all.setDataLayout(machine->createDataLayout());
  for (const WeftLlvmPart& part : parts) {
    std::unique_ptr<llvm::Module> module = parsed(part.source, *machine, context);
    if (part.name != nullptr) rename_kernel(*module, part.name);
    if (llvm::Linker::linkModules(all, std::move(module)))
      throw std::runtime_error("parts of a library do not go together");
  }
  for (const WeftLlvmPart& part : parts)
    if (part.name != nullptr)
      all.getFunction(part.name)->setLinkage(llvm::GlobalValue::InternalLinkage);
  return emitted(all, *machine);
}

// Whether there is an object. If not, what is wrong is taken in place of it.
template <class Make>
bool given_or_why_not(WeftTakeText take, void* to, Make make) {
  try {
    const Bytes object = make();
    take(to, object.data(), object.size());
    return true;
  } catch (const std::runtime_error& error) {
    take(to, error.what(), std::char_traits<char>::length(error.what()));
    return false;
  }
}

}  // namespace

void host(WeftTakeProcessor take, void* to) {
  const std::string triple = llvm::sys::getProcessTriple(), features = features_here();
  const std::string model = llvm::sys::getHostCPUName().str();
  const WeftLlvmProcessor processor{triple.c_str(), model.c_str(), features.c_str()};
  take(to, &processor);
}

bool compile(const char* source, const WeftLlvmProcessor* processor, WeftTakeText take, void* to) {
  return given_or_why_not(take, to, [&] { return object_of(source, *processor); });
}

bool link(const WeftLlvmPart* parts, std::size_t count, const WeftLlvmProcessor* processor,
          WeftTakeText take, void* to) {
  return given_or_why_not(take, to, [&] { return library_of({parts, count}, *processor); });
}

}  // namespace weft::module
