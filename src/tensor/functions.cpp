#include "functions.h"

namespace weft {

DType joint(const Operand& a, const Operand& b) {
  return settled(promote(a.uop()->dtype(), b.uop()->dtype()));
}

DType Tensor::result_type(const Operand& a, const Operand& b) { return Called(), joint(a, b); }

DType joint_float(const Operand& a, const Operand& b) { return float_like(joint(a, b)); }

std::pair<Tensor, Tensor> brought_together(std::string_view op, const Operand& a, const Operand& b,
                                           DType dtype) {
  const Sizes sizes = broadcast_sizes(op, {a.uop(), b.uop()});
  const auto ready = [&](const Operand& operand) {
    UOp value = converted(operand.uop(), dtype);
    if (value->dims().empty()) value = reshaped(value, Sizes(sizes.size(), const_int(1)));
    return result(op, broadcast(op, value, sizes), {&a, &b});
  };
  return {ready(a), ready(b)};
}

DType bits_of(DType dtype) {
  switch (dtype.bits()) {
    case 8: return dtypes::i8;
    case 16: return dtypes::i16;
    case 32: return dtypes::i32;
    default: return dtypes::i64;
  }
}

DType unsigned_bits(DType dtype) {
  switch (dtype.bits()) {
    case 8: return dtypes::u8;
    case 16: return dtypes::u16;
    case 32: return dtypes::u32;
    default: return dtypes::u64;
  }
}

Tensor with_sign_of(const Tensor& x, const Tensor& magnitude) {
  const DType bits = bits_of(x.dtype());
  const Tensor sign = x.bitcast(bits) & (std::int64_t{-1} << (bits.bits() - 1));
  return (magnitude.bitcast(bits) | sign).bitcast(x.dtype());
}

Tensor root_of(const Tensor& x, double p) {
  const Tensor is_zero = x == 0, safe = is_zero.where(1, x);
  return is_zero.where(0, p == 2 ? safe.sqrt() : safe.pow(1 / p));
}

Tensor is_signed(const Tensor& x) {
  return x.dtype().is_float() ? x.bitcast(bits_of(x.dtype())) < 0 : x < 0;
}

}  // namespace weft
