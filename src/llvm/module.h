// What the module consists of: the functions of WeftLlvm.
#pragma once

#include "interface.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace weft::module {

void host(WeftTakeProcessor take, void* to);
bool compile(const char* source, const WeftLlvmProcessor* processor, WeftTakeText take, void* to);
bool link(const WeftLlvmPart* parts, std::size_t count, const WeftLlvmProcessor* processor,
          WeftTakeText take, void* to);
bool archive(const char* name, const char* object, std::size_t size, WeftTakeText take, void* to);
void spell_out_casts(llvm::Module& module);
void choose_largest_by_range(llvm::Module& module, const llvm::TargetMachine& machine);
void frames(const char* file, std::uint64_t address, WeftTakeFrame take, void* to);

}  // namespace weft::module
