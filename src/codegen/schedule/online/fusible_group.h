// The loops that ONLINE fuses: a maximum, the sums relative to it, and what fills the memory that
// these read.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include <weft/dev/ir/node.h>

namespace weft {

struct FusibleGroup {
  // Collects the sums over equally many iterations that depend on the maximum but not on one
  // another.
  explicit FusibleGroup(const Node* kernel, const Node* maximum);

  const Node* top;
  std::vector<const Node*> sums;
  std::vector<const Node*> filling;           // ENDs that refill memory over the same iterations
  std::map<const Node*, std::size_t> memory;  // that memory, and its dimension over them
  std::vector<const Node*> loops;             // over these iterations, one per nest
  std::vector<const Node*> around;            // loops that top and all sums depend on
  std::string_view refusal = {};              // why they cannot be fused; empty if they can

 private:
  void find_sums(const Node* kernel);
  void find_filled();
  const Node* filling_loop(const Node* index, const Node* loop);
};

}  // namespace weft
