// CPU: kernels as machine code for this processor.

#include <algorithm>
#include <cfenv>
#include <cstring>

#include <fmt/format.h>
#include <weft/dev/base/parallel.h>
#include <weft/dev/device/host_memory.h>
#include <weft/dev/llvm/llvm.h>
#include <weft/dev/render/render.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "compiler.h"
#include "elf_object.h"
#include "hardware.h"

namespace weft {
namespace cpu {
namespace {

constexpr int most_devices = 8;

// Without LLVM's module, clang compiles where there is one.
bool falls_back() {
  static const bool is_missing = [] {
    if (finds_llvm() || !finds_clang()) return false;
    fmt::print(stderr, "weft: clang compiles the kernels, a process for each. {}\n",
               llvm_problem());
    return true;
  }();
  return is_missing;
}

const Compiler& chosen_compiler(const Processor& processor) {
  return has_llvm() && setting_int("CLANG") == 0 && !falls_back() ? llvm_compiler(processor)
                                                                  : clang_compiler(processor);
}

Entry entry_of(const ElfObject& object) {
  if (!object.runs_here()) user_error("CPU: this code is for another processor");
  return reinterpret_cast<Entry>(object.find("kernel"));
}

// Kernels round to nearest and keep what is denormal, whatever the program has chosen for itself. The
// threads of the pool do so anyway.
class StandardFloats {
 public:
#if defined(__x86_64__)
  StandardFloats() : before_(__builtin_ia32_stmxcsr()) { __builtin_ia32_ldmxcsr(0x1f80); }
  ~StandardFloats() { __builtin_ia32_ldmxcsr(before_); }

 private:
  unsigned before_;
#else
  StandardFloats() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~StandardFloats() { std::fesetenv(&before_); }

 private:
  std::fenv_t before_{};
#endif

 public:
  StandardFloats(const StandardFloats&) = delete;
  StandardFloats& operator=(const StandardFloats&) = delete;
};

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
    thread_local std::vector<void*> pointers;  // kept for the next run
    pointers.clear();
    for (const Argument& argument : arguments)
      pointers.push_back(static_cast<std::byte*>(argument.memory) + argument.offset);
    // Threads of the pool have vectors of their own.
    void* const* const arguments_of_kernel = pointers.data();
    const StandardFloats floats;
    parallel(threads_, [&](std::int64_t thread) WEFT_CALLS_COMPILED_CODE {
      entry_(arguments_of_kernel, values.data(), thread);
    });
  }

 private:
  ElfObject object_;
  Entry entry_;
  std::int64_t threads_;
};

using ChooseCompiler = const Compiler& (*)(const Processor&);  // each time: settings may change

// What stands between CPU and its number: a compiler, a processor, both or neither.
struct Make {
  ChooseCompiler compiler = chosen_compiler;
  const Processor* processor = &this_processor();
};

const Processor& processor_named(std::string_view name, std::string_view device) {
  const auto all = processors();
  const auto found = std::ranges::find(all, name, &Processor::name);
  if (found == all.end()) {
    std::vector<std::string_view> names;
    for (const Processor& processor : all) names.push_back(processor.name);
    user_error(
        fmt::format("'{}' is not the name of a device: after the colon stands its number, or "
                    "a compiler (LLVM, CLANG) and a processor ({}), or one of these",
                    device, fmt::join(names, ", ")));
  }
  if (found->is_like_this && !found->runs_here)
    user_error(fmt::format("{}: this processor has not all that {} has", device, name));
  return *found;
}

Make make_named(std::string_view name) {
  const std::string device = fmt::format("CPU:{}", name);
  const std::size_t end = std::min(name.find(':'), name.size());
  const std::string_view first = name.substr(0, end);
  Make make;
  if (first == "LLVM" || first == "CLANG") {
    if (first == "LLVM" && !has_llvm())
      user_error(fmt::format("{}: this build has no LLVM", device));
    make.compiler = first == "LLVM" ? llvm_compiler : clang_compiler;
    if (end == name.size()) return make;
    name.remove_prefix(end + 1);
  }
  make.processor = &processor_named(name, device);
  return make;
}

class Cpu final : public Device {
 public:
  Cpu(std::string name, const Make& make) : name_(std::move(name)), make_(make) {}

  std::string_view name() const override { return name_; }
  Allocator& allocator() override { return memory_; }
  Target target() const override { return compiler().target(); }
  Hardware hardware() const override { return hardware_of(*make_.processor, target()); }
  std::string render(const Node* kernel) override { return compiler().render(kernel); }
  std::string compile(std::string_view source) override {
    const std::string only(source);
    return compile_all({&only, 1})[0];
  }
  std::vector<std::string> compile_all(std::span<const std::string> sources) override {
    return compiler().compile(sources);
  }
  std::string compiler_key() const override { return compiler().key(); }
  std::unique_ptr<Program> load(std::string_view code) override {
    return std::make_unique<CpuProgram>(code);
  }

 private:
  const Compiler& compiler() const { return make_.compiler(*make_.processor); }

  std::string name_;
  Make make_;
  HostMemory memory_;
};

std::unique_ptr<Device> open(const std::string& kind, int index, const Make& make) {
  if (index >= most_devices)
    user_error(
        fmt::format("there is no {0}:{1}; the last is {0}:{2}", kind, index, most_devices - 1));
  return std::make_unique<Cpu>(index == 0 ? kind : fmt::format("{}:{}", kind, index), make);
}

}  // namespace

Target target_of(const Processor& processor) {
  const OpSet all = rendered_ops();
  const auto has = [&](Op op) {
    return all.contains(op) && (processor.has_fma || op != Op::MulAcc);
  };
  return {.lowered = true,
          .ops = OpSet::where(has),
          .kinds = int_kinds | KindSet{Kind::Bool, Kind::F32, Kind::F64},
          .workers = thread_count()};
}

}  // namespace cpu

void add_cpu() {
  add_device_of_makes(
      "CPU",
      "this processor: LLVM compiles kernels, clang if CLANG=1; CPU:LLVM:x86-64-v3, CPU:CLANG and "
      "CPU:x86-64-v3 choose the compiler and the instruction set",
      [](std::string_view make, int index) {
        return make.empty() ? cpu::open("CPU", index, {})
                            : cpu::open(fmt::format("CPU:{}", make), index, cpu::make_named(make));
      });
  add_device("CLANG", "this processor: clang compiles kernels from C",
             [](int index) { return cpu::open("CLANG", index, {cpu::clang_compiler}); });
}

}  // namespace weft
