#include "golden.h"

namespace weft::golden {
namespace {

using Unary = Tensor (Tensor::*)() const;
Method unary(Unary method) {
  return [method](const Case& c) { return one((c[0].*method)()); };
}

using Binary = Tensor (Tensor::*)(const Operand&) const;
Method binary(Binary method, std::string_view other = "other") {
  return [=](const Case& c) { return one((c[0].*method)(c.operand(1, other))); };
}

using Pair = std::pair<Tensor, Tensor>;
std::vector<Tensor> both(const Pair& pair) { return {pair.first, pair.second}; }

using Moments = Pair (Tensor::*)(const AxisList&, bool, std::int64_t) const;
Method moments(Moments method) {
  return [method](const Case& c) {
    return both((c[0].*method)(c.axes("axis"), c.flag("keepdim"), c.integer("correction", 1)));
  };
}

std::vector<Tensor> divided(const Case& c) {
  const std::string mode = c.text("rounding_mode", "");
  using enum Tensor::Rounding;
  return one(c[0].div(c.operand(1, "other"), mode == "trunc" ? Trunc
                                             : mode.empty()  ? None
                                                             : Floor));
}

std::vector<Tensor> without_nan(const Case& c) {
  if (!c.has("nan")) return one(c[0].nan_to_num());
  return one(c[0].nan_to_num(c.number("nan"), c.number("posinf"), c.number("neginf")));
}

using Sum = Tensor (Tensor::*)(const Tensor&, const Tensor&, Scalar) const;
Method sum(Sum method) {
  return [method](const Case& c) { return one((c[0].*method)(c[1], c[2], c.number("value"))); };
}

// clang-format off
const Group group("math", {
  {"asin", unary(&Tensor::asin)},
  {"acos", unary(&Tensor::acos)},
  {"atan", unary(&Tensor::atan)},
  {"sinh", unary(&Tensor::sinh)},
  {"cosh", unary(&Tensor::cosh)},
  {"tanh", unary(&Tensor::tanh)},
  {"asinh", unary(&Tensor::asinh)},
  {"acosh", unary(&Tensor::acosh)},
  {"atanh", unary(&Tensor::atanh)},
  {"expm1", unary(&Tensor::expm1)},
  {"log1p", unary(&Tensor::log1p)},
  {"erf", unary(&Tensor::erf)},
  {"erfc", unary(&Tensor::erfc)},
  {"erfinv", unary(&Tensor::erfinv)},
  {"lgamma", unary(&Tensor::lgamma)},
  {"digamma", unary(&Tensor::digamma)},
  {"i0", unary(&Tensor::i0)},
  {"sinc", unary(&Tensor::sinc)},
  {"deg2rad", unary(&Tensor::deg2rad)},
  {"rad2deg", unary(&Tensor::rad2deg)},
  {"frac", unary(&Tensor::frac)},
  {"signbit", unary(&Tensor::signbit)},
  {"popcount", unary(&Tensor::popcount)},
  {"isinf", [](const Case& c) { return one(c[0].isinf(c.flag("detect_positive"), c.flag("detect_negative"))); }},
  {"nan_to_num", without_nan},
  {"round", [](const Case& c) { return one(c[0].round(c.integer("decimals"))); }},

  {"atan2", binary(&Tensor::atan2)},
  {"hypot", binary(&Tensor::hypot)},
  {"copysign", binary(&Tensor::copysign)},
  {"nextafter", binary(&Tensor::nextafter)},
  {"logaddexp", binary(&Tensor::logaddexp)},
  {"logaddexp2", binary(&Tensor::logaddexp2)},
  {"fmax", binary(&Tensor::fmax)},
  {"fmin", binary(&Tensor::fmin)},
  {"xlogy", binary(&Tensor::xlogy)},
  {"heaviside", binary(&Tensor::heaviside)},
  {"float_power", binary(&Tensor::float_power, "exponent")},
  {"fmod", binary(&Tensor::fmod)},
  {"remainder", binary(&Tensor::remainder)},
  {"floor_divide", binary(&Tensor::floor_divide)},
  {"div", divided},
  {"gcd", binary(&Tensor::gcd)},
  {"lcm", binary(&Tensor::lcm)},
  {"bitwise_and", binary(&Tensor::bitwise_and)},
  {"bitwise_or", binary(&Tensor::bitwise_or)},
  {"bitwise_xor", binary(&Tensor::bitwise_xor)},
  {"lshift", binary(&Tensor::lshift)},
  {"rshift", binary(&Tensor::rshift)},
  {"logical_xor", binary(&Tensor::logical_xor)},
  {"isclose", [](const Case& c) { return one(c[0].isclose(c[1], 1e-5, 1e-8, c.flag("equal_nan"))); }},
  {"allclose", [](const Case& c) { return one(Tensor(c[0].allclose(c[1], 1e-5, 1e-8, c.flag("equal_nan")))); }},
  {"equal", [](const Case& c) { return one(Tensor(c[0].equal(c[1]))); }},
  {"clamp", [](const Case& c) { return one(c[0].clamp(c[1], c[2])); }},
  {"addcmul", sum(&Tensor::addcmul)},
  {"addcdiv", sum(&Tensor::addcdiv)},

  {"norm", [](const Case& c) { return one(c[0].norm(c.real("p", 2), c.axes("axis"), c.flag("keepdim"))); }},
  {"dist", [](const Case& c) { return one(c[0].dist(c[1], c.real("p"))); }},
  {"cdist", [](const Case& c) { return one(c[0].cdist(c[1], c.real("p"))); }},
  {"var_mean", moments(&Tensor::var_mean)},
  {"std_mean", moments(&Tensor::std_mean)},
  {"aminmax", [](const Case& c) { return both(c[0].aminmax(c.axes("axis"), c.flag("keepdim"))); }},
  {"nansum", [](const Case& c) { return one(c[0].nansum(c.axes("axis"))); }},
  {"nanmean", [](const Case& c) { return one(c[0].nanmean(c.axes("axis"))); }},

  {"float", unary(&Tensor::to_float)},
  {"double", unary(&Tensor::to_double)},
  {"half", unary(&Tensor::half)},
  {"bfloat16", unary(&Tensor::bfloat16)},
  {"short", unary(&Tensor::to_short)},
  {"int", unary(&Tensor::to_int)},
  {"long", unary(&Tensor::to_long)},
  {"bool", unary(&Tensor::to_bool)},
});
// clang-format on

}  // namespace
}  // namespace weft::golden
