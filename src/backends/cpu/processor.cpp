#include "processor.h"

#include <array>

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace weft::cpu {
namespace {

#if defined(__x86_64__)
#define WEFT_HAS(feature) (__builtin_cpu_supports(feature) != 0)
constexpr bool is_x86 = true;
#else
#define WEFT_HAS(feature) false
constexpr bool is_x86 = false;
#endif
#if defined(__aarch64__)
constexpr bool is_arm = true;
#else
constexpr bool is_arm = false;
#endif

#if defined(__x86_64__) && defined(__linux__)
// Registers that large a program has to ask the system for, once and for all of its threads.
bool has_tiles() {
  constexpr long request = 0x1023, tiles = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return WEFT_HAS("amx-bf16") && WEFT_HAS("amx-int8") &&
         syscall(SYS_arch_prctl, request, tiles) == 0;
}
#else
bool has_tiles() { return false; }
#endif

std::array<Processor, 7> all_processors() {
  const bool tiles = has_tiles();
  const int native_bytes = WEFT_HAS("avx512f") ? 64 : WEFT_HAS("avx2") ? 32 : 16;
  constexpr std::string_view x86 = "x86_64-unknown-linux-gnu", arm = "aarch64-unknown-linux-gnu",
                             riscv = "riscv64-unknown-linux-gnu";
  // clang-format off
  return {{
      // name            triple model             features           bytes         FMA                        halves                      tiles  runs here               like this
      {"native",         "",    "",               "",                native_bytes, is_arm || WEFT_HAS("fma"), is_arm || WEFT_HAS("f16c"), tiles, true,                   true},
      {"x86-64-v2",      x86,   "x86-64-v2",      "",                16,           false,                     false,                      false, WEFT_HAS("x86-64-v2"),  is_x86},
      {"x86-64-v3",      x86,   "x86-64-v3",      "",                32,           true,                      true,                       false, WEFT_HAS("x86-64-v3"),  is_x86},
      {"x86-64-v4",      x86,   "x86-64-v4",      "",                64,           true,                      true,                       false, WEFT_HAS("x86-64-v4"),  is_x86},
      {"sapphirerapids", x86,   "sapphirerapids", "",                64,           true,                      true,                       true,  tiles && WEFT_HAS("avx512fp16"), is_x86},
      {"aarch64",        arm,   "generic",        "",                16,           true,                      true,                       false, is_arm,                 is_arm},
      // What Linux distributions are made for: libraries are compiled for it, no code is loaded. It has no vectors:
      // LLVM makes scalars of ours.
      {"riscv64",        riscv, "generic",        "+m,+a,+f,+d,+c",  16,           true,                      false,                      false, false,                  false},
  }};
  // clang-format on
}

}  // namespace

std::span<const Processor> processors() {
  static const auto processors = all_processors();
  return processors;
}

const Processor& this_processor() { return processors().front(); }

}  // namespace weft::cpu
