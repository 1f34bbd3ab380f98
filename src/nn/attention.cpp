// Attention by several heads.

#include <limits>

#include <weft/functional.h>
#include <weft/init.h>
#include <weft/nn/transformer.h>

#include "parameters.h"

namespace weft::nn {
namespace {

constexpr const char* name = "MultiheadAttention";

// Who is seen: torch's masks of bools say who is not.
Tensor seen(const Tensor& mask) { return mask.dtype().is_bool() ? mask.logical_not() : mask; }

// Both, as bools or as what is added.
Tensor merged(const Tensor& a, const Tensor& b) {
  if (a.is_null() || b.is_null()) return a.is_null() ? b : a;
  if (a.dtype().is_bool() && b.dtype().is_bool()) return a & b;
  constexpr double nowhere = -std::numeric_limits<double>::infinity();
  return b.dtype().is_bool()   ? b.where(a, nowhere)
         : a.dtype().is_bool() ? a.where(b, nowhere)
                               : a + b;
}

// As attention takes it, for scores (batch, heads, queries, keys).
Tensor mask_of(const AttentionMasks& masks, std::int64_t heads) {
  Tensor all = masks.attn_mask.is_null() ? Tensor() : seen(masks.attn_mask);
  if (!all.is_null() && all.ndim() == 3) all = all.unflatten(0, {-1, heads});
  if (masks.key_padding_mask.is_null()) return all;
  return merged(all, seen(masks.key_padding_mask).unsqueeze(-2).unsqueeze(-2));
}

// Query, key and value by their heads, (batch, heads, time, width of a head).
struct Heads {
  Tensor query, key, value;
};

Heads heads_of(const MultiheadAttention& layer, const Tensor& query, const Tensor& key,
               const Tensor& value) {
  const auto chunks = [](const Tensor& whole, const std::vector<Tensor>& parts) {
    return whole.is_null() ? parts : whole.chunk(3);
  };
  const std::vector<Tensor> weights =
      chunks(layer.in_proj_weight, {layer.q_proj_weight, layer.k_proj_weight, layer.v_proj_weight});
  const std::vector<Tensor> biases = chunks(layer.in_proj_bias, std::vector<Tensor>(3));
  const auto by_heads = [&](const Tensor& x, std::size_t part) {
    const Tensor whole = plus(x.matmul(weights[part].T()), biases[part]);
    return whole.unflatten(-1, {layer.num_heads, -1}).transpose(-3, -2);
  };
  return {by_heads(query, 0), by_heads(key, 1), by_heads(value, 2)};
}

// With the batch in front; inputs without batch stay as they are.
Tensor batch_first(const Tensor& x, const MultiheadAttention& layer) {
  return x.ndim() == 3 && !layer.options.batch_first ? x.transpose(0, 1) : x;
}

void want_inputs(const MultiheadAttention& layer, const Tensor& query, const Tensor& key,
                 const Tensor& value) {
  const std::int64_t width = layer.out_proj.weight.size(0);
  const std::int64_t kdim = layer.options.kdim.value_or(width);
  const std::int64_t vdim = layer.options.vdim.value_or(width), axes = query.ndim();
  if ((axes != 2 && axes != 3) || key.ndim() != axes || value.ndim() != axes ||
      query.size(-1) != width || key.size(-1) != kdim || value.size(-1) != vdim)
    user_error(
        fmt::format("query ({}), key ({}) and value ({}): want (..., {}), (..., {}) and (..., "
                    "{}) of 2 or 3 "
                    "axes",
                    fmt::join(query.max_shape(), ", "), fmt::join(key.max_shape(), ", "),
                    fmt::join(value.max_shape(), ", "), width, kdim, vdim));
}

functional::AttentionOptions attention_options(const MultiheadAttention& layer,
                                               const AttentionMasks& masks) {
  return {.attn_mask = mask_of(masks, layer.num_heads),
          .dropout_p = Training::is_on() ? layer.options.dropout : 0,
          .is_causal = masks.is_causal};
}

Tensor joined(const MultiheadAttention& layer, const Tensor& by_heads) {
  return batch_first(layer.out_proj(by_heads.transpose(-3, -2).flatten(-2)), layer);
}

}  // namespace

MultiheadAttention::MultiheadAttention(std::int64_t embed_dim, std::int64_t heads,
                                       const MultiheadAttentionOptions& given)
    : out_proj(embed_dim, embed_dim,
               {.bias = given.bias, .dtype = given.dtype, .device = given.device}),
      num_heads(heads),
      options(given) {
  const Called called(name);
  if (heads < 1 || embed_dim % heads != 0)
    user_error(fmt::format("a width of {} is not in {} heads", embed_dim, heads));
  const auto drawn = [&](std::int64_t rows, std::int64_t columns) {
    return init::xavier_uniform({rows, columns}, 1, learned(options));
  };
  if (options.kdim || options.vdim) {
    q_proj_weight = drawn(embed_dim, embed_dim);
    k_proj_weight = drawn(embed_dim, options.kdim.value_or(embed_dim));
    v_proj_weight = drawn(embed_dim, options.vdim.value_or(embed_dim));
  } else {
    in_proj_weight = drawn(3 * embed_dim, embed_dim);
  }
  if (!options.bias) return;
  in_proj_bias = Tensor::zeros({3 * embed_dim}, learned(options));
  out_proj.bias.fill(0);
}

Tensor MultiheadAttention::operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                      const AttentionMasks& masks) const {
  const Called called(name);
  want_inputs(*this, query, key, value);
  const auto [q, k, v] = heads_of(*this, batch_first(query, *this), batch_first(key, *this),
                                  batch_first(value, *this));
  return joined(*this, q.scaled_dot_product_attention(k, v, attention_options(*this, masks)));
}

// What is seen of the rows of an identity is the weights themselves.
std::pair<Tensor, Tensor> MultiheadAttention::with_weights(const Tensor& query, const Tensor& key,
                                                           const Tensor& value,
                                                           const AttentionMasks& masks) const {
  const Called called(name);
  want_inputs(*this, query, key, value);
  const auto [q, k, v] = heads_of(*this, batch_first(query, *this), batch_first(key, *this),
                                  batch_first(value, *this));
  const Tensor each = Tensor::eye(k.size(-2), {.dtype = k.dtype(), .device = k.device()});
  const Tensor weights = q.scaled_dot_product_attention(k, each, attention_options(*this, masks));
  return {joined(*this, weights.matmul(v)), weights.mean(-3)};
}

}  // namespace weft::nn
