// How a nest is divided among work-groups and work-items.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/cost/nest.h>

namespace weft {

constexpr std::size_t most_grid_axes = 3;

// A part of an output loop that one work-group computes: `items` work-items beside each other, each
// with `each` iterations.
struct GroupAxis {
  int loop = -1;
  std::int64_t items = 1, each = 1;
  std::int64_t count() const { return items * each; }
};

struct GroupTile {
  GroupAxis lanes = {}, rows = {};  // neighbouring work-items go along the loop of `lanes`
  std::int64_t sum_items = 1;       // work-items that share the first reduction
  std::int64_t block = 0;         // iterations of the first reduction inside its outer loop; 0: all
  std::vector<bool> staged = {};  // by access: in shared memory, once per block
  std::vector<bool> by_region = {};
  std::int64_t buffers = 1;  // of each that is staged: fills go on while others are used
  double seconds = 0;
  std::size_t number = 0;  // in the order of the trials

  std::int64_t items() const { return lanes.items * rows.items * sum_items; }
};

// Whether they are legal for the kernel shows when they are applied.
Schedule actions_of(const Nest& nest, const GroupTile& tile);

}  // namespace weft
