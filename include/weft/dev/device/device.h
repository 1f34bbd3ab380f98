// A device: memory, a compiler of kernels, and programs that run. A device outside the library
// implements these three and registers itself by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/dev/device/target.h>
#include <weft/dev/ir/uop.h>

namespace weft {

// Memory of the device. What a handle is, only the device knows; it is never null.
class Allocator {
 public:
  virtual ~Allocator() = default;

  // Aligned for every dtype and vector. Throws where there is not that much.
  virtual void* allocate(std::size_t bytes) = 0;
  // What stays as long as the program needs what it was made of: beside others like it.
  virtual void* allocate_lasting(std::size_t bytes) { return allocate(bytes); }
  virtual void release(void* memory, std::size_t bytes) = 0;

  virtual void copy_in(void* to, std::size_t offset, std::span<const std::byte> from) = 0;
  virtual void copy_out(std::span<std::byte> to, const void* from, std::size_t offset) = 0;

  // Whether handles are addresses that the program itself can reach.
  virtual bool uses_addresses() const = 0;
};

// One argument of a launch: a part of a buffer.
struct Argument {
  void* memory;
  std::size_t offset, bytes;
};

// A kernel that is loaded: any threads may run it, several at once.
class Program {
 public:
  virtual ~Program() = default;

  // Arguments by the slots of the kernel's PARAMs, values by the order of Signature::variables:
  // both of the kernel that was rendered.
  // Returns when what it wrote may be read by later calls to the same device.
  virtual void run(std::span<const Argument> arguments, std::span<const std::int64_t> values) = 0;
};

// The device of new tensors by name: what was assigned here last, for all threads, else what the
// setting DEV says, else the kind of device that the environment switches on (INTERP=1), else CPU. A
// Context that sets DEV goes first. Throws where the environment asks for a device that is not there.
class DefaultDevice {
 public:
  operator std::string() const;                     // NOLINT: reads as a name
  DefaultDevice& operator=(std::string_view name);  // "" goes back to the setting
};
std::string default_device();

// What a device computes with, for people.
struct Hardware {
  std::string name;                       // as its maker calls it
  int cores = 0;                          // 0: unknown
  std::vector<std::string> instructions;  // the sets of instructions that kernels use
};

// Memory of a device that tensors have, or wait for: what its allocator was asked for.
struct MemoryUse {
  std::size_t bytes = 0, peak = 0;  // now, and at most since the peak was forgotten
  std::size_t allocations = 0;      // so far
};

class Device {
 public:
  static DefaultDevice DEFAULT;

  virtual ~Device() = default;

  MemoryUse memory_use() const;
  void forget_peak();
  // Of the device's memory, counted.
  void* allocate(std::size_t bytes, bool is_lasting = false);
  void release(void* memory, std::size_t bytes);

  virtual std::string_view name() const = 0;  // as it is asked for: "CPU", "CPU:1", "CPU:LLVM:1"
  virtual Allocator& allocator() = 0;
  // By default kernels are taken as they were scheduled.
  virtual Target target() const { return {}; }
  virtual Hardware hardware() const { return {}; }

  // Where it does not, it only stores tensors: what is computed from them is computed elsewhere.
  virtual bool runs_kernels() const { return true; }
  // Whether children of the process (fork) can run programs too, on its memory as it was. There a search
  // first tries what may hang or crash.
  virtual bool runs_in_children() { return allocator().uses_addresses(); }

  // A kernel (a SINK), after the passes that target() asks for, as source, for people and for compile(). Throws for what it cannot express.
  // Several threads may ask at once, as for target().
  virtual std::string render(const Node* kernel) = 0;
  // Source to code. Depends on nothing but the source and compiler_key(), so that it can be cached.
  virtual std::string compile(std::string_view source) = 0;
  // The same of several, for devices that take less time for them together.
  virtual std::vector<std::string> compile_all(std::span<const std::string> sources) {
    std::vector<std::string> code;
    for (const std::string& source : sources) code.push_back(compile(source));
    return code;
  }
  virtual std::string compiler_key() const = 0;
  virtual std::unique_ptr<Program> load(std::string_view code) = 0;

 private:
  mutable std::mutex counting_;
  MemoryUse use_;
};

// What a kernel takes, read off its nodes: PARAMs by slot (null where a slot is not used), variables
// by their first place in the graph, and the SPECIALs that tell its workers apart.
struct Signature {
  std::vector<const Node*> params;
  std::vector<const Node*> variables;
  const Node* thread = nullptr;      // null where one does all
  std::vector<const Node*> workers;  // every SPECIAL: the axes of the launch grid

  std::int64_t threads() const { return thread == nullptr ? 1 : thread->src(0)->lo(); }
};
// A SPECIAL of the kind THREAD and axis 0, of a size that is a constant.
bool is_thread(const Node* node);
Signature signature_of(const Node* kernel);

// By name, opened when first asked for and kept for the life of the process. "CPU" is "CPU:0".
Device& find_device(std::string_view name);

// Those of "CPU,CPU:1", by which a tensor in parts is known; one of any other name.
std::vector<Device*> find_devices(std::string_view names);
bool are_several(std::string_view names);

struct DeviceKind {
  std::string name, meaning;
  bool has_numbers = true;  // else names, as in DISK:path
};
std::vector<DeviceKind> device_kinds();

// Opens number `index` of a kind of device, as in CPU:index. Throws where there is none.
using OpenDevice = std::function<std::unique_ptr<Device>(int index)>;
void add_device(std::string_view kind, std::string_view meaning, OpenDevice open);

// The same of a kind of several makes, as in CPU:LLVM:index; the make is "" where none is named.
using OpenDeviceOfMake = std::function<std::unique_ptr<Device>(std::string_view make, int index)>;
void add_device_of_makes(std::string_view kind, std::string_view meaning, OpenDeviceOfMake open);

// The same of devices that have names instead of numbers, as in DISK:path.
using OpenNamedDevice = std::function<std::unique_ptr<Device>(std::string_view name)>;
void add_named_device(std::string_view kind, std::string_view meaning, OpenNamedDevice open);

}  // namespace weft
