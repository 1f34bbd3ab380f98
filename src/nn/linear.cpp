// Layers that multiply by a matrix, and rows of one.

#include <weft/nn/linear.h>

#include <weft/functional.h>

#include "parameters.h"

namespace weft::nn {

Linear::Linear(std::int64_t in_features, std::int64_t out_features, const LinearOptions& options) {
  const Called called("Linear");
  want_sizes({in_features, out_features});
  weight = uniform_of_fan({out_features, in_features}, in_features, learned(options));
  if (options.bias) bias = uniform_of_fan({out_features}, in_features, learned(options));
}

Tensor Linear::operator()(const Tensor& x) const {
  const Called called("Linear");
  return x.linear(weight.T(), bias);
}

Bilinear::Bilinear(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features,
                   const LinearOptions& options) {
  const Called called("Bilinear");
  want_sizes({in1_features, in2_features, out_features});
  const Shape shape{out_features, in1_features, in2_features};
  weight = uniform_of_fan(shape, in1_features, learned(options));
  if (options.bias) bias = uniform_of_fan({out_features}, in1_features, learned(options));
}

Tensor Bilinear::operator()(const Tensor& a, const Tensor& b) const {
  const Called called("Bilinear");
  return plus(Tensor::einsum("...i,oij,...j->...o", {a, weight, b}), bias);
}

Embedding::Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim,
                     const EmbeddingOptions& options)
    : padding_idx(options.padding_idx) {
  const Called called("Embedding");
  want_sizes({num_embeddings, embedding_dim});
  if (padding_idx && (*padding_idx < -num_embeddings || *padding_idx >= num_embeddings))
    user_error(
        fmt::format("there is no row {} for padding among {}", *padding_idx, num_embeddings));
  weight = Tensor::randn({num_embeddings, embedding_dim}, kept(options));
  if (padding_idx) weight[*padding_idx].fill(0);
  weight.set_requires_grad();
}

Tensor Embedding::operator()(const Tensor& index) const {
  const Called called("Embedding");
  return functional::embedding(index, weight, padding_idx);
}

}  // namespace weft::nn
