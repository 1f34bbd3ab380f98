// Attention by a state that every step writes to and reads from.

#include <cmath>

#include <fmt/format.h>

#include "axes.h"
#include "tables.h"

namespace weft::onnx {
namespace {

struct Rule {
  explicit Rule(const Call& call) {
    const std::string name = call.attr("update_rule", "gated_delta");
    decays = name == "gated" || name == "gated_delta";
    corrects = name == "delta" || name == "gated_delta";
    if (!decays && !corrects && name != "linear")
      call.refuse(
          fmt::format("update_rule is '{}': want linear, gated, delta or gated_delta", name));
    if (call.has(4) != decays || call.has(5) != corrects)
      call.refuse(fmt::format("update_rule '{}' has {} decay and {} beta", name,
                              decays ? "a" : "no", corrects ? "a" : "no"));
  }
  bool decays, corrects;
};

// (batch, time, heads width) as (batch, heads, time, width), in f32 or more.
Tensor unpacked(const Call& call, std::size_t input, std::int64_t heads) {
  const Tensor x = call.tensor(input);
  if (x.ndim() != 3 || heads < 1 || x.size(2) % heads != 0)
    call.refuse(fmt::format("input {} of {} axes is not (batch, time, a width of {} heads)", input,
                            x.ndim(), heads));
  return x.cast(wide(x.dtype())).unflatten(2, {heads, -1}).transpose(1, 2);
}

struct Inputs {
  Tensor query, key, value, kept, rate;  // (batch, heads, time, width); queries in groups of heads
};

// The state (batch, heads, width of keys, width of values) after each step, and what is read from it.
struct Steps {
  std::vector<Tensor> outputs;
  Tensor state;
};

Steps steps_of(const Inputs& in, Tensor state) {
  Steps steps;
  const std::int64_t times = in.query.size(-2);
  for (std::int64_t time = 0; time < times; ++time) {
    const auto now = [&](const Tensor& x) { return x.select(2, time); };
    const Tensor key = now(in.key).unsqueeze(-1);
    Tensor value = now(in.value).unsqueeze(-2);
    if (!in.kept.is_null()) state = state * now(in.kept).unsqueeze(-1);
    if (!in.rate.is_null())
      value = (value - (state * key).sum(-2, true)) * now(in.rate).unsqueeze(-1);
    state = state + key * value;
    steps.outputs.push_back(in.query.select(3, time).matmul(state));
  }
  steps.state = state;
  return steps;
}

Values linear_attention(const Call& call) {
  const Rule rule(call);
  const auto q_heads = call.attr<std::int64_t>("q_num_heads");
  const auto heads = call.attr<std::int64_t>("kv_num_heads");
  if (heads < 1 || q_heads < 1 || q_heads % heads != 0)
    call.refuse(fmt::format("{} heads of queries for {} of keys", q_heads, heads));
  const DType dtype = call.tensor(0).dtype();
  Inputs in{.query = unpacked(call, 0, q_heads),
            .key = unpacked(call, 1, heads),
            .value = unpacked(call, 2, heads),
            .kept = {},
            .rate = {}};
  const std::int64_t width = in.query.size(3);
  const double stated = call.attr("scale", 0.0);
  const double scale = stated == 0 ? 1 / std::sqrt(static_cast<double>(width)) : stated;
  in.query = in.query.unflatten(1, {heads, q_heads / heads}) * scale;
  if (rule.decays) in.kept = unpacked(call, 4, heads).exp();
  if (rule.corrects) in.rate = unpacked(call, 5, call.tensor(5).size(-1) == 1 ? 1 : heads);
  const Tensor past = call.tensor_or_null(3);
  const std::vector<Dim> sizes = in.key.dims();
  const Tensor first = past.is_null() ? Tensor::zeros({sizes[0], heads, width, in.value.size(3)},
                                                      call.options(in.query.dtype()))
                                      : past.cast(in.query.dtype());
  const Steps steps = steps_of(in, first);
  if (steps.outputs.empty()) call.refuse("there is no step of time");
  // (batch, heads, group, time, width) to (batch, time, all heads' widths)
  const Tensor y = Tensor::stack(steps.outputs, 3).permute({0, 3, 1, 2, 4}).flatten(2);
  return {y.cast(dtype), steps.state.cast(past.is_null() ? dtype : past.dtype())};
}

}  // namespace

OpTable linear_attention_ops() {
  static const Op ops[] = {
      {"LinearAttention", 27, linear_attention},
  };
  return {"", ops};
}

}  // namespace weft::onnx
