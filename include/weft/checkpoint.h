// Gradients that compute again what would otherwise be kept for them: less memory for more time.
//
//   Tensor h = x;
//   for (auto& layer : layers) h = checkpoint(layer, h);
//   h.sum().backward();
//
// checkpoint(f, x ...) is f(x ...). Of it only the inputs are kept until the backward pass, and what f reads that was
// there before it was called: parameters, captured tensors. What f computes of these is computed once more when
// the gradient of its result is there. Values and gradients, also further ones, are those without it; random
// numbers that f draws are the same both times.
//
// One wrapper around each of n equal layers keeps n inputs and the inner values of one layer, and adds one
// forward pass to the time. Around everything it saves nothing. It can be used within jit() and within another.
#pragma once

#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

#include <weft/tensor.h>

namespace weft {

// Of a function of the list.
Tensor checkpoint_of(const Tensor::Forward& function, const std::vector<Tensor>& inputs);

template <class F, std::derived_from<Tensor>... Inputs>
Tensor checkpoint(F&& function, const Inputs&... inputs) {
  const auto unpacked = [&]<std::size_t... i>([[maybe_unused]] const std::vector<Tensor>& in,
                                              std::index_sequence<i...>) {
    return function(in[i]...);
  };
  return checkpoint_of(
      [&](const std::vector<Tensor>& in) -> Tensor {
        return unpacked(in, std::index_sequence_for<Inputs...>());
      },
      {inputs...});
}

}  // namespace weft
