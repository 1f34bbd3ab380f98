#pragma once

#include <optional>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/device/target.h>
#include <weft/dev/ir/node.h>

namespace weft {

// For a kernel with scans (rules/scan.h), whose loops carry them; nothing for others.
std::optional<Schedule> scan_schedule(const Node* kernel, const Target& target);

}  // namespace weft
