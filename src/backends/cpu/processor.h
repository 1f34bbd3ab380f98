// The processors that kernels can be compiled for.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace weft::cpu {

struct Processor {
  std::string_view name;      // as in CPU:LLVM:x86-64-v3
  std::string_view triple;    // as compilers name its kind; empty: the kind of this one
  std::string_view model;     // as compilers name what it has; empty: all that this one has
  std::string_view features;  // beyond the model, in LLVM's words
  int vector_bytes;
  bool has_fma;
  bool has_halves;                         // it casts f16 from and to f32
  bool rounds_bf16;                        // f32 to it, by an instruction
  std::vector<std::string_view> products;  // of matrices: the features of MmaShape that it has
  bool runs_here;
  bool is_like_this;  // of the same kind: what it runs might run here
};

// This one first, then by what they have.
std::span<const Processor> processors();
const Processor& this_processor();

}  // namespace weft::cpu
