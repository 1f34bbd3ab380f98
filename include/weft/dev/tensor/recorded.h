// A function of tensors as what one call of it ran, for code that is to do the same without the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
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
  std::span<const std::byte> before;  // what was there before any function ran
};

using RecordedFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>& arguments)>;

// Functions run once for what they make once: memory for what they assign to, where all of them find it from then on. When
// this goes, what they assigned to is as it was before.
class FirstRuns {
 public:
  FirstRuns() = default;
  ~FirstRuns();
  FirstRuns(const FirstRuns&) = delete;
  FirstRuns& operator=(const FirstRuns&) = delete;

  void run(const RecordedFunction& function, const std::vector<Tensor>& given);
  // What a storage held, by its number.
  using Before = std::map<std::uint64_t, std::vector<std::byte>>;
  const Before& before() const { return before_; }

 private:
  Before before_;
};

// A function, after the first runs of it and all that assign to what it reads. Values of tensors are not to be had within.
// Throws where calls draw random numbers.
struct Recorded {
  Recorded(const RecordedFunction& function, const std::vector<Tensor>& given,
           const FirstRuns& first);

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
