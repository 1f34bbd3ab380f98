// Descriptions of GPUs, by data sheets, architecture documents and published microbenchmarks.

#include <weft/dev/device/device_model.h>

#include <algorithm>

#include <fmt/format.h>
#include <weft/error.h>

namespace weft {
namespace {

constexpr double K = 1024, M = 1024 * K, G = 1e9;

struct Gpu {
  std::string_view name;
  double hertz;
  int units, lanes;      // multiprocessors, and work-items of a warp
  double multiply_adds;  // of warps, that start in a cycle of a multiprocessor
  int resident_items, resident_groups;
  double shared, shared_of_group;            // bytes
  double latency, launch;                    // cycles, seconds
  double cache, cache_bandwidth, bandwidth;  // of the last cache, and of memory
};

// clang-format off
constexpr Gpu gpus[] = {
    // name         Hz        units lanes fma   items groups shared   of a group latency launch   L2: bytes, bandwidth    memory
    {"h100",        1.755 * G, 132, 32,   4,    2048, 32,    228 * K, 227 * K,   560,    2.5e-6,  50 * M,   5500 * G,     3352 * G},
    {"h200",        1.755 * G, 132, 32,   4,    2048, 32,    228 * K, 227 * K,   560,    2.5e-6,  50 * M,   5500 * G,     4800 * G},
    {"a100",        1.41 * G,  108, 32,   2,    2048, 32,    164 * K, 163 * K,   470,    2.5e-6,  40 * M,   4000 * G,     1935 * G},
    {"rtx4090",     2.52 * G,  128, 32,   4,    1536, 24,    100 * K, 99 * K,    540,    2.5e-6,  72 * M,   5000 * G,     1008 * G},
    {"agx-orin",    1.3 * G,   16,  32,   4,    1536, 16,    164 * K, 163 * K,   480,    5e-6,    4 * M,    500 * G,      204.8 * G},
    {"orin-nx",     0.918 * G, 8,   32,   4,    1536, 16,    164 * K, 163 * K,   480,    5e-6,    4 * M,    200 * G,      102.4 * G},
    {"orin-nano",   0.625 * G, 8,   32,   4,    1536, 16,    164 * K, 163 * K,   480,    5e-6,    4 * M,    140 * G,      68 * G},
};
// clang-format on

DeviceModel model_of(const Gpu& gpu) {
  DeviceModel model{.name = std::string(gpu.name), .hertz = gpu.hertz};
  model.parallel = {{LoopKind::Global, gpu.units, 0, gpu.launch},
                    {LoopKind::Local, gpu.resident_items, 1024, 0}};
  model.memory = {{gpu.shared, 16, gpu.cache_bandwidth, true},
                  {gpu.cache, 16, gpu.bandwidth, true}};
  model.groups = {.lanes = gpu.lanes,
                  .resident_items = gpu.resident_items,
                  .resident_groups = gpu.resident_groups,
                  .registers = 65536,
                  .shared_bytes = gpu.shared,
                  .shared_of_group = gpu.shared_of_group,
                  .latency = gpu.latency};
  model.vector_bytes = 0;
  model.fma_ports = gpu.multiply_adds;
  model.issue = 4;
  model.line = model.groups.sector;
  return model;
}

}  // namespace

std::vector<std::string> known_models() {
  std::vector<std::string> names;
  for (const Gpu& gpu : gpus) names.emplace_back(gpu.name);
  return names;
}

DeviceModel find_model(std::string_view name) {
  const auto* found = std::ranges::find(gpus, name, &Gpu::name);
  if (found == std::end(gpus))
    user_error(fmt::format("there is no model of a device '{}'; there are {}", name,
                           fmt::join(known_models(), ", ")));
  return model_of(*found);
}

}  // namespace weft
