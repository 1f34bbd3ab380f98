#include "matrix.h"

#include <fmt/format.h>
#include <weft/error.h>

#include "ops.h"

namespace weft {

Tensor matrix_of(std::string_view op, const Tensor& a) {
  if (a.ndim() < 2)
    user_error(
        fmt::format("{}: shape {} is no matrix, nor a batch of such", op, shape_text(a.uop())));
  constant_shape(op, a.uop());
  return a.cast(promote(float_like(a.dtype()), dtypes::f32));
}

Tensor square_of(std::string_view op, const Tensor& a) {
  Tensor matrix = matrix_of(op, a);
  if (a.size(-1) != a.size(-2))
    user_error(fmt::format("{}: matrices of shape {} are not square", op, shape_text(a.uop())));
  return matrix;
}

Tensor rows(const Tensor& a, std::int64_t start, std::int64_t stop) {
  return a.slice(-2, {.start = start, .stop = stop});
}

Tensor columns(const Tensor& a, std::int64_t start, std::int64_t stop) {
  return a.slice(-1, {.start = start, .stop = stop});
}

Tensor identity(const Tensor& like, std::int64_t rows, std::int64_t columns) {
  return Tensor::eye(rows, columns, {.dtype = like.dtype(), .device = like.device()});
}

Tensor identity(const Tensor& like) { return identity(like, like.size(-1), like.size(-1)); }

Tensor magnitude(const Tensor& a) {
  const Tensor most = a.detach().abs().max({-2, -1}, true);
  return ((most > 0) & most.isfinite()).where(most, 1).log2().floor().exp2().contiguous();
}

Tensor is_row(const Tensor& a, std::int64_t number) {
  return (Tensor::arange(a.size(-2), {.device = a.device()}) == number).unsqueeze(-1);
}

Tensor is_column(const Tensor& a, std::int64_t number) {
  return Tensor::arange(a.size(-1), {.device = a.device()}) == number;
}

std::pair<Tensor, Tensor> batched(std::string_view op, const Tensor& a, const Tensor& b) {
  const auto batch = [](const Tensor& x) {
    const std::vector<std::int64_t> shape = x.shape();
    std::vector<UOp> sizes;
    for (std::size_t i = 0; i + 2 < shape.size(); ++i) sizes.push_back(const_int(shape[i]));
    return weft::expand(weft::reshape(const_int(0), Sizes(sizes.size(), const_int(1))), sizes);
  };
  const Sizes joint = broadcast_sizes(op, {batch(a), batch(b)});
  const auto spread = [&](const Tensor& x) {
    std::vector<Dim> shape(joint.begin(), joint.end());
    shape.insert(shape.end(), {Dim(x.size(-2)), Dim(x.size(-1))});
    return x.expand(Shape(shape));
  };
  return {spread(a), spread(b)};
}

namespace {

std::int64_t elements(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (std::int64_t size : shape) count *= size;
  return count;
}

}  // namespace

Tensor packed(const std::vector<Tensor>& parts, const Trailing& shapes) {
  std::vector<Tensor> flat;
  for (std::size_t i = 0; i < parts.size(); ++i)
    flat.push_back(shapes[i].size() == 2 ? parts[i].flatten(-2) : parts[i]);
  return Tensor::cat(flat, -1);
}

std::vector<Tensor> unpacked(const Tensor& whole, const Trailing& shapes) {
  std::vector<Tensor> parts;
  std::int64_t start = 0;
  for (const auto& shape : shapes) {
    const Tensor part = columns(whole, start, start + elements(shape));
    parts.push_back(shape.size() == 2 ? part.unflatten(-1, Shape(shape)) : part);
    start += elements(shape);
  }
  return parts;
}

}  // namespace weft
