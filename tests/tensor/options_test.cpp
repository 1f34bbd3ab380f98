// Options by name mean what the same ones mean in order.

#include "tensor_test.h"

namespace weft {
namespace {

namespace F = functional;

struct Pair {
  std::string_view name;
  Tensor by_name, in_order;
};

// clang-format off
TEST(TensorOptions, ByNameAreThoseInOrder) {
  const Tensor x = Tensor(ramp(12, 0.1, 0.3)).reshape({3, 4}).realize(), y = (x + 0.1).realize();
  const Tensor image = Tensor::ones({1, 2, 4, 4}).realize(), w = Tensor({1.5, 2.0, 2.5, 3.0});
  const Tensor classes = Tensor({0, 1, 2}), places = Tensor::arange(4).reshape({1, 1, 2, 2}).expand({1, 2, 2, 2});
  const Tensor pooled = Tensor::ones({1, 2, 2, 2}).realize(), half = Tensor(0.5);
  using enum Tensor::Interpolation;
  const Pair pairs[] = {
      {"sum", x.sum(1, {.dtype = dtypes::f64}), x.sum(1, false, dtypes::f64)},
      {"sum of all", x.sum({}, {.keepdim = true}), x.sum({}, true)},
      {"sum, nothing else", x.sum({.keepdim = true}), x.sum({}, true)},
      {"sum, all by name", x.sum({.axes = 1, .keepdim = true, .dtype = dtypes::f64}), x.sum(1, true, dtypes::f64)},
      {"std, nothing else", x.std({.correction = 0}), x.std({}, false, 0)},
      {"var, all by name", x.var({.axes = {0}, .correction = 0}), x.var(0, false, 0)},
      {"mean, nothing else", x.mean({.keepdim = true}), x.mean({}, true)},
      {"max, all by name", x.max({.axes = {0, 1}, .keepdim = true}), x.max({0, 1}, true)},
      {"softmax", x.softmax({.axis = 0}), x.softmax(0)},
      {"layernorm, nothing else", x.layernorm({.eps = 0.1}), x.layernorm(-1, 0.1)},
      {"conv2d", image.conv2d(Tensor::ones({1, 2, 3, 3}), {.stride = 2, .padding = 1}), image.conv2d(Tensor::ones({1, 2, 3, 3}), {}, 1, 2, 1, 1)},
      {"max_pool2d, by order", image.max_pool2d({2, 2}, {1, 1}), image.max_pool2d({2, 2}, {.stride = 1})},
      {"avg_pool2d, by order", image.avg_pool2d({2, 2}, {1, 1}), image.avg_pool2d({2, 2}, {.stride = 1})},
      {"prod", x.prod({0, 1}, {.keepdim = true}), x.prod({0, 1}, true)},
      {"nansum", x.nansum(0, {.dtype = dtypes::f64}), x.nansum(0, false, dtypes::f64)},
      {"var", x.var(1, {.correction = 0}), x.var(1, false, 0)},
      {"std", x.std(1, {.keepdim = true}), x.std(1, true)},
      {"var_mean", x.var_mean(1, {.correction = 0}).first, x.var_mean(1, false, 0).first},
      {"std_mean", x.std_mean(1, {.correction = 2}).first, x.std_mean(1, false, 2).first},
      {"norm", x.norm({.p = 3, .keepdim = true}), x.norm(3, {}, true)},
      {"isclose", x.isclose(y, {.atol = 0.2, .equal_nan = true}), x.isclose(y, 1e-5, 0.2, true)},
      {"nan_to_num", x.nan_to_num({.posinf = 2}), x.nan_to_num(0, 2)},
      {"diff", x.diff({.axis = 0, .append = x}), x.diff(1, 0, {}, x)},
      {"diagonal", x.diagonal({.offset = 1}), x.diagonal(1)},
      {"diag_embed", x.diag_embed({.axis0 = 0, .axis1 = 1}), x.diag_embed(0, 0, 1)},
      {"layernorm", x.layernorm(-1, {.weight = w}), x.layernorm(-1, 1e-5, w)},
      {"rmsnorm", x.rmsnorm({.eps = 1e-3, .weight = w}), x.rmsnorm(-1, 1e-3, w)},
      {"normalize", x.normalize({.p = 1, .axes = 0}), x.normalize(1, 0)},
      {"max_pool2d", image.max_pool({2, 2}, {.stride = 1, .ceil_mode = true}), image.max_pool2d({2, 2}, 1, 1, 0, true)},
      {"avg_pool2d", image.avg_pool({2, 2}, {.padding = 1, .count_include_pad = false}), image.avg_pool2d({2, 2}, {}, 1, 1, false, false)},
      {"functional.max_unpool2d", F::max_unpool2d(pooled, places, {2, 2}, {.output_size = {5, 4}}), pooled.max_unpool2d(places, {2, 2}, {}, 0, {5, 4})},
      {"lp_pool2d", F::lp_pool2d(image, 3, 2), F::lp_pool(image, 3, {2, 2})},
      {"histc", x.histc({.bins = 4, .most = 2}), x.histc(4, 0, 2)},
      {"histogram", x.histogram(3, {.density = true}).counts, x.histogram(3, {}, {}, true).counts},
      {"topk", x.topk(2, {.largest = false}).values, x.topk(2, -1, false).values},
      {"quantile", x.quantile(0.3, {.axis = 1, .interpolation = Lower}), x.quantile(0.3, 1, false, Lower)},
      {"quantiles", x.quantile(half, {.keepdim = true}), x.quantile(half, {}, true)},
      {"nanquantile", x.nanquantile(0.3, {.axis = 0}), x.nanquantile(0.3, 0)},
      {"nanquantiles", x.nanquantile(half, {.axis = 0}), x.nanquantile(half, 0)},
      {"sparse_categorical_crossentropy", x.sparse_categorical_crossentropy(classes, {.label_smoothing = 0.1}), x.sparse_categorical_crossentropy(classes, -1, 0.1)},
      {"local_response_norm", F::local_response_norm(image, 3, {.k = 2}), F::local_response_norm(image, 3, 1e-4, 0.75, 2)},
      {"pairwise_distance", F::pairwise_distance(x, y, {.keepdim = true}), F::pairwise_distance(x, y, 2, 1e-6, true)},
      {"hamming_window", fft::hamming_window(5, {.alpha = 0.6}), fft::hamming_window(5, true, 0.6)},
      {"attention", x.scaled_dot_product_attention(y, x, {.is_causal = true}), x.scaled_dot_product_attention(y, x, {}, 0, true)},
      {"functional.attention", F::scaled_dot_product_attention(x, y, x, {.attn_mask = x.matmul(y.T()) > 0.5}), F::scaled_dot_product_attention(x, y, x, x.matmul(y.T()) > 0.5)},
  };
  for (const auto& [name, by_name, in_order] : pairs) {
    EXPECT_EQ(by_name.dtype(), in_order.dtype()) << name;
    EXPECT_TRUE(by_name.equal(in_order)) << name;
  }
  EXPECT_TRUE(x.allclose(x + 0.5, {.atol = 1}));
  EXPECT_FALSE(x.allclose(x + 0.5, {.rtol = 1e-3}));
}
// clang-format on

// Braces hold values where they may.
TEST(TensorOptions, ValuesInBracesAreNoOptions) {
  const Tensor x = Tensor::ones({2, 3, 4}).realize();
  EXPECT_EQ(x.sum({0, 1}).shape(), (Sizes64{4}));
  EXPECT_EQ(x.var({1}).shape(), (Sizes64{2, 4}));
  EXPECT_EQ(x.sum({}).shape(), (Sizes64{}));
  EXPECT_EQ(x.sum(1, {}).shape(), (Sizes64{2, 4}));
  EXPECT_EQ(x.quantile(0.5, {}).shape(), (Sizes64{}));
  EXPECT_EQ(x.histogram(2, {{0, 2}}).edges.tolist<float>(), (std::vector<float>{0, 1, 2}));
}

TEST(TensorOptions, OfWhatIsRandom) {
  const Tensor x = Tensor::ones({4, 4}).realize();
  Tensor::manual_seed(3);
  const auto named = F::gumbel_softmax(x, {.hard = true, .axis = 0}).to_vector<float>();
  Tensor::manual_seed(3);
  EXPECT_EQ(named, F::gumbel_softmax(x, 1, true, 0).to_vector<float>());
}

template <class T, class... Arguments>
concept Attends =
    requires(T x, Arguments... arguments) { x.scaled_dot_product_attention(x, x, arguments...); };

// A bool in the place of a probability would drop all.
// A bool is no dropout.
static_assert(Attends<Tensor, Tensor, double, bool>);
static_assert(Attends<Tensor, Tensor, int>);
static_assert(!Attends<Tensor, Tensor, bool>);

TEST(TensorCall, ComputesWhatAFunctionSays) {
  const Tensor x = Tensor({1.0, 2.0, 3.0}), y = Tensor({4.0, 5.0, 6.0});
  const Tensor a = x.as_param(0), b = x.as_param(1);
  const Tensor z = Tensor::call({x, y}, a * a + b);
  const auto of = z.sum().gradient({x, y});
  EXPECT_TRUE(holds<float>(z, {5, 9, 15}, {3}));
  EXPECT_TRUE(holds<float>(of[0], {2, 4, 6}, {3})) << "that of the function itself";
  EXPECT_TRUE(holds<float>(of[1], {1, 1, 1}, {3}));
}

TEST(TensorCall, TakesAGradientOfItsOwn) {
  const Tensor x = Tensor({1.0, 2.0, 3.0});
  const Tensor y = Tensor::call({x}, x.as_param(0).square(),
                                [](const Tensor& g, const auto& in, const Tensor& out) {
                                  return std::vector{g * in[0] + out};
                                });
  EXPECT_TRUE(holds<float>(y.sum().gradient({x})[0], {2, 6, 12}, {3}));
}

TEST(TensorDtypes, OfSoftmaxAndLinear) {
  const Tensor half = Tensor({1.0, 2.0, 3.0}, {.dtype = dtypes::f16});
  EXPECT_EQ(half.softmax(-1, dtypes::f32).dtype(), dtypes::f32);
  EXPECT_EQ(half.log_softmax(0, dtypes::f64).dtype(), dtypes::f64);
  EXPECT_EQ(half.softmin(0, dtypes::f64).dtype(), dtypes::f64);
  const Tensor large = Tensor({60000.0, 60000.0}, {.dtype = dtypes::f16});
  const Tensor ones = Tensor::ones({2, 1}, {.dtype = dtypes::f16});
  EXPECT_TRUE(holds<float>(large.linear(ones, {}, dtypes::f32), {120000}, {1})) << "beyond f16";
}

// Names that are nobody's do not compile: g++ 12 is inclined to take such a list for one without names.
template <class X>
concept FlipsByAName = requires(X x) { x.flip({.anything = 0}); };
template <class X>
concept SumsByAName = requires(X x) { x.sum({.anything = 0}); };
template <class X>
concept IsIndexedByAName = requires(X x) { x[{.row = 1}]; };
template <class X>
concept PoolsByAName = requires(X x) { x.max_pool2d({.anything = 2}); };
static_assert(!FlipsByAName<Tensor> && !SumsByAName<Tensor> && !IsIndexedByAName<Tensor> &&
              !PoolsByAName<Tensor>);

TEST(TensorOptions, ANumberIsAShape) {
  EXPECT_TRUE(holds<int>(Tensor::zeros(3, {.dtype = dtypes::i32}), {0, 0, 0}, {3}));
  const Tensor x = Tensor::arange(6).reshape({2, 3});
  EXPECT_TRUE(holds<int>(x.view(-1), {0, 1, 2, 3, 4, 5}, {6}));
  EXPECT_TRUE(holds<int>(x.reshape(6), {0, 1, 2, 3, 4, 5}, {6}));
}

TEST(TensorOptions, ExtremesAlongAnAxisComeWithTheirPlaces) {
  const Tensor x = Tensor({{3, 1, 2}, {0, 5, 2}});
  const auto [largest, at] = x.max(0);
  EXPECT_TRUE(holds<int>(largest, {3, 5, 2}, {3}));
  EXPECT_TRUE(holds<int>(at, {0, 1, 0}, {3}));
  const auto [least, below] = x.min(1, true);
  EXPECT_TRUE(holds<int>(least, {1, 0}, {2, 1}));
  EXPECT_TRUE(holds<int>(below, {1, 0}, {2, 1}));
  EXPECT_TRUE(holds<int>(x.max(-1) + x.max({1}), {6, 10}, {2}));
}

TEST(TensorOptions, ListsOfIntegersAreIndices) {
  const Tensor x = Tensor::arange(6).reshape({3, 2});
  EXPECT_TRUE(holds<int>(x[std::vector<int>{2, 0}], {4, 5, 0, 1}, {2, 2}));
  EXPECT_TRUE(holds<int>(x[{{2, 0}, 1}], {5, 1}, {2}));
  const Tensor deep = x.reshape({1, 3, 1, 2, 1, 1});
  EXPECT_TRUE(holds<int>(deep[{0, 2, 0, 1, 0, 0}], {5}, {}));
}

TEST(TensorOptions, AnOptimiserTakesAListOfTensors) {
  Tensor a = Tensor({1.0}).set_requires_grad(), b = Tensor({2.0}).set_requires_grad();
  nn::SGD optimiser({a, b}, {.lr = 0.5});
  (a * 2 + b * 4).sum().backward();
  optimiser.step();
  EXPECT_TRUE(holds<double>(a, {0}, {1}));
  EXPECT_TRUE(holds<double>(b, {0}, {1}));
}

}  // namespace
}  // namespace weft
