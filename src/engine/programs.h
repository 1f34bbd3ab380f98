// Kernels to programs: compiled once for each device and structure.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <weft/dev/compile/extra_rules.h>
#include <weft/dev/device/buffer.h>
#include <weft/dev/device/device.h>
#include <weft/dev/schedule/plan.h>

namespace weft {

// What a kernel reads of a constant in an order of its own: made by another program, once for each constant.
struct Kept {
  std::size_t constant,
      argument;  // where the program that makes it finds the one and writes the other
  std::size_t bytes;
  std::string source, name;
  std::string code = {};                  // of the source, until it is loaded
  std::unique_ptr<Program> program = {};  // null: zeros will do
};

struct LoadedKernel {
  std::unique_ptr<Program> program;
  // What the program takes as its values: places in the list of the kernel's own variables.
  std::vector<std::size_t> variables;
  std::vector<Kept> kept = {};
  std::vector<bool> is_read = {};  // by param of the kernel: by the program itself
  // Held while what it keeps of memory that changes is made and read.
  std::recursive_mutex keeping = {};
};

// What it makes of the constant.
std::shared_ptr<Buffer> kept_memory(const Kept& kept, Buffer& constant);

// What the program takes as its memory, by what the kernel's own params are given.
std::vector<Argument> arguments_for(const LoadedKernel& loaded, std::span<Buffer* const> memory);

// Runs it. Several threads may, each with memory of its own; they wait for each other only where the kernel reads what it has
// made of memory that is no constant.
void run(LoadedKernel& loaded, std::span<Buffer* const> memory,
         std::span<const std::int64_t> values);

// What compiling depends on besides the kernel: the device, the settings in force, extra rules.
std::string compilation_key(Device& device, const ExtraRuleList& extra);

// The kernel's source for a device by a schedule ("": its own), and what the program takes as its
// values.
struct Rendered {
  std::string source, code = {};       // once that is compiled
  std::vector<std::size_t> variables;  // places in the list of the kernel's own variables
  std::vector<Kept> kept;              // without programs
  std::vector<bool> is_read;           // by param of the kernel: by the program itself
};
Rendered render_kernel(const UOp& kernel, const std::string& schedule, Device& device,
                       const std::shared_ptr<const ExtraRuleList>& extra);

// What a kernel makes of a constant, when somebody reads it: the same as long as the constant is one.
std::shared_ptr<Buffer> made_once(const std::shared_ptr<LoadedKernel>& loaded, const UOp& kernel,
                                  std::size_t bytes, const std::shared_ptr<Buffer>& constant);

// The kernel as one whose constants come from memory, or do not.
UOp with_constants(const UOp& kernel, bool are_far);

// The kernel as one of a program that reads so many bytes of constants in a call: it says whether they come from memory.
UOp among_constants(const UOp& kernel, Device& device, std::size_t bytes);

// What the cost model of a kernel's device says of it, among others that read so many bytes of constants.
KernelSeconds expected_seconds(const std::shared_ptr<const ExtraRuleList>& extra,
                               std::size_t constant_bytes);

// The schedule that the model chose for the kernel when it was asked for its time; "" if it was not.
std::string chosen_schedule(const UOp& kernel, Device& device, const ExtraRuleList& extra);

struct KernelFor {
  UOp kernel;
  Device* device;
};

// The program of a kernel as nodes, to be rendered in another language. They are gone after `use`.
void lower_again(const KernelFor& wanted, const std::shared_ptr<const ExtraRuleList>& extra,
                 const std::function<void(const Node*)>& use);

// A program for each kernel, by the schedule that is kept for it (BEAM). All that are not loaded yet
// are compiled at once; the last `most_programs` that were asked for stay loaded, and whatever is held.
constexpr std::size_t most_programs = 4096;
std::vector<std::shared_ptr<LoadedKernel>> load_kernels(
    std::span<const KernelFor> kernels, const std::shared_ptr<const ExtraRuleList>& extra);

}  // namespace weft
