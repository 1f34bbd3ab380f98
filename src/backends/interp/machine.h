// Runs a kernel by its nodes: every value is computed where the graph says, every access is
// checked. What other devices compute is measured against this.
#pragma once

#include <weft/dev/device/device.h>

#include "nest.h"

namespace weft::interp {

class Machine {
 public:
  Machine(const Node* kernel, const Nests& nests);

  void run(const Signature& signature, std::span<const Argument> arguments,
           std::span<const std::int64_t> values);

 private:
  // Something with places, in row-major order.
  struct Storage {
    std::byte* bytes;
    std::vector<std::int64_t> sizes;
    std::vector<std::byte> own;  // of a BUFFER or STAGE
  };

  void run(const Nest& nest);
  void iterate(const Nest& nest);
  void execute(const Node* node);
  void compute(const Node* node);
  void reduce(const Node* node);
  void move_lanes(const Node* node);
  void load(const Node* node);
  void store(const Node* node);
  void fill_stage(const Node* stage);

  void bind(const Node* node);                               // a PARAM, BUFFER or STAGE
  std::byte* place_of(const Node* index, std::size_t lane);  // null where it is not valid

  Bits* values_of(const Node* node) { return &values_[*offset_.find(node)]; }
  Bits lane_of(const Node* node, std::size_t lane) {
    return values_of(node)[node->dtype().lanes() == 1 ? 0 : lane];
  }
  std::int64_t integer(const Node* node) { return static_cast<std::int64_t>(*values_of(node)); }

  const Node* kernel_;
  const Nests& nests_;
  NodeMap<std::uint32_t> offset_;   // in values_
  std::vector<Bits> values_;        // a lane each
  NodeMap<std::uint32_t> storage_;  // in storages_
  std::vector<Storage> storages_;
  std::span<const Argument> arguments_;
};

}  // namespace weft::interp
