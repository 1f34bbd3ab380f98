// Models as libraries in C that need nothing of weft.
//
//   export_c(
//       [&](const std::vector<Tensor>& given) {
//         return std::vector<NamedTensor>{{"scores", model(given[0])}};
//       },
//       {{"image", Tensor::zeros({1, 3, 224, 224})}}, "exported");
//
// The folder then has net.h, which says how the library is called, net.o (or net.c, net.a, net.so) with the code, and
// net.weights with the constants. One call of the function is captured, as by jit(): what it does otherwise than the inputs
// that it is given here, whose values do not matter, is the same in all calls. Random numbers, and reading values, are refused.
//
// - Sizes of inputs may be open (open_size()): each call says them, and the shapes of outputs follow.
// - What a function assigns to is state: memory that the caller keeps from call to call, and that begins as the tensors are when
//   they are exported. They stay as they are.
// - Several functions are one library with several entry points, which share weights and state: net_encode_run, net_decode_run.
//
// docs/export.md has the details.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/jit.h>

namespace weft {

enum class ExportKind : char {
  Object,  // NAME.o, or NAME.c where the target is c
  Static,  // NAME.a
  Shared,  // NAME.so, which the C compiler of setting CC links
};

struct ExportOptions {
  // cpu=native, another processor (cpu=x86-64-v3, cpu=aarch64, cpu=riscv64), or c: source that a compiler of C99 takes.
  std::string target = "cpu=native";
  std::string name = "net";  // of the files, and what all names in them begin with
  std::vector<ExportKind> kinds = {ExportKind::Object};
  // Of what the functions assign to, names: programs find it in the state by them. get_state_dict() has them.
  std::vector<NamedTensor> state = {};
};

// Names of inputs and results become names of C: what cannot stand in those is an underscore.
using ExportedFunction = std::function<std::vector<NamedTensor>(const std::vector<Tensor>& inputs)>;

// A size of inputs that calls of the library say: any from `least` to `most`, which is what it is here.
Dim open_size(std::string_view name, std::int64_t least, std::int64_t most);

struct ExportEntry {
  std::string name;  // in the names of what it is called by; one alone needs none
  ExportedFunction function;
  std::vector<NamedTensor> inputs;
  std::vector<Dim> sizes = {};  // that calls say besides those of inputs: a position, say
};

// A function that is given to jit(), a training step perhaps, with such arguments. It has to last until it is exported.
template <class F, class... Args>
ExportEntry export_entry(std::string name, Jit<F>& function, const Args&... args) {
  BoundCall call = function.bound(args...);
  return {std::move(name),
          std::move(call.function),
          std::move(call.arguments.tensors),
          {call.arguments.sizes.begin(), call.arguments.sizes.end()}};
}

struct ExportReport {
  std::size_t calls = 0;  // of kernels, and copies
  std::size_t weights_bytes = 0, workspace_bytes = 0, state_bytes = 0;
  std::vector<std::string> files;
};
ExportReport export_c(const std::vector<ExportEntry>& entries, const std::string& folder,
                      const ExportOptions& options = {});
ExportReport export_c(const ExportedFunction& function, const std::vector<NamedTensor>& inputs,
                      const std::string& folder, const ExportOptions& options = {});

// The device that the inputs, and all that the function reads, have to be on: it plans for the target, and runs here.
std::string export_device(const std::string& target);

}  // namespace weft
