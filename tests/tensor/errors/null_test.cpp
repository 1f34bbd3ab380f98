// Tensors that were never given a value: every method says so in its own name.

#include <weft/dlpack.h>

#include "table.h"

namespace weft {
namespace {

namespace F = functional;
namespace la = linalg;

struct NullCall {
  std::string_view method;
  std::function<void()> call;
};

void expect_complaints(std::span<const NullCall> nulls) {
  std::vector<WrongCall> calls;
  for (const auto& [method, call] : nulls)
    calls.push_back({method, call, std::string(method) + is_null});
  expect_errors(calls);
}

const Tensor none;

#define OF(tensor, method, ...) {#method, [&] { static_cast<void>((tensor).method(__VA_ARGS__)); }}
#define IN(space, function, ...) \
  {#function, [&] { static_cast<void>(space::function(__VA_ARGS__)); }}

TEST(NullTensors, HaveNoProperties) {
  Tensor nowhere;
  float memory = 0;
  const auto bytes = std::as_writable_bytes(std::span(&memory, 1));
  // clang-format off
  const NullCall calls[] = {
      OF(none, shape), OF(none, dims), OF(none, ndim), OF(none, dim), OF(none, size), OF(none, size, 0), OF(none, numel),
      OF(none, len), OF(none, max_shape), OF(none, max_numel), OF(none, nbytes), OF(none, dtype),
      OF(none, device), OF(none, uop), OF(none, views), OF(none, element_size),
      OF(none, is_floating_point), OF(none, memory), OF(none, shard_axis), OF(none, realize),
      OF(none, schedule), {"item", [&] { none.item<float>(); }},
      {"to_vector", [&] { none.to_vector<float>(); }}, {"tolist", [&] { none.tolist<float>(); }},
      {"numpy", [&] { none.numpy<float>(); }}, {"data", [&] { none.data<float>(); }},
      OF(none, to_bytes, bytes), IN(Tensor, realize, {none}), IN(Tensor, schedule, {none}),
      IN(Tensor, schedule_linear, {none}), OF(none, as_param, 0), OF(nowhere, is_param_),
      OF(nowhere, assign, 1), OF(nowhere, fill, 1), OF(nowhere, replace, none),
      OF(nowhere, ifloordiv, 1), OF(nowhere, ipow, 2), OF(nowhere, imatmul, none),
      OF(nowhere, set_requires_grad), OF(none, backward), OF(nowhere, set_grad, none),
      OF(none, gradient, {none}), OF(none, detach), OF(none, contiguous_backward),
      OF(none, to, "CPU"), OF(none, to, dtypes::f16), OF(nowhere, to_, "CPU"),
      OF(none, shard, {"CPU", "CPU:1"}, 0), OF(nowhere, shard_, {"CPU", "CPU:1"}, 0),
      OF(none, shard_like, none), OF(none, cast, dtypes::f16), OF(none, bitcast, dtypes::i32),
      OF(none, contiguous), OF(none, clone), OF(none, to_float), OF(none, to_double),
      OF(none, half), OF(none, bfloat16), OF(none, to_short), OF(none, to_int), OF(none, to_long),
      OF(none, to_bool), OF(none, full_like, 1), OF(none, const_like, 1), OF(none, zeros_like),
      OF(none, ones_like), OF(none, empty_like), OF(none, rand_like), OF(none, randn_like),
      OF(none, randint_like, 0, 2), OF(none, multinomial), OF(none, threefry, 1),
  };
  // clang-format on
  expect_complaints(calls);
  EXPECT_EQ(none.str(), "null");
  EXPECT_FALSE(none.requires_grad());
  EXPECT_TRUE(none.grad().is_null());
}

TEST(NullTensors, DoNotMove) {
  // clang-format off
  const NullCall calls[] = {
      OF(none, reshape, {1}), OF(none, view, {1}), OF(none, flatten), OF(none, ravel),
      OF(none, reshape_as, none), OF(none, view_as, none), OF(none, unflatten, 0, {1, 2}),
      OF(none, squeeze), OF(none, unsqueeze, 0), OF(none, permute, {0}), OF(none, transpose),
      OF(none, swapaxes, 0, 1), OF(none, swapdims, 0, 1), OF(none, movedim, 0, 1),
      OF(none, moveaxis, 0, 1), OF(none, T), OF(none, mT), OF(none, atleast_1d),
      OF(none, atleast_2d), OF(none, atleast_3d), OF(none, expand, {1}), OF(none, expand_as, none),
      OF(none, broadcast_to, {1}), IN(Tensor, broadcast_tensors, {none}), OF(none, flip, 0),
      OF(none, fliplr), OF(none, flipud), OF(none, rot90), OF(none, shrink, {{0, 1}}),
      OF(none, pad, {1, 1}), OF(none, pad_to, {3}), OF(none, shrink_to, {3}),
      OF(none, slice, 0, Slice{}), OF(none, narrow, 0, 0, 1), OF(none, select, 0, 0),
      OF(none, unbind), OF(none, split, 1), OF(none, chunk, 2), OF(none, tensor_split, 2),
      OF(none, hsplit, 2), OF(none, vsplit, 2), OF(none, dsplit, 2), IN(Tensor, cat, {none}),
      IN(Tensor, concatenate, {none}), IN(Tensor, stack, {none}), IN(Tensor, hstack, {none}),
      IN(Tensor, vstack, {none}), IN(Tensor, dstack, {none}), IN(Tensor, column_stack, {none}),
      IN(Tensor, block_diag, {none}), OF(none, repeat, {2}), OF(none, tile, {2}),
      OF(none, repeat_interleave, 2), OF(none, roll, 1), OF(none, unfold, 0, 1, 1),
      IN(Tensor, meshgrid, {none}), IN(Tensor, cartesian_prod, {none}), OF(none, combinations),
      OF(none, diagonal), OF(none, diag_embed), OF(none, diag), OF(none, diagflat), OF(none, triu),
      OF(none, tril), OF(none, vander), OF(none, rearrange, "a b -> b a"),
      OF(none, reduce, "a b -> a", Tensor::Reduce::Sum), IN(Tensor, einsum, "i->i", {none}),
  };
  // clang-format on
  expect_complaints(calls);
}

TEST(NullTensors, HaveNoElements) {
  // clang-format off
  const NullCall calls[] = {
      OF(none, neg), OF(none, abs), OF(none, sign), OF(none, signbit), OF(none, square),
      OF(none, reciprocal), OF(none, sqrt), OF(none, rsqrt), OF(none, exp), OF(none, exp2),
      OF(none, expm1), OF(none, log), OF(none, log2), OF(none, log10), OF(none, log1p),
      OF(none, sin), OF(none, cos), OF(none, tan), OF(none, asin), OF(none, acos), OF(none, atan),
      OF(none, sinh), OF(none, cosh), OF(none, tanh), OF(none, asinh), OF(none, acosh),
      OF(none, atanh), OF(none, sinc), OF(none, deg2rad), OF(none, rad2deg), OF(none, erf),
      OF(none, erfc), OF(none, erfinv), OF(none, lgamma), OF(none, digamma), OF(none, i0),
      OF(none, trunc), OF(none, floor), OF(none, ceil), OF(none, round), OF(none, frac),
      OF(none, nan_to_num), OF(none, isnan), OF(none, isinf), OF(none, isfinite),
      OF(none, popcount), OF(none, keccak), OF(none, hash), OF(none, logical_not),
      OF(none, bitwise_not), OF(none, relu), OF(none, relu6), OF(none, leaky_relu), OF(none, elu),
      OF(none, gelu), OF(none, sigmoid), OF(none, logsigmoid), OF(none, silu), OF(none, swish),
      OF(none, mish), OF(none, softplus), OF(none, hardtanh), OF(none, hardsigmoid),
      OF(none, hardswish), OF(none, celu), OF(none, selu), OF(none, softsign), OF(none, quick_gelu),
      OF(none, dropout), OF(none, add, 1), OF(none, sub, 1), OF(none, mul, 1), OF(none, div, 2),
      OF(none, floordiv, 2), OF(none, floor_divide, 2), OF(none, mod, 2), OF(none, remainder, 2),
      OF(none, fmod, 2), OF(none, gcd, 2), OF(none, lcm, 2), OF(none, pow, 2),
      OF(none, float_power, 2), OF(none, maximum, 1), OF(none, minimum, 1), OF(none, fmax, 1),
      OF(none, fmin, 1), OF(none, atan2, 1), OF(none, hypot, 1), OF(none, copysign, 1),
      OF(none, nextafter, 1), OF(none, logaddexp, 1), OF(none, logaddexp2, 1), OF(none, xlogy, 1),
      OF(none, heaviside, 1), OF(none, eq, 1), OF(none, ne, 1), OF(none, lt, 1), OF(none, le, 1), OF(none, gt, 1), OF(none, ge, 1), OF(none, isclose, 1),
      OF(none, allclose, 1), OF(none, equal, none), OF(none, where, 1, 2),
      OF(none, masked_fill, none, 1), OF(none, lerp, 1, 2), OF(none, clamp, 0, 1),
      OF(none, clip, 0, 1), OF(none, addcmul, none, none), OF(none, addcdiv, none, none),
      OF(none, logical_and, 1), OF(none, logical_or, 1), OF(none, logical_xor, 1),
      OF(none, bitwise_and, 1), OF(none, bitwise_or, 1), OF(none, bitwise_xor, 1),
      OF(none, lshift, 1), OF(none, rshift, 1), OF(none, ufix, 1), OF(none, usum, {none}),
      OF(none, uprod, {none}),
  };
  // clang-format on
  expect_complaints(calls);
}

TEST(NullTensors, AreNotReduced) {
  // clang-format off
  const NullCall calls[] = {
      OF(none, sum), OF(none, prod), OF(none, max), OF(none, min), OF(none, amax), OF(none, amin), OF(none, any), OF(none, all),
      OF(none, mean), OF(none, var), OF(none, std), OF(none, var_mean), OF(none, std_mean),
      OF(none, aminmax), OF(none, nansum), OF(none, nanmean), OF(none, norm), OF(none, dist, none),
      OF(none, cdist, none), OF(none, argmax), OF(none, argmin), OF(none, logsumexp),
      OF(none, softmax), OF(none, log_softmax), OF(none, softmin),
      OF(none, softmax, 0, dtypes::f64), OF(none, log_softmax, 0, dtypes::f64),
      OF(none, softmin, 0, dtypes::f64), OF(none, cumsum),
      OF(none, cumprod, 0), OF(none, logcumsumexp), OF(none, cummax), OF(none, cummin),
      OF(none, diff), OF(none, count_nonzero), OF(none, sort), OF(none, argsort), OF(none, msort),
      OF(none, topk, 1), OF(none, kthvalue, 1), OF(none, median), OF(none, nanmedian),
      OF(none, mode), OF(none, quantile, 0.5), OF(none, nanquantile, 0.5), OF(none, isin, none),
      OF(none, searchsorted, none), OF(none, bucketize, none), OF(none, bincount), OF(none, histc),
      OF(none, histogram, 2), OF(none, unique), OF(none, unique_consecutive), OF(none, nonzero),
      OF(none, argwhere), OF(none, where), OF(none, one_hot), OF(none, masked_select, none),
      OF(none, masked_scatter, none, none), OF(none, take, none), OF(none, gather, 0, none),
      OF(none, scatter, 0, none, 1), OF(none, scatter_add, 0, none, 1),
      OF(none, scatter_reduce, 0, none, none, Tensor::Reduce::Sum), OF(none, index_select, 0, none),
      OF(none, index_add, 0, none, none), OF(none, index_copy, 0, none, none),
      OF(none, index_fill, 0, none, 1), OF(none, take_along_axis, none, 0),
      OF(none, take_along_dim, none, 0), OF(none, put_along_axis, none, 1, 0),
      OF(none, put, none, 1), OF(none, index_put, 0, 1), {"[]", [] { none[0]; }},
      {"set", [] { Tensor(none).set(0, 1); }},
  };
  // clang-format on
  expect_complaints(calls);
}

TEST(NullTensors, HaveNoProducts) {
  // clang-format off
  const NullCall calls[] = {
      OF(none, matmul, none), OF(none, dot, none), OF(none, image_dot, none), OF(none, mm, none),
      OF(none, bmm, none), OF(none, mv, none), OF(none, addmm, none, none),
      OF(none, addmv, none, none), OF(none, baddbmm, none, none), OF(none, inner, none),
      OF(none, tensordot, none), OF(none, linear, none),
      OF(none, linear, none, none, dtypes::f64), OF(none, outer, none),
      OF(none, kron, none), OF(none, cross, none), OF(none, trace), OF(none, det),
      OF(none, inverse), OF(none, qr), OF(none, svd), OF(none, newton_schulz, 1, {1}),
      OF(none, conv, none), OF(none, conv1d, none), OF(none, conv2d, none), OF(none, conv3d, none),
      OF(none, image_conv2d, none), OF(none, conv_transpose, none),
      OF(none, conv_transpose1d, none), OF(none, conv_transpose2d, none),
      OF(none, conv_transpose3d, none), OF(none, max_pool, {2, 2}), OF(none, max_pool1d, 2),
      OF(none, max_pool2d), OF(none, max_pool3d, 2), OF(none, max_pool_with_indices, {2, 2}),
      OF(none, max_unpool2d, none), OF(none, avg_pool, {2, 2}), OF(none, avg_pool1d, 2),
      OF(none, avg_pool2d), OF(none, avg_pool3d, 2), OF(none, interpolate, {2}),
      OF(none, layernorm), OF(none, rmsnorm), OF(none, normalize),
      OF(none, batchnorm, none, none, none, none),
      OF(none, scaled_dot_product_attention, none, none),
      OF(none, scaled_dot_product_attention, none, none, none, 0, true),
      OF(none, scaled_dot_product_attention, none, none, {.is_causal = true}), OF(none, mse_loss, none),
      OF(none, binary_crossentropy, none), OF(none, binary_crossentropy_logits, none),
      OF(none, nll_loss, none), OF(none, sparse_categorical_crossentropy, none),
      OF(none, cross_entropy, none), IN(la, cholesky, none), IN(la, lu, none), IN(la, qr, none),
      IN(la, householder_product, none, none), IN(la, eigh, none), IN(la, eigvalsh, none),
      IN(la, svd, none), IN(la, svdvals, none), IN(la, solve, none, none),
      IN(la, solve_triangular, none, none, {.upper = true}), IN(la, cholesky_solve, none, none),
      IN(la, inv, none), IN(la, det, none), IN(la, slogdet, none), IN(la, pinv, none),
      IN(la, matrix_rank, none), IN(la, lstsq, none, none), IN(la, matrix_power, none, 2),
      IN(la, matrix_exp, none), IN(la, vector_norm, none), IN(la, matrix_norm, none),
      IN(la, norm, none), IN(la, cond, none), IN(la, multi_dot, {none, none}),
      IN(la, vecdot, none, none), IN(la, cross, none, none), IN(la, outer, none, none),
      IN(la, kron, none, none), IN(la, trace, none), IN(la, vander, none), IN(fft, complex, none),
      IN(fft, real, none), IN(fft, imag, none), IN(fft, conj, none), IN(fft, multiply, none, none),
      IN(fft, fft, none), IN(fft, ifft, none), IN(fft, rfft, none), IN(fft, irfft, none),
      IN(fft, hfft, none), IN(fft, ihfft, none), IN(fft, fftn, none), IN(fft, ifftn, none),
      IN(fft, rfftn, none), IN(fft, irfftn, none), IN(fft, fft2, none), IN(fft, ifft2, none),
      IN(fft, rfft2, none), IN(fft, irfft2, none), IN(fft, fftshift, none),
      IN(fft, ifftshift, none), IN(fft, stft, none, 8), IN(fft, istft, none, 8),
  };
  // clang-format on
  expect_complaints(calls);
}

TEST(NullTensors, AreNoLayers) {
  const Tensor x = of({2, 3});
  const F::CellWeights cell{.input = x, .hidden = x};
  // clang-format off
  const NullCall calls[] = {
      IN(F, unfold, none, {2, 2}), IN(F, fold, none, {3, 3}, {2, 2}),
      IN(F, adaptive_avg_pool, none, {2}), IN(F, adaptive_avg_pool1d, none, 2),
      IN(F, adaptive_avg_pool2d, none, 2), IN(F, adaptive_avg_pool3d, none, 2),
      IN(F, adaptive_max_pool, none, {2}), IN(F, adaptive_max_pool1d, none, 2),
      IN(F, adaptive_max_pool2d, none, 2), IN(F, adaptive_max_pool3d, none, 2),
      IN(F, adaptive_max_pool_with_indices, none, {2}), IN(F, lp_pool, none, 2, {2, 2}),
      IN(F, lp_pool1d, none, 2, 2), IN(F, lp_pool2d, none, 2, 2), IN(F, lp_pool3d, none, 2, 2),
      IN(F, global_avg_pool, none), IN(F, global_max_pool, none),
      IN(F, max_unpool, none, none, {2, 2}), IN(F, max_unpool1d, none, none, 2),
      IN(F, max_unpool2d, none, none, 2), IN(F, max_unpool3d, none, none, 2), IN(F, pixel_shuffle, none, 2),
      IN(F, pixel_unshuffle, none, 2), IN(F, channel_shuffle, none, 2),
      IN(F, grid_sample, none, none), IN(F, affine_grid, none, {1, 1, 2, 2}),
      IN(F, hardshrink, none), IN(F, softshrink, none), IN(F, tanhshrink, none),
      IN(F, threshold, none, 1, 2), IN(F, prelu, none, none), IN(F, rrelu, none), IN(F, glu, none),
      IN(F, log_sigmoid, none), IN(F, gumbel_softmax, none), IN(F, batch_norm, none, {}, {}),
      IN(F, group_norm, none, 2), IN(F, instance_norm, none), IN(F, local_response_norm, none, 2),
      IN(F, weight_norm, none, none), IN(F, dropout, none), IN(F, feature_dropout, none),
      IN(F, alpha_dropout, none), IN(F, feature_alpha_dropout, none), IN(F, embedding, none, none),
      IN(F, embedding_bag, none, none), IN(F, scaled_dot_product_attention, none, none, none),
      IN(F, scaled_dot_product_attention, none, none, none, none, 0, true),
      IN(F, rotary_embedding, none),
      IN(F, multi_head_attention, x, x, none, 1, {.in_weight = of({9, 3}), .out_weight = of({3, 3})}),
      IN(F, rnn_cell, none, x, cell), IN(F, gru_cell, none, x, cell),
      IN(F, lstm_cell, none, {x, x}, cell), IN(F, cross_entropy, none, none),
      IN(F, nll_loss, none, none), IN(F, multi_margin_loss, none, none),
      IN(F, multilabel_margin_loss, none, none), IN(F, multilabel_soft_margin_loss, none, none),
      IN(F, ctc_loss, none, none, none, none), IN(F, mse_loss, none, none),
      IN(F, l1_loss, none, none), IN(F, smooth_l1_loss, none, none), IN(F, huber_loss, none, none),
      IN(F, poisson_nll_loss, none, none), IN(F, gaussian_nll_loss, none, none, none),
      IN(F, binary_cross_entropy, none, none), IN(F, binary_cross_entropy_with_logits, none, none),
      IN(F, kl_div, none, none), IN(F, sigmoid_focal_loss, none, none),
      IN(F, dice_loss, none, none), IN(F, hinge_embedding_loss, none, none),
      IN(F, soft_margin_loss, none, none), IN(F, margin_ranking_loss, none, none, none),
      IN(F, cosine_embedding_loss, none, none, none), IN(F, cosine_similarity, none, none),
      IN(F, pairwise_distance, none, none), IN(F, triplet_margin_loss, none, none, none),
      IN(F, contrastive_loss, none, none),
  };
  // clang-format on
  expect_complaints(calls);
}

TEST(NullTensors, AreNoOperands) {
  const Tensor x = of({2, 3}), index = of({2}, {.dtype = dtypes::i32}), mask = x == 0;
  Tensor y = x.clone();
  // clang-format off
  const NullCall calls[] = {
      OF(x, add, none), OF(x, sub, none), OF(x, mul, none), OF(x, div, none), OF(x, floordiv, none),
      OF(x, mod, none), OF(x, fmod, none), OF(index, gcd, none), OF(index, lcm, none),
      OF(x, pow, none), OF(x, float_power, none), OF(x, maximum, none), OF(x, minimum, none),
      OF(x, fmax, none), OF(x, fmin, none), OF(x, atan2, none), OF(x, hypot, none),
      OF(x, copysign, none), OF(x, nextafter, none), OF(x, logaddexp, none),
      OF(x, logaddexp2, none), OF(x, xlogy, none), OF(x, heaviside, none), OF(x, eq, none),
      OF(x, ne, none), OF(x, isclose, none), OF(x, allclose, none), OF(x, equal, none),
      OF(mask, where, none, 1), OF(mask, where, 1, none), OF(x, masked_fill, none, 1),
      OF(x, masked_fill, mask, none), OF(x, lerp, none, 1), OF(x, lerp, x, none),
      OF(x, addcmul, x, none), OF(x, addcdiv, none, x), OF(x, logical_and, none),
      OF(x, logical_or, none), OF(x, logical_xor, none), OF(index, bitwise_and, none),
      OF(index, bitwise_or, none), OF(index, bitwise_xor, none), OF(index, lshift, none),
      OF(index, rshift, none), OF(x, ufix, none), OF(x, usum, {none}), OF(x, uprod, {none}),
      {"add", [&] { x + none; }}, {"sub", [&] { 1 - none; }}, {"mul", [&] { none* none; }},
      {"div", [&] { 1 / none; }}, {"mod", [&] { none % 2; }}, {"lshift", [&] { 1 << none; }},
      {"lt", [&] { static_cast<void>(x < none); }}, {"neg", [&] { -none; }},
      {"bitwise_not", [&] { ~none; }}, {"logical_not", [&] { !none; }}, {"+=", [&] { y += none; }},
      {"/=", [&] { y /= none; }}, IN(weft, floordiv, x, none), IN(weft, pow, 2, none),
      IN(weft, matmul, x, none), OF(y, assign, none), OF(y, replace, none), OF(y, ipow, none),
      OF(y, imatmul, none), OF(y, set, 0, none), OF(y, set, {none}, 1), OF(x, index_put, {none}, 1),
      {"[]", [&] { x[{0, none}]; }}, OF(x, take, none), OF(x, gather, 0, none),
      OF(x, scatter, 0, none, 1), OF(x, scatter_add, 0, index.reshape({1, 2}), none),
      OF(x, index_select, 0, none), OF(x, index_add, 0, none, x), OF(x, index_copy, 0, index, none),
      OF(x, index_fill, 0, index, none), OF(x, take_along_axis, none, 0), OF(x, put, index, none),
      OF(x, masked_select, none), OF(x, masked_scatter, mask, none), OF(x, isin, none),
      OF(x, searchsorted, none), OF(x, reshape_as, none), OF(x, expand_as, none),
      IN(Tensor, cat, {x, none}), IN(Tensor, stack, {x, none}), IN(Tensor, hstack, {x, none}),
      IN(Tensor, vstack, {x, none}), IN(Tensor, block_diag, {x, none}),
      IN(Tensor, einsum, "ij,jk", {x, none}), OF(x, repeat_interleave, none, 0),
      OF(x, quantile, none), OF(x, matmul, none), OF(x, linear, none),
      OF(x, linear, none, none, dtypes::f64), OF(x, mm, none),
      OF(x, addmm, x, none), OF(x, inner, none), OF(x, tensordot, none), OF(x, outer, none),
      OF(x, kron, none), OF(x, cross, none), OF(x, dist, none), OF(x, cdist, none),
      OF(x, conv2d, none), OF(x, conv1d, none), OF(x, mse_loss, none), OF(x, cross_entropy, none),
      OF(x, nll_loss, none), OF(x, gradient, {none}), OF(x, shard_like, none),
      OF(x, threefry, none),
      IN(Tensor, custom, {x, none}, [](const auto& in) { return in[0]; }, {}),
      IN(Tensor, custom, {x}, [](const auto&) { return none; }, {}),
      IN(Tensor, call, {x, none}, x.as_param(0)), IN(Tensor, call, {x}, none),
      {"doubled", [&] { Tensor::custom_kernel("doubled", {none}); }},
      IN(la, solve, of({2, 2}), none), IN(la, multi_dot, {x, none}), IN(F, embedding, index, none),
      IN(F, prelu, x, none), IN(F, scaled_dot_product_attention, x, x, none),
      IN(F, l1_loss, x, none), IN(F, margin_ranking_loss, x, x, none),
      IN(random, exponential, {2}, none), IN(random, dirichlet, none), IN(random, bernoulli, none),
      IN(random, poisson, none), IN(random, permutation, none), IN(random, choice, none, {2}),
      IN(random, gamma, {2}, none), IN(random, student_t, {2}, none), IN(weft, to_dlpack, none),
      IN(weft, save_npy, "null.npy", none), IN(weft, save_image, "null.png", none),
  };
  // clang-format on
  expect_complaints(calls);
}

}  // namespace
}  // namespace weft
