// The plainest reading of a kernel: every value is computed where the graph says, every access is checked. What devices
// compute, and what passes make of a kernel, is measured against it.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include <weft/dev/device/device.h>
#include <weft/dev/ir/uop.h>

namespace weft {

// A node that the interpreter has no reading for; null where it runs the kernel.
const Node* not_interpreted(const Node* kernel);

class Interpreter {
 public:
  explicit Interpreter(const Node* kernel);  // which has to outlive it
  Interpreter(Interpreter&&) noexcept;
  ~Interpreter();

  // As Program::run. False if it takes more than `most` steps; the output is then incomplete.
  bool run(std::span<const Argument> arguments, std::span<const std::int64_t> values,
           std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

}  // namespace weft
