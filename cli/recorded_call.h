// A call, kernel by kernel.
#pragma once

#include <any>
#include <functional>
#include <string>
#include <vector>

#include <weft/dev/cost/work.h>
#include <weft/dev/device/device.h>
#include <weft/dev/engine/call_list.h>

#include "times.h"

namespace weft::cli {

// A kernel, or copies of one size, with all its runs in a call.
struct CallKernel {
  std::string key;  // the same for the same kernel of another call
  std::string name, device;
  UOp kernel;                      // null for copies; it lives as long as the call
  std::vector<std::size_t> calls;  // which of the call list
  std::vector<std::string> nodes;  // of the model, that they compute, where these were noted
  Work work = {};                  // of all of them
  double ms = 0;                   // the median of the times of all of them
  std::vector<double> samples = {};

  // Its nodes behind a comma, for people: not all of many.
  std::string nodes_text() const;
  std::string nodes_json() const;
};

class RecordedCall {
 public:
  // Runs the function by its graph, and holds what it gives: what runs again, runs on this memory.
  explicit RecordedCall(const std::function<std::any()>& function);
  RecordedCall(const RecordedCall&) = delete;
  RecordedCall& operator=(const RecordedCall&) = delete;

  std::size_t size() const { return list_.size(); }
  const std::vector<CallKernel>& kernels() const { return kernels_; }
  Work work() const;

  double replay();  // all kernels, one after the other: milliseconds
  // The same so often, and once more before. From then on the kernels have times, and the longest come first.
  void time_kernels(int runs);
  void forget_times();

 private:
  CallList list_;
  std::any results_;
  std::vector<CallKernel> kernels_;
};

// What a device does at most in a second, by its measured speeds: multiply-adds of f32 by all workers, and
// bytes of memory. 0 where nobody knows.
struct Roof {
  double flops = 0, bandwidth = 0;

  double ms(const Work& work) const;  // at least
};
Roof roof_of(const Device& device);

}  // namespace weft::cli
