#include <fmt/format.h>
#include <weft/error.h>
#include <weft/tensor_args.h>

namespace weft {

double Scalar::as_double() const {
  return literal_.is_float() ? real_ : static_cast<double>(integer_);
}

UOp Scalar::as(DType dtype) const {
  if (!literal_.is_float())
    return const_bits(dtype, convert(static_cast<Bits>(integer_), dtypes::i64, dtype));
  return const_bits(dtype, convert(bits_from_double(real_, dtypes::f64), dtypes::f64, dtype));
}

Dim::Dim(UOp size) : size_(std::move(size)) {
  if (size_.is_null() || !size_->dtype().is_int() || size_->shape() != nullptr)
    user_error("a size is an integer, or an integer expression of variables");
}

std::vector<std::int64_t> PerDim::of(std::size_t dims, const char* op) const {
  if (values_.size() == 1) return std::vector<std::int64_t>(dims, values_[0]);
  if (values_.size() != dims)
    user_error(fmt::format("{}: {} numbers for {} spatial dimensions", op, values_.size(), dims));
  return values_;
}

}  // namespace weft
