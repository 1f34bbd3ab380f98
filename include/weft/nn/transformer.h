// Attention by several heads, and the layers made of it, with torch's names of weights.
//
// As in torch, inputs are (time, batch, width) unless batch_first says otherwise, and a mask of bools says who
// is NOT seen; any other mask is added to the scores.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weft/nn/copies.h>
#include <weft/nn/linear.h>
#include <weft/nn/norm.h>

namespace weft::nn {

struct MultiheadAttentionOptions {
  double dropout = 0;  // of who is seen, within a Training
  bool bias = true;
  std::optional<std::int64_t> kdim = {}, vdim = {};  // widths of key and value, if they are others
  bool batch_first = false;
  bool add_bias_kv = false;    // one more key and value, which are learned: bias_k, bias_v
  bool add_zero_attn = false;  // one more, of zeros
  DType dtype = {};
  std::string device = {};
};

// Keys that a layer adds itself are seen by all.
struct AttentionMasks {
  Tensor key_padding_mask = {};  // (batch, keys), without batch (keys)
  Tensor attn_mask = {};         // (queries, keys) or (batch * heads, queries, keys)
  bool is_causal = false;        // no query sees later keys
};

struct MultiheadAttention {
  Tensor in_proj_weight;  // of query, key and value: (3 width, width),
  Tensor q_proj_weight, k_proj_weight,
      v_proj_weight;  // or each, where key or value has another width
  Tensor in_proj_bias;
  Tensor bias_k, bias_v;
  Linear out_proj;
  std::int64_t num_heads;
  MultiheadAttentionOptions options;

  MultiheadAttention(std::int64_t embed_dim, std::int64_t heads,
                     const MultiheadAttentionOptions& given = {});
  Tensor operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                    const AttentionMasks& masks = {}) const;
  // And how much each query sees of each key, (batch, queries, keys), on average over the heads.
  std::pair<Tensor, Tensor> with_weights(const Tensor& query, const Tensor& key,
                                         const Tensor& value,
                                         const AttentionMasks& masks = {}) const;
  WEFT_FIELDS(in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight, in_proj_bias, bias_k,
              bias_v, out_proj);
};

using Activation = std::function<Tensor(const Tensor&)>;

struct TransformerOptions {
  std::int64_t dim_feedforward = 2048;
  double dropout = 0.1;
  Activation activation = &Tensor::relu;
  double layer_norm_eps = 1e-5;
  bool batch_first = false;
  bool norm_first = false;  // each part's input is normalised; otherwise what it is added to
  bool bias = true;
  DType dtype = {};
  std::string device = {};
};

struct TransformerEncoderLayer {
  MultiheadAttention self_attn;
  Linear linear1, linear2;
  LayerNorm norm1, norm2;
  TransformerOptions options;

  TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead,
                          const TransformerOptions& given = {});
  Tensor operator()(const Tensor& x, const AttentionMasks& masks = {}) const;
  WEFT_FIELDS(self_attn, linear1, linear2, norm1, norm2);
};

struct TransformerDecoderLayer {
  MultiheadAttention self_attn, multihead_attn;
  Linear linear1, linear2;
  LayerNorm norm1, norm2, norm3;
  TransformerOptions options;

  TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead,
                          const TransformerOptions& given = {});
  // x sees itself, and the memory that an encoder made.
  Tensor operator()(const Tensor& x, const Tensor& memory, const AttentionMasks& masks = {},
                    const AttentionMasks& memory_masks = {}) const;
  WEFT_FIELDS(self_attn, multihead_attn, linear1, linear2, norm1, norm2, norm3);
};

// Copies of a layer, one after the other; they begin with its values.
struct TransformerEncoder {
  std::vector<TransformerEncoderLayer> layers;
  std::optional<LayerNorm> norm;

  TransformerEncoder(const TransformerEncoderLayer& layer, std::int64_t num_layers,
                     const std::optional<LayerNorm>& last = {});
  Tensor operator()(Tensor x, const AttentionMasks& masks = {}) const;
  WEFT_FIELDS(layers, norm);
};

struct TransformerDecoder {
  std::vector<TransformerDecoderLayer> layers;
  std::optional<LayerNorm> norm;

  TransformerDecoder(const TransformerDecoderLayer& layer, std::int64_t num_layers,
                     const std::optional<LayerNorm>& last = {});
  Tensor operator()(Tensor x, const Tensor& memory, const AttentionMasks& masks = {},
                    const AttentionMasks& memory_masks = {}) const;
  WEFT_FIELDS(layers, norm);
};

}  // namespace weft::nn
