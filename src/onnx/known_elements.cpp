#include "known_elements.h"

#include <algorithm>
#include <functional>

#include <weft/dev/ir/node.h>

namespace weft::onnx {
namespace {

bool are_numbers(const Dim& a, const Dim& b) { return !a.is_symbolic() && !b.is_symbolic(); }

}  // namespace

std::int64_t number(const Dim& dim) { return dim.uop()->lo(); }

bool fits(const Dim& element, DType dtype) {
  if (element.is_symbolic()) return dtype == dtypes::i64 || dtype == dtypes::i32;
  const std::int64_t value = number(element);
  if (dtype == dtypes::bool_) return value == 0 || value == 1;
  if (dtype == dtypes::f32 || dtype == dtypes::f64) return value > -(1 << 24) && value < (1 << 24);
  return dtype.is_int() && dtype_interval(dtype).contains(value);
}

std::optional<Dim> add(const Dim& a, const Dim& b) {
  std::int64_t sum = 0;
  if (!are_numbers(a, b)) return Dim(a.uop() + b.uop());
  if (__builtin_add_overflow(number(a), number(b), &sum)) return {};
  return sum;
}

std::optional<Dim> subtract(const Dim& a, const Dim& b) {
  std::int64_t difference = 0;
  if (!are_numbers(a, b)) return Dim(a.uop() - b.uop());
  if (__builtin_sub_overflow(number(a), number(b), &difference)) return {};
  return difference;
}

std::optional<Dim> multiply(const Dim& a, const Dim& b) {
  std::int64_t product = 0;
  if (!are_numbers(a, b)) return Dim(a.uop() * b.uop());
  if (__builtin_mul_overflow(number(a), number(b), &product)) return {};
  return product;
}

namespace {

// Toward zero. Of what is symbolic only where that is the same as toward minus infinity.
std::optional<Dim> divide(const Dim& a, const Dim& b) {
  if (b.is_symbolic() ? b.uop()->lo() <= 0 : number(b) == 0) return {};
  if (!are_numbers(a, b)) {
    if (a.uop()->lo() < 0 || b.uop()->lo() <= 0) return {};
    return Dim(a.uop() / b.uop());
  }
  if (number(b) == -1) return subtract(0, a);
  return number(a) / number(b);
}

// With the sign of the divisor.
std::optional<Dim> modulo(const Dim& a, const Dim& b) {
  if (!are_numbers(a, b) || number(b) == 0) return {};
  return number(b) == -1 ? 0 : floor_mod(number(a), number(b));
}

std::optional<Dim> least(const Dim& a, const Dim& b) {
  return are_numbers(a, b) ? Dim(std::min(number(a), number(b))) : Dim(min(a.uop(), b.uop()));
}

std::optional<Dim> most(const Dim& a, const Dim& b) {
  return are_numbers(a, b) ? Dim(std::max(number(a), number(b))) : Dim(max(a.uop(), b.uop()));
}

template <class Compare>
std::optional<Dim> compare(const Dim& a, const Dim& b) {
  if (!are_numbers(a, b)) return {};
  return Dim(static_cast<std::int64_t>(Compare()(number(a), number(b))));
}

std::optional<Dim> equal(const Dim& a, const Dim& b) {
  if (a.uop().is(b.uop())) return 1;
  if (a.uop()->hi() < b.uop()->lo() || b.uop()->hi() < a.uop()->lo()) return 0;
  return compare<std::equal_to<>>(a, b);
}

std::optional<Dim> both(const Dim& a, const Dim& b) { return multiply(a, b); }
std::optional<Dim> either(const Dim& a, const Dim& b) { return most(a, b); }

constexpr KnownOp elementwise[] = {
    {"Add", add},
    {"Sub", subtract},
    {"Mul", multiply},
    {"Div", divide, false, true},
    {"Mod", modulo},
    {"Min", least},
    {"Max", most},
    {"Equal", equal, true},
    {"Less", compare<std::less<>>, true},
    {"LessOrEqual", compare<std::less_equal<>>, true},
    {"Greater", compare<std::greater<>>, true},
    {"GreaterOrEqual", compare<std::greater_equal<>>, true},
    {"And", both, true},
    {"Or", either, true},
};

}  // namespace

const KnownOp* find_known_op(std::string_view name) {
  const auto found = std::ranges::find(elementwise, name, &KnownOp::name);
  return found == std::end(elementwise) ? nullptr : &*found;
}

}  // namespace weft::onnx
