// Layers that multiply by a matrix, and rows of one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <weft/fields.h>

namespace weft::nn {

struct LinearOptions {
  bool bias = true;
  DType dtype = {};
  std::string device = {};
};

// x (..., in) times weight (out, in), and bias (out). Both begin uniform within 1 / sqrt(in).
struct Linear {
  Tensor weight, bias;

  Linear(std::int64_t in_features, std::int64_t out_features, const LinearOptions& options = {});
  Tensor operator()(const Tensor& x) const;
  WEFT_FIELDS(weight, bias);
};

// Of each pair, a (..., in1) times weight[o] (in1, in2) times b (..., in2), for each o of out.
struct Bilinear {
  Tensor weight, bias;

  Bilinear(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features,
           const LinearOptions& options = {});
  Tensor operator()(const Tensor& a, const Tensor& b) const;
  WEFT_FIELDS(weight, bias);
};

struct EmbeddingOptions {
  std::optional<std::int64_t> padding_idx = {};  // this row is zeros, and stays so
  DType dtype = {};
  std::string device = {};
};

// Rows of weight (rows, width) by their numbers. They begin normal.
struct Embedding {
  Tensor weight;
  std::optional<std::int64_t> padding_idx;

  Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim,
            const EmbeddingOptions& options = {});
  Tensor operator()(const Tensor& index) const;
  WEFT_FIELDS(weight);
};

}  // namespace weft::nn
