// Threads that realise at the same time, several kernels each: parts of one graph, equal graphs and
// graphs of their own.

#include <gtest/gtest.h>

#include <weft/settings.h>
#include <weft/weft.h>

#include "../support/threads.h"

namespace weft {
namespace {

constexpr int threads = 4, rounds = 12;
constexpr std::int64_t size = 96;

// Rows of 1, 2 ... less the number of the round, by the identity.
Tensor product(std::int64_t round) {
  const Tensor rows = Tensor::arange(size).reshape({size, 1}).cast(dtypes::f32) + 1.0;
  const Tensor a = (rows.expand({size, size}) - static_cast<double>(round)).contiguous();
  return a.matmul(Tensor::eye(size).cast(dtypes::f32).contiguous());
}

// The sum of a row of what is computed from the product: in kernels of its own.
Tensor row_sums(const Tensor& product, int factor) {
  return ((product * static_cast<double>(factor)).contiguous() + 1.0).sum(1);
}

void expect_row_sums(const std::vector<float>& sums, std::int64_t round, int factor) {
  ASSERT_EQ(std::ssize(sums), size);
  for (std::int64_t row = 0; row < size; ++row)
    ASSERT_EQ(sums[static_cast<std::size_t>(row)],
              static_cast<float>(size * ((row + 1 - round) * factor + 1)))
        << "row " << row << ", round " << round << ", factor " << factor;
}

// Kernels share the pool as well.
class ConcurrentRealizes : public testing::Test {
 protected:
  template <class F>
  static void in_all(F f) {
    in_threads(threads, [&](int thread) {
      const Context context{{"WEFT_THREADS", 3}};
      f(thread);
    });
  }
};

TEST_F(ConcurrentRealizes, OfOneGraph) {
  for (std::int64_t round = 0; round < rounds; ++round) {
    const Tensor shared = product(round);
    in_all([&](int thread) {
      const Tensor own = shared;  // another handle of the same node
      if (thread % 2 == 1) own.realize();
      expect_row_sums(row_sums(own, thread).to_vector<float>(), round, thread);
      expect_row_sums(row_sums(own, 5).to_vector<float>(), round, 5);
    });
    expect_row_sums(row_sums(shared, 7).to_vector<float>(), round, 7);
  }
}

TEST_F(ConcurrentRealizes, OfEqualGraphs) {
  in_all([](int) {
    for (std::int64_t round = 0; round < rounds; ++round)
      expect_row_sums(row_sums(product(round), 3).to_vector<float>(), round, 3);
  });
}

TEST_F(ConcurrentRealizes, OfGraphsOfTheirOwn) {
  in_all([](int thread) {
    for (std::int64_t round = 0; round < rounds; ++round) {
      const int factor = 10 * thread + static_cast<int>(round);
      Tensor a = row_sums(product(round), factor), b = row_sums(product(round + 1), factor);
      Tensor::realize({a, b});
      expect_row_sums(a.to_vector<float>(), round, factor);
      expect_row_sums(b.to_vector<float>(), round + 1, factor);
    }
  });
}

}  // namespace
}  // namespace weft
