// Networks over time as libraries: one serves every number of steps.

#include <algorithm>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>
#include <weft/functional.h>
#include <weft/weft.h>

#include "../support/open_sizes.h"
#include "library.h"

namespace weft {
namespace {

constexpr std::int64_t fewest_steps = 6, most_steps = 90, channels = 8, classes = 3;

using Rows = std::vector<std::vector<double>>;  // (channels, time)

// Convolutions with norms, a residual, a pool, the mean over time and a product.
struct NetworkOverTime {
  explicit NetworkOverTime(const std::string& device) {
    Tensor::manual_seed(23);
    const auto constant = [&](const std::vector<std::int64_t>& shape) {
      return (Tensor::rand(shape, {.device = device}) - 0.5F).realize().freeze();
    };
    first = constant({channels, 2, 5});
    scale = constant({channels, 1});
    shift = constant({channels, 1});
    second = constant({channels, channels, 3});
    third = constant({channels, channels, 3});
    last = constant({channels, classes});
  }

  std::vector<NamedTensor> operator()(const std::vector<Tensor>& given) const {
    const auto layer = [&](const Tensor& x, const Tensor& weight, const ConvOptions& options) {
      return (x.conv1d(weight, {}, options) * scale + shift).relu();
    };
    const Tensor a = layer(given[0], first, {.padding = 2});
    const Tensor b = a + layer(a, second, {.dilation = 2, .padding = 2});
    const Tensor c = layer(b.max_pool1d(2), third, {.stride = 2, .padding = 1});
    return {{"maps", c}, {"scores", c.mean(2).matmul(last)}};
  }

  Tensor first, scale, shift, second, third, last;
};

// The same by loops.
class ByLoops {
 public:
  explicit ByLoops(const NetworkOverTime& network) : network_(network) {}

  std::pair<Rows, std::vector<double>> operator()(const Rows& x) const {
    const Rows a = layer(x, network_.first, 1, 1, 2);
    Rows b = layer(a, network_.second, 1, 2, 2), half(b.size());
    for (std::size_t c = 0; c < b.size(); ++c) {
      for (std::size_t t = 0; t < b[c].size(); ++t) b[c][t] += a[c][t];
      for (std::size_t t = 0; t + 1 < b[c].size(); t += 2)
        half[c].push_back(std::max(b[c][t], b[c][t + 1]));
    }
    const Rows maps = layer(half, network_.third, 2, 1, 1);
    const auto last = network_.last.to_vector<double>();
    std::vector<double> scores(classes);
    for (std::size_t c = 0; c < maps.size(); ++c)
      for (const double value : maps[c])
        for (std::size_t k = 0; k < scores.size(); ++k)
          scores[k] += value / static_cast<double>(maps[c].size()) * last[c * classes + k];
    return {maps, scores};
  }

 private:
  Rows layer(const Rows& x, const Tensor& weight, std::int64_t stride, std::int64_t dilation,
             std::int64_t padding) const {
    const auto w = weight.to_vector<double>(), scale = network_.scale.to_vector<double>(),
               shift = network_.shift.to_vector<double>();
    const std::int64_t size = std::ssize(x[0]), kernel = weight.size(2);
    const std::int64_t outputs = (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
    Rows y(static_cast<std::size_t>(channels),
           std::vector<double>(static_cast<std::size_t>(outputs)));
    for (std::size_t c = 0; c < y.size(); ++c)
      for (std::int64_t o = 0; o < outputs; ++o) {
        double sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
          for (std::int64_t k = 0; k < kernel; ++k) {
            const std::int64_t at = o * stride + k * dilation - padding;
            if (at >= 0 && at < size)
              sum += x[i][static_cast<std::size_t>(at)] *
                     w[(c * x.size() + i) * static_cast<std::size_t>(kernel) +
                       static_cast<std::size_t>(k)];
          }
        y[c][static_cast<std::size_t>(o)] = std::max(0.0, sum * scale[c] + shift[c]);
      }
    return y;
  }

  const NetworkOverTime& network_;
};

Rows rows_of(const Tensor& x) {
  const auto values = x.to_vector<double>();
  const std::int64_t size = x.size(2);
  Rows rows;
  for (auto at = values.begin(); at != values.end(); at += size) rows.emplace_back(at, at + size);
  return rows;
}

std::vector<float> begin_of(const Bytes& bytes, std::size_t count) {
  std::vector<float> floats(count);
  std::memcpy(floats.data(), bytes.data(), count * sizeof(float));
  return floats;
}

class LibraryOverTime : public testing::TestWithParam<const char*> {};

TEST_P(LibraryOverTime, ServesEveryNumberOfSteps) {
  const std::string device = export_device(GetParam());
  const NetworkOverTime network(device);
  const Dim time = open_size("time", fewest_steps, most_steps);
  const std::vector<NamedTensor> inputs{
      {"x", Tensor::zeros({1, 2, time}, {.device = device}).contiguous().realize()}};
  const ExportedLibrary library({{"", network, inputs}}, {.target = GetParam()});
  const weft_library_description& about = library.about();
  for (const std::int64_t n : {6, 7, 8, 15, 16, 17, 33, 64, 89, 90}) {
    const Tensor x = (Tensor::rand({1, 2, n}, {.device = device}) - 0.5F).realize();
    std::vector<Bytes> found;
    ASSERT_EQ(library.call(about, {x}, found, {.sizes = {n}}), 0);
    std::vector<std::int64_t> shapes(about.shape_count);
    ASSERT_EQ(about.shapes(&n, shapes.data()), 0);
    const auto [maps, scores] = ByLoops(network)(rows_of(x));
    const std::int64_t steps = std::ssize(maps[0]);
    EXPECT_EQ(std::vector(shapes.begin() + 3, shapes.begin() + 6),
              (std::vector<std::int64_t>{1, channels, steps}));
    const std::vector<NamedTensor> fixed = network({x});
    const auto fixed_maps = fixed[0].second.to_vector<float>(),
               fixed_scores = fixed[1].second.to_vector<float>();
    const std::vector<float> own = begin_of(found[0], fixed_maps.size());
    ASSERT_EQ(own.size(), static_cast<std::size_t>(channels * steps));
    for (std::size_t i = 0; i < own.size(); ++i) {
      const double exact =
          maps[i / static_cast<std::size_t>(steps)][i % static_cast<std::size_t>(steps)];
      ASSERT_NEAR(own[i], exact, 1e-6) << "of " << n << " at " << i;
      ASSERT_NEAR(own[i], fixed_maps[i], 1e-6) << "of " << n << " at " << i;
    }
    for (std::size_t at = own.size() * sizeof(float); at < found[0].size(); ++at)
      ASSERT_EQ(found[0][at], std::byte(0xa5)) << n << " steps are too many at " << at;
    const std::vector<float> own_scores = begin_of(found[1], scores.size());
    for (std::size_t i = 0; i < scores.size(); ++i) {
      EXPECT_NEAR(own_scores[i], scores[i], 1e-6) << "of " << n;
      EXPECT_NEAR(own_scores[i], fixed_scores[i], 1e-6) << "of " << n;
    }
  }
  std::vector<Bytes> none;
  const Tensor x = Tensor::zeros({1, 2, most_steps + 1});
  for (const std::int64_t n : {fewest_steps - 1, most_steps + 1})
    EXPECT_NE(library.call(about, {x}, none, {.sizes = {n}}), 0);
}

INSTANTIATE_TEST_SUITE_P(Targets, LibraryOverTime,
                         testing::Values("cpu=native", "cpu=x86-64-v2", "c"),
                         [](const auto& info) { return std::to_string(info.index); });

}  // namespace
}  // namespace weft
