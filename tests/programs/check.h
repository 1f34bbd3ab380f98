// Runs programs in several ways, and compares with what computing every tensor for itself gives.
#pragma once

#include <optional>
#include <span>

#include "perturbed.h"
#include "program.h"

namespace weft {

// A way to run a program.
struct Variant {
  std::string_view name, device;
  int noopt = 0, clang = 0, in_place = 1;
  bool realize_each = false;   // after each instruction, not all at the end
  std::uint64_t every = 1;     // of how many programs one is run so
  std::string_view skip = "";  // passes
};

// What a program is to give.
class Expected {
 public:
  // Throws where the program cannot be built.
  explicit Expected(const Script& program);

  // Says what is wrong with the values of an output, if anything is.
  std::optional<std::string> complaint(std::size_t output, const std::vector<Bits>& found);
  // The values of an instruction, as far as they are known.
  const Array& value(std::size_t instruction) const { return samples_[0][instruction]; }
  DType dtype(std::size_t instruction) const { return graphs_[instruction]->dtype(); }
  // How many elements of the outputs all runs agree on, and how many there are.
  std::pair<std::size_t, std::size_t> certain() const;

 private:
  void draw(std::size_t samples);
  bool agree(std::size_t instruction, std::size_t element) const;
  bool is_possible(std::size_t instruction, std::size_t element, Bits found) const;

  std::vector<std::size_t> outputs_;
  std::vector<UOp> graphs_;                  // by instruction
  std::vector<std::vector<Array>> samples_;  // of each run, by instruction
};

struct Fault {
  Variant variant;
  std::string message;
  bool is_error = false;  // it threw
};

// The first variant that does not do what is expected.
std::optional<Fault> find_fault(const Script& program, Expected& expected,
                                std::span<const Variant> variants);

// The program and the fault for a person: C++ that shows it.
std::string report(const Script& program, const Fault& fault);

}  // namespace weft
