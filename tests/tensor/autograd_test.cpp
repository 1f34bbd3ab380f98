#include <algorithm>

#include <weft/dev/ir/graph.h>

#include "tensor_test.h"

namespace weft {
namespace {

TEST(TensorAutograd, SumOfSquares) {
  const Tensor x({2.0, 3.0, 4.0}, {.requires_grad = true});
  x.square().sum().backward();
  EXPECT_TRUE(holds<float>(x.grad(), {4, 6, 8}, {3}));
}

TEST(TensorAutograd, ChainRule) {
  const Tensor x(2.0, {.requires_grad = true}), w(3.0, {.requires_grad = true}),
      b(-4.0, {.requires_grad = true});
  const Tensor y = (x * w + b).relu();
  y.backward();
  EXPECT_EQ(x.grad().item<float>(), 3);
  EXPECT_EQ(w.grad().item<float>(), 2);
  EXPECT_EQ(b.grad().item<float>(), 1);
}

TEST(TensorAutograd, AddsUpUntilItIsCleared) {
  Tensor x({1.0, 2.0}, {.requires_grad = true});
  EXPECT_TRUE(x.grad().is_null());
  x.sum().backward();
  (x * 2).sum().backward();
  EXPECT_TRUE(holds<float>(x.grad(), {3, 3}, {2}));
  x.set_grad({});
  x.sum().backward();
  EXPECT_TRUE(holds<float>(x.grad(), {1, 1}, {2}));
}

// Equal tensors share their graph, but not their gradient.
TEST(TensorAutograd, ALeafThatWasSwitchedOffAndOnIsOne) {
  Tensor x({1.F, 2.F, 3.F});
  for (int i = 0; i < 3; ++i) x.set_requires_grad().set_requires_grad(false);
  x.set_requires_grad();
  x.square().sum().backward();
  EXPECT_TRUE(holds<float>(x.grad(), {2, 4, 6}, {3}));
}

TEST(TensorAutograd, EqualLeavesStayApart) {
  const Tensor a = Tensor::zeros({2}, {.requires_grad = true}),
               b = Tensor::zeros({2}, {.requires_grad = true});
  (a * 2 + b * 3).sum().backward();
  EXPECT_TRUE(holds<float>(a.grad(), {2, 2}, {2}));
  EXPECT_TRUE(holds<float>(b.grad(), {3, 3}, {2}));
}

TEST(TensorAutograd, ReadingValuesLosesNoGradient) {
  const Tensor w = Tensor::ones({2}, {.requires_grad = true});
  const Tensor hidden = (w * 3).realize();
  const Tensor loss = (hidden * hidden).sum();
  EXPECT_EQ(loss.item<float>(), 18);
  loss.backward();
  EXPECT_TRUE(holds<float>(w.grad(), {18, 18}, {2}));
}

TEST(TensorAutograd, IsThatOfTheGraphThoughAnEqualOneWasComputed) {
  const Tensor x = Tensor({1.0F, 2.0F}).realize(), same = (x * 3).realize();
  const Tensor hidden = x * 3;
  EXPECT_TRUE(holds<float>((hidden * hidden).sum().gradient({x})[0], {18, 36}, {2}));
}

TEST(TensorAutograd, OfWhatWasReadBefore) {
  const Tensor x({1.0F, 2.0F}), y = x * 2, loss = (y * y).sum();
  y.realize();
  EXPECT_TRUE(holds<float>(loss.gradient({y})[0], {4, 8}, {2}));
}

TEST(TensorAutograd, OfClampAtItsLimits) {
  const Tensor x = Tensor({-2.0, -1.0, 0.0, 1.0, 2.0}).set_requires_grad();
  const std::vector<double> within{0, 1, 1, 1, 0}, inside{0, 0, 1, 0, 0};
  EXPECT_TRUE(holds(x.clamp(-1, 1).sum().gradient({x})[0], inside, {5}));
  EXPECT_TRUE(holds(x.clamp(Tensor(-1.0), Tensor(1.0)).sum().gradient({x})[0], within, {5}));
  EXPECT_TRUE(holds(x.hardtanh().sum().gradient({x})[0], inside, {5}));
  const Tensor nan = Tensor({std::nan("")});
  EXPECT_TRUE(std::isnan(nan.clamp(Tensor(0.0), {}).item<double>()));
  EXPECT_TRUE(std::isnan(Tensor({1.0}).clamp(nan, {}).item<double>()));
}

TEST(TensorAutograd, DetachedIsNotTracked) {
  const Tensor w({1.0F, 2.0F}, {.requires_grad = true});
  Tensor hidden = (w * 2).detach();
  EXPECT_FALSE(hidden.requires_grad());
  EXPECT_FALSE((hidden.reshape({2, 1}) + 1).requires_grad());
  hidden.set_requires_grad();
  (hidden * hidden).sum().backward();
  EXPECT_TRUE(holds<float>(hidden.grad(), {4, 8}, {2}));
  EXPECT_TRUE(w.grad().is_null());
}

TEST(TensorAutograd, DescentInPlace) {
  Tensor w({4.0, -2.0}, {.requires_grad = true});
  Tensor loss;
  for (float expected : {20.0F, 5.0F, 1.25F}) {
    w.set_grad({});
    loss = w.square().sum();
    loss.backward();
    w.assign(w - w.grad() * 0.25);
    Tensor::realize({w, loss});
    EXPECT_EQ(loss.item<float>(), expected);
  }
  EXPECT_TRUE(holds<float>(w, {0.5F, -0.25F}, {2}));
  EXPECT_TRUE(w.requires_grad());
  EXPECT_EQ(w.uop()->op(), Op::Buffer);
}

// Assignments are steps like others: what was put somewhere and what was there before have gradients.
TEST(TensorAutograd, PassesAssignments) {
  const Tensor f = Tensor({2.0, 3.0}).set_requires_grad();
  Tensor x({1.0, 2.0});
  x *= f;
  x *= f;
  EXPECT_TRUE(holds<float>(x.gradient({f}, Tensor({1.0, 10.0}))[0], {4, 120}, {2}));

  const Tensor a = Tensor({1.0, 2.0, 3.0}).set_requires_grad(), b = Tensor({4.0, 5.0});
  Tensor y = a * 2;
  y[Slice{.start = 1}].assign(b.flip(0) * 3);
  y[0] += b[1];
  const std::vector<Tensor> gradients = (y * y).sum().gradient({a, b});
  EXPECT_TRUE(holds<float>(y, {7, 15, 12}, {3}));
  EXPECT_TRUE(holds<float>(gradients[0], {28, 0, 0}, {3}));
  EXPECT_TRUE(holds<float>(gradients[1], {72, 104}, {2}));
}

TEST(TensorAutograd, PassesAssignmentsToViews) {
  const Tensor w({1.0, 2.0}, {.requires_grad = true});
  const Tensor x({3.0, 4.0, 5.0, 6.0}, {.requires_grad = true});
  const auto check = [&](const Tensor& y, const std::vector<double>& dw,
                         const std::vector<double>& dx) {
    EXPECT_TRUE(y.requires_grad());
    const std::vector<Tensor> gradients = y.square().sum().gradient({w, x}, {}, true);
    EXPECT_TRUE(holds<double>(gradients[0], dw, {2}));
    EXPECT_TRUE(holds<double>(gradients[1], dx, {4}));
  };
  Tensor turned = (x * 2).reshape({2, 2});
  turned.transpose()[{1}].flip(0).assign(w * 3);
  check(turned, {18, 36}, {24, 0, 40, 0});

  Tensor whole = Tensor({7.0, 8.0}).realize();
  whole.assign(w * 3);
  check(whole, {18, 36}, {0, 0, 0, 0});

  Tensor twice = x * 2;
  twice[{Slice(0, 2)}].assign(w * 3);
  twice[{Slice(1, 3)}].assign(w);
  check(twice, {20, 4}, {0, 0, 0, 48});
}

TEST(TensorAutograd, NotTracked) {
  const Tensor x({1.0, 2.0}, {.requires_grad = true});
  {
    const NoGrad scope;
    EXPECT_FALSE((x * 2).requires_grad());
  }
  EXPECT_TRUE((x * 2).requires_grad());
  EXPECT_FALSE(x.detach().requires_grad());
  (x * x.detach()).sum().backward();
  EXPECT_TRUE(holds<float>(x.grad(), {1, 2}, {2}));
}

TEST(TensorAutograd, GradientsOfWhateverIsNamed) {
  const Tensor x({1.0, 2.0, 3.0});
  const Tensor y = x.square();
  const std::vector<Tensor> gradients = (y * 3).sum().gradient({x, y});
  const Tensor second = gradients[0].sum().gradient({x})[0];
  EXPECT_TRUE(holds<float>(gradients[0], {6, 12, 18}, {3}));
  EXPECT_TRUE(holds<float>(gradients[1], {3, 3, 3}, {3}));
  EXPECT_TRUE(holds<float>(second, {6, 6, 6}, {3}));
  EXPECT_TRUE(holds<float>(y.gradient({x}, Tensor({1.0, 0.0, 10.0}))[0], {2, 0, 60}, {3}));
}

// The larger methods.
TEST(TensorAutograd, MethodsAgainstDifferences) {
  using Method = Tensor (*)(const Tensor&);
  const std::pair<const char*, Method> methods[] = {
      {"softmax", [](const Tensor& x) { return x.softmax().square(); }},
      {"log_softmax", [](const Tensor& x) { return x.log_softmax().square(); }},
      {"layernorm", [](const Tensor& x) { return x.layernorm().square() * x; }},
      {"gelu", [](const Tensor& x) { return x.gelu(); }},
      {"contiguous_backward",
       [](const Tensor& x) { return x.square().contiguous_backward().square(); }},
      {"matmul", [](const Tensor& x) { return x.matmul(x.T()).square(); }},
      {"conv",
       [](const Tensor& x) {
         return x.reshape({1, 1, 3, 4}).conv2d(x.shrink({{0, 2}, {0, 2}}).reshape({1, 1, 2, 2}));
       }},
      {"conv of negative padding",
       [](const Tensor& x) {
         const Tensor image = x.reshape({1, 1, 3, 4}), w = x.shrink({{0, 2}, {0, 2}});
         return image.conv2d(w.reshape({1, 1, 2, 2}), {}, {.padding = {{-1, 1}, {1, -1}}});
       }},
      {"conv_transpose of negative padding",
       [](const Tensor& x) {
         const Tensor image = x.reshape({1, 1, 3, 4}), w = x.shrink({{0, 2}, {0, 2}});
         return image.conv_transpose(w.reshape({1, 1, 2, 2}), {}, {.stride = 2, .padding = -1});
       }},
      {"softmax in another dtype", [](const Tensor& x) { return x.softmax(1, dtypes::f64) * x; }},
      {"linear in another dtype",
       [](const Tensor& x) { return x.linear(x.T(), {}, dtypes::f64).square(); }},
      {"mean of what is scattered",
       [](const Tensor& x) {
         const Tensor index = Tensor{{0, 1, 1, 0}, {2, 1, 0, 0}, {2, 2, 2, 2}};
         return x.square().scatter_reduce(0, index, x * 3, Tensor::Reduce::Mean).square();
       }},
      {"call",
       [](const Tensor& x) { return Tensor::call({x}, x.as_param(0).square() * 3).square(); }},
      {"max_pool", [](const Tensor& x) { return x.max_pool({2, 2}, {.stride = 1}).square(); }},
      {"cat", [](const Tensor& x) { return Tensor::cat({x, x * 2}, 1).square(); }},
      {"slice", [](const Tensor& x) { return x[{Slice{.step = -2}, Slice{1}}].square(); }},
      {"tril", [](const Tensor& x) { return x.tril().square(); }},
      {"einsum",
       [](const Tensor& x) { return Tensor::einsum("ij,kj,kl,il->jk", {x, x, x, x.square()}); }},
      {"einsum, diagonals",
       [](const Tensor& x) { return Tensor::einsum("ii,ij->j", {x.slice(1, {.stop = 3}), x}); }},
      {"tensordot", [](const Tensor& x) { return x.tensordot(x.square(), {0}, {0}); }},
      {"addmm", [](const Tensor& x) { return x.addmm(x.matmul(x.T()), x, 2, 0.5); }},
      {"pad, reflect", [](const Tensor& x) { return x.pad({2, 3}, PadMode::Reflect).square(); }},
      {"pad, replicate",
       [](const Tensor& x) { return x.pad({2, -1, 1, 0}, PadMode::Replicate).square(); }},
      {"pad, circular",
       [](const Tensor& x) { return x.pad({5, 3, 1, 0}, PadMode::Circular).square(); }},
      {"unfold", [](const Tensor& x) { return x.unfold(1, 3, 1).square() * x.unfold(1, 3, 1); }},
      {"repeat_interleave",
       [](const Tensor& x) { return x.repeat_interleave(Tensor({2, 0, 3}), 0).square(); }},
      {"diagonal", [](const Tensor& x) { return x.diagonal(1).square() * x.diagonal(-1, 1, 0); }},
      {"diag_embed", [](const Tensor& x) { return x.diag_embed(-1).square(); }},
      {"rearrange",
       [](const Tensor& x) { return x.rearrange("a (b c) -> (c a) b", {{"b", 2}}).square(); }},
      {"reduce",
       [](const Tensor& x) {
         return x.reduce("a (b c) -> c b", Tensor::Reduce::Prod, {{"b", 2}}).square();
       }},
      {"block_diag", [](const Tensor& x) { return Tensor::block_diag({x, x * 2}).square(); }},
      {"vander", [](const Tensor& x) { return x.flatten().vander(4); }},
      {"combinations",
       [](const Tensor& x) { return x.flatten().combinations(2, true).prod(1); }},
      {"cumsum", [](const Tensor& x) { return x.cumsum(1).square(); }},
      {"cumprod", [](const Tensor& x) { return x.cumprod(0); }},
      {"cummax", [](const Tensor& x) { return x.cummax(1).first.square(); }},
      {"cummin", [](const Tensor& x) { return x.cummin(1).first.square(); }},
      {"logcumsumexp", [](const Tensor& x) { return x.logcumsumexp(1); }},
      {"sort", [](const Tensor& x) { return x.sort(1).values * x; }},
      {"sort, descending", [](const Tensor& x) { return x.sort(0, true).values.square() * x; }},
      {"topk", [](const Tensor& x) { return x.topk(2, 1).values.square(); }},
      {"kthvalue", [](const Tensor& x) { return x.kthvalue(2, 1).values.square(); }},
      {"median", [](const Tensor& x) { return x.median(1).values * x.median(); }},
      {"nanmedian", [](const Tensor& x) { return x.nanmedian(0).values.square(); }},
      {"quantile", [](const Tensor& x) { return x.quantile(0.3, 1) * x.quantile(0.9); }},
      {"nanquantile", [](const Tensor& x) { return x.nanquantile(0.7, 0).square(); }},
      {"diff", [](const Tensor& x) { return x.diff(2, 1).square(); }},
      {"norm", [](const Tensor& x) { return x.norm(3, 1) + x.norm(2, 1) + x.norm(1, 1); }},
      {"cdist", [](const Tensor& x) { return x.cdist(x.square()); }},
      {"nanmean", [](const Tensor& x) { return x.nanmean(1).square(); }},
      {"sinh", [](const Tensor& x) { return x.sinh() * x.cosh(); }},
      {"tanh", [](const Tensor& x) { return x.tanh() + x.asinh(); }},
      {"acosh", [](const Tensor& x) { return (x.square() + 2).acosh(); }},
      {"atanh", [](const Tensor& x) { return (x / 3).atanh() + (x / 3).asin() + (x / 3).acos(); }},
      {"expm1", [](const Tensor& x) { return x.expm1() + x.square().log1p(); }},
      {"erf", [](const Tensor& x) { return x.erf() * 2 + x.erfc(); }},
      {"erfinv", [](const Tensor& x) { return (x / 3).erfinv(); }},
      {"lgamma", [](const Tensor& x) { return x.lgamma() + (x + 3).lgamma(); }},
      {"digamma", [](const Tensor& x) { return (x + 3).digamma() + x.digamma(); }},
      {"i0", [](const Tensor& x) { return x.i0() + (x * 5).i0().log(); }},
      {"sinc", [](const Tensor& x) { return x.sinc(); }},
      {"atan2", [](const Tensor& x) { return x.atan2(x.square() - 1) + x.atan(); }},
      {"hypot", [](const Tensor& x) { return x.hypot(x.square()); }},
      {"logaddexp", [](const Tensor& x) { return x.logaddexp(x.square()) + x.logaddexp2(1); }},
      {"xlogy", [](const Tensor& x) { return x.xlogy(x.square()); }},
      {"fmod", [](const Tensor& x) { return x.fmod(0.75) * x.frac(); }},
      {"addcdiv", [](const Tensor& x) { return x.addcdiv(x, x.square(), 2).addcmul(x, x); }},
      {"take", [](const Tensor& x) { return x.take(Tensor({2, 0, 2})).square(); }},
      {"conv_transpose",
       [](const Tensor& x) {
         return x.reshape({1, 2, 2, 3})
             .conv_transpose(x.slice(1, {.stop = 2}).reshape({2, 1, 1, 3}), {},
                             {.stride = 2, .padding = {{0, 0}, {1, 0}}})
             .square();
       }},
      {"fold",
       [](const Tensor& x) {
         return functional::fold(x.reshape({1, 4, 3}), {2, 4}, {2, 2}).square();
       }},
      {"avg_pool",
       [](const Tensor& x) {
         return x.avg_pool({2, 3}, {.stride = 2, .padding = 1, .ceil_mode = true}).square();
       }},
      {"max_unpool",
       [](const Tensor& x) {
         return functional::max_unpool(x, Tensor{{5, 0, 2, 7}, {1, 0, 6, 4}, {3, 2, 1, 0}}, {2})
             .square();
       }},
      {"adaptive_max_pool",
       [](const Tensor& x) { return functional::adaptive_max_pool2d(x, {2, 3}).square(); }},
      {"interpolate", [](const Tensor& x) { return x.interpolate({5, 3}).square(); }},
      {"interpolate by cubics",
       [](const Tensor& x) {
         return x.interpolate({2, 3}, {.mode = Resampling::Cubic, .antialias = true}).square();
       }},
      {"grid_sample",
       [](const Tensor& x) {
         const Tensor grid = (x * 0.3).reshape({1, 2, 3, 2});
         return functional::grid_sample(x.reshape({1, 1, 3, 4}), grid).square();
       }},
      {"hardswish", [](const Tensor& x) { return x.hardswish(); }},
      {"celu", [](const Tensor& x) { return x.celu(0.7).square(); }},
      {"softshrink", [](const Tensor& x) { return functional::softshrink(x, 0.35).square(); }},
      {"glu", [](const Tensor& x) { return functional::glu(x); }},
      {"normalize", [](const Tensor& x) { return x.normalize(3.0, 0) * x; }},
      {"batch_norm",
       [](const Tensor& x) {
         return functional::batch_norm(x, {}, {}, {}, {}, {.training = true}) * x.exp();
       }},
      {"group_norm", [](const Tensor& x) { return functional::group_norm(x, 2) * x; }},
      {"local_response_norm",
       [](const Tensor& x) { return functional::local_response_norm(x, 3, 0.5); }},
      {"weight_norm",
       [](const Tensor& x) {
         return functional::weight_norm(x, x.slice(1, {.stop = 1}) + 1).square();
       }},
      {"embedding_bag",
       [](const Tensor& x) {
         return functional::embedding_bag(Tensor{{2, 0}, {1, 1}}, x).square();
       }},
      {"std", [](const Tensor& x) { return x.std(1); }},
      {"cholesky", [](const Tensor& x) { return linalg::cholesky(x.matmul(x.T())); }},
      {"qr", [](const Tensor& x) { return x.T().qr().q * x.T() + x.qr().r.sum(); }},
      {"svd",
       [](const Tensor& x) {
         const auto [u, s, vh] = x.svd(false);
         return (u * s.square()).matmul(vh) + u.square().matmul(vh.square()) * s.sum();
       }},
      {"eigh",
       [](const Tensor& x) {
         const auto [values, vectors] = linalg::eigh(x.matmul(x.T()));
         return (vectors * values.sqrt()).matmul(vectors.T()) + vectors.square();
       }},
      {"solve", [](const Tensor& x) { return linalg::solve(x.matmul(x.T()), x); }},
      {"inverse", [](const Tensor& x) { return x.matmul(x.T()).inverse(); }},
      {"det", [](const Tensor& x) { return x.shrink({{0, 3}, {1, 4}}).det(); }},
      {"slogdet", [](const Tensor& x) { return linalg::slogdet(x.matmul(x.T())).logabsdet; }},
      {"pinv", [](const Tensor& x) { return linalg::pinv(x).square(); }},
      {"matrix_exp",
       [](const Tensor& x) { return linalg::matrix_exp(x.shrink({{0, 3}, {0, 3}}) * 0.5); }},
      {"newton_schulz",
       [](const Tensor& x) { return x.newton_schulz(3, {2, -1.5, 0.5}).square(); }},
      {"rfft", [](const Tensor& x) { return fft::rfft(x, {.n = 5, .dim = 0}).square(); }},
      {"irfft", [](const Tensor& x) { return fft::irfft(x.reshape({6, 2})).square(); }},
      {"fft of a prime", [](const Tensor& x) { return fft::rfft(x, {.n = 131}).square(); }},
      {"stft",
       [](const Tensor& x) { return fft::stft(x.flatten(), 4, {.hop_length = 2}).square(); }},
      {"index", [](const Tensor& x) { return x[{Tensor{{2, 0}, {-1, 2}}, Slice{1}}].square(); }},
      {"mask", [](const Tensor& x) { return x.masked_select(x > 0.4, 5).square(); }},
      {"set",
       [](const Tensor& x) {
         Tensor y = x * 2;
         return y.set({Tensor({1, 2}), Slice{.step = 2}}, x[{0, Slice{1, 3}}] * x[{2, 0}]).square();
       }},
      {"index_add",
       [](const Tensor& x) {
         return x.index_add(1, Tensor({1, 3, 1}), x[{Slice{}, Slice{1}}].square(), 3).square();
       }},
      {"scatter, multiply",
       [](const Tensor& x) {
         const Tensor index{{1, 0, 1, 2}, {1, 2, 1, 0}};
         return x.scatter(0, index, x.square(), Tensor::Scatter::Multiply).square();
       }},
      {"scatter_reduce, mean",
       [](const Tensor& x) {
         const Tensor index{{1, 0, 1, 2}, {1, 2, 1, 0}};
         return x.scatter_reduce(0, index, x.square(), Tensor::Reduce::Mean, false).square();
       }},
      {"scatter_reduce, amin",
       [](const Tensor& x) {
         const Tensor index{{1, 0, 1, 2}, {1, 2, 1, 0}};
         return x.scatter_reduce(0, index, x * 0.7, Tensor::Reduce::Amin).square();
       }},
      {"cross entropy", [](const Tensor& x) { return x.cross_entropy(Tensor({1, 3, 0})); }},
      {"cross entropy, smoothed",
       [](const Tensor& x) {
         const Tensor weight({0.5, 1.0, 2.0, 0.7}, {.dtype = dtypes::f64});
         return functional::cross_entropy(
             x, Tensor({1, 3, 0}), {.weight = weight, .ignore_index = 3, .label_smoothing = 0.2});
       }},
      {"bce with logits",
       [](const Tensor& x) {
         return functional::binary_cross_entropy_with_logits(
             x, x.detach() > 0.6, {.pos_weight = Tensor({0.5, 1.0, 2.0, 0.7})});
       }},
      {"focal", [](const Tensor& x) { return functional::sigmoid_focal_loss(x, x.detach() > 0); }},
      {"huber", [](const Tensor& x) { return functional::huber_loss(x, x.flip(1), 1.5); }},
      {"gaussian nll",
       [](const Tensor& x) { return functional::gaussian_nll_loss(x, x.flip(1), x.exp()); }},
      {"triplet",
       [](const Tensor& x) {
         return functional::triplet_margin_loss(x, x.flip(0), x.square(), {.margin = 4});
       }},
      {"contrastive",
       [](const Tensor& x) {
         return functional::contrastive_loss(x, x.roll(1, 1),
                                             {.temperature = 0.5, .symmetric = true});
       }},
      {"ctc",
       [](const Tensor& x) {
         return functional::ctc_loss(x.log_softmax(-1), Tensor({1, 1}), Tensor(3), Tensor(2));
       }},
      {"attention",
       [](const Tensor& x) {
         return functional::scaled_dot_product_attention(x, x.flip(0), x.square(),
                                                         {.is_causal = true, .window = 2});
       }},
      {"rotary", [](const Tensor& x) { return functional::rotary_embedding(x).square() * x; }},
      {"lstm",
       [](const Tensor& x) {
         const Tensor w = x.flatten().repeat({2}).shrink({{0, 16}}).reshape({4, 4});
         const functional::LstmState state{x.slice(1, {0, 1}), x.slice(1, {1, 2})};
         return functional::lstm_cell(x, state, {.input = w, .hidden = w.slice(1, {0, 1})}).h;
       }},
  };
  const std::vector<double> values{0.3, -1.2, 0.8, 2.1, -0.4, 1.7, -2.2, 0.9, 1.1, -0.6, 0.5, -1.5};
  for (const auto& [name, method] : methods) {
    const auto of_first = [&](const std::vector<Tensor>& in) { return method(in[0]); };
    const Gradcheck check = gradcheck(of_first, {Tensor(values).reshape({3, 4})},
                                      {.eps = 1e-5, .atol = 1e-6, .rtol = 1e-6, .samples = 4});
    EXPECT_TRUE(check) << name << " is " << check;
  }
}

// A step function that passes its gradient on as if it were the identity, within bounds.
TEST(TensorAutograd, CustomGradients) {
  const auto step = [](const Tensor& x, const Tensor& bound) {
    return Tensor::custom(
        {x, bound}, [](const auto& in) { return (in[0] > 0).cast(dtypes::f32); },
        [](const Tensor& gradient, const auto& in, const Tensor&) {
          return std::vector<Tensor>{gradient * (in[0].abs() < in[1]), {}};
        });
  };
  const Tensor x({-2.0f, -0.5f, 0.25f, 3.0f}, {.requires_grad = true});
  const Tensor y = step(x, Tensor::full({4}, 1.0f)) * 3;
  EXPECT_TRUE(holds<float>(y, {0, 0, 3, 3}, {4}));
  y.sum().backward();
  EXPECT_TRUE(holds<float>(x.grad(), {0, 3, 3, 0}, {4}));
  const Tensor twice = step(step(x, Tensor::full({4}, 9.0f)), Tensor::full({4}, 9.0f));
  EXPECT_TRUE(holds<float>(twice.sum().gradient({x})[0], {1, 1, 1, 1}, {4}));
}

bool has_contiguous(const Tensor& tensor) {
  const std::vector<const Node*> nodes = toposort(tensor.uop().node());
  return std::ranges::any_of(nodes, [](const Node* node) { return node->op() == Op::Contiguous; });
}

TEST(TensorAutograd, ContiguousBackward) {
  const Tensor x({1.0f, 2.0f, 3.0f}, {.requires_grad = true});
  const auto cubes = [](const Tensor& y) { return (y * y * y).sum(); };
  const Tensor same = x.contiguous_backward();
  EXPECT_FALSE(has_contiguous(cubes(same)));
  EXPECT_FALSE(has_contiguous(cubes(x).gradient({x})[0]));
  const Tensor gradient = cubes(same).gradient({x})[0];
  EXPECT_EQ(gradient.uop()->op(), Op::Contiguous);
  EXPECT_TRUE(holds<float>(gradient.sum().gradient({x})[0], {6, 12, 18}, {3}));
  EXPECT_TRUE(holds<float>(gradient, {3, 12, 27}, {3}));
  EXPECT_TRUE(holds<float>(same, {1, 2, 3}, {3}));
}

// A mean that is computed once for the largest and once for its gradient may differ in its last bit.
TEST(TensorAutograd, TheLargestOfMeansIsOneOfThem) {
  Tensor x = Tensor::arange(64 * 5).reshape({64, 5}).to_float().sin().clone(),
         y = Tensor({-1.f, -1.f}).realize();
  x.set_requires_grad();
  y.set_requires_grad();
  const Tensor most = x.mean(-1).scatter_reduce(-1, Tensor({3, 60}), y, Tensor::Reduce::Amax);
  const std::vector<Tensor> gradients = most.sum().gradient({x, y});
  Tensor::realize(gradients);
  EXPECT_TRUE(near(gradients[0], std::vector<double>(64 * 5, 0.2), {64, 5}));
  EXPECT_TRUE(holds<float>(gradients[1], {0, 0}, {2}));
}

TEST(TensorAutograd, OfNumbersThatAreInMemoryElsewhere) {
  const Tensor zero = Tensor::zeros({1}).contiguous().realize(), x = Tensor::zeros({1, 1, 1, 1});
  const Tensor ones = Tensor::ones({1, 1, 1});
  EXPECT_EQ(x.reshape({1, 1, 1}).gradient({x}, ones)[0].item<float>(), 1);
  EXPECT_EQ(functional::fold(ones, {1, 1}, {1, 1}).item<float>(), 1);
}

TEST(TensorAutograd, Errors) {
  const Tensor x({1.0, 2.0}, {.requires_grad = true});
  EXPECT_EQ(error_of([&] { x.backward(); }),
            "backward: a tensor of shape (2,) needs a seed, the gradient of its elements");
  EXPECT_EQ(error_of([&] { Tensor({1.0}).sum().backward(); }),
            "backward: nothing that this tensor depends on requires a gradient");
  EXPECT_EQ(error_of([&] { Tensor({1, 2}, {.requires_grad = true}); }),
            "Tensor: a tensor of i32 has no gradient");
}

}  // namespace
}  // namespace weft
