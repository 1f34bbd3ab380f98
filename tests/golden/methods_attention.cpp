#include "golden.h"

namespace weft::golden {
namespace {

namespace F = functional;

Tensor attention(const Case& c) {
  F::AttentionOptions options{
      .attn_mask = c[3], .is_causal = c.flag("is_causal"), .enable_gqa = c.flag("enable_gqa")};
  if (c.has("scale")) options.scale = c.real("scale");
  if (c.has("window")) options.window = c.integer("window");
  return F::scaled_dot_product_attention(c[0], c[1], c[2], options);
}

Tensor rotary(const Case& c) {
  return F::rotary_embedding(c[0], {.base = c.real("base", 10000),
                                    .offset = c.integer("offset", 0),
                                    .positions = c[1],
                                    .interleaved = c.flag("interleaved")});
}

Tensor multi_head(const Case& c) {
  const F::HeadWeights weights{
      .in_weight = c[3], .in_bias = c[4], .out_weight = c[5], .out_bias = c[6]};
  return F::multi_head_attention(c[0], c[1], c[2], c.integer("heads"), weights,
                                 {.attn_mask = c[7], .is_causal = c.flag("is_causal")});
}

F::CellWeights weights(const Case& c, std::size_t first) {
  return {.input = c[first],
          .hidden = c[first + 1],
          .input_bias = c[first + 2],
          .hidden_bias = c[first + 3]};
}

std::vector<Tensor> lstm(const Case& c) {
  const F::LstmState next = F::lstm_cell(c[0], {c[1], c[2]}, weights(c, 3));
  return {next.h, next.c};
}

// clang-format off
const Group group("attention", {
  {"scaled_dot_product_attention", [](const Case& c) { return one(attention(c)); }},
  {"rotary_embedding", [](const Case& c) { return one(rotary(c)); }},
  {"alibi", [](const Case& c) { return one(F::alibi(c.integer("heads"), c.integer("queries"), c.integer("keys"))); }},
  {"multi_head_attention", [](const Case& c) { return one(multi_head(c)); }},
  {"rnn_cell", [](const Case& c) { return one(F::rnn_cell(c[0], c[1], weights(c, 2), c.text("nonlinearity") == "tanh" ? F::Nonlinearity::Tanh : F::Nonlinearity::Relu)); }},
  {"lstm_cell", lstm},
  {"gru_cell", [](const Case& c) { return one(F::gru_cell(c[0], c[1], weights(c, 2))); }},
});
// clang-format on

}  // namespace
}  // namespace weft::golden
