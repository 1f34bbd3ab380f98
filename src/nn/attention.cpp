// Attention by several heads.

#include <algorithm>
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

// Query, key and value by their heads, (batch, heads, time, width of a head).
struct Heads {
  Tensor query, key, value;
};

// How many keys the layer adds.
std::int64_t added_keys(const MultiheadAttention& layer) {
  return (layer.options.add_bias_kv ? 1 : 0) + (layer.options.add_zero_attn ? 1 : 0);
}

// As attention takes it, for scores ([batch,] heads, queries, keys), where `added` more keys follow.
Tensor mask_of(const AttentionMasks& masks, const Heads& heads, std::int64_t added) {
  Tensor all = masks.attn_mask.is_null() ? Tensor() : seen(masks.attn_mask);
  if (!all.is_null() && all.ndim() == 3 && heads.query.ndim() == 4)
    all = all.unflatten(0, {-1, heads.query.size(1)});
  if (masks.is_causal && added > 0)
    all = merged(all, Tensor::ones({heads.query.size(-2), heads.key.size(-2) - added},
                                   {.dtype = dtypes::bool_, .device = heads.query.device()})
                          .tril());
  if (!masks.key_padding_mask.is_null())
    all = merged(all, seen(masks.key_padding_mask).unsqueeze(-2).unsqueeze(-2));
  if (added == 0 || all.is_null()) return all;
  Tensor::Bounds bounds(static_cast<std::size_t>(all.ndim()), {0, 0});
  bounds.back().second = added;
  return all.pad(bounds, all.dtype().is_bool() ? Scalar(true) : Scalar(0));
}

// One more key or value at the end; a row is (1, 1, width).
Tensor with_row(const Tensor& by_heads, const Tensor& row) {
  std::vector<Dim> sizes = by_heads.dims();
  sizes[sizes.size() - 2] = Dim(1);
  const Tensor each = row.reshape({by_heads.size(-3), 1, by_heads.size(-1)});
  return Tensor::cat({by_heads, each.cast(by_heads.dtype()).expand(Shape(sizes))}, -2);
}

Heads with_added(const MultiheadAttention& layer, Heads heads) {
  const auto add = [&](const Tensor& key, const Tensor& value) {
    heads.key = with_row(heads.key, key);
    heads.value = with_row(heads.value, value);
  };
  if (layer.options.add_bias_kv) add(layer.bias_k, layer.bias_v);
  if (layer.options.add_zero_attn) {
    const Tensor zeros = Tensor::zeros({1, 1, layer.out_proj.weight.size(0)},
                                       {.dtype = heads.key.dtype(), .device = heads.key.device()});
    add(zeros, zeros);
  }
  return heads;
}

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
  return with_added(layer, {by_heads(query, 0), by_heads(key, 1), by_heads(value, 2)});
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
  const std::int64_t batch = layer.options.batch_first ? 0 : 1;
  if (key.size(0) != value.size(0) || key.size(-2) != value.size(-2) ||
      (axes == 3 && query.size(batch) != key.size(batch)))
    user_error(
        fmt::format("query ({}), key ({}) and value ({}) are not of one batch, or there are not as "
                    "many keys as values",
                    fmt::join(query.max_shape(), ", "), fmt::join(key.max_shape(), ", "),
                    fmt::join(value.max_shape(), ", ")));
}

// A mask of another shape may broadcast, and is not what was meant.
void want_mask(const char* which, const Tensor& mask,
               const std::vector<std::vector<std::int64_t>>& shapes) {
  if (mask.is_null()) return;
  if (!mask.dtype().is_bool() && !mask.dtype().is_float())
    user_error(fmt::format("{} is of {}: want bools, or floats that are added", which,
                           mask.dtype().str()));
  if (std::ranges::find(shapes, mask.max_shape()) == shapes.end())
    user_error(fmt::format("{} has shape ({}): want ({})", which, fmt::join(mask.max_shape(), ", "),
                           fmt::join(shapes.back(), ", ")));
}

void want_masks(const MultiheadAttention& layer, const AttentionMasks& masks, const Tensor& query,
                const Tensor& key) {
  using Sizes = std::vector<std::int64_t>;
  const Sizes of_query = batch_first(query, layer).max_shape(),
              of_key = batch_first(key, layer).max_shape();
  const bool has_batch = of_query.size() == 3;
  const std::int64_t batch = has_batch ? of_query[0] : 1;
  const std::int64_t queries = of_query[has_batch ? 1 : 0], keys = of_key[has_batch ? 1 : 0];
  want_mask("key_padding_mask", masks.key_padding_mask,
            {has_batch ? Sizes{batch, keys} : Sizes{keys}});
  want_mask("attn_mask", masks.attn_mask,
            {{batch * layer.num_heads, queries, keys}, {queries, keys}});
}

functional::AttentionOptions attention_options(const MultiheadAttention& layer, const Heads& heads,
                                               const AttentionMasks& masks) {
  const std::int64_t added = added_keys(layer);
  return {.attn_mask = mask_of(masks, heads, added),
          .dropout_p = Training::is_on() ? layer.options.dropout : 0,
          .is_causal = masks.is_causal && added == 0};
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
  const std::int64_t kdim = options.kdim.value_or(embed_dim),
                     vdim = options.vdim.value_or(embed_dim);
  want_sizes({kdim, vdim});
  want_dropout(options.dropout);
  const auto drawn = [&](std::int64_t rows, std::int64_t columns) {
    return init::xavier_uniform({rows, columns}, 1, learned(options));
  };
  if (kdim != embed_dim || vdim != embed_dim) {
    q_proj_weight = drawn(embed_dim, embed_dim);
    k_proj_weight = drawn(embed_dim, kdim);
    v_proj_weight = drawn(embed_dim, vdim);
  } else {
    in_proj_weight = drawn(3 * embed_dim, embed_dim);
  }
  if (options.add_bias_kv) {
    bias_k = init::xavier_normal({1, 1, embed_dim}, 1, learned(options));
    bias_v = init::xavier_normal({1, 1, embed_dim}, 1, learned(options));
  }
  if (!options.bias) return;
  in_proj_bias = Tensor::zeros({3 * embed_dim}, learned(options));
  out_proj.bias.fill(0);
}

Tensor MultiheadAttention::operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                      const AttentionMasks& masks) const {
  const Called called(name);
  want_inputs(*this, query, key, value);
  want_masks(*this, masks, query, key);
  const Heads heads = heads_of(*this, batch_first(query, *this), batch_first(key, *this),
                               batch_first(value, *this));
  const auto& [q, k, v] = heads;
  return joined(*this,
                q.scaled_dot_product_attention(k, v, attention_options(*this, heads, masks)));
}

// What is seen of the rows of an identity is the weights themselves.
std::pair<Tensor, Tensor> MultiheadAttention::with_weights(const Tensor& query, const Tensor& key,
                                                           const Tensor& value,
                                                           const AttentionMasks& masks) const {
  const Called called(name);
  want_inputs(*this, query, key, value);
  want_masks(*this, masks, query, key);
  const Heads heads = heads_of(*this, batch_first(query, *this), batch_first(key, *this),
                               batch_first(value, *this));
  const auto& [q, k, v] = heads;
  const Tensor each = Tensor::eye(k.size(-2), {.dtype = k.dtype(), .device = k.device()});
  const Tensor weights =
      q.scaled_dot_product_attention(k, each, attention_options(*this, heads, masks));
  return {joined(*this, weights.matmul(v)), weights.mean(-3)};
}

}  // namespace weft::nn
