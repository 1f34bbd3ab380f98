#include <cmath>

#include <weft/dev/ir/graph.h>

#include "tensor_test.h"

namespace weft {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

TEST(TensorProduct, Matrices) {
  const Tensor a{{1, 2, 3}, {4, 5, 6}}, b{{7, 8}, {9, 10}, {11, 12}};
  EXPECT_TRUE(holds<int>(a.matmul(b), {58, 64, 139, 154}, {2, 2}));
  EXPECT_TRUE(holds<int>(a.dot(Tensor({1, 0, 2})), {7, 16}, {2}));
  EXPECT_TRUE(holds<int>(Tensor({1, 2}).matmul(a), {9, 12, 15}, {3}));
  EXPECT_TRUE(holds<int>(Tensor({1, 2}).dot(Tensor({3, 4})), {11}, {}));
  EXPECT_EQ(error_of([&] { a.matmul(Tensor::zeros({4, 5})); }),
            "matmul: shapes (2, 3) and (4, 5): 3 does not match 4");
  EXPECT_EQ(error_of([&] { a.matmul(Tensor(1)); }),
            "matmul: shapes (2, 3) and (): a scalar has no rows");
}

TEST(TensorProduct, BatchesBroadcast) {
  const Tensor a = Tensor::arange(12).reshape({2, 1, 2, 3}),
               b = Tensor::arange(12).reshape({2, 3, 2});
  const Tensor c = a.matmul(b);
  std::vector<int> expected;
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 2; ++j)
      for (std::int64_t m = 0; m < 2; ++m)
        for (std::int64_t n = 0; n < 2; ++n) {
          std::int64_t sum = 0;
          for (std::int64_t k = 0; k < 3; ++k) sum += (i * 6 + m * 3 + k) * (j * 6 + k * 2 + n);
          expected.push_back(static_cast<int>(sum));
        }
  EXPECT_TRUE(holds<int>(c, expected, {2, 2, 2, 2}));
}

// Element k of the weight takes input i to place i * stride + k * dilation - before.
std::vector<int> spread_by(const std::vector<int>& x, const std::vector<int>& weight,
                           std::int64_t stride, std::int64_t dilation, std::int64_t before,
                           std::int64_t size) {
  std::vector<int> result(at(size));
  for (std::int64_t i = 0; i < std::ssize(x); ++i)
    for (std::int64_t k = 0; k < std::ssize(weight); ++k)
      if (const std::int64_t place = i * stride + k * dilation - before; 0 <= place && place < size)
        result[at(place)] += x[at(i)] * weight[at(k)];
  return result;
}

TEST(TensorProduct, TransposedConvolutionsOfAllStridesAndPaddings) {
  const Context context{{"DEV", "INTERP"}};
  const std::vector<int> x{3, -1, 4}, all{2, 7, -1, 8, 5};
  for (std::int64_t length = 1; length <= 5; ++length)
    for (std::int64_t stride = 1; stride <= 3; ++stride)
      for (std::int64_t before = -1; before <= 3; ++before)
        for (std::int64_t dilation = 1; dilation <= 2; ++dilation) {
          const std::int64_t more = std::max(stride, dilation) - 1;
          const std::int64_t reach = dilation * (length - 1) + 1;
          const std::int64_t size = 2 * stride + reach - before - 1 + more;
          if (size < 1) continue;
          const std::vector<int> weight(all.begin(), all.begin() + length);
          const ConvTransposeOptions options{.stride = stride,
                                             .dilation = dilation,
                                             .padding = {Padding::Sides{before, 1}},
                                             .output_padding = more};
          EXPECT_TRUE(holds<int>(Tensor(x).reshape({1, 1, 3}).conv_transpose(
                                     Tensor(weight).reshape({1, 1, length}), {}, options),
                                 spread_by(x, weight, stride, dilation, before, size),
                                 {1, 1, size}))
              << length << " elements, stride " << stride << ", padding " << before << ", dilation "
              << dilation;
        }
}

// What padding cuts off is not computed, or computed and cut off; the sums are PyTorch's.
TEST(TensorProduct, TransposedConvolutionsCutOff) {
  struct Case {
    std::int64_t stride, padding, dilation, more, size;
    double sum;  // of outputs by their numbers, in thousands
  };
  const Case cases[] = {{1, 1, 2, 1, 8, 308.804},  {1, 0, 2, 1, 10, 531.966},
                        {1, 3, 1, 0, 1, 0.17},     {1, 2, 1, 0, 3, 16.825},
                        {2, 1, 1, 1, 10, 481.149}, {3, 0, 1, 0, 15, 1215.887}};
  const Tensor x = Tensor::arange(150).reshape({2, 3, 5, 5}).cast(dtypes::f64) / 50;
  const Tensor w = Tensor::arange(54).reshape({3, 2, 3, 3}).cast(dtypes::f64) / 20 - 1;
  for (const Case& one : cases) {
    const Tensor y = x.conv_transpose(w, {},
                                      {.stride = one.stride,
                                       .dilation = one.dilation,
                                       .padding = one.padding,
                                       .output_padding = one.more});
    EXPECT_EQ(y.shape(), (std::vector<std::int64_t>{2, 2, one.size, one.size}));
    const Tensor numbers = Tensor::arange(y.numel()).reshape(Shape(y.shape()));
    EXPECT_NEAR((y * numbers).sum().item<double>() / 1000, one.sum, 6e-4);
  }
}

TEST(TensorProduct, DtypesOfProducts) {
  const Tensor half = Tensor::ones({2, 2}, {.dtype = dtypes::f16});
  EXPECT_EQ(half.matmul(half).dtype(), dtypes::f16);
  EXPECT_EQ(half.matmul(half, dtypes::f32).dtype(), dtypes::f32);
  const Tensor bytes = Tensor::full({1, 4}, 100, {.dtype = dtypes::i8});
  EXPECT_TRUE(holds<int>(bytes.matmul(bytes.T()), {40000}, {1, 1}));
}

TEST(TensorProduct, ABetaOfZeroTakesNothing) {
  const Tensor one = Tensor::ones({1, 1});
  EXPECT_EQ(Tensor::full({1, 1}, NAN).addmm(one, one, 0).item<float>(), 1);
}

TEST(TensorProduct, DistancesOfSmallIntegers) {
  const Tensor one = Tensor({1}, {.dtype = dtypes::u8}), two = Tensor({2}, {.dtype = dtypes::u8});
  EXPECT_EQ(one.dist(two).item<float>(), 1);
  EXPECT_EQ(one.unsqueeze(0).cdist(two.unsqueeze(0)).item<float>(), 1);
}

TEST(TensorProduct, Sequential) {
  const Tensor x({1.0, -2.0}), w({{1.0, 1.0}, {0.0, 2.0}});
  const Tensor y = x.sequential({[&](const Tensor& t) { return t.linear(w); }, &Tensor::relu,
                                 [](const Tensor& t) { return t + 1; }});
  EXPECT_TRUE(holds<float>(y, {2, 1}, {2}));
  EXPECT_TRUE(x.sequential({}).is(x));
}

double flops(const Tensor& tensor) {
  double sum = 0;
  for (const ScheduleItem& item : tensor.schedule()) sum += item.work.flops;
  return sum;
}

// All in one, the first two would be 8e6 products.
TEST(TensorProduct, EinsumTakesTheCheapestOrder) {
  const auto input = [](const Shape& shape) { return Tensor::rand(shape).contiguous().realize(); };
  const Tensor wide = input({4, 512}), tall = input({512, 8}), square = input({8, 512});
  const Tensor chain = Tensor::einsum("ij,jk,kl->il", {wide, tall, square});
  EXPECT_LT(flops(chain), 1.2 * 2 * (4 * 512 * 8 + 4 * 8 * 512));
  const Tensor last = input({512});
  const Tensor vector = Tensor::einsum("ij,jk,kl,l->i", {wide, tall, square, last});
  EXPECT_LT(flops(vector), 1.2 * 2 * (8 * 512 + 512 * 8 + 4 * 512));
  const Tensor apart = Tensor::einsum("ij,kl->", {wide, tall});
  EXPECT_LT(flops(apart), 2.0 * (4 * 512 + 512 * 8));
}

// More operands than the best order is looked for: still one product after the other.
TEST(TensorProduct, EinsumOfManyOperands) {
  std::string formula;
  std::vector<Tensor> operands;
  std::vector<float> expected{1, 0};
  for (int i = 0; i < 12; ++i) {
    formula += fmt::format("{}{}{}", i == 0 ? "" : ",", static_cast<char>('a' + i),
                           static_cast<char>('b' + i));
    operands.push_back(Tensor({{1.0, static_cast<double>(i)}, {1.0, 1.0}}));
    expected = {expected[0] + expected[1], expected[0] * static_cast<float>(i) + expected[1]};
  }
  operands.insert(operands.begin(), Tensor({1.0, 0.0}));
  const Tensor y = Tensor::einsum("a," + formula, operands);
  EXPECT_LT(flops(y), 200);
  EXPECT_TRUE(holds<float>(y, expected, {2}));
}

// As many as letters allow, one of them in ten operands.
TEST(TensorProduct, EinsumOfSixtyOperands) {
  const std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const Tensor shear{{1.0, 1.0}, {0.0, 1.0}}, twice({2.0, 2.0});
  std::string formula;
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i + 1 < letters.size(); ++i) {
    formula += letters.substr(i, 2) + ",";
    operands.push_back(shear);
  }
  for (; operands.size() < 60; operands.push_back(twice)) formula += "a,";
  formula.back() = '-';
  const Tensor y = Tensor::einsum(formula + ">aZ", operands);
  EXPECT_LT(flops(y), 60 * 20);
  EXPECT_TRUE(holds<float>(y, {512, 512 * 51, 0, 512}, {2, 2}));
}

TEST(TensorProduct, Linear) {
  const Tensor x{{1.0, 2.0}}, weight{{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}};
  EXPECT_TRUE(holds<float>(x.linear(weight), {9, 12, 15}, {1, 3}));
  EXPECT_TRUE(holds<float>(x.linear(weight, Tensor({1.0, 1.0, 1.0})), {10, 13, 16}, {1, 3}));
}

struct Layer {
  std::int64_t batch, in, out, height, width, kernel_h, kernel_w, groups, stride, dilation, padding;
};

// The definition, by loops.
std::vector<double> convolved(const std::vector<float>& x, const std::vector<float>& w,
                              const Layer& l, Sizes64& shape) {
  const auto places = [&](std::int64_t size, std::int64_t kernel) {
    return (size + 2 * l.padding - l.dilation * (kernel - 1) - 1) / l.stride + 1;
  };
  const std::int64_t rows = places(l.height, l.kernel_h), columns = places(l.width, l.kernel_w);
  const std::int64_t own = l.in / l.groups;
  shape = {l.batch, l.out, rows, columns};
  std::vector<double> result;
  for (std::int64_t n = 0; n < l.batch; ++n)
    for (std::int64_t o = 0; o < l.out; ++o)
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c) {
          double sum = 0;
          for (std::int64_t i = 0; i < own; ++i)
            for (std::int64_t p = 0; p < l.kernel_h; ++p)
              for (std::int64_t q = 0; q < l.kernel_w; ++q) {
                const std::int64_t y = r * l.stride + p * l.dilation - l.padding;
                const std::int64_t z = c * l.stride + q * l.dilation - l.padding;
                if (y < 0 || y >= l.height || z < 0 || z >= l.width) continue;
                const std::int64_t channel = o / (l.out / l.groups) * own + i;
                sum += x[at(((n * l.in + channel) * l.height + y) * l.width + z)] *
                       w[at(((o * own + i) * l.kernel_h + p) * l.kernel_w + q)];
              }
          result.push_back(sum);
        }
  return result;
}

TEST(TensorProduct, Convolutions) {
  const Layer layers[] = {
      {2, 3, 4, 6, 5, 3, 3, 1, 1, 1, 0}, {1, 4, 4, 6, 6, 3, 2, 2, 1, 1, 1},
      {1, 2, 2, 7, 7, 3, 3, 1, 2, 1, 1}, {1, 2, 4, 8, 7, 2, 3, 2, 1, 2, 0},
      {1, 2, 2, 9, 9, 2, 2, 1, 4, 3, 2}, {1, 1, 1, 5, 5, 1, 1, 1, 3, 1, 0},
  };
  for (const Layer& l : layers) {
    const std::vector<float> x = ramp(l.batch * l.in * l.height * l.width, -3, 0.25);
    const std::vector<float> w = ramp(l.out * l.in / l.groups * l.kernel_h * l.kernel_w, 1, -0.125);
    Sizes64 shape;
    const std::vector<double> expected = convolved(x, w, l, shape);
    const Tensor y =
        Tensor(x)
            .reshape({l.batch, l.in, l.height, l.width})
            .conv2d(Tensor(w).reshape({l.out, l.in / l.groups, l.kernel_h, l.kernel_w}), {},
                    l.groups, l.stride, l.dilation, l.padding);
    EXPECT_TRUE(near(y, expected, shape)) << l.kernel_h << " " << l.stride << " " << l.dilation;
  }
}

TEST(TensorProduct, ConvolutionsOfOneAndThreeDimensions) {
  const Tensor line = Tensor({1.0, 2.0, 3.0, 4.0}).reshape({1, 1, 4});
  const Tensor pair = Tensor({1.0, -1.0}).reshape({1, 1, 2});
  EXPECT_TRUE(holds<float>(line.conv(pair, Tensor({10.0}), {}), {9, 9, 9}, {1, 1, 3}));
  const Tensor cube = Tensor::ones({1, 1, 3, 3, 3});
  EXPECT_TRUE(holds<float>(cube.conv(Tensor::ones({1, 1, 2, 2, 2}), {}, {}),
                           std::vector<float>(8, 8.0F), {1, 1, 2, 2, 2}));
}

// No op of its own: two views, a product, a sum.
TEST(TensorProduct, AConvolutionIsAProductOfTwoViews) {
  const UOp y = Tensor::empty({16, 3, 64, 64}).conv2d(Tensor::empty({16, 3, 3, 3})).uop();
  const Node* product = nullptr;
  for (const Node* node : toposort(y.node())) {
    EXPECT_TRUE(info(node->op()).cls != OpClass::Binary || node->op() == Op::Mul);
    if (node->op() == Op::Mul) product = node;
  }
  ASSERT_NE(product, nullptr);
  for (const Node* factor : product->src()) {
    Sizes64 shape;
    for (const Node* size : factor->dims()) shape.push_back(size->lo());
    EXPECT_EQ(shape, (Sizes64{16, 1, 16, 62, 62, 3, 3, 3}));
  }
}

TEST(TensorProduct, ConvolutionErrors) {
  const Tensor x = Tensor::zeros({1, 4, 5, 5});
  EXPECT_EQ(error_of([&] { x.conv2d(Tensor::zeros({2, 3, 3, 3})); }),
            "conv2d: 4 channels do not fit a weight of shape (2, 3, 3, 3) in 1 groups");
  EXPECT_EQ(error_of([&] { x.conv2d(Tensor::zeros({2, 4, 6, 3})); }),
            "conv2d: a kernel of 6 with dilation 1 does not fit in 5 elements");
  EXPECT_EQ(error_of([&] { x.conv2d(Tensor::zeros({2, 4, 3, 3}), {}, 1, {1, 1, 1}); }),
            "conv2d: 3 numbers for 2 spatial dimensions");
}

TEST(TensorProduct, Pooling) {
  const Tensor x = Tensor::arange(16).reshape({1, 1, 4, 4}).cast(dtypes::f32);
  EXPECT_TRUE(holds<float>(x.max_pool2d(), {5, 7, 13, 15}, {1, 1, 2, 2}));
  EXPECT_TRUE(holds<float>(x.avg_pool2d(), {2.5F, 4.5F, 10.5F, 12.5F}, {1, 1, 2, 2}));
  EXPECT_TRUE(holds<float>(x.max_pool2d({3, 3}, 1), {10, 11, 14, 15}, {1, 1, 2, 2}));
  EXPECT_TRUE(holds<float>((x - 20).max_pool2d({2, 2}, 2, 1, 1),
                           {-20, -18, -17, -12, -10, -9, -8, -6, -5}, {1, 1, 3, 3}));
  EXPECT_TRUE(near(x.avg_pool({2, 2}, {.stride = 2, .padding = 1}),
                   {0, 0.75, 0.75, 3, 7.5, 4.5, 3, 6.75, 3.75}, {1, 1, 3, 3}));
  EXPECT_TRUE(near(x.avg_pool({2, 2}, {.stride = 2, .padding = 1, .count_include_pad = false}),
                   {0, 1.5, 3, 6, 7.5, 9, 12, 13.5, 15}, {1, 1, 3, 3}));
  EXPECT_TRUE(holds<int>(Tensor({1, 5, 2, 4}).max_pool({2}), {5, 4}, {2}));
}

TEST(TensorProduct, Normalisation) {
  const std::vector<float> values = ramp(6, 1, 1.5);
  std::vector<double> layer, rms;
  for (std::size_t row = 0; row < 2; ++row) {
    double mean = 0, variance = 0, squares = 0;
    for (std::size_t i = 0; i < 3; ++i) mean += values[row * 3 + i] / 3;
    for (std::size_t i = 0; i < 3; ++i) variance += std::pow(values[row * 3 + i] - mean, 2) / 3;
    for (std::size_t i = 0; i < 3; ++i) squares += std::pow(values[row * 3 + i], 2) / 3;
    for (std::size_t i = 0; i < 3; ++i) {
      layer.push_back((values[row * 3 + i] - mean) / std::sqrt(variance + 1e-5));
      rms.push_back(values[row * 3 + i] / std::sqrt(squares + 1e-6));
    }
  }
  const Tensor x = Tensor(values).reshape({2, 3});
  EXPECT_TRUE(near(x.layernorm(), layer, {2, 3}));
  EXPECT_TRUE(near(x.rmsnorm(), rms, {2, 3}));
  EXPECT_EQ(x.cast(dtypes::f16).layernorm().dtype(), dtypes::f16);
  const Tensor normal = Tensor::ones({1, 2, 2}).batchnorm(Tensor({2.0, 3.0}), Tensor({0.5, 0.25}),
                                                          Tensor({0.0, 1.0}), Tensor({4.0, 5.0}));
  EXPECT_TRUE(holds<float>(normal, {8.5F, 8.5F, 0.25F, 0.25F}, {1, 2, 2}));
}

TEST(TensorProduct, Attention) {
  constexpr std::int64_t count = 3, width = 2;
  const std::vector<float> q = ramp(6, -1, 0.5), k = ramp(6, 0.5, -0.25), v = ramp(6, 1, 1);
  for (const bool is_causal : {false, true}) {
    std::vector<double> expected;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t seen = is_causal ? i + 1 : count;
      std::vector<double> weight;
      double sum = 0;
      for (std::int64_t j = 0; j < seen; ++j) {
        double score = 0;
        for (std::int64_t d = 0; d < width; ++d)
          score += q[at(i * width + d)] * k[at(j * width + d)];
        weight.push_back(std::exp(score / std::sqrt(2.0)));
        sum += weight.back();
      }
      for (std::int64_t d = 0; d < width; ++d) {
        double value = 0;
        for (std::int64_t j = 0; j < seen; ++j) value += weight[at(j)] / sum * v[at(j * width + d)];
        expected.push_back(value);
      }
    }
    const auto shaped = [&](const std::vector<float>& values) {
      return Tensor(values).reshape({1, 3, 2});
    };
    EXPECT_TRUE(near(shaped(q).scaled_dot_product_attention(shaped(k), shaped(v), {}, 0, is_causal),
                     expected, {1, 3, 2}));
    if (!is_causal) continue;
    const Tensor lower = Tensor::full({3, 3}, true).tril();
    EXPECT_TRUE(near(shaped(q).scaled_dot_product_attention(shaped(k), shaped(v), lower), expected,
                     {1, 3, 2}));
    const Tensor added = lower.where(0.0, -1e9);
    EXPECT_TRUE(near(shaped(q).scaled_dot_product_attention(shaped(k), shaped(v), added), expected,
                     {1, 3, 2}));
  }
}

TEST(TensorProduct, Losses) {
  const Tensor x{{1.0, 2.0, 0.5}, {0.0, -1.0, 3.0}}, classes({1, 2});
  std::vector<double> losses;
  const double values[2][3] = {{1, 2, 0.5}, {0, -1, 3}};
  double even = 0;
  for (int row = 0; row < 2; ++row) {
    double sum = 0;
    for (double value : values[row]) sum += std::exp(value);
    losses.push_back(std::log(sum) - values[row][row + 1]);
    for (double value : values[row]) even += (std::log(sum) - value) / 3 / 2;
  }
  const double mean = (losses[0] + losses[1]) / 2;
  EXPECT_NEAR(x.sparse_categorical_crossentropy(classes).item<double>(), mean, 1e-5);
  EXPECT_NEAR(x.cross_entropy(classes).item<double>(), mean, 1e-5);
  EXPECT_NEAR(x.cross_entropy(classes.one_hot(3).cast(dtypes::f32)).item<double>(), mean, 1e-5);
  EXPECT_NEAR(x.cross_entropy(classes, Reduction::Sum).item<double>(), 2 * mean, 1e-5);
  EXPECT_NEAR(x.cross_entropy(classes, Reduction::Mean, 0.1).item<double>(),
              0.9 * mean + 0.1 * even, 1e-5);
  EXPECT_NEAR(x.sparse_categorical_crossentropy(classes, -1, 0.1).item<double>(),
              0.9 * mean + 0.1 * even, 1e-5);
  EXPECT_TRUE(near(x.log_softmax().nll_loss(classes, {}, {}, Reduction::None), losses, {2}));
  EXPECT_NEAR(x.log_softmax().nll_loss(classes, {}, 2).item<double>(), losses[0], 1e-5);
  EXPECT_NEAR(x.sparse_categorical_crossentropy(Tensor({1, -1})).item<double>(), losses[0], 1e-5);
  EXPECT_NEAR(x.log_softmax().nll_loss(classes, Tensor({1.0, 3.0, 1.0})).item<double>(),
              (3 * losses[0] + losses[1]) / 4, 1e-5);

  const Tensor p({0.25, 0.75}), y({0.0, 1.0});
  EXPECT_NEAR(p.binary_crossentropy(y).item<double>(), -std::log(0.75), 1e-5);
  EXPECT_NEAR((p / (1 - p)).log().binary_crossentropy_logits(y).item<double>(), -std::log(0.75),
              1e-5);
  EXPECT_NEAR(p.mse_loss(y).item<double>(), 0.0625, 1e-6);
  EXPECT_EQ(error_of([&] { x.cross_entropy(Tensor({1, 2, 0})); }),
            "cross_entropy: targets of i32 and shape (3,) are not a class for each score of shape "
            "(2, 3)");
}

}  // namespace
}  // namespace weft
