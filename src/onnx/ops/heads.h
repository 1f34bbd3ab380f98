// What operators of attention share: heads, scores, precisions.
#pragma once

#include "op.h"

namespace weft::onnx {

// The precision that the softmax is asked for in, or that of the scores.
DType softmax_dtype(const Call& call, DType scores);
// Each head of a key or value, axis 1, as often as there are queries' heads for it.
Tensor for_heads(const Call& call, const Tensor& x, std::int64_t heads);
void want_ranks(const Call& call, const std::vector<Tensor>& tensors, std::int64_t least);
// The products of queries and keys in this dtype, by the attribute or 1 / sqrt(width).
Tensor scores_of(const Call& call, const Tensor& query, const Tensor& key, DType within);

}  // namespace weft::onnx
