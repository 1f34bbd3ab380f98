// com.microsoft: mixtures of experts, and gated activations.
#include <limits>

#include <fmt/format.h>

#include "microsoft.h"

namespace weft::onnx {
namespace {

// --- Gates --------------------------------------------------------------------------------------------

struct Gate {
  double alpha, beta, limit;  // no limit: infinity
};

Tensor swiglu(const Tensor& gate, const Tensor& up, const Gate& how) {
  const bool is_limited = how.limit < std::numeric_limits<double>::infinity();
  const Tensor g = is_limited ? gate.minimum(how.limit) : gate,
               l = is_limited ? up.clamp(-how.limit, how.limit) : up;
  return g * (g * how.alpha).sigmoid() * (l + how.beta);
}

std::pair<Tensor, Tensor> halves_of(const Call& call, const Tensor& x) {
  if (x.ndim() < 1 || x.size(-1) % 2 != 0) call.refuse("its last axis cannot be cut in halves");
  const std::int64_t half = x.size(-1) / 2;
  return {x.narrow(-1, 0, half), x.narrow(-1, half, half)};
}

Tensor swiglu_op(const Call& call) {
  const double limit = call.attr("limit", 0.0);
  const Gate how{call.attr("activation_alpha", 1.0), call.attr("activation_beta", 0.0),
                 limit > 0 ? limit : std::numeric_limits<double>::infinity()};
  const Tensor x = call.tensor(0), wide = x.cast(promote(x.dtype(), dtypes::f32));
  const auto [gate, up] = call.has(1) ? std::pair(wide, call.tensor(1)) : halves_of(call, wide);
  return swiglu(gate, up, how).cast(x.dtype());
}

Tensor scaled_silu(const Call& call) {
  const Tensor x = call.tensor(0);
  const Tensor scaled = call.has(1) ? x * call.tensor(1).reshape({}) : x * call.attr("alpha", 1.0);
  return scaled.silu();
}

// Over as many of the last elements as there are scales.
Tensor gated_rms_norm(const Call& call) {
  const Tensor x = call.tensor(0), scale = call.tensor(1);
  if (x.ndim() < 1 || scale.numel() < 1 || x.size(-1) % scale.numel() != 0)
    call.refuse("its last axis is no multiple of the scales");
  const std::string gate = call.attr("activation", "silu");
  if (gate != "silu" && gate != "swish" && gate != "sigmoid")
    call.refuse("activation is silu, swish or sigmoid, not " + gate);
  const Tensor wide = x.cast(dtypes::f32), z = call.tensor(2).cast(dtypes::f32);
  const Tensor y = rms_normalized(wide.unflatten(-1, {-1, scale.numel()}), scale.flatten(),
                                  call.attr("epsilon", 1e-5))
                       .y.reshape_as(x);
  return (y * (gate == "sigmoid" ? z.sigmoid() : z.silu())).cast(x.dtype());
}

// --- MoE ----------------------------------------------------------------------------------------------

// (tokens, experts): how much each of the chosen ones counts, 0 for others.
Tensor shares_of(const Call& call, const Tensor& router) {
  const std::int64_t count = call.attr("k", 1);
  if (router.ndim() != 2 || count < 1 || count > router.size(1))
    call.refuse(fmt::format("{} experts are chosen for each token", count));
  const Tensor all = router.softmax(-1);
  const auto [chosen, places] = all.topk(count);
  const bool are_whole = call.attr("normalize_routing_weights", 0) != 0;
  const Tensor weights = are_whole ? chosen / chosen.sum(-1, true) : chosen;
  return all.zeros_like().scatter(1, places, weights);
}

// x (experts or 1, tokens, inputs) by the weights (experts, outputs, inputs) of an input, with the bias behind it.
Tensor by_experts(const Call& call, const Tensor& x, std::size_t input) {
  const Tensor weights = call.tensor(input);
  if (weights.ndim() != 3) call.refuse("weights of experts have three axes");
  const Tensor y = x.matmul(weights.mT());
  return call.has(input + 1) ? y + call.tensor(input + 1).unsqueeze(1) : y;
}

Tensor hidden_of(const Call& call, const Tensor& tokens) {
  const std::string name = call.attr("activation_type", "relu");
  const Tensor first = by_experts(call, tokens, 2);
  if (name == "identity") return first;
  if (name == "relu") return first.relu();
  if (name == "gelu") return first.gelu(Gelu::Tanh);
  if (name == "silu")
    return call.has(6) ? first.silu() * by_experts(call, tokens, 6) : first.silu();
  if (name != "swiglu") call.refuse("the activation " + name + " is unknown");
  if (call.attr("swiglu_limit_after_activation", 0) != 0)
    call.refuse("limits behind the activation are not known here");
  const Gate how{call.attr("activation_alpha", 1.0), call.attr("activation_beta", 0.0),
                 call.attr("swiglu_limit", std::numeric_limits<double>::infinity())};
  const std::int64_t fusion = call.attr("swiglu_fusion", 0);
  if (fusion == 0) return swiglu(first, by_experts(call, tokens, 6), how);
  if (fusion == 1) {
    const Tensor pairs = first.unflatten(-1, {-1, 2});
    return swiglu(pairs.select(-1, 0), pairs.select(-1, 1), how);
  }
  const auto [gate, up] = halves_of(call, first);
  return swiglu(gate, up, how);
}

// Every expert sees all tokens; those that are not chosen count nothing.
Tensor mixture_of_experts(const Call& call) {
  if (call.attr("use_sparse_mixer", 0) != 0) call.refuse("the sparse mixer is not known here");
  const Tensor x = call.tensor(0);
  const Tensor tokens = x.reshape({1, -1, x.size(-1)});
  const Tensor shares = shares_of(call, call.tensor(1));  // (tokens, experts)
  const Tensor found = by_experts(call, hidden_of(call, tokens), 4);
  return (found * shares.mT().unsqueeze(-1)).sum(0).reshape_as(x);
}

}  // namespace

OpTable microsoft_experts_ops() {
  static const Op ops[] = {
      {"GatedRMSNorm", 1, gated_rms_norm},
      {"MoE", 1, mixture_of_experts},
      {"ScaledSiLU", 1, scaled_silu},
      {"SwiGLU", 1, swiglu_op},
  };
  return {microsoft, ops};
}

}  // namespace weft::onnx
