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
  if (results != std::vector<float>(8, 5.0F)) user_error("nothing is computed");
}

Found look_at(const DeviceKind& kind) {
  Found found{kind, {}, nullptr};
  if (!kind.has_numbers) {
    found.missing = "it only stores tensors";
    return found;
  }
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

std::string binary_text(double bytes) {
  constexpr double kibi = 1024;
  return bytes < kibi * kibi ? fmt::format("{:.4g} KiB", bytes / kibi)
                             : fmt::format("{:.4g} MiB", bytes / kibi / kibi);
}

std::string caches_text(const std::vector<MemorySpace>& levels) {
  std::vector<std::string> texts;
  for (const MemorySpace& level : levels)
    texts.push_back(fmt::format("L{} {}{}", texts.size() + 1, binary_text(level.bytes),
                                level.is_shared ? " (shared)" : ""));
  return fmt::format("{}", fmt::join(texts, ", "));
}

// "AMD EPYC (znver3), 2 cores, 2 threads; AVX2, FMA; vectors of 32 bytes"
std::string processor_text(const Hardware& hardware, const Target& target) {
  std::vector<std::string> parts;
  if (!hardware.name.empty()) parts.push_back(hardware.name);
  if (hardware.cores > 0)
    parts.push_back(count_text(static_cast<std::size_t>(hardware.cores), "core"));
  parts.push_back(count_text(static_cast<std::size_t>(target.workers), "thread"));
  std::string text = fmt::format("{}", fmt::join(parts, ", "));
  if (!hardware.instructions.empty())
    text += fmt::format("; {}", fmt::join(hardware.instructions, ", "));
  return text + fmt::format("; vectors of {} bytes", target.vector_bytes);
}

void print_text(const Found& found, bool is_default) {
  const bool works = found.missing.empty();
  fmt::print("{:<8} {}\n         {}{}{}\n", found.kind.name, found.kind.meaning,
             works ? "works" : "runs no kernels: ", found.missing, is_default ? ", default" : "");
  if (!works || !found.device->target().lowered) return;
  const Target target = found.device->target();
  fmt::print("         {}\n         caches {}; memory {}\n",
             processor_text(found.device->hardware(), target), caches_text(target.machine.memory),
             bytes_text(memory_bytes(found)));
  const Roof roof = roof_of(*found.device);
  if (roof.flops > 0)
    fmt::print("         at most {:.4g} GFLOP/s in f32, {:.4g} GB/s of memory\n", roof.flops / 1e9,
               roof.bandwidth / 1e9);
  fmt::print("         computes in {}\n", fmt::join(types_of(target), ", "));
}

std::vector<std::string> json_texts(const std::vector<std::string>& texts) {
  std::vector<std::string> all;
  for (const std::string& text : texts) all.push_back(json_text(text));
  return all;
}

std::string json_of(const Found& found) {
  const bool works = found.missing.empty();
  const Target target = found.device == nullptr ? Target() : found.device->target();
  const Hardware hardware = works ? found.device->hardware() : Hardware();
  std::vector<std::string> caches;
  for (const MemorySpace& level : target.machine.memory)
    caches.push_back(json_object(
        {{"bytes", json_number(level.bytes)}, {"shared", level.is_shared ? "true" : "false"}}));
  return json_object({{"name", json_text(found.kind.name)},
                      {"meaning", json_text(found.kind.meaning)},
                      {"works", works ? "true" : "false"},
                      {"missing", works ? "null" : json_text(found.missing)},
                      {"compiles", target.lowered ? "true" : "false"},
                      {"processor", hardware.name.empty() ? "null" : json_text(hardware.name)},
                      {"cores", hardware.cores > 0 ? fmt::to_string(hardware.cores) : "null"},
                      {"threads", fmt::to_string(target.workers)},
                      {"instructions", json_list(json_texts(hardware.instructions))},
                      {"vector_bytes", fmt::to_string(target.vector_bytes)},
                      {"compiler", works ? json_text(found.device->compiler_key()) : "null"},
                      {"memory_bytes", json_number(memory_bytes(found))},
                      {"types", json_list(json_texts(types_of(target)))},
                      {"caches", json_list(caches)}});
}

}  // namespace

void run_devices(bool json) {
  const std::string chosen = default_device();
  std::vector<std::string> all;
  for (const DeviceKind& kind : device_kinds()) {
    const Found found = look_at(kind);
    if (json)
      all.push_back(json_of(found));
    else
      print_text(found, kind.name == chosen.substr(0, chosen.find(':')));
  }
  if (json)
    fmt::print("{}\n", json_object({{"default", json_text(chosen)}, {"devices", json_list(all)}}));
  flush_output();
}

}  // namespace weft::cli
