// CPU: kernels as machine code for this processor.

#include <elf.h>

#include <cstring>

#include <fmt/core.h>
#include <weft/dev/device/host_memory.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "compiler.h"

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

const Compiler& compiler() {
  return has_llvm() && setting_int("CLANG") == 0 ? llvm_compiler() : clang_compiler();
}

// Both compilers write ELF, whose header tells which one did.
std::unique_ptr<Code> load_code(std::string_view code) {
  Elf64_Ehdr header;
  if (code.size() < sizeof header) user_error("CPU: this is no code");
  std::memcpy(&header, code.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) user_error("CPU: this is no code");
  return header.e_type == ET_DYN ? load_shared_object(code) : load_object_file(code);
}

class CpuProgram final : public Program {
 public:
  explicit CpuProgram(std::string_view code) : code_(load_code(code)) {}

  WEFT_CALLS_COMPILED_CODE void run(std::span<const Argument> arguments,
                                    std::span<const std::int64_t> values) override {
    pointers_.clear();
    for (const Argument& argument : arguments)
      pointers_.push_back(static_cast<std::byte*>(argument.memory) + argument.offset);
    code_->entry()(pointers_.data(), values.data());
  }

 private:
  std::unique_ptr<Code> code_;
  std::vector<void*> pointers_;  // of one run at a time; kept for the next
};

class Cpu final : public Device {
 public:
  explicit Cpu(int index) : name_(index == 0 ? "CPU" : fmt::format("CPU:{}", index)) {}

  std::string_view name() const override { return name_; }
  Allocator& allocator() override { return memory_; }
  Target target() const override { return compiler().target(); }
  std::string render(const Node* kernel) override { return compiler().render(kernel); }
  std::string compile(std::string_view source) override { return compiler().compile(source); }
  std::string compiler_key() const override { return compiler().key(); }
  std::unique_ptr<Program> load(std::string_view code) override {
    return std::make_unique<CpuProgram>(code);
  }

 private:
  std::string name_;
  HostMemory memory_;
};

}  // namespace
}  // namespace cpu

void add_cpu() {
  add_device("CPU", "machine code for this processor, by LLVM; by clang from C where CLANG=1",
             [](int index) -> std::unique_ptr<Device> {
               if (index >= cpu::most_devices)
                 user_error(fmt::format("there is no CPU:{}; the last is CPU:{}", index,
                                        cpu::most_devices - 1));
               return std::make_unique<cpu::Cpu>(index);
             });
}

}  // namespace weft
