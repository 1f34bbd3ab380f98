#include "machines.h"

#include <algorithm>

#include <fmt/format.h>
#include <weft/error.h>

namespace weft::exported {
namespace {

constexpr double K = 1024, M = 1024 * K, G = 1e9;

struct Known {
  std::string_view name;
  double hertz;
  int workers, vector_bytes, registers;
  double fma_ports, fma_latency, load_ports, halves, issue, line;
  MemorySpace caches[3];  // the third may be none
};

// Caches as data sheets and optimisation guides have them, with what one core gets from behind them. What has no model is what
// many have; registers without vectors count as so many vectors as they hold.
// clang-format off
constexpr Known machines[] = {
    // name          Hz    cores bytes regs ports latency loads halves issue line  L1: bytes ways bandwidth  L2                            L3, by all
    {"x86-64-v2",    3.0 * G,  4,  16,  16,  1,    4,      1,    1,     4,    64,  {{32 * K,  8, 60 * G},   {256 * K, 8, 30 * G},         {8 * M, 16, 20 * G, true}}},
    {"x86-64-v3",    3.2 * G,  4,  32,  16,  2,    4,      2,    1,     4,    64,  {{32 * K,  8, 120 * G},  {512 * K, 8, 45 * G},         {8 * M, 16, 20 * G, true}}},
    {"x86-64-v4",    3.2 * G,  4,  64,  32,  1,    4,      1,    2,     5,    64,  {{32 * K,  8, 120 * G},  {1 * M,   8, 45 * G},         {16 * M, 16, 30 * G, true}}},
    {"any",          2.0 * G,  4,  16,  16,  1,    4,      1,    1,     3,    64,  {{32 * K,  4, 30 * G},   {512 * K, 8, 15 * G},         {2 * M, 16, 8 * G, true}}},
    {"aarch64",      2.0 * G,  4,  16,  32,  2,    4,      2,    1,     4,    64,  {{32 * K,  4, 40 * G},   {512 * K, 8, 20 * G},         {2 * M, 16, 12 * G, true}}},
    {"cortex-a53",   1.4 * G,  4,  16,  32,  1,    8,      0.5,  2,     2,    64,  {{32 * K,  4, 8 * G},    {512 * K, 16, 3 * G, true},   {}}},
    {"cortex-a72",   1.5 * G,  4,  16,  32,  1,    7,      1,    2,     3,    64,  {{32 * K,  2, 20 * G},   {1 * M,  16, 5 * G, true},    {}}},
    {"cortex-a76",   2.4 * G,  4,  16,  32,  2,    4,      2,    1,     4,    64,  {{64 * K,  4, 60 * G},   {512 * K, 8, 25 * G},         {2 * M, 16, 12 * G, true}}},
    {"cortex-a78ae", 2.2 * G,  8,  16,  32,  2,    4,      2,    1,     5,    64,  {{64 * K,  4, 60 * G},   {256 * K, 8, 25 * G},         {2 * M, 16, 40 * G, true}}},
    {"neoverse-n1",  2.6 * G,  4,  16,  32,  2,    4,      2,    1,     4,    64,  {{64 * K,  4, 65 * G},   {1 * M,   8, 30 * G},         {32 * M, 16, 60 * G, true}}},
    {"neoverse-v1",  2.6 * G,  4,  16,  32,  4,    4,      3,    1,     6,    64,  {{64 * K,  4, 80 * G},   {1 * M,   8, 35 * G},         {32 * M, 16, 80 * G, true}}},
    {"apple-m1",     3.2 * G,  4,  16,  32,  4,    4,      3,    1,     6,    128, {{128 * K, 8, 100 * G},  {12 * M, 12, 60 * G, true},   {}}},
    {"riscv64",      1.5 * G,  4,  16,  8,   0.25, 5,      0.25, 2,     2,    64,  {{32 * K,  8, 8 * G},    {2 * M,  16, 4 * G, true},    {}}},
    {"riscv64,v",    1.6 * G,  4,  16,  32,  1,    5,      1,    1,     2,    64,  {{32 * K,  4, 15 * G},   {512 * K, 16, 6 * G, true},   {}}},
};
// clang-format on

}  // namespace

DeviceModel machine_named(std::string_view name) {
  const auto* known = std::ranges::find(machines, name, &Known::name);
  if (known == std::end(machines)) internal_error(fmt::format("no machine '{}' is known", name));
  DeviceModel machine;
  machine.hertz = known->hertz;
  machine.set_workers(known->workers);
  machine.vector_bytes = known->vector_bytes;
  machine.registers = known->registers;
  machine.fma_ports = known->fma_ports;
  machine.fma_latency = known->fma_latency;
  machine.load_ports = known->load_ports;
  machine.halves = known->halves;
  machine.issue = known->issue;
  machine.line = known->line;
  for (const MemorySpace& cache : known->caches)
    if (cache.bytes > 0) machine.memory.push_back(cache);
  return machine;
}

}  // namespace weft::exported
