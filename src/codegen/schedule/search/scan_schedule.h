#pragma once

#include <optional>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/device/target.h>
#include <weft/dev/ir/node.h>

namespace weft {

struct ScanSchedule {
  Schedule schedule;
  std::optional<double>
      seconds;  // nothing where part of the kernel is of a form that the model does not know
};

// For a kernel with scans (rules/scan.h), whose loops carry them; nothing for others.
std::optional<ScanSchedule> scan_schedule(const Node* kernel, const Target& target);

}  // namespace weft
