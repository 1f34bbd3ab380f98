#include "host_machine.h"

#include <unistd.h>

#include <weft/dev/base/parallel.h>

namespace weft::cpu {
namespace {

double cache_bytes(int name, double otherwise) {
  const long bytes = sysconf(name);
  return bytes > 0 ? static_cast<double>(bytes) : otherwise;
}

}  // namespace

Machine host_machine(int vector_bytes) {
  Machine machine;
  machine.workers = thread_count();
  machine.vector_bytes = vector_bytes;
  machine.registers = vector_bytes >= 64 ? 32 : 16;
  machine.levels = {{cache_bytes(_SC_LEVEL1_DCACHE_SIZE, 32 << 10), 8, 120e9, false},
                    {cache_bytes(_SC_LEVEL2_CACHE_SIZE, 512 << 10), 8, 45e9, false},
                    {cache_bytes(_SC_LEVEL3_CACHE_SIZE, 8 << 20), 16, 20e9, true}};
  return machine;
}

}  // namespace weft::cpu
