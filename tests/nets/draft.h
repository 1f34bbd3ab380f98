// A program while it is written: what has been drawn, and what each step holds by then.
#pragma once

#include <functional>
#include <optional>

#include "program.h"

namespace nets {

// The same numbers on every machine and with every standard library (SplitMix64).
class Random {
 public:
  // Mixed first: the states of a sequence are so far apart as those of seeds would be, and the next seed would have the
  // same sequence without its first number.
  explicit Random(std::uint64_t seed) : state_(seed) { state_ = next(); }
  std::uint64_t next();
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n));
  }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + below(most - least + 1);
  }
  bool one_in(std::int64_t n) { return below(n) == 0; }
  template <class T>
  const T& of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(std::ssize(list)))];
  }

 private:
  std::uint64_t state_;
};

// What inputs are filled with.
enum class Filling : std::uint8_t { Small, Halves, Extreme, Real, Special, Positive };

class Draft {
 public:
  Draft(std::uint64_t seed, Mode mode, std::size_t calls);

  Random random;
  Program program;
  std::vector<Array> values;  // in the first call
  // Sizes are those of small layers, so that loops are cut, shared and run in vectors.
  bool is_large = false;

  bool is_smooth() const { return program.mode == Mode::Gradient; }

  // Earlier steps that have values.
  std::size_t any();
  std::optional<std::size_t> any(const std::function<bool(const Array&)>& fits);
  const Array& operator[](std::size_t i) const { return values[i]; }

  // Appends the step, and returns its number. Throws Invalid where it is none, is too large, or says too
  // little.
  std::size_t add(Step step);
  std::size_t input(Type type, const Numbers& shape, Filling filling);
  std::size_t input(Type type, const Numbers& shape);
  // Places along an axis: mostly inside.
  std::size_t places(const Numbers& shape, std::int64_t size, bool are_distinct = false);

  Type any_type();
  std::int64_t any_size();
  // A size of a new operand.
  std::int64_t extent(std::int64_t least, std::int64_t most) {
    return random.between(least, is_large ? 5 * most : most);
  }
  Numbers any_shape(std::size_t least_rank = 0, std::size_t most_rank = 4);
  std::int64_t axis_of(const Array& x);
  Numbers axes_of(const Array& x);             // some of them, in any order
  Numbers broadcasting(const Numbers& shape);  // a shape that broadcasts with it
  // An operand that broadcasts with the value: an earlier one, or a new input.
  std::size_t partner(std::size_t x, const std::function<bool(Type)>& fits);
  Literal literal(Type type);
  Literal held_literal(Type type);  // that a tensor of the type holds

 private:
  std::vector<Cell> row(Type type, const Numbers& shape, Filling filling);
  std::size_t add_input(Step step);
};

}  // namespace nets
