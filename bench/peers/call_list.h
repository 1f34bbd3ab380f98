// The kernels of a tensor, compiled once and launched again and again: what replaying a compiled
// function costs, without building or scheduling a graph.
#pragma once

#include <memory>
#include <vector>

#include <weft/dev/device/buffer.h>
#include <weft/tensor.h>

#include "../../src/engine/programs.h"

namespace weft::bench {

class CallList {
 public:
  // Schedules and compiles, with memory for all that is computed.
  explicit CallList(const Tensor& result);

  void run();
  std::vector<float> result() const;  // of the last kernel: the tensor's elements in memory
  std::vector<std::string> schedules() const;  // by which the kernels were compiled

 private:
  struct Call {
    std::shared_ptr<LoadedKernel> kernel;
    std::vector<Argument> arguments;
  };

  std::vector<ScheduleItem> items_;  // they hold the tensor's memory
  std::vector<std::shared_ptr<Buffer>> buffers_;
  std::vector<Call> calls_;
  std::shared_ptr<Buffer> last_;
};

}  // namespace weft::bench
