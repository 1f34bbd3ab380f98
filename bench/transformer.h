// A transformer that says which token comes next, over weights that nobody has filled in.
#pragma once

#include <vector>

#include <weft/weft.h>

namespace weft::bench {

struct Transformer {
  bool is_checkpointed = false;  // layer by layer
  std::int64_t layers = 12, heads = 12, width = 768, words = 50257, length = 256, batch = 4;
  std::vector<Tensor> parameters = {};

  Tensor parameter(const Shape& shape) {
    parameters.push_back(Tensor::empty(shape, {.requires_grad = true}));
    return parameters.back();
  }
  Tensor project(const Tensor& x, std::int64_t out) {
    const Tensor w = parameter({x.shape().back(), out});
    return x.linear(w, parameter({out}));
  }
  Tensor norm(const Tensor& x) {
    const Tensor scale = parameter({width});
    return x.layernorm() * scale + parameter({width});
  }
  Tensor split(const Tensor& x) const {
    return x.reshape({batch, length, heads, width / heads}).transpose(1, 2);
  }
  Tensor block(const Tensor& x) {
    const std::vector<Tensor> qkv = project(norm(x), 3 * width).chunk(3, -1);
    const Tensor a = split(qkv[0]).scaled_dot_product_attention(split(qkv[1]), split(qkv[2]),
                                                                {.is_causal = true});
    const Tensor h = x + project(a.transpose(1, 2).reshape({batch, length, width}), width);
    return h + project(project(norm(h), 4 * width).gelu(), width);
  }

  Tensor forward() {
    const Tensor tokens = Tensor::empty({batch, length}, {.dtype = dtypes::i32});
    Tensor x = parameter({words, width}).take(tokens) + parameter({length, width});
    const auto layer = [this](const Tensor& h) { return block(h); };
    for (std::int64_t i = 0; i < layers; ++i) x = is_checkpointed ? checkpoint(layer, x) : block(x);
    return norm(x).linear(parameter({width, words}));
  }

  std::vector<Tensor> step() {
    const Tensor targets = Tensor::empty({batch, length}, {.dtype = dtypes::i32});
    const Tensor loss = forward().sparse_categorical_crossentropy(targets);
    std::vector<Tensor> results = loss.gradient(parameters);
    for (std::size_t i = 0; i < results.size(); ++i)
      results[i] = parameters[i].detach() - results[i] * 1e-4;
    results.push_back(loss);
    return results;
  }
};

}  // namespace weft::bench
