// Arithmetic, comparisons, logic and bits, element by element.

#include <limits>

#include <fmt/format.h>

#include "arguments.h"
#include "elements.h"
#include "tables.h"

namespace weft::onnx {
namespace {

using Unary = Tensor (Tensor::*)() const;
using Binary = Tensor (Tensor::*)(const Operand&) const;

// In the dtype of the input: weft's functions of reals give floats of integers too.
template <Unary Method>
Tensor unary(const Call& call) {
  const Tensor x = call.tensor(0);
  return (x.*Method)().cast(x.dtype());
}

struct Operands {
  Tensor a, b;
};

// Up to opset 6 the second one's axes may be those of the first from `axis` on.
Operands aligned(const Call& call, const Tensor& a, const Tensor& b) {
  if (call.opset() >= 7 || !call.has("axis") || call.attr("broadcast", 0) == 0) return {a, b};
  const std::int64_t axis = axis_of(call, call.attr<std::int64_t>("axis"), a.ndim());
  const std::int64_t behind = a.ndim() - axis - b.ndim();
  if (behind < 0)
    call.refuse(fmt::format("from axis {} on there is no room for {} axes", axis, b.ndim()));
  std::vector<Dim> sizes = b.dims();
  sizes.insert(sizes.end(), static_cast<std::size_t>(behind), 1);
  return {a, b.reshape(sizes)};
}

Operands operands(const Call& call) { return aligned(call, call.operand(0), call.operand(1)); }

template <Binary Method>
Tensor binary(const Call& call) {
  const auto [a, b] = operands(call);
  return (a.*Method)(b);
}

template <Binary Method>
Tensor folded(const Call& call) {
  const std::vector<Tensor> tensors = call.tensors();
  if (tensors.empty()) call.refuse("it wants an input at least");
  Tensor result = tensors[0];
  for (std::size_t i = 1; i < tensors.size(); ++i) result = (result.*Method)(tensors[i]);
  return result;
}

Tensor mean(const Call& call) {
  return folded<&Tensor::add>(call) / static_cast<double>(call.inputs());
}

Tensor divide(const Call& call) {
  const auto [a, b] = operands(call);
  return a.dtype().is_int() ? a.div(b, Tensor::Rounding::Trunc) : a / b;
}

Tensor power(const Call& call) {
  const auto [a, b] = operands(call);
  return a.pow(b).cast(a.dtype());
}

Tensor modulo(const Call& call) {
  const auto [a, b] = operands(call);
  return call.attr("fmod", 0) != 0 ? a.fmod(b) : a.mod(b);
}

Tensor shift(const Call& call) {
  const auto direction = call.attr<std::string>("direction");
  const Tensor x = call.tensor(0), by = call.tensor(1);
  if (direction == "LEFT") return x.lshift(by);
  if (direction == "RIGHT") return x.rshift(by);
  call.refuse(fmt::format("direction {} is neither LEFT nor RIGHT", direction));
}

Tensor equal(const Call& call) {
  const Elements elements(call, {0, 1});
  const auto [a, b] = aligned(call, elements[0], elements[1]);
  return a.eq(b);
}

bool is_held_by_bits(const Call& call) {
  const Type type = call.value(0).type();
  return type == Type::F8E4M3FNUZ || type == Type::F8E5M2FNUZ;
}

Tensor is_nan(const Call& call) {
  return is_held_by_bits(call) ? call.tensor(0) == 0x80 : call.tensor(0).isnan();
}

Tensor is_infinite(const Call& call) {
  const Tensor x = call.tensor(0);
  if (is_held_by_bits(call)) return x.full_like(false, {.dtype = dtypes::bool_});
  return x.isinf(call.attr("detect_positive", 1) != 0, call.attr("detect_negative", 1) != 0);
}

// --- Clip: the bounds are attributes first, inputs later ---------------------------------------------

// From opset 6 on the ends of f32 are the defaults.
Tensor clip_by_numbers(const Call& call) {
  const Tensor x = call.tensor(0);
  std::optional<Scalar> least, most;
  constexpr double largest = std::numeric_limits<float>::max();
  const bool has_defaults = call.opset() >= 6;
  if (has_defaults || call.has("min")) least = call.attr("min", -largest);
  if (has_defaults || call.has("max")) most = call.attr("max", largest);
  return least || most ? x.clamp(least, most) : x;
}

Tensor clip(const Call& call) {
  const Tensor x = call.tensor(0);
  const auto bound = [&](std::size_t input) {
    return call.has(input) ? call.operand(input).reshape({}) : Tensor();
  };
  const Tensor least = bound(1), most = bound(2);
  return least.is_null() && most.is_null() ? x : x.clamp(least, most);
}

}  // namespace

OpTable elementwise_ops() {
  static const Op ops[] = {
      {"Abs", 1, unary<&Tensor::abs>},
      {"Acos", 7, unary<&Tensor::acos>},
      {"Acosh", 9, unary<&Tensor::acosh>},
      {"Add", 1, binary<&Tensor::add>},
      {"And", 1, binary<&Tensor::logical_and>},
      {"Asin", 7, unary<&Tensor::asin>},
      {"Asinh", 9, unary<&Tensor::asinh>},
      {"Atan", 7, unary<&Tensor::atan>},
      {"Atanh", 9, unary<&Tensor::atanh>},
      {"BitShift", 11, shift},
      {"BitwiseAnd", 18, binary<&Tensor::bitwise_and>},
      {"BitwiseNot", 18, unary<&Tensor::bitwise_not>},
      {"BitwiseOr", 18, binary<&Tensor::bitwise_or>},
      {"BitwiseXor", 18, binary<&Tensor::bitwise_xor>},
      {"Ceil", 1, unary<&Tensor::ceil>},
      {"Clip", 1, clip_by_numbers},
      {"Clip", 11, clip},
      {"Cos", 7, unary<&Tensor::cos>},
      {"Cosh", 9, unary<&Tensor::cosh>},
      {"Div", 1, divide},
      {"Equal", 1, equal},
      {"Erf", 9, unary<&Tensor::erf>},
      {"Exp", 1, unary<&Tensor::exp>},
      {"Floor", 1, unary<&Tensor::floor>},
      {"Greater", 1, binary<&Tensor::gt>},
      {"GreaterOrEqual", 12, binary<&Tensor::ge>},
      {"IsInf", 10, is_infinite},
      {"IsNaN", 9, is_nan},
      {"Less", 1, binary<&Tensor::lt>},
      {"LessOrEqual", 12, binary<&Tensor::le>},
      {"Log", 1, unary<&Tensor::log>},
      {"Max", 1, folded<&Tensor::maximum>},
      {"Mean", 1, mean},
      {"Min", 1, folded<&Tensor::minimum>},
      {"Mod", 10, modulo},
      {"Mul", 1, binary<&Tensor::mul>},
      {"Neg", 1, unary<&Tensor::neg>},
      {"Not", 1, unary<&Tensor::logical_not>},
      {"Or", 1, binary<&Tensor::logical_or>},
      {"Pow", 1, power},
      {"Reciprocal", 1, unary<&Tensor::reciprocal>},
      {"Round", 11, unary<&Tensor::round>},
      {"Sign", 9, unary<&Tensor::sign>},
      {"Sin", 7, unary<&Tensor::sin>},
      {"Sinh", 9, unary<&Tensor::sinh>},
      {"Sqrt", 1, unary<&Tensor::sqrt>},
      {"Sub", 1, binary<&Tensor::sub>},
      {"Sum", 1, folded<&Tensor::add>},
      {"Tan", 7, unary<&Tensor::tan>},
      {"Xor", 1, binary<&Tensor::logical_xor>},
  };
  return {"", ops};
}

}  // namespace weft::onnx
