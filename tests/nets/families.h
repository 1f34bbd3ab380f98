// Families of steps: each draws one, or throws Invalid where nothing fits.
#pragma once

#include "draft.h"

namespace nets {

inline std::int64_t size_along(const Array& x, std::int64_t axis) {
  return x.shape[at(axis_in(axis, x.rank()))];
}

struct Family {
  int weight;
  void (*draw)(Draft& draft);
  bool is_smooth;  // has gradients, almost everywhere
  bool is_write = false;
};
const std::vector<Family>& families();

std::vector<Family> elementwise_families();
std::vector<Family> movement_families();
std::vector<Family> reduction_families();
std::vector<Family> indexing_families();
std::vector<Family> function_families();
std::vector<Family> shape_families();
std::vector<Family> statistics_families();
std::vector<Family> place_families();
std::vector<Family> network_families();
std::vector<Family> recurrence_families();

// What asks for values in the middle of a program, and in the end for all that is left: together, one by one, or in groups.
void draw_request(Draft& draft);
void draw_outputs(Draft& draft);

}  // namespace nets
