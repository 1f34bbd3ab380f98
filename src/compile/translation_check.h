// Translation validation (VALIDATE=2): a kernel is interpreted before the passes and after each of them, on the same
// inputs, and what it writes is compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

class TranslationCheck {
 public:
  // Of kernels (SINKs) before the first pass: the one that is asked for, then those that fill its prepacked weights.
  explicit TranslationCheck(const std::vector<UOp>& roots);

  // What the pass made of them. Throws where it writes something else, naming the pass. Kernels that the interpreter
  // does not run, or that take it too long, are compared after a later pass.
  void after(std::string_view pass, const std::vector<UOp>& roots);

 private:
  struct Memory {
    DType dtype = {};
    std::vector<std::byte> bytes = {};
    bool is_written = false;
  };
  using Memories = std::map<std::int32_t, Memory>;  // by the slots of PARAMs
  // What is there once the kernels have run; nothing where they took too long.
  using Outcome = std::optional<Memories>;

  std::vector<Outcome> outcomes(const std::vector<UOp>& roots) const;  // by kinds of inputs
  Outcome outcome(const std::vector<UOp>& roots, std::size_t kind) const;
  std::optional<Memories> inputs(const std::vector<UOp>& roots, std::size_t kind) const;
  // False where it took too long.
  bool compare(std::string_view pass, const std::vector<UOp>& roots, std::size_t kind,
               const Memories& before) const;
  double error_of(const std::vector<std::byte>& output, DType scalar) const;
  void add_unchecked(std::string_view pass);
  [[noreturn]] void report(std::string_view pass, const UOp& kernel, std::size_t kind,
                           const std::string& difference) const;

  bool has_float_sums_ = false;
  double precision_ = 0;                  // of the narrowest floats that the kernels round,
  std::vector<std::int32_t> slots_;       // the slots that they have before all passes,
  std::vector<std::uint64_t> variables_;  // and the ids of what they are called with
  // Of the kernels as they are called, and of one iteration of the loop around them (strip_loop).
  std::optional<std::vector<Outcome>> whole_, iteration_;
  std::string unchecked_;  // passes since the last comparison
};

}  // namespace weft
