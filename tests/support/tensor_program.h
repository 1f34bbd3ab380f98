// A random tensor program with inputs, and what it computes: each tensor for itself.
#pragma once

#include <random>

#include <weft/dev/device/device.h>
#include <weft/dev/ir/text.h>

#include "arrays.h"
#include "random_tensors.h"

namespace weft {

// Of any one node.
inline std::int64_t most_evaluations(const Node* kernel) {
  std::int64_t most = 1;
  for (const Node* node : toposort(kernel)) {
    std::int64_t iterations = 1;
    for (const Node* range : node->ranges())
      iterations *= std::max<std::int64_t>(range->src(0)->hi(), 1);
    most = std::max(most, iterations);
  }
  return most;
}

class TensorProgram {
 public:
  // With new axes up to the largest.
  explicit TensorProgram(std::uint64_t seed, std::int64_t largest = 5) : tensors_(seed, largest) {
    value_ = tensors_.program(5 + static_cast<int>(seed % (largest > 5 ? 12 : 60)));
    const std::vector<const Node*> dims(value_->dims().begin(), value_->dims().end());
    out_ = make(Op::Param, std::vector<UOp>(dims.begin(), dims.end()), dtype(),
                ParamArg{0, Access::Write, 0});
    std::mt19937_64 random(seed);
    Eager eager;
    memory_.resize(1);
    for (const UOp& input : tensors_.inputs()) {
      const Array array = random_array(input, random);
      memory_.push_back(stored(array, input->dtype()));
      eager.set(input, array);
    }
    expected_ = eager(value_.node()).values;
  }

  const UOp& value() const { return value_; }
  const UOp& out() const { return out_; }
  DType dtype() const { return value_->dtype(); }
  const std::vector<Bits>& expected() const { return expected_; }
  std::string text() const { return print_graph("program", {{value_.node()}}); }

  // What the kernel, as the device renders it, makes of the inputs.
  std::vector<Bits> run(Device& device, const Node* kernel) {
    memory_[0].assign(expected_.size() * dtype().bytes() + 1, std::byte{0x5a});
    std::vector<Argument> arguments;
    for (auto& bytes : memory_) arguments.push_back({bytes.data(), 0, bytes.size()});
    device.load(device.compile(device.render(kernel)))->run(arguments, {});
    return loaded(memory_[0], expected_.size(), dtype());
  }

 private:
  RandomTensors tensors_;
  UOp value_, out_;
  std::vector<std::vector<std::byte>> memory_;
  std::vector<Bits> expected_;
};

}  // namespace weft
