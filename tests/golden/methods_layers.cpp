// Layers: their tensors are replaced by the inputs behind the first ones, which have PyTorch's names.

#include <weft/error.h>

#include "golden.h"

namespace weft::golden {
namespace {

// Gradients come to the inputs themselves; what is no parameter is assigned to, and so is a copy.
template <class Layer>
Layer with_state(const Case& c, Layer layer, std::size_t first) {
  const std::vector<std::string> names = c.texts("names");
  std::map<std::string, Tensor> state;
  for (std::size_t i = 0; i < names.size(); ++i) state.emplace(names[i], c[first + i]);
  for_each_tensor(layer, [&](const std::string& name, Tensor& tensor) {
    if (tensor.is_null()) return;
    const auto found = state.find(name);
    if (found == state.end()) user_error("golden: PyTorch has no " + name);
    const Tensor& value = found->second;
    if (value.shape() != tensor.shape()) user_error("golden: another shape of " + name);
    tensor = tensor.requires_grad() ? value : value + 0;
    state.erase(found);
  });
  if (!state.empty()) user_error("golden: there is no " + state.begin()->first);
  return layer;
}

template <class Layer>
std::vector<Tensor> unary(const Case& c, const Layer& layer) {
  return {with_state(c, layer, 1)(c[0])};
}

std::int64_t in(const Case& c) { return c.numbers("sizes")[0]; }
std::int64_t out(const Case& c) { return c.numbers("sizes")[1]; }

template <class Options>
Options conv_options(const Case& c) {
  Options options;
  options.stride = c.numbers("stride", {1});
  options.dilation = c.numbers("dilation", {1});
  if (c.has("padding"))
    options.padding = c.text("padding") == "same" ? Padding("same") : Padding(c.numbers("padding"));
  options.groups = c.integer("groups", 1);
  options.bias = c.flag("bias", true);
  return options;
}

template <std::size_t Dims>
std::vector<Tensor> conv(const Case& c) {
  auto options = conv_options<nn::ConvOptions>(c);
  const std::map<std::string, PadMode> modes{{"zeros", PadMode::Constant},
                                             {"reflect", PadMode::Reflect},
                                             {"replicate", PadMode::Replicate},
                                             {"circular", PadMode::Circular}};
  options.padding_mode = modes.at(c.text("padding_mode", "zeros"));
  return unary(c, nn::Conv<Dims>(in(c), out(c), c.numbers("kernel"), options));
}

template <std::size_t Dims>
std::vector<Tensor> conv_transpose(const Case& c) {
  auto options = conv_options<nn::ConvTransposeOptions>(c);
  options.output_padding = c.numbers("output_padding", {0});
  return unary(c, nn::ConvTranspose<Dims>(in(c), out(c), c.numbers("kernel"), options));
}

std::vector<Tensor> batch_norm(const Case& c) {
  const nn::BatchNorm norm(
      c.integer("size"),
      {.eps = c.real("eps", 1e-5),
       .momentum = c.flag("cumulative") ? std::nullopt : std::optional(c.real("momentum", 0.1)),
       .affine = c.flag("affine", true),
       .track_running_stats = c.flag("track_running_stats", true)});
  const nn::BatchNorm own = with_state(c, norm, 1);
  const Training training(c.flag("training"));
  const Tensor y = own(c[0]);
  if (c.outputs.size() == 1) return {y};
  return {y, own.num_batches_tracked, own.running_mean, own.running_var};
}

nn::LayerNormOptions layer_norm(const Case& c) {
  return {.eps = c.real("eps", 1e-5),
          .elementwise_affine = c.flag("elementwise_affine", true),
          .bias = c.flag("bias", true)};
}

nn::NormOptions norm(const Case& c) {
  return {.eps = c.real("eps", 1e-5), .affine = c.flag("affine", true)};
}

nn::Nonlinearity nonlinearity(const Case& c) {
  return c.text("nonlinearity", "tanh") == "tanh" ? nn::Nonlinearity::Tanh : nn::Nonlinearity::Relu;
}

template <class Cell>
std::vector<Tensor> cell(const Case& c) {
  const Cell cell(in(c), out(c), {.bias = c.flag("bias", true), .nonlinearity = nonlinearity(c)});
  return {with_state(c, cell, 2)(c[0], c[1])};
}

std::vector<Tensor> lstm_cell(const Case& c) {
  const nn::LSTMCell cell(in(c), out(c), {.bias = c.flag("bias", true)});
  const nn::LstmState next = with_state(c, cell, 3)(c[0], {c[1], c[2]});
  return {next.h, next.c};
}

nn::RecurrentOptions recurrent(const Case& c) {
  return {.num_layers = c.integer("num_layers", 1),
          .bias = c.flag("bias", true),
          .batch_first = c.flag("batch_first"),
          .bidirectional = c.flag("bidirectional"),
          .nonlinearity = nonlinearity(c),
          .proj_size = c.integer("proj_size", 0)};
}

template <class Net>
std::vector<Tensor> recurrent_net(const Case& c) {
  const auto [y, h] = with_state(c, Net(in(c), out(c), recurrent(c)), 2)(c[0], c[1]);
  return {y, h};
}

std::vector<Tensor> lstm(const Case& c) {
  const auto [y, last] =
      with_state(c, nn::LSTM(in(c), out(c), recurrent(c)), 3)(c[0], {c[1], c[2]});
  return {y, last.h, last.c};
}

std::vector<Tensor> attention(const Case& c) {
  nn::MultiheadAttentionOptions options{.bias = c.flag("bias", true),
                                        .batch_first = c.flag("batch_first"),
                                        .add_bias_kv = c.flag("add_bias_kv"),
                                        .add_zero_attn = c.flag("add_zero_attn")};
  if (c.has("kdim")) options.kdim = c.integer("kdim");
  if (c.has("vdim")) options.vdim = c.integer("vdim");
  const auto layer =
      with_state(c, nn::MultiheadAttention(c[0].size(-1), c.integer("heads"), options), 5);
  const nn::AttentionMasks masks{
      .key_padding_mask = c[3], .attn_mask = c[4], .is_causal = c.flag("is_causal")};
  if (!c.flag("weights")) return {layer(c[0], c[1], c[2], masks)};
  const auto [y, weights] = layer.with_weights(c[0], c[1], c[2], masks);
  return {y, weights};
}

nn::TransformerOptions transformer(const Case& c) {
  nn::TransformerOptions options{.dim_feedforward = 6,
                                 .layer_norm_eps = c.real("layer_norm_eps", 1e-5),
                                 .batch_first = c.flag("batch_first"),
                                 .norm_first = c.flag("norm_first"),
                                 .bias = c.flag("bias", true)};
  if (c.has("activation")) options.activation = [](const Tensor& x) { return x.gelu(Gelu::Exact); };
  return options;
}

std::vector<Tensor> encoder_layer(const Case& c) {
  const nn::TransformerEncoderLayer layer(4, 2, transformer(c));
  return {with_state(c, layer, 2)(c[0], {.attn_mask = c[1]})};
}

std::vector<Tensor> encoder(const Case& c) {
  const nn::TransformerEncoderLayer layer(4, 2, transformer(c));
  const nn::TransformerEncoder all(layer, c.integer("layers"), nn::LayerNorm(4));
  return {with_state(c, all, 2)(c[0], {.attn_mask = c[1]})};
}

std::vector<Tensor> decoder_layer(const Case& c) {
  const nn::TransformerDecoderLayer layer(4, 2, transformer(c));
  return {with_state(c, layer, 3)(c[0], c[1], {.attn_mask = c[2]})};
}

std::vector<Tensor> decoder(const Case& c) {
  const nn::TransformerDecoderLayer layer(4, 2, transformer(c));
  const nn::TransformerDecoder all(layer, c.integer("layers"));
  return {with_state(c, all, 3)(c[0], c[1], {.attn_mask = c[2]})};
}

Tensor doubled(const Tensor& x) { return x.repeat_interleave(2, -1); }

std::vector<Tensor> activations(const Case& c) {
  const nn::Sequential net(nn::MaxPool{2, {}}, &doubled, nn::AvgPool{2, {}}, nn::Identity{},
                           nn::LeakyReLU{0.2}, nn::ELU{0.5}, nn::GELU{}, nn::SiLU{}, nn::Sigmoid{},
                           nn::Softmax{}, nn::LogSoftmax{}, nn::Flatten{});
  return {net(c[0])};
}

// clang-format off
const Group group("layers", {
  {"Linear", [](const Case& c) { return unary(c, nn::Linear(in(c), out(c), {.bias = c.flag("bias")})); }},
  {"Bilinear", [](const Case& c) {
    const Numbers sizes = c.numbers("sizes");
    return one(with_state(c, nn::Bilinear(sizes[0], sizes[1], sizes[2], {.bias = c.flag("bias")}), 2)(c[0], c[1]));
  }},
  {"Embedding", [](const Case& c) {
    nn::EmbeddingOptions options;
    if (c.has("padding_idx")) options.padding_idx = c.integer("padding_idx");
    return unary(c, nn::Embedding(in(c), out(c), options));
  }},
  {"Conv1d", conv<1>},
  {"Conv2d", conv<2>},
  {"Conv3d", conv<3>},
  {"ConvTranspose1d", conv_transpose<1>},
  {"ConvTranspose2d", conv_transpose<2>},
  {"ConvTranspose3d", conv_transpose<3>},
  {"BatchNorm", batch_norm},
  {"LayerNorm", [](const Case& c) { return unary(c, nn::LayerNorm(c.numbers("sizes"), layer_norm(c))); }},
  {"LayerNorm2d", [](const Case& c) { return unary(c, nn::LayerNorm2d(c.integer("size"), layer_norm(c))); }},
  {"RMSNorm", [](const Case& c) {
    return unary(c, nn::RMSNorm(c.integer("size"), {.eps = c.real("eps", 1e-6), .elementwise_affine = c.flag("elementwise_affine", true)}));
  }},
  {"GroupNorm", [](const Case& c) { return unary(c, nn::GroupNorm(c.integer("groups"), c.integer("size"), norm(c))); }},
  {"InstanceNorm", [](const Case& c) { return unary(c, nn::InstanceNorm(c.integer("size"), norm(c))); }},
  {"RNNCell", cell<nn::RNNCell>},
  {"GRUCell", cell<nn::GRUCell>},
  {"LSTMCell", lstm_cell},
  {"RNN", recurrent_net<nn::RNN>},
  {"GRU", recurrent_net<nn::GRU>},
  {"LSTM", lstm},
  {"MultiheadAttention", attention},
  {"TransformerEncoderLayer", encoder_layer},
  {"TransformerEncoder", encoder},
  {"TransformerDecoderLayer", decoder_layer},
  {"TransformerDecoder", decoder},
  {"Sequential", [](const Case& c) {
    return unary(c, nn::Sequential(nn::Linear(3, 4), nn::ReLU(), nn::PReLU(), nn::Linear(4, 2), nn::Tanh()));
  }},
  {"PReLU", [](const Case& c) { return unary(c, nn::PReLU(c.integer("size"))); }},
  {"activations", activations},
});
// clang-format on

}  // namespace
}  // namespace weft::golden
