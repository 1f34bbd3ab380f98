#include "run.h"

#include <cstring>
#include <exception>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/jit.h>

#include "calls.h"
#include "gradients.h"

namespace nets {

namespace {

using weft::Tensor;
using Tensors = std::vector<Tensor>;

bool agrees(const Cell& found, const Cell& wanted, Type type) {
  if (wanted.is_unknown()) return true;
  if (!is_float(type)) return found.whole == wanted.whole;
  if (std::isnan(wanted.real)) return std::isnan(found.real);
  if (std::isinf(wanted.real)) return found.real == wanted.real;
  return std::abs(found.real - wanted.real) <= wanted.error;
}

std::string compared(const Step& step, const Tensors& values, const std::vector<Array>& wanted) {
  for (std::size_t i = 0; i < step.operands.size(); ++i) {
    const std::string text = difference(array_of(values[step.operands[i]]), wanted[i]);
    if (!text.empty()) return fmt::format("v{}: {}", step.operands[i], text);
  }
  return {};
}

std::string plain_fault(const Program& program, const Evaluation& wanted) {
  Tensors values;
  std::size_t reads = 0;
  const std::vector<std::size_t> last = last_uses(program);
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (is_request(step)) {
      Tensor::realize(tensors_of(step, values));
      values.emplace_back();
      if (step.kind == "read") {
        const std::string text = compared(step, values, wanted.reads[reads++]);
        if (!text.empty()) return fmt::format("read {}, {}", reads, text);
      }
    } else {
      values.push_back(is_input(step) ? input_tensor(step, 0) : call_weft(step, values));
    }
    for (std::size_t value = 0; program.drops_handles && value < values.size(); ++value)
      if (last[value] <= i) values[value] = Tensor();
  }
  return {};
}

// The outputs of a call whose inputs are there.
Tensors called(const Program& program, Tensors values) {
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (step.kind == "read") return tensors_of(step, values);
    if (step.is_made) values[i] = input_tensor(step, 0);
    if (!is_input(step) && !is_request(step)) values[i] = call_weft(step, values);
  }
  return {};
}

// Whether an output looks at the memory of an input that is there before the calls.
bool is_of_input(const Program& program, const std::vector<Array>& values, std::size_t output) {
  const std::size_t value = program.steps.back().operands[output];
  for (std::size_t i = 0; i < values.size(); ++i)
    if (is_input(program.steps[i]) && !program.steps[i].is_made &&
        values[i].storage == values[value].storage)
      return true;
  return false;
}

std::string jit_fault(const Program& program, const std::vector<Evaluation>& wanted) {
  const std::size_t count = program.steps.size();
  Tensors kept(count);
  std::vector<std::size_t> arguments;
  for (std::size_t i = 0; i < count; ++i) {
    const Step& step = program.steps[i];
    if (is_input(step) && step.is_argument) arguments.push_back(i);
    if (is_kept(step)) kept[i] = input_tensor(step, 0);
    // What is in no memory is part of kernels, and must not be assigned to.
    if (is_kept(step) && flips_before(program, 1)) kept[i] = kept[i].contiguous().realize();
  }
  auto function = weft::jit([&](const Tensors& given) {
    Tensors values = kept;
    for (std::size_t i = 0; i < arguments.size(); ++i) values[arguments[i]] = given[i];
    return called(program, std::move(values));
  });
  Tensors held;           // results of the call before, which no later one writes to
  Tensors copies, again;  // of what is kept, between calls
  std::vector<Array> copied;
  for (std::size_t call = 0; call < program.calls; ++call) {
    if (flips_before(program, call))
      for (std::size_t i = 0; i < count; ++i)
        if (is_kept(program.steps[i])) {
          copied.push_back(wanted[call].flipped[copied.size() % wanted[call].flipped.size()]);
          copies.push_back(kept[i].clone());
          if (kept[i].ndim() > 0) kept[i].assign(kept[i].flip(0));
          again.push_back(kept[i].clone());  // a reader between two assignments
          kept[i].assign(kept[i].clone());
        }
    Tensors given;
    for (const std::size_t i : arguments) given.push_back(input_tensor(program.steps[i], call));
    const Tensors results = function(given);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const std::string text = difference(array_of(results[i]), wanted[call].reads.at(0)[i]);
      if (!text.empty()) return fmt::format("call {}, output {}: {}", call + 1, i + 1, text);
    }
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (is_of_input(program, wanted[call].values, i)) continue;  // which the call may write to
      const std::string text = difference(array_of(held[i]), wanted[call - 1].reads.at(0)[i]);
      if (!text.empty())
        return fmt::format("output {} of call {}, after the next: {}", i + 1, call, text);
    }
    held = results;
    for (std::size_t i = 0; i < count; ++i) {
      const Step& step = program.steps[i];
      if (!is_kept(step)) continue;
      const std::string text = difference(array_of(kept[i]), wanted[call].values[i]);
      // What a later call writes is there already.
      if (!text.empty() && call + 1 == program.calls)
        return fmt::format("v{} after all calls: {}", i, text);
    }
  }
  for (std::size_t i = 0; i < copies.size(); ++i)
    if (const std::string text = difference(array_of(copies[i]), copied[i]); !text.empty())
      return fmt::format("copy {} of what was kept: {}", i + 1, text);
  return {};
}

}  // namespace

std::string difference(const Array& found, const Array& wanted) {
  if (found.type != wanted.type)
    return fmt::format("is {}, not {}", name_of(found.type), name_of(wanted.type));
  if (found.shape != wanted.shape)
    return fmt::format("has shape {}, not {}", found.shape, wanted.shape);
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!agrees(found[i], wanted[i], found.type))
      return fmt::format("element {} of {} ({}) is {}, not {}{}", coordinates_of(i, found.shape),
                         found.shape, name_of(found.type), text_of(found[i], found.type),
                         text_of(wanted[i], found.type),
                         wanted[i].error == 0 ? "" : fmt::format(" +- {:.1e}", wanted[i].error));
  return {};
}

std::optional<Fault> fault_of(const Program& program) {
  const std::vector<Evaluation> wanted = evaluate(program);
  try {
    const std::string text = program.mode == Mode::Jit        ? jit_fault(program, wanted)
                             : program.mode == Mode::Gradient ? gradient_fault(program)
                                                              : plain_fault(program, wanted[0]);
    if (!text.empty()) return Fault{false, text};
  } catch (const std::exception& error) {
    return Fault{true, error.what()};
  }
  return {};
}

}  // namespace nets
