// How many kernels methods become, of tensors in memory.

#include <functional>
#include <span>
#include <string_view>

#include <gtest/gtest.h>
#include <weft/weft.h>

#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/scan.h>

#include "../support/plan_for.h"

namespace weft {
namespace {

namespace F = functional;

struct Count {
  std::string_view name;
  std::function<Tensor()> call;
  std::size_t kernels;
};

Tensor input(const Shape& shape) { return Tensor::rand(shape).contiguous().realize(); }

std::size_t planned_kernels(const std::vector<Tensor>& tensors) {
  return kernels_for(fixed_target(), tensors);
}

void expect_counts(std::span<const Count> counts) {
  for (const Count& count : counts)
    EXPECT_EQ(planned_kernels({count.call()}), count.kernels) << count.name;
}

double flops_of(const Tensor& tensor) { return work_for(fixed_target(), {tensor}).flops; }

// A step of Cholesky, of QR and a round of rotations is one kernel, one of LU three.
TEST(MethodCount, LinearAlgebra) {
  const Tensor a = input({16, 16}), tall = input({40, 16});
  const Count counts[] = {
      {"cholesky", [&] { return linalg::cholesky(a); }, 18},
      {"lu", [&] { return linalg::lu(a).u; }, 51},
      {"qr", [&] { return linalg::qr(a).r; }, 26},
      {"triangular", [&] { return linalg::solve_triangular(a, a, {.upper = false}); }, 6},
      {"eigh", [&] { return linalg::eigh(a).values; }, 223},
      {"svd", [&] { return linalg::svd(tall, false).s; }, 294},
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

// Movement is read through: what is asked for of a view of memory is there already.
TEST(MethodCount, Movement) {
  const Context unchecked{{"CHECK", 0}};  // more rows are asked for than the numbers say
  const Tensor x = input({64, 32}), line = input({64}), image = input({4, 8, 16, 16});
  const Tensor times = Tensor::randint({64}, 0, 3).realize();
  const Tensor::AxisSizes halves{{"h", 8}};
  const Count counts[] = {
      {"rearrange", [&] { return image.rearrange("b c (h p) w -> b (h w) (c p)", halves); }, 0},
      {"unfold", [&] { return x.unfold(1, 4, 2); }, 0},
      {"roll", [&] { return x.roll({3, 5}, {0, 1}); }, 0},
      {"pad, circular", [&] { return x.pad({3, 4}, PadMode::Circular); }, 0},
      {"diagonal", [&] { return x.diagonal(2); }, 0},
      {"rot90", [&] { return x.rot90(); }, 0},
      {"movedim", [&] { return image.movedim({0, 1}, {2, 3}); }, 0},
      {"tensor_split", [&] { return x.tensor_split({3, 40})[1]; }, 0},
      {"meshgrid", [&] { return Tensor::meshgrid({line, line})[1]; }, 0},
      {"repeat_interleave", [&] { return x.repeat_interleave(3, 0); }, 0},
      {"repeat_interleave, added to", [&] { return x.repeat_interleave(3, 0) + 1; }, 1},
      {"repeat_interleave by numbers", [&] { return x.repeat_interleave(times, 0, 64); }, 2},
      {"pad, reflect", [&] { return x.pad({3, 4}, PadMode::Reflect) + 1; }, 1},
      {"diag", [&] { return line.diag() + 1; }, 1},
      {"hstack", [&] { return Tensor::hstack({x, x * 2}) + 1; }, 1},
      {"reduce", [&] { return image.reduce("b c (h p) w -> b c h", Tensor::Reduce::Amax, halves); },
       1},
      {"einsum of two", [&] { return Tensor::einsum("ij,kj->ik", {x, x}); }, 1},
      {"einsum of three", [&] { return Tensor::einsum("ij,kj,kl->il", {x, x, x}); }, 2},
      {"einsum, multiplied only", [&] { return Tensor::einsum("ij,i,ij->ij", {x, line, x}); }, 1},
      {"tril_indices", [&] { return Tensor::tril_indices(20, 30); }, 2},
      {"combinations", [&] { return line.combinations(2); }, 3},
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
      {"x[rows, rows]", [&] { return x[{rows, rows}].sum(); }, 1},
      {"index_put", [&] { return x.index_put({rows}, part); }, 2},
      {"index_add", [&] { return x.index_add(0, rows, part); }, 2},
      {"index_add of what is computed", [&] { return (x * 2).index_add(0, rows, part * 3); }, 2},
      {"gather", [&] { return x.gather(0, index) + x; }, 1},
      {"scatter_add", [&] { return x.scatter_add(0, index, x); }, 2},
      {"scatter_reduce, amax", [&] { return x.scatter_reduce(0, index, x, Amax); }, 2},
      {"scatter_reduce, amin", [&] { return x.scatter_reduce(0, index, x, Amin); }, 3},
      {"scatter_reduce, mean", [&] { return x.scatter_reduce(0, index, x, Mean); }, 3},
      {"scatter_reduce, mean without itself",
       [&] { return x.scatter_reduce(0, index, x, Mean, false); }, 4},
      {"masked_fill", [&] { return x.masked_fill(mask, 0).sum(); }, 1},
      {"masked_select", [&] { return x.masked_select(mask, 100); }, 2},
      {"nonzero", [&] { return mask.nonzero(100); }, 2},
      {"one_hot", [&] { return rows.one_hot(32); }, 1},
  };
  expect_counts(counts);
  const Tensor loss = x[rows].square().sum();
  EXPECT_EQ(planned_kernels({loss.gradient({x})[0]}), 2U) << "gradient of x[rows]";
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

// Rows of up to 64 are ordered in one kernel; long ones in two, and one for each doubling of blocks of 64.
TEST(MethodCount, Sorting) {
  const Tensor x = input({64, 50}), line = input({1000}), wide = line.cast(dtypes::f64).realize();
  const Count counts[] = {
      {"sort", [&] { return x.sort().values; }, 1},
      {"argsort", [&] { return x.argsort(0); }, 2},
      {"topk", [&] { return x.topk(3).values; }, 1},
      {"median", [&] { return x.median(1).values; }, 2},
      {"quantile", [&] { return x.quantile(0.5, 1); }, 2},
      {"mode", [&] { return x.mode().values; }, 2},
      {"sort of many", [&] { return line.sort().values; }, 6},
      {"argsort of many", [&] { return line.argsort(); }, 6},
      {"sort of many f64", [&] { return wide.sort().values; }, 13},
      {"topk of many", [&] { return line.topk(5).values; }, 6},
      {"median of many", [&] { return line.median(); }, 7},
      {"quantile of many", [&] { return line.quantile(0.5); }, 7},
  };
  expect_counts(counts);
  const auto [values, indices] = line.sort();
  EXPECT_EQ(planned_kernels({values, indices}), 7U);
  EXPECT_EQ(planned_kernels({values.square().sum().gradient({line})[0]}), 7U);
}

// Steps are n log^2 n, and those of the first k of many a few for each element.
TEST(MethodCount, SortingIsNotQuadratic) {
  const Tensor line = input({100000});
  EXPECT_LT(flops_of(line.sort().values), 1e9);
  EXPECT_LT(flops_of(line.topk(10).values), 1e8);
  EXPECT_LT(flops_of(Tensor::randperm(100000)), 1e9);
}

TEST(MethodCount, NeuralNetworks) {
  const Tensor x = input({2, 8, 16, 16}), w = input({12, 8, 3, 3}), wt = input({8, 12, 4, 4});
  const Tensor b = input({12}), channel = input({8}), image = input({2, 12, 16, 16});
  const Tensor grid = input({2, 5, 5, 2}), table = input({50, 16});
  const Tensor words = Tensor::randint({4, 6}, 0, 50).realize();
  const Tensor places = Tensor::arange(256).expand({16, 256}).reshape({2, 8, 16, 16}).realize();
  const Count counts[] = {
      {"conv", [&] { return x.conv2d(w, b); }, 1},
      {"conv, same, relu, added",
       [&] { return (x.conv(w, b, {.padding = "same"}) + image).relu(); }, 1},
      {"conv that takes away", [&] { return x.conv(w, b, {.padding = {{-1, 2}, {1, -3}}}).relu(); },
       1},
      {"conv of strides and groups",
       [&] { return x.conv(input({8, 2, 3, 3}), {}, {.groups = 4, .stride = 2}); }, 1},
      {"conv_transpose",
       [&] { return x.conv_transpose(wt, b, {.stride = 2, .padding = 1}).relu(); }, 1},
      {"unfold", [&] { return F::unfold(x, {3, 3}) + 1; }, 1},
      {"fold", [&] { return F::fold(input({2, 72, 196}), {16, 16}, {3, 3}); }, 1},
      {"max_pool", [&] { return x.max_pool({3, 3}, {.stride = 2, .padding = 1}).relu(); }, 1},
      {"avg_pool",
       [&] {
         return x.avg_pool(
             {3, 3}, {.stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false});
       },
       1},
      {"adaptive_avg_pool", [&] { return F::adaptive_avg_pool2d(x, {5, 7}); }, 1},
      {"adaptive_max_pool", [&] { return F::adaptive_max_pool2d(x, {5, 7}); }, 1},
      {"max_unpool", [&] { return x.max_unpool2d(places); }, 2},
      {"interpolate", [&] { return x.interpolate({21, 25}); }, 1},
      {"interpolate by cubics",
       [&] { return x.interpolate({21, 25}, {.mode = Resampling::Cubic}); }, 1},
      {"interpolate, nearest",
       [&] { return x.interpolate({32, 32}, {.mode = Resampling::Nearest}) + 1; }, 1},
      {"pixel_shuffle", [&] { return F::pixel_shuffle(x, 2) + 1; }, 1},
      {"grid_sample", [&] { return F::grid_sample(x, grid); }, 1},
      {"dropout",
       [&] {
         const Training on;
         return x.dropout();
       },
       1},
      {"gelu of glu", [&] { return F::glu(x, 1).gelu(); }, 1},
      {"layernorm", [&] { return x.layernorm(-1, 1e-5, input({16}), input({16})); }, 1},
      {"group_norm", [&] { return F::group_norm(x, 2, channel, channel); }, 1},
      {"normalize", [&] { return x.normalize(); }, 1},
      {"local_response_norm", [&] { return F::local_response_norm(x, 5); }, 1},
      {"embedding", [&] { return F::embedding(words, table); }, 1},
      {"embedding_bag", [&] { return F::embedding_bag(words, table); }, 1},
  };
  expect_counts(counts);
}

// clang-format off
TEST(MethodCount, Losses) {
  const Tensor x = input({32, 10}), y = input({32, 10}), weight = input({10}), image = input({4, 10, 8, 8});
  const Tensor classes = Tensor::randint({32}, 0, 10).realize(), pixels = Tensor::randint({4, 8, 8}, 0, 10).realize();
  const Tensor lengths = Tensor::full({4}, 6).contiguous().realize(), words = Tensor::randint({4, 3}, 1, 10).realize();
  const Tensor times = input({6, 4, 10});
  const Count counts[] = {
      {"cross_entropy", [&] { return x.cross_entropy(classes); }, 1},
      {"cross_entropy, none", [&] { return x.cross_entropy(classes, Reduction::None); }, 1},
      {"cross_entropy, all options", [&] { return x.cross_entropy(classes, {.weight = weight, .ignore_index = 3, .label_smoothing = 0.1}); }, 1},
      {"cross_entropy of probabilities", [&] { return x.cross_entropy(y); }, 1},
      {"cross_entropy of images", [&] { return image.cross_entropy(pixels); }, 1},
      {"nll_loss", [&] { return x.nll_loss(classes); }, 1},
      {"mse_loss", [&] { return x.mse_loss(y); }, 1},
      {"huber_loss", [&] { return F::huber_loss(x, y); }, 1},
      {"binary_cross_entropy_with_logits", [&] { return F::binary_cross_entropy_with_logits(x, y, {.pos_weight = weight}); }, 1},
      {"kl_div", [&] { return F::kl_div(x.log_softmax(), y.softmax()); }, 1},
      {"sigmoid_focal_loss", [&] { return F::sigmoid_focal_loss(x, y, {.reduction = Reduction::Mean}); }, 1},
      {"cosine_similarity", [&] { return F::cosine_similarity(x, y); }, 1},
      {"triplet_margin_loss", [&] { return F::triplet_margin_loss(x, y, x + 1); }, 1},
      {"contrastive_loss", [&] { return F::contrastive_loss(x, y); }, 2},
      {"ctc_loss", [&] { return F::ctc_loss(times, words, lengths, Tensor::full({4}, 3)); }, 7},
  };
  expect_counts(counts);
}

TEST(MethodCount, AttentionAndCells) {
  const Tensor q = input({2, 4, 64, 32}), k = input({2, 4, 64, 32}), v = input({2, 4, 64, 32}), few = input({2, 2, 64, 32});
  const Tensor mask = (input({64, 64}) > 0.3).realize(), x = input({8, 16}), h = input({8, 16});
  const F::CellWeights lstm{.input = input({64, 16}), .hidden = input({64, 16}), .input_bias = input({64}), .hidden_bias = input({64})};
  const F::CellWeights gru{.input = input({48, 16}), .hidden = input({48, 16}), .input_bias = input({48}), .hidden_bias = input({48})};
  const Count counts[] = {
      // Scores lie in no memory between kernels.
      {"attention", [&] { return F::scaled_dot_product_attention(q, k, v); }, 1},
      {"attention, masked", [&] { return F::scaled_dot_product_attention(q, k, v, {.attn_mask = mask}); }, 1},
      {"attention, causal window", [&] { return F::scaled_dot_product_attention(q, k, v, {.is_causal = true, .window = 16}); }, 1},
      {"attention of groups", [&] { return F::scaled_dot_product_attention(q, few, few, {.enable_gqa = true}); }, 1},
      {"attention with dropout", [&] { return F::scaled_dot_product_attention(q, k, v, {.dropout_p = 0.1}); }, 1},
      {"rotary_embedding", [&] { return F::rotary_embedding(q); }, 1},
      {"alibi", [&] { return F::alibi(4, 64, 64); }, 1},
      {"lstm_cell", [&] { return F::lstm_cell(x, {h, h}, lstm).h; }, 1},
      {"gru_cell", [&] { return F::gru_cell(x, h, gru); }, 1},
  };
  expect_counts(counts);
}

TEST(MethodCount, Random) {
  const Tensor weights = input({20});
  const Count counts[] = {
      {"randn", [&] { return Tensor::randn({1000}); }, 1},
      {"exponential", [&] { return random::exponential({1000}); }, 1},
      {"truncated_normal", [&] { return random::truncated_normal({1000}); }, 1},
      {"gamma", [&] { return random::gamma({1000}, 2); }, 1},
      {"randperm", [&] { return Tensor::randperm(1000); }, 6},
      {"multinomial", [&] { return weights.multinomial(5, true); }, 2},
      {"multinomial without replacement", [&] { return weights.multinomial(5); }, 1},
  };
  expect_counts(counts);
}
// clang-format on

TEST(MethodCount, SamplesAreNotComparedWithAllPlaces) {
  const Tensor weights = input({100000});
  EXPECT_LT(flops_of(weights.multinomial(20000, true)), 2e8);
}

TEST(MethodCount, Functions) {
  const Tensor x = input({64, 32}), y = input({64, 32});
  const Tensor whole = Tensor::randint({64}, 1, 99).realize();
  const Count counts[] = {
      {"tanh", [&] { return (x * 2).tanh() + 1; }, 1},
      {"erf", [&] { return x.erf() * y; }, 1},
      {"erfinv", [&] { return x.erfinv(); }, 1},
      {"lgamma", [&] { return x.lgamma(); }, 1},
      {"digamma", [&] { return x.digamma(); }, 1},
      {"i0", [&] { return x.i0(); }, 1},
      {"atan2", [&] { return x.atan2(y).sum(); }, 1},
      {"logaddexp", [&] { return x.logaddexp(y); }, 1},
      {"floordiv", [&] { return x.floordiv(y); }, 1},
      {"gcd", [&] { return whole.gcd(12); }, 1},
      {"isclose", [&] { return x.isclose(y).all(); }, 1},
      {"gradient of tanh", [&] { return x.tanh().sum().gradient({x})[0]; }, 1},
      {"gradient of erf", [&] { return x.erf().sum().gradient({x})[0]; }, 1},
      {"norm", [&] { return x.norm(2, 1); }, 1},
      {"cdist", [&] { return x.cdist(y); }, 1},
      {"nanmean", [&] { return x.nanmean(1); }, 1},
  };
  expect_counts(counts);
  const auto [var, mean] = x.var_mean(1);
  EXPECT_LE(Tensor::schedule({var, mean}).size(), 2U);
}

TEST(MethodCount, Scans) {
  const Tensor x = input({64, 100}), line = input({100000});
  const Count counts[] = {
      {"cumsum", [&] { return x.cumsum(1) + 1; }, 1},
      {"cumsum of many", [&] { return line.cumsum(); }, 1},
      {"cumprod", [&] { return x.cumprod(1); }, 1},
      {"cumprod of many", [&] { return line.cumprod(0); }, 1},
      {"cummax", [&] { return x.cummax(1).first; }, 1},
      {"cummax of many", [&] { return line.cummax().first; }, 1},
      {"logcumsumexp", [&] { return x.logcumsumexp(1); }, 1},
      {"logcumsumexp of many", [&] { return line.logcumsumexp(); }, 4},
      {"diff", [&] { return x.diff(); }, 1},
      {"gradient of cumsum", [&] { return x.cumsum(1).sum().gradient({x})[0]; }, 1},
  };
  expect_counts(counts);
}

// A few operations for each element; of logcumsumexp as many as a block has elements.
TEST(MethodCount, LongScansAreNotQuadratic) {
  const Tensor line = input({100000});
  const Tensor sums = line.cumsum();
  EXPECT_LT(flops_of(sums), 5e5);
  EXPECT_LT(flops_of(line.cummax().first), 5e5);
  EXPECT_LT(flops_of(line.logcumsumexp()), 5e8);
  EXPECT_LT(flops_of(sums.sum().gradient({line})[0]), 1e6);
  // Where no loop could carry it the scan gets memory.
  EXPECT_LT(flops_of(sums.reshape({100, 1000}) + 1), 1e6);
  EXPECT_LT(flops_of(sums[Slice{.start = 10}] * 2), 1e6);
  EXPECT_LT(flops_of(sums - line.flip(0).cumsum().flip(0)), 2e6);
  EXPECT_LT(flops_of(sums.mean()), 1e6);
}

// A loop that carries a scan has one state for each loop around it, and none for those inside.
TEST(MethodCount, ScansInSumsGetMemory) {
  const Tensor x = input({60, 8, 30}), w = input({30, 20}), t = input({1, 8, 20});
  EXPECT_EQ(planned_kernels({(x.matmul(w).cumsum(0) * t).sum(-1)}), 3U);
}

// Whether a kernel has a scan whose terms are sums.
bool scans_a_sum(const std::vector<Tensor>& tensors) {
  Arena arena;
  const InternerScope scope(arena);
  const Plan plan = plan_for(fixed_target(), tensors);
  const InternerScope own(*plan.arena);
  for (const Step& step : plan.steps)
    for (const Node* node : toposort(step.kernel.node()))
      if (const auto scan = scan_of(node))
        for (const Node* inner : toposort(scan->value.node()))
          if (inner->op() == Op::Reduce) return true;
  return false;
}

// A loop that carries a scan goes element by element, and a product in it would too.
TEST(MethodCount, ProductsInScansGetMemory) {
  const Tensor x = input({549, 1170}), w = input({1170, 216});
  const Tensor sums = x.matmul(w).cumsum(0)[{Slice{.start = 100, .stop = 326}}];
  EXPECT_FALSE(scans_a_sum({sums.logsumexp(0)}));
  EXPECT_FALSE(scans_a_sum({x.matmul(w).cumsum(1)}));
}

// As many as without the scan would be: one for each direction.
TEST(MethodCount, ScansBothWays) {
  const Tensor line = input({1000});
  EXPECT_EQ(Tensor::schedule({line.flip(0).cumsum().flip(0) + 1}).size(), 1U);
  EXPECT_EQ(Tensor::schedule({line.cumsum() - line.flip(0).cumsum().flip(0)}).size(), 2U);
}

}  // namespace
}  // namespace weft
