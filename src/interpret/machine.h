// One worker of a kernel, with registers and memory of its own.
#pragma once

#include <weft/dev/device/device.h>

#include "steps.h"

namespace weft::interp {

// What the items of a work-group have together: the bytes of each shared BUFFER, by its storage.
using SharedMemory = std::vector<std::vector<std::byte>>;

// What the workers of a launch have together.
struct Launch {
  SharedMemory shared;
  std::int64_t steps_left;
};

struct OutOfSteps {};  // thrown when steps_left runs out

class Machine {
 public:
  Machine(const Steps& steps, std::span<const Argument> arguments, Launch& launch);

  // Of VARIABLEs and SPECIALs.
  void set(const Node* leaf, std::int64_t value) { *values_of(leaf) = static_cast<Bits>(value); }
  void set(NodeList leaves, std::span<const std::int64_t> values) {
    for (std::size_t i = 0; i < leaves.size(); ++i) set(leaves[i], values[i]);
  }

  void begin() { next_ = 0; }
  // Goes on to the next barrier and returns it; null at the end of the kernel.
  const Node* run();

 private:
  // Something with places, in row-major order.
  struct Storage {
    std::byte* bytes;
    std::vector<std::int64_t> sizes;
    std::vector<std::byte> own;  // of a BUFFER or STAGE
  };

  bool open(const Step& step);   // false where a loop has no iterations
  bool close(const Step& step);  // true where another iteration follows
  void execute(const Node* node);
  void compute(const Node* node);
  long double exponent_of(const Node* power, std::size_t lane);
  void reduce(const Node* node);
  void move_lanes(const Node* node);
  void load(const Node* node);
  void store(const Node* node);
  void fill_stage(const Node* stage);

  void bind(const Node* node);  // a PARAM, BUFFER or STAGE
  std::byte* memory_for(const Node* node, std::size_t bytes);
  std::byte* place_of(const Node* index, std::size_t lane);  // null where it is not valid

  Bits* values_of(const Node* node) { return &values_[steps_->value_of(node)]; }
  Bits lane_of(const Node* node, std::size_t lane) {
    return values_of(node)[node->dtype().lanes() == 1 ? 0 : lane];
  }
  std::int64_t integer(const Node* node) { return static_cast<std::int64_t>(*values_of(node)); }
  Storage& storage_at(const Node* node) { return storages_[steps_->storage_of(node)]; }

  const Steps* steps_;
  std::span<const Argument> arguments_;
  Launch* launch_;
  std::vector<Bits> values_;  // a lane each
  std::vector<Storage> storages_;
  std::size_t next_ = 0;  // step
};

}  // namespace weft::interp
