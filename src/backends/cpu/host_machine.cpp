#include "host_machine.h"

#include <fstream>
#include <string>

#include <weft/dev/base/parallel.h>

namespace weft::cpu {
namespace {

// What the kernel says of the caches of the first core. The C library adds up those of all sockets.
class Caches {
 public:
  // A cache of this level for data; as it was given where none is known.
  static MemorySpace at(int level, MemorySpace otherwise) {
    for (int index = 0;; ++index) {
      const std::string folder =
          "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
      const std::string found = text(folder + "level");
      if (found.empty()) return otherwise;
      if (found != std::to_string(level) || text(folder + "type") == "Instruction") continue;
      if (const double size = bytes(text(folder + "size")); size > 0) otherwise.bytes = size;
      if (const double ways = bytes(text(folder + "ways_of_associativity")); ways > 0)
        otherwise.ways = ways;
      return otherwise;
    }
  }

 private:
  static std::string text(const std::string& file) {
    std::string word;
    std::ifstream(file) >> word;
    return word;
  }

  // "32K", "2M", "16"; 0 for what is no number.
  static double bytes(const std::string& size) {
    double number = 0;
    std::size_t at = 0;
    for (; at < size.size() && size[at] >= '0' && size[at] <= '9'; ++at)
      number = number * 10 + (size[at] - '0');
    if (at < size.size() && size[at] == 'K') number *= 1024;
    if (at < size.size() && size[at] == 'M') number *= 1024 * 1024;
    return number;
  }
};

}  // namespace

DeviceModel host_machine(int vector_bytes) {
  DeviceModel machine;
  machine.set_workers(thread_count());
  machine.vector_bytes = vector_bytes;
  machine.registers = vector_bytes >= 64 ? 32 : 16;
  static const std::vector<MemorySpace> levels{Caches::at(1, {32 << 10, 8, 120e9, false}),
                                               Caches::at(2, {512 << 10, 8, 45e9, false}),
                                               Caches::at(3, {8 << 20, 16, 20e9, true})};
  machine.memory = levels;
  return machine;
}

}  // namespace weft::cpu
