// Transforms against the sums that they are, for sizes that are split in all ways.

#include <numbers>

#include "tensor_test.h"

namespace weft {
namespace {

// By the definition, in extended precision.
std::vector<double> transformed(const std::vector<double>& x, int sign) {
  const std::size_t n = x.size() / 2;
  std::vector<long double> c(n), s(n);
  for (std::size_t k = 0; k < n; ++k) {
    const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(k) /
                              static_cast<long double>(n);
    c[k] = std::cos(angle), s[k] = static_cast<long double>(sign) * std::sin(angle);
  }
  std::vector<double> result;
  for (std::size_t k = 0; k < n; ++k) {
    long double real = 0, imag = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t at = j * k % n;
      real += x[2 * j] * c[at] - x[2 * j + 1] * s[at];
      imag += x[2 * j] * s[at] + x[2 * j + 1] * c[at];
    }
    result.push_back(static_cast<double>(real));
    result.push_back(static_cast<double>(imag));
  }
  return result;
}

std::vector<double> scaled(std::vector<double> values, double by) {
  for (double& value : values) value /= by;
  return values;
}

class Fourier : public testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, Fourier,
                         testing::Values(1, 2, 3, 5, 8, 17, 36, 64, 97, 127, 131, 262, 1000, 1024));

TEST_P(Fourier, IsExactToTheLastDigits) {
  const std::int64_t n = GetParam();
  Tensor::manual_seed(3);
  const Tensor x = Tensor::randn({n, 2}, {.dtype = dtypes::f64}).realize();
  const auto values = x.to_vector<double>();
  const double size = std::sqrt(static_cast<double>(n));
  EXPECT_TRUE(near(fft::fft(x) / size, scaled(transformed(values, -1), size), {n, 2}, 4e-15));
  EXPECT_TRUE(near(fft::ifft(x, {.norm = fft::Norm::Forward}) / size,
                   scaled(transformed(values, 1), size), {n, 2}, 4e-15));
  EXPECT_TRUE(near(fft::fft(x.cast(dtypes::f32)) / size, scaled(transformed(values, -1), size),
                   {n, 2}, 2e-6));
  EXPECT_TRUE(near(fft::ifft(fft::fft(x)), values, {n, 2}, 4e-15));
  const Tensor real = fft::real(x);
  EXPECT_TRUE(near(fft::irfft(fft::rfft(real), {.n = n}), real.to_vector<double>(), {n}, 4e-15));
}

TEST(FourierTransforms, ConvolutionsAreProducts) {
  const Tensor x({1.0, 2.0, 3.0, 0.0}), y({1.0, 0.0, 2.0, 0.0});
  const Tensor product = fft::multiply(fft::rfft(x), fft::rfft(y));
  EXPECT_TRUE(near(fft::irfft(product), {7, 2, 5, 4}, {4}));
}

TEST(FourierTransforms, ShortTimeAndBack) {
  const Tensor x = Tensor::randn({2, 50}).realize();
  const fft::Stft options{.hop_length = 5, .window = fft::hann_window(20)};
  const Tensor spectra = fft::stft(x, 20, options);
  EXPECT_EQ(spectra.shape(), (Sizes64{2, 11, 11, 2}));
  EXPECT_TRUE(near(fft::istft(spectra, 20, options), x.to_vector<double>(), {2, 50}));
}

}  // namespace
}  // namespace weft
