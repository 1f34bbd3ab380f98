// One array in NumPy's format, as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/tensor.h>

namespace weft {

// How the values of an array lie.
struct NumpyLayout {
  DType dtype;
  bool swapped = false;  // the bytes of each value
  bool column_major = false;
  std::vector<std::int64_t> shape;
};
// Named as "f4" is; nothing where weft has no such dtype.
std::optional<DType> numpy_dtype(std::string_view name);

// `name` is what errors call it. The bytes may be more than the array takes.
Tensor numpy_tensor(NumpyLayout layout, std::span<const std::byte> bytes, const std::string& name,
                    const Options& options);
Tensor decoded_npy(std::span<const std::byte> bytes, const std::string& name,
                   const Options& options);
std::vector<std::byte> encoded_npy(const Tensor& tensor, const std::string& name);

}  // namespace weft
