#include "known_ports.h"

#include <algorithm>

namespace weft::cpu {
namespace {

// Where models of one name differ, or cores of one model, they are left to be measured: those with one or two units for 64 bytes,
// and those with small cores beside large ones.
struct Ports {
  std::string_view model;
  int vector_bytes;
  double fma_ports, fma_latency, load_ports, halves;
};
constexpr Ports known[] = {
    {"haswell", 32, 2, 5, 2, 1}, {"broadwell", 32, 2, 5, 2, 1}, {"skylake", 32, 2, 4, 2, 1},
    {"znver1", 32, 1, 5, 1, 2},  {"znver2", 32, 2, 5, 2, 1},    {"znver3", 32, 2, 4, 2, 1},
    {"znver4", 32, 2, 4, 2, 1},  {"znver4", 64, 1, 4, 1, 2},    {"znver5", 32, 2, 4, 2, 1},
};

}  // namespace

bool set_known_ports(std::string_view model, DeviceModel& machine) {
  const auto* found = std::ranges::find_if(known, [&](const Ports& ports) {
    return ports.model == model && ports.vector_bytes == machine.vector_bytes;
  });
  if (found == std::end(known)) return false;
  machine.fma_ports = found->fma_ports;
  machine.fma_latency = found->fma_latency;
  machine.load_ports = found->load_ports;
  machine.halves = found->halves;
  return true;
}

}  // namespace weft::cpu
