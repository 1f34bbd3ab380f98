// Schedules by instructions that multiply matrices.
#pragma once

#include <optional>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/device/target.h>

namespace weft {

struct MmaSchedule {
  Schedule schedule;
  double seconds;
};

// Of a kernel with one sum, if that is of products which an instruction of the target computes; the
// fastest by the model.
std::optional<MmaSchedule> mma_schedule(const Node* kernel, const Target& target);

}  // namespace weft
