// Wrong calls of convolutions, pools, resampling, normalisation, dropout and embeddings.

#include "table.h"

namespace weft {
namespace {

namespace F = functional;

TEST(TensorErrors, Convolutions) {
  const Tensor x = of({1, 4, 5, 5}), w = of({2, 4, 3, 3});
  const WrongCall calls[] = {
      {"conv2d, rank", [&] { x.conv2d(of({2, 4, 3})); },
       "conv2d: shape (1, 4, 5, 5) does not fit a weight of shape (2, 4, 3): one is (batch, "
       "channels, "
       "sizes ...), the other (out, in / groups, sizes ...)"},
      {"conv2d, no axes", [&] { x.conv2d(of({4})); },
       "conv2d: shape (1, 4, 5, 5) does not fit a weight of shape (4,): one is (batch, channels, "
       "sizes ...), the other (out, in / groups, sizes ...)"},
      {"conv1d", [&] { x.conv1d(w); }, "conv1d: a weight of shape (2, 4, 3, 3) has not 3 axes"},
      {"conv, groups", [&] { x.conv(w, {}, {.groups = 3}); },
       "conv: a weight of shape (2, 4, 3, 3) has no 3 groups of outputs"},
      {"conv, channels", [&] { x.conv(w, {}, {.groups = 2}); },
       "conv: 4 channels do not fit a weight of shape (2, 4, 3, 3) in 2 groups"},
      {"conv, bias", [&] { x.conv(w, of({3})); }, "conv: a bias of shape (3,) for 2 channels"},
      {"conv, same", [&] { x.conv(w, {}, {.stride = 2, .padding = "same"}); },
       "conv: padding \"same\" is for a stride of 1, not (2, 2)"},
      {"conv, name", [&] { x.conv(w, {}, {.padding = "full"}); },
       "conv: padding \"full\" is neither \"same\" nor \"valid\""},
      {"conv, sides", [&] { x.conv(w, {}, {.padding = {{1, 2}, {0, 1}, {1, 1}}}); },
       "conv: padding of 3 dimensions for 2 spatial dimensions"},
      {"conv, stride", [&] { x.conv(w, {}, {.stride = 0}); },
       "conv: kernel, stride and dilation are at least 1"},
      {"conv, size", [&] { x.conv(of({2, 4, 3, 7})); },
       "conv: a kernel of 7 with dilation 1 does not fit in 5 elements"},
      {"conv_transpose, transposed groups",
       [&] { x.conv_transpose(of({4, 2, 3, 3}), {}, {.groups = 3}); },
       "conv_transpose: a weight of shape (4, 2, 3, 3) has no 3 groups of inputs"},
      {"conv_transpose, transposed channels", [&] { x.conv_transpose(of({3, 2, 3, 3})); },
       "conv_transpose: 4 channels do not fit a weight of shape (3, 2, 3, 3) in 1 groups"},
      {"conv_transpose, output padding",
       [&] { x.conv_transpose(of({4, 2, 3, 3}), {}, {.stride = 2, .output_padding = 2}); },
       "conv_transpose: an output padding of 2 is not below the stride 2 or the dilation 1"},
      {"conv_transpose, nothing left",
       [&] { x.conv_transpose(of({4, 2, 1, 1}), {}, {.padding = 3}); },
       "conv_transpose: padding of 3 and 3 leaves nothing of axis 2 for shape (1, 4, 5, 5) and a "
       "weight of shape (4, 2, 1, 1)"},
      {"conv_transpose3d", [&] { x.conv_transpose3d(w); },
       "conv_transpose3d: a weight of shape (2, 4, 3, 3) has not 5 axes"},
      {"unfold", [&] { F::unfold(of({4, 4}), {2, 2}); },
       "unfold: shape (4, 4) is not (batch, channels, sizes ...) for a kernel of 2 dimensions"},
      {"fold, channels", [&] { F::fold(of({1, 6, 4}), {3, 3}, {2, 2}); },
       "fold: shape (1, 6, 4) is not (batch, channels * 4, places)"},
      {"fold, places", [&] { F::fold(of({1, 8, 5}), {3, 3}, {2, 2}); },
       "fold: 5 places of shape (1, 8, 5), but windows have 4 in sizes (3, 3)"},
  };
  expect_errors(calls);
}

TEST(TensorErrors, Pools) {
  const Tensor x = of({1, 2, 4, 4});
  const WrongCall calls[] = {
      {"max_pool, padding", [&] { x.max_pool({3, 3}, {.padding = 2}); },
       "max_pool: padding of 2 and 2 is more than half of what a kernel of 3 with dilation 1 "
       "spans"},
      {"max_pool2d, kernel", [&] { x.max_pool2d({2, 2, 2}); },
       "max_pool2d: 3 numbers for 2 spatial dimensions"},
      {"avg_pool, no kernel", [&] { x.avg_pool(std::vector<std::int64_t>{}); },
       "avg_pool: the kernel has no sizes"},
      {"avg_pool, size", [&] { x.avg_pool({5, 5}); },
       "avg_pool: a kernel of 5 with dilation 1 does not fit in 4 elements"},
      {"max_pool, axes", [&] { of({3}).max_pool({2, 2}); },
       "max_pool: 2 spatial dimensions for a tensor of shape (3,)"},
      {"avg_pool, divisor", [&] { x.avg_pool({2, 2}, {.divisor_override = 0}); },
       "avg_pool: the divisor is 0: want another number"},
      {"max_unpool2d, unpool indices", [&] { x.max_unpool2d(of({1, 2, 4, 4})); },
       "max_unpool2d: indices of f32 and shape (1, 2, 4, 4) are not a place for each element of "
       "shape "
       "(1, 2, 4, 4), over 2 axes"},
      {"max_unpool2d, unpool sizes",
       [&] { x.max_unpool2d(of({1, 2, 4, 4}).cast(dtypes::i32), {2, 2}, {}, 0, {8}); },
       "max_unpool2d: an output of sizes (8) for a kernel of 2 dimensions"},
      {"adaptive_avg_pool2d", [&] { F::adaptive_avg_pool2d(x, {0, 2}); },
       "adaptive_avg_pool2d: sizes (0, 2) for a tensor of shape (1, 2, 4, 4)"},
      {"adaptive_max_pool3d, axes", [&] { F::adaptive_max_pool3d(of({2, 2}), 1); },
       "adaptive_max_pool3d: 3 sizes for a tensor of shape (2, 2)"},
      {"lp_pool", [&] { F::lp_pool(x, 0, {2, 2}); }, "lp_pool: the norm is 0, not above 0"},
      {"global_avg_pool", [&] { F::global_avg_pool(of({2, 2})); },
       "global_avg_pool: shape (2, 2) is not (batch, channels, sizes ...)"},
  };
  expect_errors(calls);
}

TEST(TensorErrors, Resampling) {
  const Tensor x = of({1, 6, 4, 4});
  const WrongCall calls[] = {
      {"interpolate, no sizes", [&] { x.interpolate({}); },
       "interpolate: either sizes or scale factors are to be given"},
      {"interpolate, both", [&] { x.interpolate({2}, {.scale_factor = {2.0}}); },
       "interpolate: either sizes or scale factors are to be given"},
      {"interpolate, axes", [&] { of({2}).interpolate({2, 2}); },
       "interpolate: 2 sizes for a tensor of shape (2,)"},
      {"interpolate, zero", [&] { x.interpolate({0, 2}); },
       "interpolate: 4 elements of shape (1, 6, 4, 4) cannot become 0"},
      {"interpolate, corners",
       [&] { x.interpolate({2, 2}, {.mode = Resampling::Nearest, .align_corners = true}); },
       "interpolate: align_corners is for linear and cubic interpolation"},
      {"interpolate, antialias", [&] { x.interpolate({2}, {.antialias = true}); },
       "interpolate: antialias is for linear and cubic interpolation of two axes, not 1"},
      {"pixel_shuffle", [&] { F::pixel_shuffle(x, 2); },
       "pixel_shuffle: 6 channels of shape (1, 6, 4, 4) are no multiple of 4"},
      {"pixel_unshuffle", [&] { F::pixel_unshuffle(x, 3); },
       "pixel_unshuffle: sizes of shape (1, 6, 4, 4) are no multiples of 3"},
      {"pixel_shuffle, image", [&] { F::pixel_shuffle(of({4, 4}), 2); },
       "pixel_shuffle: by 2 of shape (4, 4), which is not (..., channels, h, w)"},
      {"channel_shuffle, channels", [&] { F::channel_shuffle(x, 4); },
       "channel_shuffle: the channels of shape (1, 6, 4, 4) are not in 4 groups"},
      {"grid_sample", [&] { F::grid_sample(x, of({1, 2, 2, 3})); },
       "grid_sample: a grid of shape (1, 2, 2, 3) for shape (1, 6, 4, 4): one is (batch, new sizes "
       "..., dimensions), the other (batch, channels, sizes ...) with as many of them"},
      {"grid_sample, dtype", [&] { F::grid_sample(x, of({1, 2, 2, 2}).cast(dtypes::i32)); },
       "grid_sample: a grid of i32, which is no float"},
      {"grid_sample, mode",
       [&] { F::grid_sample(x, of({1, 2, 2, 2}), {.mode = Resampling::Area}); },
       "grid_sample: the mode is nearest, linear or cubic"},
      {"affine_grid, theta", [&] { F::affine_grid(of({2, 2, 3}), {1, 1, 4, 4}); },
       "affine_grid: theta of shape (2, 2, 3) for sizes (1, 1, 4, 4): one is (batch, dimensions, "
       "dimensions + 1), the other (batch, channels, sizes ...) with 2 or 3 of them"},
  };
  expect_errors(calls);
}

TEST(TensorErrors, ActivationsAndNormalisation) {
  const Tensor x = of({2, 3, 4}), row = of({3});
  const WrongCall calls[] = {
      {"celu", [&] { x.celu(0); }, "celu: alpha is 0: want another number"},
      {"softshrink", [&] { F::softshrink(x, -1); }, "softshrink: lambda is -1, below 0"},
      {"prelu", [&] { F::prelu(x, of({4})); },
       "prelu: a weight of shape (4,) for shape (2, 3, 4): it is one slope, or one for each "
       "channel"},
      {"rrelu", [&] { F::rrelu(x, 1, 0); }, "rrelu: slopes from 1 to 0: want the lower one first"},
      {"glu", [&] { F::glu(x, 1); }, "glu: axis 1 of shape (2, 3, 4) has no two halves"},
      {"gumbel_softmax", [&] { F::gumbel_softmax(x, 0); },
       "gumbel_softmax: the temperature is 0, not above 0"},
      {"layernorm", [&] { x.layernorm(-1, 1e-5, row); },
       "layernorm: a weight or bias of shape (3,) for axes of sizes (4,)"},
      {"rmsnorm", [&] { x.rmsnorm(-1, 1e-5, row); },
       "rmsnorm: a weight or bias of shape (3,) for axes of sizes (4,)"},
      {"normalize", [&] { row.normalize(); },
       "normalize: there is no axis 1 in a tensor of 1 axes"},
      {"batch_norm", [&] { F::batch_norm(x, {}, {}); },
       "batch_norm: without training it needs the running mean and variance"},
      {"batch_norm, statistics", [&] { F::batch_norm(x, of({4}), row); },
       "batch_norm: a weight, bias or statistic of shape (4,) for 3 channels"},
      {"batch_norm, values", [&] { F::batch_norm(of({1, 3}), {}, {}, {}, {}, {.training = true}); },
       "batch_norm: shape (1, 3) has no two values for each channel to train with"},
      {"batch_norm, axes", [&] { F::batch_norm(row, {}, {}); },
       "batch_norm: shape (3,) has no batch and channels"},
      {"group_norm", [&] { F::group_norm(x, 2); },
       "group_norm: the channels of shape (2, 3, 4) are not in 2 groups"},
      {"instance_norm", [&] { F::instance_norm(of({2, 3, 1})); },
       "instance_norm: shape (2, 3, 1) has no two values for each channel"},
      {"local_response_norm", [&] { F::local_response_norm(x, 0); },
       "local_response_norm: 0 channels: want at least 1"},
      {"weight_norm", [&] { F::weight_norm(x, row); },
       "weight_norm: lengths of shape (3,) for axis 0 of shape (2, 3, 4)"},
  };
  expect_errors(calls);
}

TEST(TensorErrors, DropoutAndEmbeddings) {
  const Tensor x = of({2, 3}), table = of({5, 4}), index = x.cast(dtypes::i32),
               flat = index.flatten();
  const WrongCall calls[] = {
      {"dropout", [&] { x.dropout(1.5); }, "dropout: the probability 1.5 is not from 0 to 1"},
      {"alpha_dropout", [&] { F::alpha_dropout(x, -1); },
       "alpha_dropout: the probability -1 is not from 0 to 1"},
      {"feature_dropout", [&] { F::feature_dropout(of({3})); },
       "feature_dropout: shape (3,) has no batch and channels"},
      {"embedding, table", [&] { F::embedding(index, of({5})); },
       "embedding: a weight of shape (5,) is not (rows, width)"},
      {"embedding, padding", [&] { F::embedding(index, table, 5); },
       "embedding: there is no row 5 for padding in a weight of shape (5, 4)"},
      {"embedding, index", [&] { F::embedding(x, table); },
       "embedding: the index is f32, not an integer"},
      {"embedding_bag, index", [&] { F::embedding_bag(flat, table); },
       "embedding_bag: an index of shape (6,): it is (bags, rows), or (rows) with offsets"},
      {"embedding_bag, offsets", [&] { F::embedding_bag(flat, table, {.offsets = x}); },
       "embedding_bag: offsets of f32 and shape (2, 3) are not integers along one axis"},
      {"embedding_bag, weights", [&] { F::embedding_bag(index, table, {.per_sample_weights = x}); },
       "embedding_bag: per_sample_weights of shape (2, 3) are for sums of an index of the same "
       "shape, not (2, 3)"},
  };
  expect_errors(calls);
}

}  // namespace
}  // namespace weft
