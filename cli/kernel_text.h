// What there is to say of a kernel.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/cost/nest.h>
#include <weft/dev/device/device.h>

namespace weft::cli {

struct KernelText {
  std::string name;
  std::string loops, reads;  // by the names that actions have for them
  std::string schedule;
  std::optional<NestTime> model;  // the cost model's time for one nest, where that is all there is
  std::optional<double> seconds;  // and for any kernel
  std::string source;
};

// Compiled for the device by the schedule; without one by what the kernel asks for, else by the
// cost model's choice. The kernel is of any interner.
KernelText describe(const UOp& kernel, const std::string& schedule, Device& device);

// The same for a device of which there is only a description (`weft list models`): the source is
// the program in IR text.
KernelText describe_for_model(const UOp& kernel, const std::string& schedule,
                              std::string_view model);

}  // namespace weft::cli
