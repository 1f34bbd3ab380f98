#include "draft.h"

#include <algorithm>

namespace nets {

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15u;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

Draft::Draft(std::uint64_t seed, Mode mode, std::size_t calls) : random(seed) {
  program.seed = seed, program.mode = mode, program.calls = calls;
}

// Recent values are drawn more often, so that programs become deep.
std::size_t Draft::any() {
  return *any([](const Array&) { return true; });
}

std::optional<std::size_t> Draft::any(const std::function<bool(const Array&)>& fits) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!is_request(program.steps[i]) && fits(values[i])) found.push_back(i);
  if (found.empty()) return {};
  const auto count = std::ssize(found);
  return found[at(std::max(random.below(count), random.below(count)))];
}

namespace {

// What is mostly unknown tests little, and what is large takes long.
void want_worth(const Array& x, std::size_t most_elements) {
  want(x.size() <= most_elements && x.rank() <= 5, "too large");
  std::size_t open = 0;
  for (std::size_t i = 0; i < x.size(); ++i) open += x[i].is_unknown();
  want(3 * open <= x.size(), "too little known");
}

}  // namespace

std::size_t Draft::add(Step step) {
  const std::size_t most_elements = is_large ? 20'000 : 3000;
  want_allowed(program, values, step);
  if (is_request(step)) {
    values.emplace_back();
  } else {
    // A write is tried on a copy first: it would be there even if the step is refused.
    if (is_write(step)) {
      std::vector<Array> copies = values;
      Array& target = copies[step.operands[0]];
      target = copied(target);
      want_worth(evaluate(step, copies, 0), most_elements);
    }
    Array value = evaluate(step, values, 0);
    want_worth(value, most_elements);
    values.push_back(std::move(value));
  }
  program.steps.push_back(std::move(step));
  return program.steps.size() - 1;
}

namespace {

std::int64_t extreme_integer(Random& random, Type type) {
  const std::int64_t least = least_integer(type), most = largest_integer(type);
  switch (random.below(6)) {
    case 0: return least;
    case 1: return most;
    case 2: return wrapped(static_cast<std::int64_t>(static_cast<std::uint64_t>(least) + 1), type);
    case 3: return wrapped(static_cast<std::int64_t>(static_cast<std::uint64_t>(most) - 1), type);
    default: return wrapped(static_cast<std::int64_t>(random.next()), type);
  }
}

Cell drawn(Random& random, Type type, Filling filling) {
  if (is_bool(type)) return Cell::of(random.below(2));
  if (!is_float(type)) {
    if (filling == Filling::Extreme) return Cell::of(extreme_integer(random, type));
    const std::int64_t least = is_unsigned(type) || filling == Filling::Positive ? 0 : -4;
    return Cell::of(random.between(least, 5));
  }
  const double infinity = unknown;
  switch (filling) {
    case Filling::Small: return Cell::of_real(static_cast<double>(random.between(-4, 4)));
    case Filling::Halves: return Cell::of_real(static_cast<double>(random.between(-16, 16)) / 4);
    case Filling::Positive: return Cell::of_real(static_cast<double>(random.between(2, 16)) / 8);
    case Filling::Extreme:
      return Cell::of_real(rounded(std::ldexp(static_cast<double>(random.between(-99, 99)),
                                              static_cast<int>(random.between(-6, 8))),
                                   type));
    case Filling::Special:
      switch (random.below(8)) {
        case 0: return Cell::of_real(infinity);
        case 1: return Cell::of_real(-infinity);
        case 2: return Cell::of_real(std::nan(""));
        case 3: return Cell::of_real(-0.0);
        default: return Cell::of_real(static_cast<double>(random.between(-4, 4)));
      }
    case Filling::Real: break;
  }
  return Cell::of_real(
      rounded(static_cast<double>(random.between(-3000000, 3000000)) / 1000003.0, type));
}

}  // namespace

std::vector<Cell> Draft::row(Type type, const Numbers& shape, Filling filling) {
  std::vector<Cell> cells(at(count_of(shape)));
  for (Cell& cell : cells) cell = drawn(random, type, filling);
  return cells;
}

// What is no argument of a function is there before it, or made in it.
std::size_t Draft::add_input(Step step) {
  if (program.mode == Mode::Jit && !step.is_argument && random.one_in(2)) {
    step.is_made = true;
    step.values.resize(program.calls, step.values[0]);
  }
  return add(std::move(step));
}

std::size_t Draft::input(Type type, const Numbers& shape, Filling filling) {
  Step step{.kind = "input", .n = shape, .flag = random.one_in(2), .type = type};
  step.is_argument = program.mode == Mode::Gradient ? is_float(type)
                     : program.mode == Mode::Jit    ? !random.one_in(3)
                                                    : false;
  for (std::size_t i = 0; i < (step.is_argument ? program.calls : 1); ++i)
    step.values.push_back(row(type, shape, filling));
  return add_input(std::move(step));
}

std::size_t Draft::input(Type type, const Numbers& shape) {
  if (is_smooth()) return input(type, shape, Filling::Real);
  const std::int64_t drawn = random.below(40);
  return input(type, shape,
               drawn < 22   ? Filling::Small
               : drawn < 30 ? Filling::Halves
               : drawn < 34 ? Filling::Extreme
               : drawn < 38 ? Filling::Real
                            : Filling::Special);
}

std::size_t Draft::places(const Numbers& shape, std::int64_t size, bool are_distinct) {
  const std::vector wide{Type::I32, Type::I64, Type::I32},
      all{Type::I32, Type::I64, Type::I8, Type::U8};
  const Type type = random.of(size < 100 ? all : wide);
  Step step{.kind = "input", .n = shape, .flag = random.one_in(2), .type = type};
  step.is_argument = program.mode == Mode::Jit && random.one_in(2);
  const bool may_be_outside = random.one_in(5);
  const std::int64_t least = is_unsigned(type) || are_distinct ? 0 : -size;
  for (std::size_t i = 0; i < (step.is_argument ? program.calls : 1); ++i) {
    std::vector<Cell> cells(at(count_of(shape)));
    std::int64_t next = random.below(std::max<std::int64_t>(1, size));
    for (Cell& cell : cells) {
      cell.whole = size == 0 ? 0 : are_distinct ? next++ % size : random.between(least, size - 1);
      if (may_be_outside && random.one_in(6)) cell.whole = size + random.below(3);
    }
    step.values.push_back(std::move(cells));
  }
  return add_input(std::move(step));
}

Type Draft::any_type() {
  if (is_smooth()) return Type::F64;  // so that differences are precise
  constexpr auto last = static_cast<std::int64_t>(Type::F64);
  // f32 and i32 as often as all others.
  const std::int64_t drawn = random.below(2 * last);
  return drawn <= last ? static_cast<Type>(drawn) : random.one_in(3) ? Type::I32 : Type::F32;
}

std::int64_t Draft::any_size() {
  const std::int64_t drawn = random.below(60);
  if (drawn == 0) return 0;
  if (drawn < 8) return 1;
  if (is_large) return random.between(5, 70);
  if (drawn < 56) return random.between(2, 6);
  return random.of(Numbers{7, 33, 64, 130, 9, 16});
}

Numbers Draft::any_shape(std::size_t least_rank, std::size_t most_rank) {
  for (;;) {
    Numbers shape;
    const std::int64_t rank = std::min(
        random.between(static_cast<std::int64_t>(least_rank), static_cast<std::int64_t>(most_rank)),
        random.between(static_cast<std::int64_t>(least_rank),
                       static_cast<std::int64_t>(most_rank)) +
            1);
    for (std::int64_t i = 0; i < rank && i < static_cast<std::int64_t>(most_rank); ++i)
      shape.push_back(any_size());
    if (count_of(shape) <= (is_large ? 10'000 : 1000)) return shape;
  }
}

std::int64_t Draft::axis_of(const Array& x) {
  want(x.rank() > 0, "no axes");
  const std::int64_t axis = random.below(x.rank());
  return random.one_in(4) ? axis - x.rank() : axis;
}

Numbers Draft::axes_of(const Array& x) {
  Numbers axes;
  if (x.rank() == 0) return axes;
  if (random.one_in(2)) return {axis_of(x)};
  const bool are_all = random.one_in(2);
  for (std::int64_t axis = 0; axis < x.rank(); ++axis)
    if (are_all || random.one_in(2)) axes.push_back(axis);
  if (axes.size() > 1 && random.one_in(3)) std::swap(axes.front(), axes.back());
  return axes;
}

Numbers Draft::broadcasting(const Numbers& shape) {
  Numbers result = shape;
  if (random.one_in(3) && !result.empty())
    result.erase(result.begin(), result.begin() + random.between(1, std::ssize(result)));
  for (std::int64_t& size : result)
    if (random.one_in(4)) size = size == 1 ? random.between(1, 4) : 1;
  return result;
}

std::size_t Draft::partner(std::size_t x, const std::function<bool(Type)>& fits) {
  const Array& own = values[x];
  if (!random.one_in(4)) {
    const auto found = any([&](const Array& y) {
      try {
        return fits(y.type) && count_of(broadcast_shape(own.shape, y.shape)) <= 3000;
      } catch (const Invalid&) {
        return false;
      }
    });
    if (found) return *found;
  }
  Type type = own.type;
  for (int tries = 0; !fits(type) || (tries == 0 && random.one_in(3)); ++tries) {
    want(tries < 20, "no type that fits");
    type = any_type();
  }
  return input(type, broadcasting(own.shape));
}

Literal Draft::literal(Type type) {
  const std::int64_t whole = random.of(Numbers{0, 1, 2, 3, 1, 2, 5, 7, -1, -2, -3, 100});
  if (is_float(type) || random.one_in(8)) {
    if (random.one_in(3)) return {Literal::Form::Float, 0, static_cast<double>(whole) / 4};
    if (random.one_in(6)) return {Literal::Form::Float, 0, 0.1 * static_cast<double>(whole)};
    if (is_float(type)) return {Literal::Form::Float, 0, static_cast<double>(whole)};
  }
  return {Literal::Form::Integer, is_unsigned(type) || is_bool(type) ? std::abs(whole) : whole, 0};
}

Literal Draft::held_literal(Type type) {
  if (is_float(type)) return literal(type);
  return {Literal::Form::Integer, random.below(is_bool(type) ? 2 : 9), 0};
}

}  // namespace nets
