// Tensor programs as data: what a random program is made of, so that it can be run in many ways, made
// smaller, and printed as C++.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/dev/ir/kind_set.h>
#include <weft/weft.h>

namespace weft {

using Numbers = std::vector<std::int64_t>;

// What an op's expression may name besides its operands x, y and z; `bounds` are the n in pairs.
struct Constants {
  Numbers n;
  std::int64_t i = 0, j = 0, k = 0;
  DType dtype = {};
  friend bool operator==(const Constants&, const Constants&) = default;
};

class Draft;

// Of an operand after the first: its shape, given the first, and what it may hold. There is none where
// `shape` is null.
struct OperandRule {
  Numbers (*shape)(Draft& draft) = nullptr;
  KindSet kinds = KindSet::all();
};

// One kind of instruction. The text is the expression that `apply` computes, letter by letter.
struct ProgramOp {
  std::string_view text;
  Tensor (*apply)(Tensor x, const Tensor& y, const Tensor& z, const Constants& with);
  int weight;                  // how often it is drawn
  KindSet kinds;               // of x
  std::size_t rank;            // of x, at least
  void (*draw)(Draft& draft);  // chooses the constants; may be null
  OperandRule y = {}, z = {};
  bool is_effect = false;  // changes what other values hold
};
const std::vector<ProgramOp>& program_ops();

struct Instruction {
  const ProgramOp* op = nullptr;           // null: an input
  std::vector<std::size_t> operands = {};  // earlier instructions
  Constants with = {};                     // of an input: n are its sizes
  std::vector<std::uint64_t> values = {};  // of an input: bits
};

struct Script {
  std::vector<Instruction> code;
  std::vector<std::size_t> outputs;
};

// The tensors of every instruction, on the device DEV; `each` hears of one after the other. Throws where
// an op refuses its operands.
template <class Each>
std::vector<Tensor> build(const Script& program, Each each);
std::vector<Tensor> build(const Script& program);
Tensor build(const Instruction& instruction, const std::vector<Tensor>& earlier);

// A C++ file that runs the program under the settings and prints its outputs. `realize_each`: after each
// instruction, not at the end.
std::string cpp_text(const Script& program, const std::vector<std::string>& settings,
                     bool realize_each = false);

// Without what no output and no effect needs.
Script without_dead(const Script& program);

template <class Each>
std::vector<Tensor> build(const Script& program, Each each) {
  std::vector<Tensor> tensors;
  for (const Instruction& instruction : program.code) {
    tensors.push_back(build(instruction, tensors));
    each(tensors.back());
  }
  return tensors;
}

}  // namespace weft
