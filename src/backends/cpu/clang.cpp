// C, compiled by clang to a shared object. The C is scalar: clang makes vectors of its own.

#include <dlfcn.h>

#include <thread>

#include <fmt/core.h>
#include <weft/dev/base/hash.h>
#include <weft/dev/render/render.h>
#include <weft/error.h>

#include "compiler.h"
#include "process.h"

namespace weft::cpu {
namespace {

// IEEE to the letter: no sum and product become one rounding, nothing is assumed of NaN.
const std::vector<std::string>& options() {
  static const std::vector<std::string> options{
      "-x", "c",    "-std=c17", "-O2", "-march=native", "-fno-math-errno", "-ffp-contract=off",
      "-w", "-fPIC"};
  return options;
}

const std::string& clang() {
  static const std::string program = find_program({"clang", "clang-19"});
  if (program.empty())
    user_error("CPU: there is no clang on PATH to compile with; install one (Debian: clang-19)");
  return program;
}

std::vector<std::string> command(std::initializer_list<std::string> more) {
  std::vector<std::string> words{clang()};
  words.insert(words.end(), options().begin(), options().end());
  words.insert(words.end(), more);
  return words;
}

class ClangCompiler final : public Compiler {
 public:
  Target target() const override {
    return {.lowered = true,
            .ops = rendered_ops(),
            .kinds = int_kinds | KindSet{Kind::Bool, Kind::F32, Kind::F64},
            .workers = static_cast<int>(std::thread::hardware_concurrency())};
  }

  std::string render(const Node* kernel) const override {
    return render_c(kernel, target().scratch_bytes);
  }

  std::string compile(std::string_view source) const override {
    const TemporaryFolder folder;
    const std::string in = (folder / "kernel.c").string(), out = (folder / "kernel.so").string();
    write_file(in, source);
    try {
      run_program(command({"-shared", "-o", out, in, "-lm"}));
    } catch (const Error& error) {
      internal_error(fmt::format("{}\nThe source is\n{}", error.what(), source));
    }
    return read_file(out);
  }

  // What clang predefines names its version and all that it knows of the processor.
  std::string key() const override {
    static const std::string key = [] {
      const std::string macros = run_program(command({"-E", "-dM", "/dev/null"}));
      return fmt::format("clang {:016x}", hash_text(macros));
    }();
    return key;
  }
};

class SharedObject final : public Code {
 public:
  explicit SharedObject(std::string_view code) {
    // The loader takes a name that it has seen for the library that had it: each needs its own.
    const TemporaryFolder folder;
    const std::string file = (folder / "kernel.so").string();
    write_file(file, code);
    library_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr)
      internal_error(fmt::format("CPU: a kernel cannot be loaded: {}", dlerror()));
    entry_ = reinterpret_cast<Entry>(dlsym(library_, "kernel"));
    if (entry_ != nullptr) return;
    dlclose(library_);
    internal_error("CPU: a shared object has no symbol `kernel`");
  }
  ~SharedObject() override { dlclose(library_); }
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;
  Entry entry() const override { return entry_; }

 private:
  void* library_ = nullptr;
  Entry entry_ = nullptr;
};

}  // namespace

const Compiler& clang_compiler() {
  static const ClangCompiler compiler;
  return compiler;
}

std::unique_ptr<Code> load_shared_object(std::string_view code) {
  return std::make_unique<SharedObject>(code);
}

}  // namespace weft::cpu
