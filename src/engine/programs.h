// Kernels to programs: compiled once for each device and structure.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <weft/dev/compile/extra_rules.h>
#include <weft/dev/device/device.h>

namespace weft {

struct LoadedKernel {
  std::unique_ptr<Program> program;
  // What the program takes as its values: places in the list of the kernel's own variables.
  std::vector<std::size_t> variables;
  std::mutex running;  // a program runs for one thread at a time
};

// What compiling depends on besides the kernel: the device, the settings in force, extra rules.
std::string compilation_key(Device& device, const ExtraRuleList& extra);

// The kernel's source for a device by a schedule ("": its own), and what the program takes as its
// values.
struct Rendered {
  std::string source;
  std::vector<std::size_t> variables;  // places in the list of the kernel's own variables
};
Rendered render_kernel(const UOp& kernel, const std::string& schedule, Device& device,
                       const std::shared_ptr<const ExtraRuleList>& extra);

struct KernelFor {
  UOp kernel;
  Device* device;
};

// A program for each kernel, by the schedule that is kept for it (BEAM). All that are not loaded yet
// are compiled at once; the last `most_programs` that were asked for stay loaded, and whatever is held.
constexpr std::size_t most_programs = 4096;
std::vector<std::shared_ptr<LoadedKernel>> load_kernels(
    std::span<const KernelFor> kernels, const std::shared_ptr<const ExtraRuleList>& extra);

}  // namespace weft
