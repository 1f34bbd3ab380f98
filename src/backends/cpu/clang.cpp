// C, compiled by clang to object files.

#include <fmt/format.h>
#include <weft/dev/base/hash.h>
#include <weft/dev/base/process.h>
#include <weft/dev/llvm/llvm.h>
#include <weft/dev/render/render.h>
#include <weft/error.h>

#include "compiler.h"
#include "host_machine.h"

namespace weft::cpu {
namespace {

// IEEE to the letter: no sum and product become one rounding, nothing is assumed of NaN.
std::vector<std::string> options_for(const Processor& processor) {
  std::vector<std::string> options{
      "-x", "c", "-std=c17", "-O2", "-fno-math-errno", "-ffp-contract=off", "-w", "-fPIC"};
  if (!processor.triple.empty()) options.push_back(fmt::format("--target={}", processor.triple));
  if (processor.model != "generic")
    options.push_back(
        fmt::format("-march={}", processor.model.empty() ? "native" : processor.model));
  return options;
}

const std::string& clang_program() {
  static const std::string program = find_program({"clang", "clang-19"});
  return program;
}

const std::string& clang() {
  const std::string& program = clang_program();
  if (program.empty())
    user_error("CPU: there is no clang on PATH to compile with; install one (Debian: clang-19)");
  return program;
}

std::string file_name(std::size_t number, std::string_view extension) {
  return fmt::format("kernel{}.{}", number, extension);
}

// Clang's messages begin with the name of a file.
std::string failed_source(std::string_view message, std::span<const std::string> sources) {
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (message.find(file_name(i, "c:")) != std::string_view::npos)
      return fmt::format("{} is\n{}", file_name(i, "c"), sources[i]);
  return {};
}

class ClangCompiler final : public Compiler {
 public:
  explicit ClangCompiler(const Processor& processor)
      : processor_(processor), options_(options_for(processor)) {}

  // The same vectors as by LLVM, and the same speeds, where it is there to measure them.
  Target target() const override {
    Target target = target_of(processor_);
    target.vector_bytes = processor_.vector_bytes;
    target.machine = finds_llvm() ? llvm_compiler(processor_).target().machine
                                  : host_machine(processor_.vector_bytes);
    return target;
  }

  std::string render(const Node* kernel) const override {
    return render_c(kernel, target_of(processor_).scratch_bytes);
  }

  // One run for all: starting clang takes longer than most kernels do.
  std::vector<std::string> compile(std::span<const std::string> sources) const override {
    const TemporaryFolder folder;
    std::vector<std::string> words = command({"-c"});
    for (std::size_t i = 0; i < sources.size(); ++i) {
      words.push_back(file_name(i, "c"));
      write_text(folder / words.back(), sources[i]);
    }
    try {
      run_program(words, folder.path());
    } catch (const Error& error) {
      throw Error(fmt::format("{}\n{}", error.what(), failed_source(error.what(), sources)));
    }
    std::vector<std::string> objects;
    for (std::size_t i = 0; i < sources.size(); ++i)
      objects.push_back(read_text(folder / file_name(i, "o")));
    return objects;
  }

  // What clang predefines names its version and all that it knows of the processor.
  std::string key() const override {
    std::call_once(asked_, [&] {
      const std::string macros = run_program(command({"-E", "-dM", "/dev/null"}));
      const std::string words = fmt::format("{} -c", fmt::join(options_, " "));
      key_ = fmt::format("clang {:016x}", hash_mix(hash_text(macros), hash_text(words)));
    });
    return key_;
  }

 private:
  std::vector<std::string> command(std::initializer_list<std::string> more) const {
    std::vector<std::string> words{clang()};
    words.insert(words.end(), options_.begin(), options_.end());
    words.insert(words.end(), more);
    return words;
  }

  const Processor& processor_;
  std::vector<std::string> options_;
  mutable std::once_flag asked_;
  mutable std::string key_;
};

}  // namespace

bool finds_clang() { return !clang_program().empty(); }

const Compiler& clang_compiler(const Processor& processor) {
  return compiler_for<ClangCompiler>(processor);
}

}  // namespace weft::cpu
