// com.microsoft: activations, normalisations and products that exporters and optimisers have fused.
#include <fmt/format.h>
#include <weft/functional.h>

#include "microsoft.h"

namespace weft::onnx {

Tensor activated(const Call& call, const Tensor& x, const std::string& name,
                 const std::vector<double>& params) {
  const auto param = [&](std::size_t i, double otherwise) {
    return i < params.size() ? params[i] : otherwise;
  };
  if (name.empty()) return x;
  if (name == "Relu") return x.relu();
  if (name == "Tanh") return x.tanh();
  if (name == "Sigmoid") return x.sigmoid();
  if (name == "LeakyRelu") return x.leaky_relu(param(0, 0.01));
  if (name == "Elu") return x.elu(param(0, 1));
  if (name == "Clip") return x.clamp(param(0, -3.402823e38), param(1, 3.402823e38));
  if (name == "HardSigmoid") return x.hardsigmoid(param(0, 0.2), param(1, 0.5));
  if (name == "HardSwish") return x.hardswish();
  if (name == "Softplus") return x.softplus();
  if (name == "Softsign") return x.softsign();
  if (name == "Silu" || name == "Swish") return x.silu();
  if (name == "Gelu") return x.gelu(Gelu::Exact);
  if (name == "QuickGelu") return x * (x * param(0, 1.702)).sigmoid();
  call.refuse("the activation " + name + " is unknown");
}

Normalized layer_normalized(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                            double epsilon) {
  const Tensor wide = x.cast(promote(x.dtype(), dtypes::f32)), mean = wide.mean(-1, true);
  const Tensor centred = wide - mean;
  const Tensor inverse = (centred.square().mean(-1, true) + epsilon).rsqrt();
  Tensor y = centred * inverse * gamma;
  if (!beta.is_null()) y = y + beta;
  return {y.cast(x.dtype()), mean, inverse};
}

Normalized rms_normalized(const Tensor& x, const Tensor& gamma, double epsilon) {
  const Tensor wide = x.cast(promote(x.dtype(), dtypes::f32));
  const Tensor inverse = (wide.square().mean(-1, true) + epsilon).rsqrt();
  return {(wide * inverse * gamma).cast(x.dtype()), {}, inverse};
}

namespace {

Tensor with_bias(const Call& call, std::size_t input) {
  return call.has(input) ? call.tensor(0) + call.tensor(input) : call.tensor(0);
}

// --- Activations --------------------------------------------------------------------------------------

Tensor gelu(const Call& call) { return call.tensor(0).gelu(Gelu::Exact); }
Tensor fast_gelu(const Call& call) { return with_bias(call, 1).gelu(Gelu::Tanh); }
Tensor bias_gelu(const Call& call) { return with_bias(call, 1).gelu(Gelu::Exact); }

Tensor quick_gelu(const Call& call) {
  const Tensor x = call.tensor(0);
  return x * (x * call.attr("alpha", 1.702)).sigmoid();
}

Tensor bias_split_gelu(const Call& call) {
  const std::vector<Tensor> halves = with_bias(call, 1).chunk(2, -1);
  if (halves.size() != 2) call.refuse("its last axis cannot be cut in halves");
  return halves[0] * halves[1].gelu(Gelu::Exact);
}

Tensor bias_add(const Call& call) { return with_bias(call, 1) + call.tensor(2); }

Values bias_dropout(const Call& call) {
  Tensor x = with_bias(call, 1);
  if (call.has(2)) x = x + call.tensor(2);
  return {x, x.full_like(true, {.dtype = dtypes::bool_})};
}

// Over the axis and all behind it.
Tensor bias_softmax(const Call& call) {
  const Tensor x = call.tensor(0);
  const std::int64_t rank = x.ndim(), axis = call.attr("axis", 1);
  if (axis < -rank || axis >= rank) call.refuse(fmt::format("it has no axis {}", axis));
  return (x + call.tensor(1)).flatten(axis).softmax(-1).reshape_as(x);
}

// --- Normalisations -----------------------------------------------------------------------------------

constexpr double tiny = 1e-12;

Values skip_layer_normalization(const Call& call) {
  Tensor sum = call.tensor(0) + call.tensor(1);
  if (call.has(4)) sum = sum + call.tensor(4);
  const auto [y, mean, inverse] =
      layer_normalized(sum, call.tensor(2), call.tensor_or_null(3), call.attr("epsilon", tiny));
  return {y, mean, inverse, sum};
}

Values skip_simplified_layer_normalization(const Call& call) {
  Tensor sum = call.tensor(0) + call.tensor(1);
  if (call.has(3)) sum = sum + call.tensor(3);
  const auto [y, mean, inverse] = rms_normalized(sum, call.tensor(2), call.attr("epsilon", tiny));
  return {y, inverse.zeros_like(), inverse, sum};
}

Values embed_layer_normalization(const Call& call) {
  const Tensor ids = call.tensor(0), words = call.tensor(2), places = call.tensor(3);
  if (ids.ndim() != 2) call.refuse("input_ids has the shape (batch, sequence)");
  Tensor position = call.tensor_or_null(8);
  if (position.is_null())
    position = Tensor::arange(ids.size(1), call.options(dtypes::i64)).unsqueeze(0);
  Tensor sum = words.take(ids) + places.take(position);
  if (call.has(1) && call.has(4)) sum = sum + call.tensor(4).take(call.tensor(1));
  const auto normalized =
      layer_normalized(sum, call.tensor(5), call.tensor_or_null(6), call.attr("epsilon", tiny));
  const Tensor lengths = call.has(7) ? (call.tensor(7) == 1).sum(1, false, dtypes::i32)
                                     : Tensor::zeros({ids.size(0)}, call.options(dtypes::i32));
  return {normalized.y, lengths, sum};
}

Tensor group_normalized(const Call& call, const Tensor& x, const Tensor& gamma,
                        const Tensor& beta) {
  const bool is_last = call.attr("channels_last", 1) != 0;
  const Tensor first = (is_last ? x.movedim(-1, 1) : x).cast(dtypes::f32);
  Tensor y = functional::group_norm(first, call.attr<std::int64_t>("groups"), gamma, beta,
                                    call.attr("epsilon", 1e-5));
  if (call.attr("activation", 0) == 1) y = y.silu();
  return (is_last ? y.movedim(1, -1) : y).cast(x.dtype());
}

Tensor group_norm(const Call& call) {
  return group_normalized(call, call.tensor(0), call.tensor(1), call.tensor(2));
}

Values skip_group_norm(const Call& call) {
  Tensor sum = call.tensor(0), skip = call.tensor(3);
  if (skip.ndim() == 2) skip = skip.unsqueeze(1).unsqueeze(1);
  sum = sum + skip;
  if (call.has(4)) sum = sum + call.tensor(4);
  return {group_normalized(call, sum, call.tensor(1), call.tensor(2)), sum};
}

// --- Products -----------------------------------------------------------------------------------------

// transBatch: the first axis goes behind the batch.
Tensor turned(const Tensor& x, bool is_transposed, bool is_batch_transposed) {
  Tensor y = x;
  if (is_batch_transposed && x.ndim() > 2) y = y.movedim(0, -2);
  return is_transposed && x.ndim() > 1 ? y.mT() : y;
}

Tensor fused_matmul(const Call& call) {
  const Tensor a = turned(call.tensor(0), call.attr("transA", 0) != 0,
                          call.attr("transBatchA", 0) != 0),
               b = turned(call.tensor(1), call.attr("transB", 0) != 0,
                          call.attr("transBatchB", 0) != 0);
  const double alpha = call.attr("alpha", 1.0);
  const Tensor y = a.matmul(b);
  return alpha == 1 ? y : y * alpha;
}

Tensor fused_matmul_activation(const Call& call) {
  return activated(call, fused_matmul(call), call.attr<std::string>("activation"),
                   {call.attr("activation_alpha", 0.01), call.attr("activation_beta", 0.5)});
}

Tensor gemm_fast_gelu(const Call& call) {
  const Tensor y = call.tensor(0).matmul(call.tensor(1));
  return (call.has(2) ? y + call.tensor(2) : y).gelu(Gelu::Tanh);
}

Tensor gemm_activation(const Call& call) {
  const Tensor a = turned(call.tensor(0), call.attr("transA", 0) != 0, false),
               b = turned(call.tensor(1), call.attr("transB", 0) != 0, false);
  Tensor y = a.matmul(b) * call.attr("alpha", 1.0);
  if (call.has(2)) y = y + call.tensor(2) * call.attr("beta", 1.0);
  std::vector<double> params;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"})
    if (call.has(name)) params.push_back(call.attr<double>(name));
  return activated(call, y, call.attr("activation", ""), params);
}

}  // namespace

OpTable microsoft_ops() {
  static const Op ops[] = {
      {"BiasAdd", 1, bias_add},
      {"BiasDropout", 1, bias_dropout},
      {"BiasGelu", 1, bias_gelu},
      {"BiasSoftmax", 1, bias_softmax},
      {"BiasSplitGelu", 1, bias_split_gelu},
      {"EmbedLayerNormalization", 1, embed_layer_normalization},
      {"FastGelu", 1, fast_gelu},
      {"FusedGemm", 1, gemm_activation},
      {"FusedMatMul", 1, fused_matmul},
      {"FusedMatMulActivation", 1, fused_matmul_activation},
      {"Gelu", 1, gelu},
      {"GemmFastGelu", 1, gemm_fast_gelu},
      {"GroupNorm", 1, group_norm},
      {"QuickGelu", 1, quick_gelu},
      {"SkipGroupNorm", 1, skip_group_norm},
      {"SkipLayerNormalization", 1, skip_layer_normalization},
      {"SkipSimplifiedLayerNormalization", 1, skip_simplified_layer_normalization},
      {"TransposeMatMul", 1, fused_matmul},
  };
  return {microsoft, ops};
}

}  // namespace weft::onnx
