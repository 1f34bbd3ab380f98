// Models and what they learn from, by hashes: the same as in train_models.py.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <weft/weft.h>

#include "input_values.h"

namespace weft::bench {

// FNV-1a, 32 bits: the number of a tensor is the hash of its name.
inline std::uint32_t hash_of(std::string_view name) {
  std::uint32_t bits = 0x811C9DC5;
  for (const char c : name) bits = (bits ^ static_cast<unsigned char>(c)) * 0x01000193;
  return bits;
}

inline Tensor hashed(const std::vector<std::int64_t>& shape, std::uint32_t number) {
  std::size_t count = 1;
  for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
  return Tensor(input_values(count, number)).reshape(shape);
}

// Matrices and kernels uniform within 1 / sqrt(inputs), what scales 1, what is added 0. Residual blocks end with
// less: where they add as much as there is, rounding errors grow in each.
template <class Model>
void initialise(const Model& model) {
  const NoGrad constant;
  for (auto& [name, tensor] : get_tensors(model)) {
    if (!tensor.requires_grad()) continue;
    if (tensor.ndim() == 1) {
      const double scale = name.ends_with("bn3.weight") ? 0.2 : 1;
      tensor.fill(name.ends_with("weight") ? scale : 0);
      continue;
    }
    const auto inputs = static_cast<double>(tensor.numel() / tensor.size(0));
    tensor.assign(hashed(tensor.shape(), hash_of(name)) / std::sqrt(inputs));
  }
  Tensor::realize(get_parameters(model));
}

// Each character is one of two that the one before allows: a hash decides.
inline Tensor characters(std::uint32_t words, std::size_t step, std::size_t batch,
                         std::size_t length) {
  const auto number = static_cast<std::uint32_t>(1000 + step);
  const std::vector<float> bits = input_values(batch * length, number);
  std::vector<std::int32_t> text;
  for (std::size_t row = 0; row < batch; ++row) {
    std::uint32_t now = hash_of(std::to_string(step) + " " + std::to_string(row)) % words;
    for (std::size_t place = 0; place < length; ++place) {
      if (place > 0) now = (3 * now + 1 + (bits[row * length + place] > 0 ? 1 : 0)) % words;
      text.push_back(static_cast<std::int32_t>(now));
    }
  }
  return Tensor(text).reshape({static_cast<std::int64_t>(batch), -1});
}

inline Tensor images(std::int64_t batch, std::int64_t channels, std::int64_t size) {
  return hashed({batch, channels, size, size}, 1000);
}

inline Tensor classes(std::int64_t batch, std::uint32_t count) {
  std::vector<std::int32_t> numbers;
  for (std::int64_t row = 0; row < batch; ++row)
    numbers.push_back(static_cast<std::int32_t>(hash_of(std::to_string(row)) % count));
  return Tensor(numbers);
}

}  // namespace weft::bench
