// The speed of this processor, measured once and then known.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <weft/dev/device/disk_cache.h>
#include <weft/dev/device/machine.h>

namespace weft::cpu {

// LLVM IR to an object file, for this processor or one that has less.
using CompileLoops = std::function<std::string(const std::string& source)>;

// What is assumed of the machine, but for its speeds: those that short loops of vectors reach here.
Machine measured(const Machine& assumed, bool has_fma, const CompileLoops& compile);

// The speeds as far as they are believed: what the model is tuned with holds for machines that are not
// too far from what is assumed, and who knows what else ran beside.
Machine believed(Machine measured, const Machine& assumed);

// Speeds as text, with two digits: measured again, they are mostly the same.
std::string speeds_of(const Machine& machine);
std::optional<Machine> with_speeds(Machine assumed, std::string_view text);

// With the speeds that the cache has under this key, else with those that are measured now, and kept.
// Where nothing can be kept, nothing is measured.
Machine calibrated(const DiskCache& cache, std::string_view key, const Machine& assumed,
                   const std::function<Machine()>& measure);

}  // namespace weft::cpu
