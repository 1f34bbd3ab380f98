// Which devices there are, whether they work here, and what they can do.

#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>
#include <weft/settings.h>
#include <weft/tensor.h>

#include "commands.h"
#include "input.h"
#include "json.h"
#include "recorded_call.h"

namespace weft::cli {
namespace {

struct Found {
  DeviceKind kind;
  std::string missing;       // why it does not compute; empty where it does
  Device* device = nullptr;  // null where it cannot even be opened
};

// A kernel is compiled and run, and what it gives is looked at.
void compute(const std::string& device) {
  const Context on_device{{"DEV", std::string_view(device)}};
  const Tensor two = Tensor::full({8}, 2.0F).contiguous().realize();
  const std::vector<float> results = (two * two + 1).to_vector<float>();
  if (results != std::vector<float>(8, 5.0F)) user_error("its kernels do not run");
}

Found look_at(const DeviceKind& kind) {
  Found found{kind, {}, nullptr};
  try {
    Device& device = find_device(kind.name);
    found.device = &device;
    if (device.runs_kernels())
      compute(kind.name);
    else
      found.missing = "it only stores tensors";
  } catch (const std::exception& error) {
    found.missing = error.what();
  }
  return found;
}

std::vector<std::string> types_of(const Target& target) {
  std::vector<std::string> types;
  for (int i = 0; i < kind_count; ++i)
    if (const auto kind = static_cast<Kind>(i); kind != Kind::Index && target.kinds.contains(kind))
      types.push_back(DType(kind).str());
  return types;
}

// Of the machine, for devices whose tensors lie in it.
double memory_bytes(const Found& found) {
  if (found.device == nullptr || !found.device->allocator().uses_addresses()) return 0;
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void print_text(const Found& found) {
  const bool works = found.missing.empty();
  fmt::print("{:<8} {}\n         {}{}\n", found.kind.name, found.kind.meaning,
             works ? "works" : "does not compute: ", found.missing);
  if (!works || !found.device->target().lowered) return;
  const Target target = found.device->target();
  fmt::print("         {}, vectors of {} bytes, {} of memory\n",
             count_text(static_cast<std::size_t>(target.workers), "thread"), target.vector_bytes,
             bytes_text(memory_bytes(found)));
  fmt::print("         computes in {}\n         compiles by {}\n",
             fmt::join(types_of(target), ", "), found.device->compiler_key());
  const std::vector<CacheLevel>& levels = target.machine.levels;
  for (std::size_t i = 0; i + 1 < levels.size(); ++i)
    fmt::print("         cache {}: {}{}\n", i + 1, bytes_text(levels[i].bytes),
               levels[i].is_shared ? ", which all share" : "");
  const Roof roof = roof_of(*found.device);
  if (roof.flops > 0)
    fmt::print("         at most {:.4g} GFLOP/s in f32, {:.4g} GB/s of memory\n", roof.flops / 1e9,
               roof.bandwidth / 1e9);
}

std::string json_of(const Found& found) {
  std::vector<std::string> types, caches;
  const Target target = found.device == nullptr ? Target() : found.device->target();
  for (const std::string& type : types_of(target)) types.push_back(json_text(type));
  const std::vector<CacheLevel>& levels = target.machine.levels;
  for (std::size_t i = 0; i + 1 < levels.size(); ++i)
    caches.push_back(json_object({{"bytes", json_number(levels[i].bytes)},
                                  {"shared", levels[i].is_shared ? "true" : "false"}}));
  return json_object(
      {{"name", json_text(found.kind.name)},
       {"meaning", json_text(found.kind.meaning)},
       {"works", found.missing.empty() ? "true" : "false"},
       {"missing", found.missing.empty() ? "null" : json_text(found.missing)},
       {"compiles", target.lowered ? "true" : "false"},
       {"threads", fmt::to_string(target.workers)},
       {"vector_bytes", fmt::to_string(target.vector_bytes)},
       {"compiler", found.device == nullptr ? "null" : json_text(found.device->compiler_key())},
       {"memory_bytes", json_number(memory_bytes(found))},
       {"types", json_list(types)},
       {"caches", json_list(caches)}});
}

}  // namespace

void run_devices(bool json) {
  std::vector<std::string> all;
  for (const DeviceKind& kind : device_kinds()) {
    const Found found = look_at(kind);
    all.push_back(json_of(found));
    if (!json) print_text(found);
  }
  if (json)
    fmt::print("{}\n", json_object({{"default", json_text(std::string(default_device()))},
                                    {"devices", json_list(all)}}));
  flush_output();
}

}  // namespace weft::cli
