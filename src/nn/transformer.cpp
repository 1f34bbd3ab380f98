// Layers of attention and of what is between.

#include <weft/nn/transformer.h>

#include "parameters.h"

namespace weft::nn {
namespace {

MultiheadAttention attention(std::int64_t d_model, std::int64_t nhead,
                             const TransformerOptions& options) {
  return {d_model,
          nhead,
          {.dropout = options.dropout,
           .bias = options.bias,
           .batch_first = options.batch_first,
           .dtype = options.dtype,
           .device = options.device}};
}

// What has to be right before any part is made of it.
TransformerOptions checked(const char* name, const TransformerOptions& options) {
  const Called called(name);
  if (!options.activation) user_error("the activation is no function");
  want_dropout(options.dropout);
  return options;
}

Linear linear(std::int64_t in, std::int64_t out, const TransformerOptions& options) {
  return {in, out, {.bias = options.bias, .dtype = options.dtype, .device = options.device}};
}

LayerNorm layer_norm(std::int64_t d_model, const TransformerOptions& options) {
  return LayerNorm(d_model, {.eps = options.layer_norm_eps,
                             .bias = options.bias,
                             .dtype = options.dtype,
                             .device = options.device});
}

// x and what a part makes of it, normalised before or after.
template <class Part>
Tensor with(const Tensor& x, const LayerNorm& norm, const TransformerOptions& options, Part part) {
  if (options.norm_first) return x + part(norm(x)).dropout(options.dropout);
  return norm(x + part(x).dropout(options.dropout));
}

template <class Layer>
Tensor feed_forward(const Layer& layer, const Tensor& x) {
  return layer.linear2(layer.options.activation(layer.linear1(x)).dropout(layer.options.dropout));
}

template <class Layer>
std::vector<Layer> clones(const char* name, const Layer& layer, std::int64_t count) {
  const Called called(name);
  want_sizes({count});
  std::vector<Layer> layers;
  for (std::int64_t i = 0; i < count; ++i) layers.push_back(clone(layer));
  return layers;
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 const TransformerOptions& given)
    : self_attn(attention(d_model, nhead, checked("TransformerEncoderLayer", given))),
      linear1(linear(d_model, given.dim_feedforward, given)),
      linear2(linear(given.dim_feedforward, d_model, given)),
      norm1(layer_norm(d_model, given)),
      norm2(layer_norm(d_model, given)),
      options(given) {}

Tensor TransformerEncoderLayer::operator()(const Tensor& x, const AttentionMasks& masks) const {
  const Tensor seen =
      with(x, norm1, options, [&](const Tensor& y) { return self_attn(y, y, y, masks); });
  return with(seen, norm2, options, [&](const Tensor& y) { return feed_forward(*this, y); });
}

TransformerDecoderLayer::TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 const TransformerOptions& given)
    : self_attn(attention(d_model, nhead, checked("TransformerDecoderLayer", given))),
      multihead_attn(attention(d_model, nhead, given)),
      linear1(linear(d_model, given.dim_feedforward, given)),
      linear2(linear(given.dim_feedforward, d_model, given)),
      norm1(layer_norm(d_model, given)),
      norm2(layer_norm(d_model, given)),
      norm3(layer_norm(d_model, given)),
      options(given) {}

Tensor TransformerDecoderLayer::operator()(const Tensor& x, const Tensor& memory,
                                           const AttentionMasks& masks,
                                           const AttentionMasks& memory_masks) const {
  const Tensor own =
      with(x, norm1, options, [&](const Tensor& y) { return self_attn(y, y, y, masks); });
  const Tensor both = with(own, norm2, options, [&](const Tensor& y) {
    return multihead_attn(y, memory, memory, memory_masks);
  });
  return with(both, norm3, options, [&](const Tensor& y) { return feed_forward(*this, y); });
}

TransformerEncoder::TransformerEncoder(const TransformerEncoderLayer& layer,
                                       std::int64_t num_layers,
                                       const std::optional<LayerNorm>& last)
    : layers(clones("TransformerEncoder", layer, num_layers)), norm(last) {}

Tensor TransformerEncoder::operator()(Tensor x, const AttentionMasks& masks) const {
  for (const TransformerEncoderLayer& layer : layers) x = layer(x, masks);
  return norm ? (*norm)(x) : x;
}

TransformerDecoder::TransformerDecoder(const TransformerDecoderLayer& layer,
                                       std::int64_t num_layers,
                                       const std::optional<LayerNorm>& last)
    : layers(clones("TransformerDecoder", layer, num_layers)), norm(last) {}

Tensor TransformerDecoder::operator()(Tensor x, const Tensor& memory, const AttentionMasks& masks,
                                      const AttentionMasks& memory_masks) const {
  for (const TransformerDecoderLayer& layer : layers) x = layer(x, memory, masks, memory_masks);
  return norm ? (*norm)(x) : x;
}

}  // namespace weft::nn
