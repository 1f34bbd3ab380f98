// Attention, and what tells it where things are.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/functional.h>
#include <weft/settings.h>

#include "ops.h"

namespace weft {
namespace {

using functional::AttentionOptions;

constexpr const char* sdpa = "scaled_dot_product_attention";
constexpr double nowhere = -std::numeric_limits<double>::infinity();

const UOp& from_last(const std::vector<Dim>& dims, std::size_t axis) {
  return dims[dims.size() - axis].uop();
}

void want_fitting(const Tensor& query, const Tensor& key, const Tensor& value) {
  const std::vector<Dim> q = query.dims(), k = key.dims(), v = value.dims();
  if (q.size() < 2 || k.size() < 2 || v.size() < 2 || !from_last(q, 1).is(from_last(k, 1)) ||
      !from_last(k, 2).is(from_last(v, 2)))
    user_error(
        fmt::format("{}: query {}, key {} and value {} are not (..., queries, width), "
                    "(..., keys, width) and (..., keys, any)",
                    sdpa, shape_text(query.uop()), shape_text(key.uop()), shape_text(value.uop())));
}

void want_allowed(const AttentionOptions& options) {
  if (!(options.dropout_p >= 0 && options.dropout_p <= 1))
    user_error(fmt::format("{}: dropout_p {} is not from 0 to 1", sdpa, options.dropout_p));
  if (options.window && *options.window < 1)
    user_error(fmt::format("{}: a window of {} sees nothing", sdpa, *options.window));
}

void want_mask(const Tensor& mask, const Tensor& scores) {
  const Sizes sizes = broadcast_sizes(sdpa, {scores.uop(), mask.uop()});
  if (!std::ranges::equal(sizes, scores.uop()->dims(), {}, &UOp::node))
    user_error(fmt::format("{}: a mask of shape {} for scores of shape {}", sdpa,
                           shape_text(mask.uop()), shape_text(scores.uop())));
}

// Each head of a key or value as often as queries have heads for it.
Tensor repeated(const Tensor& x, const Tensor& query) {
  if (x.ndim() < 3 || query.ndim() < 3 || x.size(-3) == 0 || query.size(-3) % x.size(-3) != 0)
    user_error(fmt::format("{}: the heads of shape {} are not for equally many of shape {}", sdpa,
                           shape_text(x.uop()), shape_text(query.uop())));
  const std::int64_t each = query.size(-3) / x.size(-3);
  if (each == 1) return x;
  std::vector<Dim> sizes = x.dims();
  sizes.insert(sizes.end() - 2, Dim(each));
  return x.unsqueeze(-3).expand(Shape(sizes)).flatten(-4, -3);
}

// Whom each query sees by its place alone, (queries, keys); null where that is all.
Tensor seen(const Tensor& scores, bool is_causal, const std::optional<std::int64_t>& window) {
  if (!is_causal && !window) return {};
  const std::vector<Dim> dims = scores.dims();
  Tensor seen =
      Tensor::full({from_last(dims, 2), from_last(dims, 1)}, true, {.device = scores.device()});
  if (is_causal) seen = seen.tril();
  if (!window) return seen;
  seen = seen.triu(1 - *window);
  return is_causal ? seen : seen.tril(*window - 1);
}

// Softmax; of nothing but minus infinity, zeros.
Tensor shares(const Tensor& scores) {
  const Tensor top = scores.max(-1, true).detach();
  const Tensor e = (scores - (top == nowhere).where(0, top)).exp();
  const Tensor sum = e.sum(-1, true);
  return e * (sum == 0).where(1, sum).reciprocal();
}

// Of queries and keys, with all that hides some of them: minus infinity.
struct Scores {
  bool is_causal;
  std::optional<std::int64_t> window;
  double scale;
  DType within;

  Tensor operator()(const Tensor& query, const Tensor& key, const Tensor& mask) const {
    Tensor scores = query.matmul(key.transpose(-1, -2), within) * scale;
    const Tensor by_place = seen(scores, is_causal, window);
    if (!by_place.is_null()) scores = by_place.where(scores, nowhere);
    if (mask.is_null()) return scores;
    want_mask(mask, scores);
    return mask.dtype().is_bool() ? mask.where(scores, nowhere) : scores + mask;
  }
};

// One for each query and key: whether gradients rather compute them again than keep them.
bool take_much_memory(const Tensor& query, const Tensor& key, DType dtype) {
  auto bytes = static_cast<double>(dtype.bytes()) *
               static_cast<double>(from_last(key.dims(), 2)->bounds().hi);
  const std::vector<Dim> dims = query.dims();
  for (std::size_t i = 0; i + 1 < dims.size(); ++i)
    bytes *= static_cast<double>(dims[i].uop()->bounds().hi);
  constexpr double megabyte = 1e6;
  return bytes > static_cast<double>(setting_int("ATTENTION_MEMORY")) * megabyte;
}

// Each with all batches of any of them.
std::vector<Tensor> in_equal_batches(const std::vector<Tensor>& tensors) {
  std::vector<UOp> firsts;
  for (const Tensor& x : tensors) firsts.push_back(x.narrow(-1, 0, 1).narrow(-2, 0, 1).uop());
  const Sizes batches = broadcast_sizes(sdpa, firsts);
  std::vector<Tensor> result;
  for (const Tensor& x : tensors) {
    const std::vector<Dim> own = x.dims();
    std::vector<Dim> sizes(batches.begin(), batches.end() - 2);
    sizes.insert(sizes.end(), own.end() - 2, own.end());
    result.push_back(x.expand(Shape(sizes)));
  }
  return result;
}

// What nobody takes for the value itself: computed once the gradient is there, and not kept until then.
Tensor again(const Tensor& x, const Tensor& gradient) {
  const Operand value(x), then(gradient);
  return Tensor::from({make(Op::Remat, {value.uop(), then.uop()}, {}, IdArg{fresh_id()}),
                       value.device, value.tracked});
}

// Of query, key and value. In memory is what there is one of for each query: the logarithm of the sum of its exponentials,
// and its output times the gradient.
std::vector<Tensor> gradients(const Scores& scores, const Tensor& gradient,
                              const std::vector<Tensor>& inputs, const Tensor& output) {
  const Tensor &query = inputs[0], &key = inputs[1], &value = inputs[2];
  const Tensor mask = inputs.size() > 3 ? inputs[3] : Tensor();
  const auto scored = [&] { return scores(again(query, gradient), key, mask); };
  const Tensor sum = scored().logsumexp(-1, true);
  const Tensor level = (sum == nowhere).where(0, sum).contiguous();
  const Tensor own = (gradient * output.contiguous()).sum(-1, true).contiguous();
  const auto shares = [&] { return (scored() - level).exp(); };
  const auto of_scores = [&] {
    const Tensor of_shares = gradient.matmul(again(value, gradient).transpose(-1, -2));
    return shares() * (of_shares - own) * scores.scale;
  };
  std::vector<Tensor> result{of_scores().matmul(key), of_scores().transpose(-1, -2).matmul(query),
                             shares().transpose(-1, -2).matmul(gradient)};
  result.resize(inputs.size());
  return result;
}

Tensor dropped(const Tensor& x, double p, const Tensor& query) {
  if (p == 0) return x;
  if (p == 1) return x * 0;
  const Tensor kept = Tensor::rand(x.dims(), {.device = query.device()}) >= p;
  return kept.where(x * (1 / (1 - p)), 0);
}

}  // namespace

Tensor Tensor::scaled_dot_product_attention(const Tensor& key, const Tensor& value) const {
  const Called called;
  return functional::scaled_dot_product_attention(*this, key, value);
}

Tensor Tensor::scaled_dot_product_attention(const Tensor& key, const Tensor& value,
                                            const AttentionOptions& options) const {
  const Called called;
  return functional::scaled_dot_product_attention(*this, key, value, options);
}

Tensor Tensor::scaled_dot_product_attention(const Tensor& key, const Tensor& value,
                                            const Tensor& attn_mask, double dropout_p,
                                            bool is_causal) const {
  const Called called;
  return functional::scaled_dot_product_attention(*this, key, value, attn_mask, dropout_p,
                                                  is_causal);
}

namespace functional {

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options) {
  const Called called;
  want_fitting(query, key, value);
  want_allowed(options);
  const Tensor k = options.enable_gqa ? repeated(key, query) : key;
  const Tensor v = options.enable_gqa ? repeated(value, query) : value;
  const DType own = float_like(query.dtype()), within = promote(own, dtypes::f32);
  const double scale =
      options.scale ? *options.scale : 1 / std::sqrt(static_cast<double>(query.size(-1)));
  const Tensor& mask = options.attn_mask;
  const Scores scores{options.is_causal, options.window, scale, within};
  const bool may_see_none = options.window || !mask.is_null();
  const auto attended = [&](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
    const Tensor all = scores(q, k, mask);
    const Tensor weights = may_see_none ? shares(all) : all.softmax(-1);
    return dropped(weights, options.dropout_p, q).matmul(v);
  };
  const bool is_mask_tracked = !mask.is_null() && mask.requires_grad();
  const bool is_tracked = query.requires_grad() || k.requires_grad() || v.requires_grad();
  if (!is_tracked || is_mask_tracked || options.dropout_p > 0 ||
      !take_much_memory(query, k, within))
    return attended(query, k, v.cast(within), mask).cast(own);
  std::vector<Tensor> inputs =
      in_equal_batches({query.cast(within), k.cast(within), v.cast(within)});
  if (!mask.is_null()) inputs.push_back(mask);
  return Tensor::custom(
             inputs,
             [&](const std::vector<Tensor>& in) {
               return attended(in[0], in[1], in[2], in.size() > 3 ? in[3] : Tensor());
             },
             [scores](const Tensor& gradient, const std::vector<Tensor>& in, const Tensor& output) {
               return gradients(scores, gradient, in, output);
             })
      .cast(own);
}

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, double dropout_p, bool is_causal) {
  const Called called;
  return scaled_dot_product_attention(
      query, key, value, {.attn_mask = attn_mask, .dropout_p = dropout_p, .is_causal = is_causal});
}

// Of a pair (a, b) the one becomes a cos - b sin, the other b cos + a sin.
Tensor rotary_embedding(const Tensor& x, const RotaryOptions& options) {
  const Called called;
  if (x.ndim() < 2 || x.size(-1) % 2 != 0)
    user_error(fmt::format("rotary_embedding: shape {} is not (..., time, an even width)",
                           shape_text(x.uop())));
  if (!(options.base > 0))
    user_error(fmt::format("rotary_embedding: base {} is not above 0", options.base));
  const std::int64_t width = x.size(-1), half = width / 2;
  const DType own = float_like(x.dtype()), within = promote(own, dtypes::f32);
  const Symbol device(x.device());
  Tensor places = options.positions;
  if (places.is_null()) {
    const std::vector<Dim> dims = x.dims();
    const UOp count = counted(from_last(dims, 2), dtypes::index);
    places = Tensor::from({count + weft::cast(options.offset.uop(), dtypes::index), device, false});
  }
  const double step = -2 * std::log2(options.base) / static_cast<double>(width);
  const Tensor number = Tensor::arange(half, {.dtype = within, .device = x.device()});
  const std::int64_t axis = options.interleaved ? -1 : -2;
  const Tensor angle = (places.cast(within).unsqueeze(-1) * (number * step).exp2()).unsqueeze(axis);
  const Tensor sign = Tensor::arange(-1, 2, 2, {.dtype = within, .device = x.device()});
  const Shape pairs = options.interleaved ? Shape{half, 2} : Shape{2, half};
  const Tensor own_part = x.cast(within).unflatten(-1, pairs);
  const Tensor other = own_part.flip(axis) * (options.interleaved ? sign : sign.unsqueeze(-1));
  return (own_part * angle.cos() + other * angle.sin()).flatten(-2).cast(own);
}

// Powers of 2 to -8 for a power of 2 of heads; further heads lie halfway between the first ones.
Tensor alibi(std::int64_t heads, std::int64_t queries, std::int64_t keys, const Options& options) {
  const Called called;
  if (heads < 1 || queries < 0 || keys < 0)
    user_error(fmt::format(
        "alibi: {} heads, {} queries and {} keys: want at least one head and no negative sizes",
        heads, queries, keys));
  const auto even = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  const DType dtype = options.dtype.is_void() ? dtypes::f32 : options.dtype;
  const DType within = promote(dtype, dtypes::f32);
  const std::string& device = options.device;
  const double step = -8 / static_cast<double>(even);
  const Tensor head = Tensor::arange(heads, {.dtype = within, .device = device});
  const Tensor power = (head < even).where((head + 1) * step, (head - even + 0.5) * step);
  const Tensor query = Tensor::arange(keys - queries, keys, 1, {.dtype = within, .device = device});
  const Tensor key = Tensor::arange(keys, {.dtype = within, .device = device});
  const Tensor away = (query.unsqueeze(-1) - key).abs();
  return as_asked((-away * power.exp2().reshape({heads, 1, 1})).cast(dtype), options);
}

namespace {

Tensor projected(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Tensor y = x.matmul(weight.T());
  return bias.is_null() ? y : y + bias;
}

void want_square(const Tensor& query, std::int64_t heads, const HeadWeights& weights) {
  const std::int64_t width = query.ndim() < 2 ? 0 : query.size(-1);
  if (heads < 1 || width == 0 || width % heads != 0)
    user_error(
        fmt::format("multi_head_attention: shape {} is not (..., queries, a width of {} heads)",
                    shape_text(query.uop()), heads));
  const std::vector<std::int64_t> in{3 * width, width}, out{width, width};
  if (weights.in_weight.shape() != in || weights.out_weight.shape() != out)
    user_error(fmt::format(
        "multi_head_attention: weights of shapes {} and {} for a width of {}: they are (3 width, "
        "width) and (width, width)",
        shape_text(weights.in_weight.uop()), shape_text(weights.out_weight.uop()), width));
}

}  // namespace

Tensor multi_head_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                            std::int64_t heads, const HeadWeights& weights,
                            const AttentionOptions& options) {
  const Called called;
  want_square(query, heads, weights);
  const std::int64_t width = query.size(-1);
  const std::vector<Tensor> parts = weights.in_weight.split(width);
  const std::vector<Tensor> biases =
      weights.in_bias.is_null() ? std::vector<Tensor>(3) : weights.in_bias.split(width);
  const auto split = [&](const Tensor& x, std::size_t part) {
    return projected(x, parts[part], biases[part])
        .unflatten(-1, {heads, width / heads})
        .transpose(-3, -2);
  };
  const Tensor seen =
      scaled_dot_product_attention(split(query, 0), split(key, 1), split(value, 2), options);
  return projected(seen.transpose(-3, -2).flatten(-2), weights.out_weight, weights.out_bias);
}

}  // namespace functional
}  // namespace weft
