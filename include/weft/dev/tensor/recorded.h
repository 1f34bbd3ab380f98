// A function of tensors as what one call of it ran, for code that is to do the same without the library.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <weft/dev/device/buffer.h>
#include <weft/dev/engine/call_list.h>
#include <weft/tensor.h>

namespace weft {

// In memory, in row-major order; symbolic sizes at their largest.
struct Elements {
  std::shared_ptr<Buffer> memory;
  std::size_t offset, bytes;
};

// Memory of the program that calls assign to.
struct Assigned {
  std::shared_ptr<Buffer> memory;
  DType dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> before;  // what was there before the function ran, and is there again
};

// As for jit(): the function runs once for what it makes once, and then to be recorded. Values of tensors are not to
// be had within. Throws where calls draw random numbers.
struct Recorded {
  using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>& arguments)>;
  Recorded(const Function& function, const std::vector<Tensor>& given);

  CallList list;  // not settled
  std::vector<std::shared_ptr<Buffer>> arguments;
  std::vector<Tensor> results;
  std::vector<Elements> elements;  // of the results
  std::vector<Assigned> assigned;
};

// A tensor's elements; they are computed and put in order, in one piece, if need be.
Elements elements_in_memory(Tensor tensor);

// These numbers, one or more, on that device: symbolic ones are computed when the tensor is.
Tensor tensor_of_sizes(const std::vector<Dim>& sizes, const std::string& device);

}  // namespace weft
