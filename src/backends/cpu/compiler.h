// The compilers of the device CPU: from a program to code, and from code to what runs.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <weft/dev/device/device.h>

namespace weft::cpu {

class Compiler {
 public:
  virtual ~Compiler() = default;

  virtual Target target() const = 0;
  virtual std::string render(const Node* kernel) const = 0;
  virtual std::string compile(std::string_view source) const = 0;
  // What the code depends on besides the source: versions, options, this processor.
  virtual std::string key() const = 0;
};

// The entry of every kernel.
using Entry = void (*)(void* const* arguments, const std::int64_t* values);

// Code in the memory of this process; unloaded with this.
class Code {
 public:
  virtual ~Code() = default;
  virtual Entry entry() const = 0;
};

// C, by the program clang. The code is a shared object.
const Compiler& clang_compiler();
std::unique_ptr<Code> load_shared_object(std::string_view code);

// LLVM IR, in this process. The code is an object file. Throws in builds without LLVM.
bool has_llvm();
const Compiler& llvm_compiler();
std::unique_ptr<Code> load_object_file(std::string_view code);

}  // namespace weft::cpu
