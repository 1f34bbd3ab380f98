// Products of vectors and matrices of exactly the shapes that their names say, and over any axes.

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>

#include "contraction.h"
#include "ops.h"

namespace weft {
namespace {

// A letter for each axis; axes of one letter have one size.
void want_shapes(std::string_view op, const Tensor& a, std::string_view of_a, const Tensor& b,
                 std::string_view of_b) {
  bool fits = a.ndim() == std::ssize(of_a) && b.ndim() == std::ssize(of_b);
  for (std::size_t i = 0; fits && i < of_a.size(); ++i)
    if (const auto same = of_b.find(of_a[i]); same != std::string_view::npos)
      fits = a.uop()->dims()[i] == b.uop()->dims()[same];
  if (!fits)
    user_error(fmt::format("{}: shapes {} and {} are not ({}) and ({})", op, shape_text(a.uop()),
                           shape_text(b.uop()), fmt::join(of_a, ", "), fmt::join(of_b, ", ")));
}

// beta * x + alpha * product, in the shape of the product; by a beta of 0 also what is no number goes.
Tensor added(std::string_view op, const Tensor& x, const Tensor& product, Scalar beta,
             Scalar alpha) {
  const std::vector<UOp> both{x.uop(), product.uop()};
  if (!std::ranges::equal(broadcast_sizes(op, both), sizes_of(both[1]), {}, &UOp::node, &UOp::node))
    user_error(fmt::format("{}: shape {} does not fit products of shape {}", op,
                           shape_text(both[0]), shape_text(both[1])));
  const auto times = [](const Tensor& tensor, Scalar factor) {
    return tensor * Operand(factor.as(factor.literal()), {}, false);
  };
  const Tensor scaled = times(product, alpha);
  return beta.as_double() == 0 ? scaled : times(x, beta) + scaled;
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, DType dtype) {
  return Called(), a.matmul(b, dtype);
}

Tensor Tensor::mm(const Tensor& other) const {
  const Called called;
  want_shapes("mm", *this, "nk", other, "km");
  return matmul(other);
}

Tensor Tensor::bmm(const Tensor& other) const {
  const Called called;
  want_shapes("bmm", *this, "bnk", other, "bkm");
  return matmul(other);
}

Tensor Tensor::mv(const Tensor& vector) const {
  const Called called;
  want_shapes("mv", *this, "nk", vector, "k");
  return matmul(vector);
}

Tensor Tensor::addmm(const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) const {
  const Called called;
  want_shapes("addmm", a, "nk", b, "km");
  return added("addmm", *this, a.matmul(b), beta, alpha);
}

Tensor Tensor::addmv(const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) const {
  const Called called;
  want_shapes("addmv", a, "nk", b, "k");
  return added("addmv", *this, a.matmul(b), beta, alpha);
}

Tensor Tensor::baddbmm(const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) const {
  const Called called;
  want_shapes("baddbmm", a, "bnk", b, "bkm");
  return added("baddbmm", *this, a.matmul(b), beta, alpha);
}

Tensor Tensor::tensordot(const Tensor& other, const std::vector<std::int64_t>& own,
                         const std::vector<std::int64_t>& others) const {
  const Called called;
  const Axes left = axes_of("tensordot", own, ndim()),
             right = axes_of("tensordot", others, other.ndim());
  if (left.size() != right.size())
    user_error(fmt::format("tensordot: axes ({}) with axes ({}): want as many of each",
                           fmt::join(own, ", "), fmt::join(others, ", ")));
  const auto n = static_cast<std::size_t>(ndim()), m = static_cast<std::size_t>(other.ndim());
  if (n + m > 64) user_error(fmt::format("tensordot: {} and {} axes are more than 64", n, m));
  Labelled a{*this, std::vector<std::size_t>(n)}, b{other, std::vector<std::size_t>(m)};
  std::iota(a.labels.begin(), a.labels.end(), 0);
  std::iota(b.labels.begin(), b.labels.end(), n);
  for (std::size_t i = 0; i < left.size(); ++i) {
    const auto at = static_cast<std::size_t>(left[i]), with = static_cast<std::size_t>(right[i]);
    if (uop()->dims()[at] != other.uop()->dims()[with])
      user_error(fmt::format("tensordot: axis {} of shape {} is not as long as axis {} of shape {}",
                             at, shape_text(uop()), with, shape_text(other.uop())));
    b.labels[with] = at;
  }
  std::vector<std::size_t> output;
  for (std::size_t label = 0; label < n + m; ++label) {
    const bool is_common =
        label < n ? std::ranges::find(left, static_cast<std::int64_t>(label)) != left.end()
                  : b.labels[label - n] < n;
    if (!is_common) output.push_back(label);
  }
  return contraction("tensordot", {a, b}, output);
}

Tensor Tensor::tensordot(const Tensor& other, std::int64_t axes) const {
  const Called called;
  if (axes < 0 || axes > std::min(ndim(), other.ndim()))
    user_error(fmt::format("tensordot: {} axes of shapes {} and {}", axes, shape_text(uop()),
                           shape_text(other.uop())));
  std::vector<std::int64_t> own(static_cast<std::size_t>(axes)), others(own.size());
  std::iota(own.begin(), own.end(), ndim() - axes);
  std::iota(others.begin(), others.end(), 0);
  return tensordot(other, own, others);
}

Tensor Tensor::inner(const Tensor& other) const {
  const Called called;
  if (ndim() == 0 || other.ndim() == 0) return *this * other;
  if (dims().back().uop().node() != other.dims().back().uop().node())
    user_error(fmt::format("inner: the last axes of shapes {} and {} differ", shape_text(uop()),
                           shape_text(other.uop())));
  return tensordot(other, {-1}, {-1});
}

Tensor Tensor::sequential(const std::vector<std::function<Tensor(const Tensor&)>>& layers) const {
  Tensor x = *this;
  for (const auto& layer : layers) x = layer(x);
  return x;
}

}  // namespace weft
