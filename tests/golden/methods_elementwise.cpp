#include "golden.h"

namespace weft::golden {
namespace {

using Unary = Tensor (Tensor::*)() const;
Method unary(Unary method) {
  return [method](const Case& c) { return one((c[0].*method)()); };
}

// The second operand is a tensor, or the argument `other`.
using Binary = Tensor (Tensor::*)(const Operand&) const;
Method binary(Binary method, std::string_view other = "other") {
  return [=](const Case& c) { return one((c[0].*method)(c.operand(1, other))); };
}

std::optional<Scalar> limit(const Case& c, std::string_view key) {
  return c.has(key) ? std::optional(c.number(key)) : std::nullopt;
}

// clang-format off
const Group group("elementwise", {
  {"neg", unary(&Tensor::neg)},
  {"abs", unary(&Tensor::abs)},
  {"sign", unary(&Tensor::sign)},
  {"square", unary(&Tensor::square)},
  {"sqrt", unary(&Tensor::sqrt)},
  {"rsqrt", unary(&Tensor::rsqrt)},
  {"reciprocal", unary(&Tensor::reciprocal)},
  {"exp", unary(&Tensor::exp)},
  {"exp2", unary(&Tensor::exp2)},
  {"log", unary(&Tensor::log)},
  {"log2", unary(&Tensor::log2)},
  {"log10", unary(&Tensor::log10)},
  {"sin", unary(&Tensor::sin)},
  {"cos", unary(&Tensor::cos)},
  {"tan", unary(&Tensor::tan)},
  {"erf", unary(&Tensor::erf)},
  {"trunc", unary(&Tensor::trunc)},
  {"floor", unary(&Tensor::floor)},
  {"ceil", unary(&Tensor::ceil)},
  {"round", unary(&Tensor::round)},
  {"isnan", unary(&Tensor::isnan)},
  {"isinf", unary(&Tensor::isinf)},
  {"isfinite", unary(&Tensor::isfinite)},
  {"logical_not", unary(&Tensor::logical_not)},
  {"bitwise_not", unary(&Tensor::bitwise_not)},

  {"relu", unary(&Tensor::relu)},
  {"relu6", unary(&Tensor::relu6)},
  {"sigmoid", unary(&Tensor::sigmoid)},
  {"logsigmoid", unary(&Tensor::logsigmoid)},
  {"tanh", unary(&Tensor::tanh)},
  {"silu", unary(&Tensor::silu)},
  {"swish", unary(&Tensor::swish)},
  {"mish", unary(&Tensor::mish)},
  {"hardtanh", [](const Case& c) { return one(c[0].hardtanh(c.real("min_val", -1), c.real("max_val", 1))); }},
  {"leaky_relu", [](const Case& c) { return one(c[0].leaky_relu(c.real("neg_slope", 0.01))); }},
  {"elu", [](const Case& c) { return one(c[0].elu(c.real("alpha", 1))); }},
  {"softplus", [](const Case& c) { return one(c[0].softplus(c.real("beta", 1))); }},
  {"gelu", [](const Case& c) {
    return one(c[0].gelu(c.text("approximate") == "tanh" ? Gelu::Tanh : Gelu::Exact));
  }},

  {"add", binary(&Tensor::add)},
  {"sub", binary(&Tensor::sub)},
  {"mul", binary(&Tensor::mul)},
  {"div", binary(&Tensor::div)},
  {"mod", binary(&Tensor::mod)},
  {"pow", binary(&Tensor::pow, "exponent")},
  {"maximum", binary(&Tensor::maximum)},
  {"minimum", binary(&Tensor::minimum)},
  {"eq", binary(&Tensor::eq)},
  {"ne", binary(&Tensor::ne)},
  {"lt", binary(&Tensor::lt)},
  {"le", binary(&Tensor::le)},
  {"gt", binary(&Tensor::gt)},
  {"ge", binary(&Tensor::ge)},
  {"where", [](const Case& c) { return one(c[0].where(c[1], c.operand(2, "y"))); }},
  {"masked_fill", [](const Case& c) { return one(c[0].masked_fill(c[1], c.number("value"))); }},
  {"lerp", [](const Case& c) { return one(c[0].lerp(c[1], c.operand(2, "weight"))); }},
  {"clamp", [](const Case& c) { return one(c[0].clamp(limit(c, "min_"), limit(c, "max_"))); }},
  {"clip", [](const Case& c) { return one(c[0].clip(limit(c, "min_"), limit(c, "max_"))); }},
});
// clang-format on

}  // namespace
}  // namespace weft::golden
