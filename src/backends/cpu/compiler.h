// The compilers of the device CPU: from a program to an object file that defines `kernel`.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <weft/dev/device/device.h>

#include "processor.h"

// UBSan would look for a function's type before its first byte, where compiled kernels have none.
#if defined(__clang__)
#define WEFT_CALLS_COMPILED_CODE __attribute__((no_sanitize("function")))
#else
#define WEFT_CALLS_COMPILED_CODE
#endif

namespace weft::cpu {

class Compiler {
 public:
  virtual ~Compiler() = default;

  virtual Target target() const = 0;
  virtual std::string render(const Node* kernel) const = 0;
  // An object file for each source.
  virtual std::vector<std::string> compile(std::span<const std::string> sources) const = 0;
  // What these depend on besides the source: versions, options, this processor.
  virtual std::string key() const = 0;
};

// The entry of every kernel, whether or not it looks at the number of its thread.
using Entry = void (*)(void* const* arguments, const std::int64_t* values, std::int64_t thread);

// C, by the program clang.
const Compiler& clang_compiler(const Processor& processor);

// LLVM IR, in this process. It throws where that has no LLVM.
const Compiler& llvm_compiler(const Processor& processor);

// Whether it is to be had.
bool finds_clang();
bool finds_llvm();

// The one of its kind for the processor, made under a lock.
template <class C>
const Compiler& compiler_for(const Processor& processor) {
  static std::mutex mutex;
  static std::map<const Processor*, std::unique_ptr<const C>> compilers;
  const std::lock_guard lock(mutex);
  std::unique_ptr<const C>& compiler = compilers[&processor];
  if (compiler == nullptr) compiler = std::make_unique<const C>(processor);
  return *compiler;
}

// What programs for the processor may be made of, scalars only.
Target target_of(const Processor& processor);

}  // namespace weft::cpu
