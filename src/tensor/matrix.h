// What the files of linear algebra share.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include <weft/linalg.h>

namespace weft {

// As floats of at least 32 bits, to compute with; what has no two axes (or is not square) is refused.
Tensor matrix_of(std::string_view op, const Tensor& a);
Tensor square_of(std::string_view op, const Tensor& a);

inline Tensor turned(const Tensor& a) { return a.transpose(-1, -2); }
Tensor rows(const Tensor& a, std::int64_t start, std::int64_t stop);
Tensor columns(const Tensor& a, std::int64_t start, std::int64_t stop);
Tensor identity(const Tensor& like, std::int64_t rows, std::int64_t columns);
Tensor identity(const Tensor& like);  // as large as the last axis
// (..., n) to (..., n, n), with zeros beside the diagonal; and back.
inline Tensor diagonal_matrix(const Tensor& values) { return values.diag_embed(); }
inline Tensor diagonal_of(const Tensor& a) { return a.diagonal(0, -2, -1); }
// The power of two below the largest element of each matrix: over it, squares are in range.
Tensor magnitude(const Tensor& a);
// Whether each row (or column) is the one of that number: (size, 1), (1, size).
Tensor is_row(const Tensor& a, std::int64_t number);
Tensor is_column(const Tensor& a, std::int64_t number);
// The batches of both expanded to what they broadcast to, the last two axes as they are.
std::pair<Tensor, Tensor> batched(std::string_view op, const Tensor& a, const Tensor& b);

// Several results as one tensor, for Tensor::custom: their last axes (two, or one) flattened and joined.
using Trailing = std::vector<std::vector<std::int64_t>>;
Tensor packed(const std::vector<Tensor>& parts, const Trailing& shapes);
std::vector<Tensor> unpacked(const Tensor& whole, const Trailing& shapes);

// The inverse of a lower triangle, with ones on its diagonal whatever is there if it is `unit`. What lies
// above is not read.
Tensor triangular_inverse(const Tensor& a, bool unit);

// Without a gradient of their own.
linalg::Qr householder_qr(const Tensor& a, bool complete);
// L below the diagonal (whose ones are left out), U on it and above; p a = L U; the sign of p.
struct Packed {
  Tensor lu, p, sign;
};
Packed eliminated(const Tensor& a);

}  // namespace weft
