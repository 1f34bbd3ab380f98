// Attention whose scores and shares graphs of the model change.

#include <fmt/format.h>

#include "axes.h"
#include "heads.h"
#include "tables.h"

namespace weft::onnx {
namespace {

// What the graph in an attribute makes of x, if there is one.
Tensor modified(const Call& call, std::string_view attribute, const Tensor& x) {
  if (!call.has(attribute)) return x;
  const Values outputs = call.run(attribute, {x});
  if (outputs.size() != 1)
    call.refuse(fmt::format("{} has {} outputs: want one", attribute, outputs.size()));
  return outputs[0].tensor().cast(x.dtype());
}

Tensor flex_attention(const Call& call) {
  const Tensor query = call.tensor(0), key = call.tensor(1), value = call.tensor(2);
  want_ranks(call, {query, key, value}, 4);
  const std::int64_t heads = query.size(1);
  const DType within = softmax_dtype(call, wide(query.dtype()));
  const Tensor scores =
      scores_of(call, query, for_heads(call, key, heads), wide(query.dtype())).cast(within);
  const Tensor shares = modified(call, "prob_mod", modified(call, "score_mod", scores).softmax(-1));
  return shares.matmul(for_heads(call, value, heads).cast(within)).cast(value.dtype());
}

}  // namespace

OpTable flex_attention_ops() {
  static const Op ops[] = {
      {"FlexAttention", 1, flex_attention},
  };
  return {"ai.onnx.preview", ops};
}

}  // namespace weft::onnx
