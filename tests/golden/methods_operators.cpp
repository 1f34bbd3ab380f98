#include "golden.h"

namespace weft::golden {
namespace {

using Binary = Tensor (*)(const Operand&, const Operand&);
Method binary(Binary compute) {
  return [compute](const Case& c) { return one(compute(c[0], c[1])); };
}

// The number `other` comes first.
Method reflected(Binary compute) {
  return [compute](const Case& c) { return one(compute(c.operand(1, "other"), c[0])); };
}

using Unary = Tensor (*)(const Tensor&);
Method unary(Unary compute) {
  return [compute](const Case& c) { return one(compute(c[0])); };
}

// What is assigned to, and all of what it is a part of.
using Assign = Tensor& (Tensor::*)(const Operand&);
Method assigning(Assign assign) {
  return [assign](const Case& c) -> std::vector<Tensor> {
    Tensor target = c[0];
    (target.*assign)(c.operand(1, "other"));
    return {target, c.bases[0]};
  };
}

// clang-format off
const Group group("operators", {
  {"__neg__", unary(operator-)},
  {"__invert__", unary(operator~)},
  {"__add__", binary(operator+)},
  {"__sub__", binary(operator-)},
  {"__mul__", binary(operator*)},
  {"__truediv__", binary(operator/)},
  {"__floordiv__", [](const Case& c) { return one(c[0].floordiv(c[1])); }},
  {"__mod__", binary(operator%)},
  {"__pow__", [](const Case& c) { return one(c[0].pow(c[1])); }},
  {"__matmul__", [](const Case& c) { return one(c[0].matmul(c[1])); }},
  {"__and__", binary(operator&)},
  {"__or__", binary(operator|)},
  {"__xor__", binary(operator^)},
  {"__lshift__", binary(operator<<)},
  {"__rshift__", binary(operator>>)},
  {"__lt__", binary(operator<)},
  {"__le__", binary(operator<=)},
  {"__gt__", binary(operator>)},
  {"__ge__", binary(operator>=)},
  {"__eq__", binary(operator==)},
  {"__ne__", binary(operator!=)},
  {"__radd__", reflected(operator+)},
  {"__rsub__", reflected(operator-)},
  {"__rmul__", reflected(operator*)},
  {"__rtruediv__", reflected(operator/)},
  {"__rfloordiv__", reflected(floordiv)},
  {"__rmod__", reflected(operator%)},
  {"__rpow__", reflected(pow)},
  {"__rand__", reflected(operator&)},
  {"__ror__", reflected(operator|)},
  {"__rxor__", reflected(operator^)},
  {"__rlshift__", reflected(operator<<)},
  {"__rrshift__", reflected(operator>>)},
  {"__iadd__", assigning(&Tensor::operator+=)},
  {"__isub__", assigning(&Tensor::operator-=)},
  {"__imul__", assigning(&Tensor::operator*=)},
  {"__itruediv__", assigning(&Tensor::operator/=)},
  {"__ifloordiv__", assigning(&Tensor::ifloordiv)},
  {"__ipow__", assigning(&Tensor::ipow)},
  {"__iand__", assigning(&Tensor::operator&=)},
  {"__ior__", assigning(&Tensor::operator|=)},
  {"__ixor__", assigning(&Tensor::operator^=)},
  {"__ilshift__", assigning(&Tensor::operator<<=)},
  {"__irshift__", assigning(&Tensor::operator>>=)},
});
// clang-format on

}  // namespace
}  // namespace weft::golden
