// Arrays of the eager evaluator in memory, and back.
#pragma once

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "eager.h"

namespace weft {

inline std::vector<std::byte> stored(const Array& array, DType dtype) {
  std::vector<std::byte> bytes(array.values.size() * dtype.bytes() + 1);
  for (std::size_t i = 0; i < array.values.size(); ++i)
    std::memcpy(&bytes[i * dtype.bytes()], &array.values[i], dtype.bytes());
  return bytes;
}

inline std::vector<Bits> loaded(const std::vector<std::byte>& bytes, std::size_t count,
                                DType dtype) {
  std::vector<Bits> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(&values[i], &bytes[i * dtype.bytes()], dtype.bytes());
    values[i] = canonical_bits(values[i], dtype);
  }
  return values;
}

// A sum that is 0 may have either sign.
inline std::vector<Bits> without_minus_zero(std::vector<Bits> values, DType dtype) {
  if (dtype.is_float()) std::ranges::replace(values, bits_from_double(-0.0, dtype), Bits{0});
  return values;
}

// Small integers, of which sums and products are exact in any order.
inline Array random_array(const UOp& storage, std::mt19937_64& random) {
  Array array;
  std::size_t count = 1;
  for (const Node* size : storage->dims()) {
    array.sizes.push_back(size->lo());
    count *= static_cast<std::size_t>(size->lo());
  }
  for (std::size_t i = 0; i < count; ++i)
    array.values.push_back(
        bits_from_int(static_cast<std::int64_t>(random() % 9) - 4, storage->dtype()));
  return array;
}

}  // namespace weft
