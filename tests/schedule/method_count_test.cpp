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

// A write is a copy and the write itself.
TEST(MethodCount, Indexing) {
  const Tensor x = input({64, 32}), rows = Tensor::randint({20}, 0, 32).realize();
  const Tensor part = input({20, 32}), mask = (x > 0.5).realize();
  const Tensor index = Tensor::randint({64, 32}, 0, 64).realize();
  using enum Tensor::Reduce;
  const Count counts[] = {
      {"x[rows]", [&] { return x[rows] * 2 + 1; }, 1},
      {"x[1:, rows]", [&] { return x[{Slice{1}, rows}] + 1; }, 1},
      {"x.T()[rows]", [&] { return x.T()[rows] + 1; }, 1},
      {"x[rows, rows]", [&] { return x[{rows, rows}].sum(); }, 1},
      {"index_put", [&] { return x.index_put({rows}, part); }, 2},
      {"index_add", [&] { return x.index_add(0, rows, part); }, 2},
      {"index_add of what is computed", [&] { return (x * 2).index_add(0, rows, part * 3); }, 2},
      {"gather", [&] { return x.gather(0, index) + x; }, 1},
      {"scatter_add", [&] { return x.scatter_add(0, index, x); }, 2},
      {"scatter_reduce, amax", [&] { return x.scatter_reduce(0, index, x, Amax); }, 2},
      {"scatter_reduce, mean", [&] { return x.scatter_reduce(0, index, x, Mean); }, 5},
      {"masked_fill", [&] { return x.masked_fill(mask, 0).sum(); }, 1},
      {"masked_select", [&] { return x.masked_select(mask, 100); }, 2},
      {"nonzero", [&] { return mask.nonzero(100); }, 2},
      {"one_hot", [&] { return rows.one_hot(32); }, 1},
  };
  expect_counts(counts);
  Tensor cache = Tensor::empty({2, 512, 64});
  cache.set({0, Tensor({7})}, input({1, 64}));
  cache[1].set({Tensor({3, 4})}, input({2, 64}));
  EXPECT_EQ(cache.schedule().size(), 2U) << "set";
  const Tensor loss = x[rows].square().sum();
  EXPECT_EQ(loss.gradient({x})[0].schedule().size(), 2U) << "gradient of x[rows]";
}

TEST(MethodCount, Searching) {
  const Tensor line = input({4096}), sorted = Tensor::linspace(0, 1, 500).realize();
  const Tensor rows = Tensor::randint({20}, 0, 32).realize(), few = Tensor({0.2, 0.5});
  const Count counts[] = {
      {"isin", [&] { return rows.isin(rows); }, 1},
      {"searchsorted", [&] { return sorted.searchsorted(line); }, 1},
      {"bucketize of few", [&] { return line.bucketize(few); }, 1},
      {"histc", [&] { return line.histc(50, 0, 1); }, 2},
  };
  expect_counts(counts);
}

}  // namespace
}  // namespace weft
