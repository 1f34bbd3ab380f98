#include "golden.h"

namespace weft::golden {
namespace {

namespace la = linalg;

Tensor with_transposed(const Tensor& x) { return x + x.transpose(-1, -2); }
Tensor gram(const Tensor& x) { return x.matmul(x.transpose(-1, -2)); }

// Those of the columns, as groups/linalg.py fixes them.
Tensor signs(const Tensor& vectors) {
  const Tensor weights = Tensor::arange(1, vectors.size(-2) + 1, 1, {.dtype = vectors.dtype()});
  const Tensor sum = (vectors * weights.unsqueeze(-1)).sum(-2, true);
  return (sum < 0).where(-1, sum.ones_like()).detach();
}

bool is_named(const Case& c, std::string_view key) {
  return c.has(key) && (c.text(key) == "fro" || c.text(key) == "nuc");
}

std::vector<Tensor> svd(const Case& c) {
  const auto [u, s, vh] = c[0].svd(c.flag("full_matrices"));
  const std::int64_t k = s.size(-1);
  const Tensor left = u.slice(-1, {.stop = k}), fixed = signs(left);
  return {left * fixed, s, vh.slice(-2, {.stop = k}) * fixed.transpose(-1, -2)};
}

std::vector<Tensor> newton_schulz(const Case& c) {
  return one(c[0].newton_schulz(c.integer("steps"), {c.real("p0"), c.real("p1"), c.real("p2")},
                                c.real("eps")));
}

std::vector<Tensor> eigh(const Case& c) {
  const auto [values, vectors] = la::eigh(with_transposed(c[0]));
  return {values, vectors * signs(vectors)};
}

la::Tolerance tolerance(const Case& c) {
  la::Tolerance tolerance;
  if (c.has("limit")) tolerance.rtol = c.real("limit");
  if (c.has("least")) tolerance.atol = c.real("least");
  return tolerance;
}

std::vector<Tensor> matrix_norm(const Case& c) {
  const AxisList axes = c.axes("dim");
  const bool keep = c.flag("keepdim");
  return one(is_named(c, "ord") ? la::matrix_norm(c[0], c.text("ord"), axes, keep)
                                : la::matrix_norm(c[0], c.real("ord"), axes, keep));
}

std::vector<Tensor> norm(const Case& c) {
  if (is_named(c, "ord")) return one(la::norm(c[0], c.text("ord"), c.axes("dim")));
  return one(c.has("ord") ? la::norm(c[0], c.real("ord"), c.axes("dim")) : la::norm(c[0]));
}

const Group group(
    "linalg",
    {
        {"qr",
         [](const Case& c) {
           const auto [q, r] = c[0].qr();
           return std::vector<Tensor>{q, r};
         }},
        {"qr_complete",
         [](const Case& c) {
           const auto [q, r] = la::qr(c[0], true);
           return std::vector<Tensor>{q, r};
         }},
        {"svd", svd},
        {"newton_schulz", newton_schulz},
        {"cholesky", [](const Case& c) { return one(la::cholesky(gram(c[0]), c.flag("upper"))); }},
        {"inv", [](const Case& c) { return one(c[0].inverse()); }},
        {"det", [](const Case& c) { return one(c[0].det()); }},
        {"slogdet",
         [](const Case& c) {
           const auto [sign, logabsdet] = la::slogdet(c[0]);
           return std::vector<Tensor>{sign, logabsdet};
         }},
        {"lu",
         [](const Case& c) {
           const auto [p, l, u] = la::lu(c[0]);
           return std::vector<Tensor>{p, l, u};
         }},
        {"solve", [](const Case& c) { return one(la::solve(c[0], c[1], c.flag("left", true))); }},
        {"solve_triangular",
         [](const Case& c) {
           return one(la::solve_triangular(c[0], c[1],
                                           {.upper = c.flag("upper"),
                                            .left = c.flag("left", true),
                                            .unitriangular = c.flag("unitriangular")}));
         }},
        {"cholesky_solve",
         [](const Case& c) { return one(la::cholesky_solve(c[0], la::cholesky(gram(c[1])))); }},
        {"householder_product",
         [](const Case& c) { return one(la::householder_product(c[0], c[1])); }},
        {"eigh", eigh},
        {"eigvalsh", [](const Case& c) { return one(la::eigvalsh(with_transposed(c[0]))); }},
        {"svdvals", [](const Case& c) { return one(la::svdvals(c[0])); }},
        {"pinv", [](const Case& c) { return one(la::pinv(c[0], tolerance(c))); }},
        {"matrix_rank", [](const Case& c) { return one(la::matrix_rank(c[0], tolerance(c))); }},
        {"lstsq", [](const Case& c) { return one(la::lstsq(c[0], c[1]).solution); }},
        {"matrix_exp", [](const Case& c) { return one(la::matrix_exp(c[0])); }},
        {"matrix_power", [](const Case& c) { return one(la::matrix_power(c[0], c.integer("n"))); }},
        {"vector_norm",
         [](const Case& c) {
           return one(la::vector_norm(c[0], c.real("ord", 2), c.axes("dim"), c.flag("keepdim")));
         }},
        {"matrix_norm", matrix_norm},
        {"norm", norm},
        {"cond",
         [](const Case& c) {
           return one(is_named(c, "p") ? la::cond(c[0], c.text("p")) : la::cond(c[0], c.real("p")));
         }},
        {"multi_dot",
         [](const Case& c) {
           const auto inputs = c.inputs();
           return one(la::multi_dot({inputs.begin(), inputs.end()}));
         }},
        {"vecdot", [](const Case& c) { return one(la::vecdot(c[0], c[1], c.integer("dim"))); }},
        {"cross", [](const Case& c) { return one(c[0].cross(c[1], c.integer("dim", -1))); }},
        {"outer", [](const Case& c) { return one(c[0].outer(c[1])); }},
        {"kron", [](const Case& c) { return one(c[0].kron(c[1])); }},
        {"trace", [](const Case& c) { return one(c[0].trace()); }},
        {"vander",
         [](const Case& c) {
           return one(la::vander(c[0], c.has("N") ? std::optional(c.integer("N")) : std::nullopt));
         }},
    });

}  // namespace
}  // namespace weft::golden
