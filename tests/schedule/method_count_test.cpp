// How many kernels methods become, of tensors in memory.

#include <functional>
#include <span>
#include <string_view>

#include <gtest/gtest.h>
#include <weft/weft.h>

namespace weft {
namespace {

struct Count {
  std::string_view name;
  std::function<Tensor()> call;
  std::size_t kernels;
};

Tensor input(const Shape& shape) { return Tensor::rand(shape).realize(); }

void expect_counts(std::span<const Count> counts) {
  for (const Count& count : counts)
    EXPECT_EQ(count.call().schedule().size(), count.kernels) << count.name;
}

// A step of Cholesky, of QR and a round of rotations is one kernel, one of LU three.
TEST(MethodCount, LinearAlgebra) {
  const Tensor a = input({16, 16}), tall = input({40, 16});
  const Count counts[] = {
      {"cholesky", [&] { return linalg::cholesky(a); }, 18},
      {"lu", [&] { return linalg::lu(a).u; }, 52},
      {"qr", [&] { return linalg::qr(a).r; }, 32},
      {"triangular", [&] { return linalg::solve_triangular(a, a, {.upper = false}); }, 11},
      {"eigh", [&] { return linalg::eigh(a).values; }, 237},
      {"svd", [&] { return linalg::svd(tall, false).s; }, 328},
      {"matrix_exp", [&] { return linalg::matrix_exp(a); }, 21},
      {"norm", [&] { return linalg::norm(a); }, 1},
      {"kron", [&] { return linalg::kron(a, a); }, 1},
  };
  expect_counts(counts);
}

// A kernel for each factor of the size.
TEST(MethodCount, Fourier) {
  const Tensor x = input({4, 1024}), z = input({4, 1024, 2}), prime = input({131, 2});
  const Count counts[] = {
      {"fft of 1024", [&] { return fft::fft(z); }, 3},
      {"fft of 16", [&] { return fft::fft(z.slice(1, {.stop = 16})); }, 1},
      {"fft of 131", [&] { return fft::fft(prime); }, 8},
      {"rfft", [&] { return fft::rfft(x); }, 3},
      {"irfft", [&] { return fft::irfft(fft::rfft(x)); }, 5},
      {"stft", [&] { return fft::stft(x, 64); }, 2},
      {"fftshift", [&] { return fft::fftshift(x); }, 0},
  };
  expect_counts(counts);
}

}  // namespace
}  // namespace weft
