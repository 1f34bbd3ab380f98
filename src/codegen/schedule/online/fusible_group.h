// What goes through the iterations of a loop together: a maximum, sums relative to it, and the memory that both read.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include <weft/dev/ir/node.h>

namespace weft {

struct FusibleGroup {
  // All that depends on the maximum by sums over as many iterations; none of the sums needs another.
  explicit FusibleGroup(const Node* kernel, const Node* maximum);

  const Node* top;
  std::vector<const Node*> sums;
  std::vector<const Node*>
      filling;  // ENDs that fill memory in the same iterations, anew in each of those around
  std::map<const Node*, std::size_t> memory;  // that memory, and its dimension of so many elements
  std::vector<const Node*> loops;             // over these iterations, one of each
  std::vector<const Node*> around;  // loops that top and sums stand in, with what is filled
  std::string_view refusal = {};    // why they cannot; empty where they can

 private:
  void find_sums(const Node* kernel);
  void find_filled();
  const Node* filled_in(const Node* index, const Node* loop);
  void find_around();
  bool changes_with_around(const Node* ready) const;
};

}  // namespace weft
