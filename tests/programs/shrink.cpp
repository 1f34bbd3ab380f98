#include "shrink.h"

#include <algorithm>
#include <set>

#include <weft/error.h>

#include "check.h"

namespace weft {
namespace {

// What a person has to read.
std::uint64_t weight(const Script& program) {
  std::uint64_t weight = 500 * program.outputs.size();
  for (const Instruction& instruction : program.code) {
    const Constants& with = instruction.with;
    weight += instruction.op != nullptr ? 1000 : 300;
    for (std::uint64_t bits : instruction.values) weight += bits == 0 ? 10 : bits == 1 ? 11 : 13;
    for (std::int64_t number : with.n) weight += 1 + static_cast<std::uint64_t>(number);
    for (std::int64_t number : {with.i, with.j, with.k})
      weight += static_cast<std::uint64_t>(std::abs(number));
  }
  return weight;
}

std::size_t count(const Numbers& sizes) {
  std::size_t n = 1;
  for (std::int64_t size : sizes) n *= static_cast<std::size_t>(size);
  return n;
}

// The elements of an input from `start` on along one axis, and only so many.
void cut(Instruction& input, std::size_t axis, std::int64_t start, std::int64_t size) {
  const Numbers& sizes = input.with.n;
  const std::size_t inner =
      count({sizes.begin() + static_cast<std::ptrdiff_t>(axis) + 1, sizes.end()});
  std::vector<std::uint64_t> kept;
  for (std::size_t i = 0; i < input.values.size(); ++i) {
    const std::int64_t at = static_cast<std::int64_t>(i / inner) % sizes[axis];
    if (start <= at && at < start + size) kept.push_back(input.values[i]);
  }
  input.with.n[axis] = size;
  input.values = kept;
}

class Shrinker {
 public:
  Shrinker(Script program, const std::function<bool(const Script&)>& fails, int tries)
      : program_(std::move(program)), fails_(fails), tries_(tries) {}

  Script shrink() {
    while (fewer_outputs() || fewer_instructions() || smaller_sizes() || simpler_numbers()) {
    }
    return program_;
  }

 private:
  // Becomes the program if that is smaller and still fails.
  bool take(const Script& candidate) {
    const Script live = without_dead(candidate);
    if (weight(live) >= weight(program_) || --tries_ < 0) return false;
    try {
      if (!fails_(live)) return false;
    } catch (const Error&) {  // it cannot be built
      return false;
    }
    program_ = live;
    return true;
  }

  bool fewer_outputs() {
    for (std::size_t output : program_.outputs)
      if (take({program_.code, {output}})) return true;
    for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
      Script candidate = program_;
      candidate.outputs.erase(candidate.outputs.begin() + static_cast<std::ptrdiff_t>(i));
      if (!candidate.outputs.empty() && take(candidate)) return true;
    }
    for (std::size_t output : program_.outputs)
      for (std::size_t operand : program_.code[output].operands)
        if (take({program_.code, {operand}})) return true;
    return false;
  }

  // An instruction gives way to one of its operands, or to an input that holds its values.
  bool fewer_instructions() {
    const Expected expected(program_);
    for (std::size_t i = program_.code.size(); i-- > 0;) {
      const Instruction& instruction = program_.code[i];
      if (instruction.op == nullptr) continue;
      for (std::size_t operand : instruction.operands)
        if (expected.dtype(operand) == expected.dtype(i) &&
            expected.value(operand).sizes == expected.value(i).sizes && take(replaced(i, operand)))
          return true;
      Script candidate = program_;
      candidate.code[i] = {.with = {.n = expected.value(i).sizes, .dtype = expected.dtype(i)},
                           .values = expected.value(i).values};
      if (take(candidate)) return true;
    }
    return false;
  }

  // Users of an instruction use another one; the instruction itself becomes an input that nobody needs.
  Script replaced(std::size_t at, std::size_t by) const {
    Script result = program_;
    for (Instruction& instruction : result.code) std::ranges::replace(instruction.operands, at, by);
    std::ranges::replace(result.outputs, at, by);
    result.code[at] = {.with = {.n = {}, .dtype = dtypes::i32}, .values = {0}};
    return result;
  }

  // Halves, and all but one.
  static std::vector<std::pair<std::int64_t, std::int64_t>> parts_of(std::int64_t size) {
    if (size == 0) return {};
    const std::int64_t half = size / 2;
    return {{0, half}, {size - half, half}, {0, size - 1}, {1, size - 1}};
  }

  // One size after the other, in one input and wherever the number appears.
  bool smaller_sizes() {
    std::set<std::int64_t> sizes;
    for (std::size_t i = 0; i < program_.code.size(); ++i) {
      if (program_.code[i].op != nullptr) continue;
      const Numbers& dims = program_.code[i].with.n;
      sizes.insert(dims.begin(), dims.end());
      for (std::size_t axis = 0; axis < dims.size(); ++axis)
        for (const auto& [start, size] : parts_of(dims[axis])) {
          Script candidate = program_;
          cut(candidate.code[i], axis, start, size);
          if (take(candidate)) return true;
        }
    }
    for (std::int64_t size : sizes)
      for (std::int64_t smaller : {size / 2, size - 1})
        if (size > 0 && take(with_size(size, smaller))) return true;
    return false;
  }

  Script with_size(std::int64_t size, std::int64_t smaller) const {
    Script result = program_;
    for (Instruction& instruction : result.code) {
      for (std::size_t axis = 0; axis < instruction.with.n.size(); ++axis) {
        if (instruction.with.n[axis] != size) continue;
        if (instruction.op == nullptr)
          cut(instruction, axis, 0, smaller);
        else
          instruction.with.n[axis] = smaller;
      }
      if (instruction.with.k == size) instruction.with.k = smaller;
    }
    return result;
  }

  bool simpler_numbers() {
    for (std::size_t i = 0; i < program_.code.size(); ++i) {
      const Instruction& instruction = program_.code[i];
      for (std::uint64_t value : {0, 1}) {
        Script candidate = program_;
        std::ranges::fill(candidate.code[i].values, value);
        if (take(candidate)) return true;
      }
      const std::size_t single = instruction.values.size() <= 16 ? instruction.values.size() : 0;
      for (std::size_t at = 0; at < single; ++at)
        for (std::uint64_t value : {0, 1}) {
          Script candidate = program_;
          candidate.code[i].values[at] = value;
          if (take(candidate)) return true;
        }
      if (instruction.op == nullptr) continue;
      for (std::int64_t Constants::* member : {&Constants::i, &Constants::j, &Constants::k})
        if (std::abs(instruction.with.*member) > 0) {
          Script candidate = program_;
          candidate.code[i].with.*member /= 2;
          if (take(candidate)) return true;
        }
      for (std::size_t at = 0; at < instruction.with.n.size(); ++at) {
        Script candidate = program_;
        candidate.code[i].with.n[at] /= 2;
        if (take(candidate)) return true;
      }
    }
    return false;
  }

  Script program_;
  const std::function<bool(const Script&)>& fails_;
  int tries_;
};

}  // namespace

Script shrink(Script program, const std::function<bool(const Script&)>& fails, int tries) {
  return Shrinker(std::move(program), fails, tries).shrink();
}

}  // namespace weft
