// Products with matrices of few bits, decoded by scales and offsets of blocks: random sizes, on each device, with weights
// that kernels may pack and weights that they may not, beside the same in double precision. WEFT_FULL=1 draws more,
// WEFT_SEED=n only the one.

#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <weft/settings.h>
#include <weft/weft.h>

namespace weft {
namespace {

using Floats = std::vector<float>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

class Product {
 public:
  explicit Product(std::uint64_t seed) : random_(seed) {
    rows_ = in(1, 4);
    outputs_ = in(1, 3) == 1 ? in(1, 40) : 16 * in(1, 12);
    pairs_ = in(1, 6);
    size_ = in(1, 3) == 1 ? 2 * in(1, 12) : 16 << in(0, 3);
    form_ = in(0, 4);
    x_ = floats(rows_ * blocks() * size_, -1, 1);
    scales_ = floats(outputs_ * blocks(), 0.01F, 0.1F);
    offsets_ = floats(outputs_ * blocks(), -1, 1);
    for (std::int64_t i = 0; i < outputs_ * blocks() * size_ / 2; ++i)
      codes_.push_back(static_cast<std::uint8_t>(in(0, 255)));
    for (std::int64_t i = 0; i < outputs_ * pairs_; ++i)
      zeros_.push_back(static_cast<std::uint8_t>(in(0, 255)));
  }

  std::string str() const {
    return fmt::format("{} rows, {} outputs, {} blocks of {}, form {}", rows_, outputs_, blocks(),
                       size_, form_);
  }

  // In single precision, on a device.
  Floats computed(const std::string& device, bool is_frozen) const {
    const auto constant = [&](const auto& values, const Shape& shape) {
      Tensor tensor = Tensor(values).to(device).reshape(shape).contiguous().realize();
      return is_frozen ? tensor.freeze() : tensor;
    };
    const Shape shape{outputs_, blocks(), 1};
    const Tensor x = Tensor(x_).to(device).reshape({rows_, -1}).realize();
    const Tensor codes = constant(codes_, {outputs_, blocks(), size_ / 2});
    const Tensor scales = constant(scales_, shape), offsets = constant(offsets_, shape);
    const Tensor zeros = constant(zeros_, {outputs_, pairs_});
    const Tensor code = fields(codes).cast(dtypes::f32);
    const Tensor zero = fields(zeros).unsqueeze(-1).cast(dtypes::f32);
    const Tensor weights[] = {code * scales - offsets, code * scales + offsets,
                              offsets - code * scales, (code - 8) * scales, (code - zero) * scales};
    return x.matmul(weights[form_].flatten(1).T()).to_vector<float>();
  }

  // What it is, and the sum of what is added up.
  struct Exact {
    double value = 0, most = 0;
  };
  Exact exact(std::int64_t row, std::int64_t output) const {
    Exact sum;
    for (std::int64_t block = 0; block < blocks(); ++block)
      for (std::int64_t i = 0; i < size_; ++i) {
        const double x = x_[at((row * blocks() + block) * size_ + i)];
        const double code = field(codes_, (output * blocks() + block) * size_ + i);
        const double scale = scales_[at(output * blocks() + block)];
        const double offset = offset_of(output, block);
        const double sign = form_ == 2 ? -1 : 1;
        sum.value += sign * x * (code * scale + offset);
        sum.most += std::abs(x) * (code * scale + std::abs(offset));
      }
    return sum;
  }

  void expect_near(const Floats& found) const {
    ASSERT_EQ(std::ssize(found), rows_ * outputs_);
    for (std::int64_t row = 0; row < rows_; ++row)
      for (std::int64_t output = 0; output < outputs_; ++output) {
        const Exact expected = exact(row, output);
        ASSERT_NEAR(found[at(row * outputs_ + output)], expected.value, 1e-6 * expected.most)
            << "row " << row << ", output " << output;
      }
  }

 private:
  std::int64_t in(std::int64_t lo, std::int64_t hi) {
    return std::uniform_int_distribution<std::int64_t>(lo, hi)(random_);
  }
  Floats floats(std::int64_t count, float lo, float hi) {
    std::uniform_real_distribution<float> between(lo, hi);
    Floats values(at(count));
    for (float& value : values) value = between(random_);
    return values;
  }
  std::int64_t blocks() const { return 2 * pairs_; }

  // Two in a byte, the lower half first.
  static Tensor fields(const Tensor& bytes) {
    const Options options{.dtype = dtypes::u8, .device = bytes.device()};
    const Tensor shifts = Tensor::arange(2, options) * 4;
    return ((bytes.unsqueeze(-1) >> shifts) & 15).flatten(-2);
  }
  static double field(const std::vector<std::uint8_t>& bytes, std::int64_t i) {
    return (bytes[at(i / 2)] >> (i % 2 * 4)) & 15;
  }

  // What is added to a code and its scale.
  double offset_of(std::int64_t output, std::int64_t block) const {
    const std::int64_t place = output * blocks() + block;
    const double scale = scales_[at(place)], offset = offsets_[at(place)];
    switch (form_) {
      case 1: return offset;
      case 3: return -8 * scale;
      case 4: return -field(zeros_, place) * scale;
      default: return -offset;
    }
  }

  std::mt19937_64 random_;
  std::int64_t rows_, outputs_, pairs_, size_, form_;
  Floats x_, scales_, offsets_;
  std::vector<std::uint8_t> codes_, zeros_;
};

class BlocksProperty : public testing::TestWithParam<const char*> {};

TEST_P(BlocksProperty, ProductsAreThoseOfWhatIsDecoded) {
  const char* only = std::getenv("WEFT_SEED");
  const std::uint64_t count = std::getenv("WEFT_FULL") != nullptr ? 300 : 12;
  const std::uint64_t first = only != nullptr ? std::strtoull(only, nullptr, 10) : 1;
  const std::uint64_t last = only != nullptr ? first : count;
  for (std::uint64_t seed = first; seed <= last && !HasFatalFailure(); ++seed) {
    const Product product(seed);
    for (const bool is_frozen : {false, true}) {
      SCOPED_TRACE(fmt::format("seed {}: {}{}", seed, product.str(), is_frozen ? ", frozen" : ""));
      product.expect_near(product.computed(GetParam(), is_frozen));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, BlocksProperty, testing::Values("CPU", "CLANG", "INTERP"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace weft
