// Training steps as cases: forward, backward, and the update of all weights.
#pragma once

#include <memory>

#include "work.h"

namespace weft::bench {

// The model that the case names, with weights by hashes. The result is the loss of the first step.
std::unique_ptr<Work> training(const nlohmann::json& one);

}  // namespace weft::bench
