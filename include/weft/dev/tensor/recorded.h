// A function of tensors as what one call of it ran, for code that is to do the same without the library.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <weft/dev/device/buffer.h>
#include <weft/dev/engine/call_list.h>
#include <weft/tensor.h>

namespace weft {

// In memory, in row-major order.
struct Elements {
  std::shared_ptr<Buffer> memory;
  std::size_t offset, bytes;
};

// As for jit(): the function runs once for what it makes once, and then to be recorded. Values of tensors are not to
// be had within. Throws where calls do more than make results of their arguments: where they assign to
// tensors of the program, or draw random numbers.
struct Recorded {
  using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>& arguments)>;
  Recorded(const Function& function, const std::vector<Tensor>& given);

  CallList list;  // not settled
  std::vector<std::shared_ptr<Buffer>> arguments;
  std::vector<Tensor> results;
  std::vector<Elements> elements;  // of the results
};

}  // namespace weft
