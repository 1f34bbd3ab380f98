// Accuracy of factorisations by size, what is hard for them, and their gradients.

#include "tensor_test.h"

namespace weft {
namespace {

namespace la = linalg;

constexpr std::int64_t sizes[] = {1, 2, 3, 5, 8, 17, 64};

Tensor turned(const Tensor& x) { return x.transpose(-1, -2); }
Tensor unit(std::int64_t n, DType dtype) { return Tensor::eye(n, {.dtype = dtype}); }

Tensor random(std::int64_t rows, std::int64_t columns, DType dtype) {
  return Tensor::randn({rows, columns}, {.dtype = dtype}).realize();
}

double distance(const Tensor& a, const Tensor& b) {
  return (a - b).abs().max().cast(dtypes::f64).item<double>();
}

// In units of the last place of what has the norm of the factors.
double eps(DType dtype, std::int64_t n) {
  const double unit = dtype == dtypes::f64 ? 0x1p-52 : 0x1p-23;
  return unit * static_cast<double>(n) * 8;
}

double wrong_qr(const Tensor& a, bool complete) {
  const auto [q, r] = la::qr(a, complete);
  Tensor::realize({q, r});
  return std::max(distance(q.matmul(r), a),
                  distance(turned(q).matmul(q), unit(q.size(-1), a.dtype())));
}

double wrong_svd(const Tensor& a) {
  const auto [u, s, vh] = la::svd(a, false);
  Tensor::realize({u, s, vh});
  const Tensor one = unit(s.size(-1), a.dtype());
  return std::max({distance((u * s).matmul(vh), a), distance(turned(u).matmul(u), one),
                   distance(vh.matmul(turned(vh)), one)});
}

double wrong_eigh(const Tensor& a) {
  const auto [values, vectors] = la::eigh(a);
  Tensor::realize({values, vectors});
  return std::max(distance((vectors * values).matmul(turned(vectors)), a),
                  distance(turned(vectors).matmul(vectors), unit(a.size(-1), a.dtype())));
}

class LinearAlgebra : public testing::TestWithParam<const char*> {
 protected:
  DType dtype() const { return *parse_dtype(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(DTypes, LinearAlgebra, testing::Values("f32", "f64"));

TEST_P(LinearAlgebra, FactorsMakeUpTheMatrix) {
  Tensor::manual_seed(1);
  for (const std::int64_t n : sizes) {
    const Tensor a = random(n, n, dtype());
    const Tensor gram = (a.matmul(turned(a)) + unit(n, dtype())).realize();
    const Tensor l = la::cholesky(gram);
    EXPECT_LT(distance(l.matmul(turned(l)), gram), 4 * eps(dtype(), n)) << n;
    const auto [p, lower, upper] = la::lu(a);
    EXPECT_LT(distance(p.matmul(lower).matmul(upper), a), eps(dtype(), n)) << n;
    EXPECT_LE(lower.abs().max().cast(dtypes::f64).item<double>(), 1) << "the pivot is the largest";
    EXPECT_LT(wrong_qr(a, false), eps(dtype(), n)) << n;
    EXPECT_LT(wrong_eigh((a + turned(a)).realize()), eps(dtype(), n)) << n;
    EXPECT_LT(wrong_svd(a), eps(dtype(), n)) << n;
  }
  EXPECT_LT(wrong_qr(random(97, 5, dtype()), true), eps(dtype(), 97));
  EXPECT_LT(wrong_svd(random(97, 5, dtype())), eps(dtype(), 97));
  EXPECT_LT(wrong_svd(random(3, 40, dtype())), eps(dtype(), 40));
}

// Each by itself is slow, or never done, for rotations or reflections that are not careful.
TEST_P(LinearAlgebra, ManyEqualValues) {
  Tensor::manual_seed(2);
  const std::int64_t n = 24;
  const Tensor q = la::qr(random(n, n, dtype())).q.realize();
  const Tensor place = Tensor::arange(n, {.dtype = dtype()});
  const std::pair<const char*, Tensor> spectra[] = {
      {"two signs", (place < n / 2).where(1, place.zeros_like() - 1)},
      {"four values", (place % 4) * 0.25 + 0.125},
      {"close pairs", (place / 2).floor() + place * 1e-7},
      {"mostly zeros", (place < 3).where(place + 1, 0)},
      {"falling", (place * -2).exp2()},
      {"all equal", place.ones_like()},
      {"zero", place.zeros_like()},
  };
  for (const auto& [name, values] : spectra) {
    const Tensor a = (q * values).matmul(turned(q)).realize();
    const Tensor symmetric = ((a + turned(a)) * 0.5).realize();
    const double scale = values.abs().max().cast(dtypes::f64).item<double>() + 1;
    EXPECT_LT(wrong_eigh(symmetric), scale * eps(dtype(), n)) << name;
    EXPECT_LT(wrong_svd(a), scale * eps(dtype(), n)) << name;
    EXPECT_LT(wrong_qr(a, false), scale * eps(dtype(), n)) << name;
  }
}

TEST_P(LinearAlgebra, LargeAndSmallElements) {
  const Tensor a = Tensor({{3.0, 1.0}, {1.0, 2.0}}, {.dtype = dtype()});
  for (const double scale : {1e-25, 1e25}) {
    const Tensor s = la::svdvals(a * scale) / scale, values = la::eigvalsh(a * scale) / scale;
    const Tensor r = la::qr(a * scale).r / scale;
    EXPECT_TRUE(near(r, {-std::sqrt(10), -std::sqrt(2.5), 0, std::sqrt(2.5)}, {2, 2}));
    EXPECT_TRUE(near(s, {3.618033988749895, 1.381966011250105}, {2}));
    EXPECT_TRUE(near(values, {1.381966011250105, 3.618033988749895}, {2}));
  }
}

TEST(Matrices, HalvesAreComputedInFloats) {
  const Tensor a = Tensor({{4.0, 1.0}, {1.0, 3.0}}, {.dtype = dtypes::f16});
  EXPECT_EQ(la::cholesky(a).dtype(), dtypes::f16);
  EXPECT_TRUE(near(la::inv(a), {3 / 11.0, -1 / 11.0, -1 / 11.0, 4 / 11.0}, {2, 2}, 1e-3));
  EXPECT_TRUE(near(la::det(Tensor({{2, 1}, {1, 3}})), {5}, {}, 1e-6));  // of integers: f32
}

TEST(Matrices, SingularMatricesHaveNoInverse) {
  const Tensor a({{1.0, 2.0}, {2.0, 4.0}});
  EXPECT_EQ(la::det(a).item<float>(), 0);
  EXPECT_FALSE(la::inv(a).isfinite().all().item<bool>());
  EXPECT_TRUE(la::cholesky(Tensor({{1.0, 2.0}, {2.0, 1.0}})).isnan().any().item<bool>());
}

// Gradients do not hide that a factor was computed from another.
TEST(Matrices, SecondDerivatives) {
  const Tensor a = Tensor({{4.0, 1.0}, {1.0, 3.0}}, {.dtype = dtypes::f64});
  const Tensor first = la::slogdet(a).logabsdet.gradient({a})[0];
  const Tensor second = first.slice(0, {.stop = 1}).slice(1, {.stop = 1}).sum().gradient({a})[0];
  // d (a^-1)_00 / d a = -(a^-T)_0i (a^-T)_j0
  const double x = 3 / 11.0, y = -1 / 11.0;
  EXPECT_TRUE(near(second, {-x * x, -x * y, -x * y, -y * y}, {2, 2}, 1e-12));
}

}  // namespace
}  // namespace weft
