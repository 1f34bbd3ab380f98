// One array in NumPy's format, as bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <weft/tensor.h>

namespace weft {

// `name` is what errors call it.
Tensor decoded_npy(std::span<const std::byte> bytes, const std::string& name,
                   const Options& options);
std::vector<std::byte> encoded_npy(const Tensor& tensor, const std::string& name);

}  // namespace weft
