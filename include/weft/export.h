// Models as libraries in C that need nothing of weft.
//
//   export_c(
//       [&](const std::vector<Tensor>& given) {
//         return std::vector<NamedTensor>{{"scores", model(given[0])}};
//       },
//       {{"image", Tensor::zeros({1, 3, 224, 224})}}, "exported");
//
// The folder then has net.h, which says how the library is called, net.o (or net.c, net.a, net.so) with the code, and
// net.weights with the constants. One call of the function is captured, as by jit(): shapes are those of the inputs that it is given
// here, whose values do not matter. What it does besides giving results of its arguments is refused: assigning to
// tensors, drawing random numbers, reading values. docs/export.md has the details.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <weft/fields.h>

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
};

// Names of inputs and results become names of C: what cannot stand in those is an underscore.
using ExportedFunction = std::function<std::vector<NamedTensor>(const std::vector<Tensor>& inputs)>;

struct ExportReport {
  std::size_t calls = 0;  // of kernels, and copies
  std::size_t weights_bytes = 0, workspace_bytes = 0;
  std::vector<std::string> files;
};
ExportReport export_c(const ExportedFunction& function, const std::vector<NamedTensor>& inputs,
                      const std::string& folder, const ExportOptions& options = {});

// The device that the inputs, and all that the function reads, have to be on: it plans for the target, and runs here.
std::string export_device(const std::string& target);

}  // namespace weft
