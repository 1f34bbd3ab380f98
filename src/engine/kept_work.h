// What a process has found out on the way to its kernels, on disk: the next of the same build, on the same processor and
// with the same settings, need not lower and choose again.
#pragma once

#include <optional>
#include <string>

#include "programs.h"

namespace weft {

// Whether all that is found out may be taken from the disk: not where somebody wants to see or check it made, or where the
// program has rules of its own, whose names alone are known.
bool may_keep_work(const ExtraRuleList& extra);

// Compiled kernels, without their sources.
std::optional<Rendered> known_compiled(const std::string& key);
void keep_compiled(const std::string& key, const Rendered& rendered);

// Plans, but for the origins of their steps.
std::optional<Plan> known_plan(const std::string& key);
void keep_plan(const std::string& key, const Plan& plan);

}  // namespace weft
