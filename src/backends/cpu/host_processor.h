// This processor in LLVM's words, without loading LLVM to hear them again.
#pragma once

#include <functional>
#include <string>

#include <weft/dev/device/disk_cache.h>
#include <weft/dev/llvm/llvm.h>

namespace weft::cpu {

// All that LLVM's words follow from: what the processor and the system say of themselves. Empty where it
// is not known what LLVM goes by.
std::string processor_identity();

// As the cache has it for this identity, else as LLVM says, and kept.
LlvmProcessor described(const DiskCache& cache, const std::string& identity,
                        const std::function<LlvmProcessor()>& ask);

// This one. Found by the first who asks.
const LlvmProcessor& host_processor();

}  // namespace weft::cpu
