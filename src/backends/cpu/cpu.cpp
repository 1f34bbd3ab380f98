// CPU: kernels as machine code for this processor.

#include <cstring>

#include <fmt/core.h>
#include <weft/dev/base/parallel.h>
#include <weft/dev/device/host_memory.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "compiler.h"
#include "elf_object.h"

namespace weft {
namespace cpu {
namespace {

constexpr int most_devices = 8;

// UBSan would look for a function's type before its first byte, where compiled kernels have none.
#if defined(__clang__)
#define WEFT_CALLS_COMPILED_CODE __attribute__((no_sanitize("function")))
#else
#define WEFT_CALLS_COMPILED_CODE
#endif

const Compiler& chosen_compiler() {
  return has_llvm() && setting_int("CLANG") == 0 ? llvm_compiler() : clang_compiler();
}

Entry entry_of(const ElfObject& object) {
  if (!object.runs_here()) user_error("CPU: this code is for another processor");
  return reinterpret_cast<Entry>(object.find("kernel"));
}

// How many threads run it, each once.
std::int64_t threads_of(const ElfObject& object) {
  if (!object.defines("threads")) return 1;
  const std::span<const std::byte> bytes = object.contents("threads");
  std::int64_t threads = 0;
  if (bytes.size() != sizeof threads) internal_error("CPU: the number of threads is damaged");
  std::memcpy(&threads, bytes.data(), sizeof threads);
  return threads;
}

class CpuProgram final : public Program {
 public:
  explicit CpuProgram(std::string_view code)
      : object_(code), entry_(entry_of(object_)), threads_(threads_of(object_)) {}

  void run(std::span<const Argument> arguments, std::span<const std::int64_t> values) override {
    pointers_.clear();
    for (const Argument& argument : arguments)
      pointers_.push_back(static_cast<std::byte*>(argument.memory) + argument.offset);
    parallel(threads_, [&](std::int64_t thread) WEFT_CALLS_COMPILED_CODE {
      entry_(pointers_.data(), values.data(), thread);
    });
  }

 private:
  ElfObject object_;
  Entry entry_;
  std::int64_t threads_;
  std::vector<void*> pointers_;  // of one run at a time; kept for the next
};

class Cpu final : public Device {
 public:
  using ChooseCompiler = const Compiler& (*)();  // each time: settings may change

  Cpu(std::string name, ChooseCompiler compiler) : name_(std::move(name)), compiler_(compiler) {}

  std::string_view name() const override { return name_; }
  Allocator& allocator() override { return memory_; }
  Target target() const override { return compiler_().target(); }
  std::string render(const Node* kernel) override { return compiler_().render(kernel); }
  std::string compile(std::string_view source) override {
    const std::string only(source);
    return compile_all({&only, 1})[0];
  }
  std::vector<std::string> compile_all(std::span<const std::string> sources) override {
    return compiler_().compile(sources);
  }
  std::string compiler_key() const override { return compiler_().key(); }
  std::unique_ptr<Program> load(std::string_view code) override {
    return std::make_unique<CpuProgram>(code);
  }

 private:
  std::string name_;
  ChooseCompiler compiler_;
  HostMemory memory_;
};

void add(std::string_view kind, std::string_view meaning, Cpu::ChooseCompiler compiler) {
  add_device(kind, meaning, [kind, compiler](int index) -> std::unique_ptr<Device> {
    if (index >= most_devices)
      user_error(
          fmt::format("there is no {0}:{1}; the last is {0}:{2}", kind, index, most_devices - 1));
    return std::make_unique<Cpu>(index == 0 ? std::string(kind) : fmt::format("{}:{}", kind, index),
                                 compiler);
  });
}

}  // namespace
}  // namespace cpu

void add_cpu() {
  cpu::add("CPU", "machine code for this processor, by LLVM; by clang from C where CLANG=1",
           cpu::chosen_compiler);
  cpu::add("CLANG", "this processor, always by clang from C", cpu::clang_compiler);
}

}  // namespace weft
