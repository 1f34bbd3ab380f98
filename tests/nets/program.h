// A user's program as data: steps over values, and when the values are asked for. Nothing here knows
// weft, so that the oracle and the generator cannot borrow from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/array.h"
#include "oracle/movement.h"

namespace nets {

// A number in an expression: bool, integer or float, of no dtype yet.
struct Literal {
  enum class Form : std::uint8_t { Bool, Integer, Float } form = Form::Integer;
  std::int64_t whole = 0;
  double real = 0;
};

// One call of the library. What the fields mean is said by the step's line in calls.cpp, where they
// stand as n, m, i, j, k, flag, type, number and index.
struct Step {
  std::string kind;
  std::vector<std::size_t> operands = {};  // earlier steps
  Numbers n = {}, m = {};
  std::int64_t i = 0, j = 0, k = 0;
  bool flag = false;
  Type type = Type::F32;
  Literal number = {};
  std::vector<Part> index = {};
  // Of "input": a row of values for each call. An argument changes from call to call, what the
  // function makes has the same in each; other inputs have one row, and keep what the program writes
  // to them.
  std::vector<std::vector<Cell>> values = {};
  bool is_argument = false, is_made = false;
};

// How a program is run. Plain: its steps in order. Jit: a function of its arguments that is called
// several times, and returns what the last "read" names. Gradient: of the sum of what the last "read" names, each
// times `values`, against the float inputs that are arguments.
enum class Mode : std::uint8_t { Plain, Jit, Gradient };

struct Program {
  std::uint64_t seed = 0;
  Mode mode = Mode::Plain;
  std::size_t calls = 1;
  bool drops_handles = false;  // each after its last use, as where variables have scopes
  std::vector<Step> steps;
};
// Whether the program reverses each tensor that its function captures along the first axis, before this call.
inline bool flips_before(const Program& program, std::size_t call) {
  return program.mode == Mode::Jit && program.seed % 2 == 1 && call % 2 == 1;
}
// Where tensors are realized in between, leaves require gradients from the start: what is written to untracked memory is
// forgotten once it is done.
bool tracks(const Program& program);
// After which step each value is not named again.
std::vector<std::size_t> last_uses(const Program& program);

// What a step is, beside what it computes.
inline bool is_input(const Step& step) { return step.kind == "input"; }
// An input that is there before the function.
inline bool is_kept(const Step& step) {
  return is_input(step) && !step.is_argument && !step.is_made;
}
inline bool is_request(const Step& step) { return step.kind == "realize" || step.kind == "read"; }
bool is_write(const Step& step);

// Throws Invalid where such a program may not do that: write to an argument.
void want_allowed(const Program& program, const std::vector<Array>& values, const Step& step);

// The values in one call of the program, and what each "read" finds when its turn comes.
struct Evaluation {
  std::vector<Array> values;  // of each step as it is in the end; of requests: empty
  std::vector<std::vector<Array>> reads;
  std::vector<Array> flipped;  // what is reversed before the call, as it was
};

// The oracle. Throws Invalid where a step does not fit its operands.
Array evaluate(const Step& step, const std::vector<Array>& values, std::size_t call);
// What inputs that are no arguments hold goes on from call to call.
std::vector<Evaluation> evaluate(const Program& program);

// One line for each step, with the oracle's values after each read: what check_oracle.py reads.
std::string lines_of(const Program& program);
// A number for the oracle's results, the same on every machine.
std::uint64_t checksum_of(const Program& program);

}  // namespace nets
