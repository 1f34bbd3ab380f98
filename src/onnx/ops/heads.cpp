#include "heads.h"

#include <cmath>

#include <fmt/format.h>

#include "axes.h"

namespace weft::onnx {

DType softmax_dtype(const Call& call, DType scores) {
  if (!call.has("softmax_precision")) return scores;
  const DType wanted = dtype_of(call.attr<Type>("softmax_precision"));
  if (!wanted.is_float()) call.refuse("softmax_precision is no type of floats");
  return wanted;
}

Tensor for_heads(const Call& call, const Tensor& x, std::int64_t heads) {
  const std::int64_t own = x.size(1);
  if (own == heads) return x;
  if (own < 1 || heads % own != 0)
    call.refuse(fmt::format("{} heads of keys for {} of queries", own, heads));
  return x.repeat_interleave(heads / own, 1);
}

void want_ranks(const Call& call, const std::vector<Tensor>& tensors, std::int64_t least) {
  for (const Tensor& x : tensors)
    if (x.ndim() != tensors[0].ndim() || x.ndim() < least || x.ndim() > 4)
      call.refuse(fmt::format("queries, keys and values of {}, {} and {} axes", tensors[0].ndim(),
                              tensors[1].ndim(), tensors[2].ndim()));
}

// Both factors are scaled before their product, which then does not overflow.
Tensor scores_of(const Call& call, const Tensor& query, const Tensor& key, DType within) {
  const double root =
      std::sqrt(call.attr("scale", 1 / std::sqrt(static_cast<double>(query.size(-1)))));
  return (query.cast(within) * root).matmul((key.cast(within) * root).transpose(-1, -2));
}

}  // namespace weft::onnx
