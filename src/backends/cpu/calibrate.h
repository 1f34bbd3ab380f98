// The speed of this processor, measured once and then known.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <weft/dev/device/device_model.h>
#include <weft/dev/device/disk_cache.h>

namespace weft::cpu {

// LLVM IR to an object file, for this processor or one that has less.
using CompileLoops = std::function<std::string(const std::string& source)>;

// What is assumed of the machine, but for its speeds: those that short loops of vectors reach here.
DeviceModel measured(const DeviceModel& assumed, bool has_fma, const CompileLoops& compile);

// The speeds as far as they are believed: what the model is tuned with holds for machines that are not
// too far from what is assumed, and who knows what else ran beside.
DeviceModel believed(DeviceModel measured, DeviceModel assumed);

// Speeds as text, with two digits: measured again, they are mostly the same.
std::string speeds_of(DeviceModel machine);
std::optional<DeviceModel> with_speeds(DeviceModel assumed, std::string_view text);

// With the speeds that the cache has under this key, else with those that are measured now, and kept.
// Where nothing can be kept, nothing is measured.
DeviceModel calibrated(const DiskCache& cache, std::string_view key, const DeviceModel& assumed,
                       const std::function<DeviceModel()>& measure);

}  // namespace weft::cpu
