#include "processor.h"

#include <algorithm>
#include <array>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <unistd.h>
#endif

#include <weft/dev/device/mma.h>

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
bool has_tiles() {
  static const bool has = WEFT_HAS("amx-bf16") && WEFT_HAS("amx-int8") &&
                          syscall(AskForTiles::call, AskForTiles::request, AskForTiles::tiles) == 0;
  return has;
}
// Of leaf 7.1 the bit 21 of EAX: compilers that know it by name are newer than those that weft is built with.
bool has_tiles_of_halves() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return has_tiles() && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 21 & 1U) != 0;
}
#else
bool has_tiles() { return false; }
bool has_tiles_of_halves() { return false; }
#endif

// Wide vectors leave no need of narrow ones.
std::vector<std::string_view> products_here() {
  std::vector<std::string_view> features;
  if (has_tiles()) features.emplace_back("amx");
  if (has_tiles_of_halves()) features.emplace_back("amxfp16");
  if (WEFT_HAS("avx512vnni")) features.emplace_back("avx512vnni");
  // Processors with tiles multiply vectors of bf16 at half the rate of f32.
  if (WEFT_HAS("avx512bf16") && !has_tiles()) features.emplace_back("avx512bf16");
  const bool is_wide = WEFT_HAS("avx512f");
  if (WEFT_HAS("avxvnni") && !is_wide) features.emplace_back("avxvnni");
  if (WEFT_HAS("avx2") && !WEFT_HAS("avxvnni") && !is_wide) features.emplace_back("avx2");
  return features;
}

using Products = std::vector<std::string_view>;

std::array<Processor, 10> all_processors() {
  const Products here = products_here();
  const bool tiles = has_tiles() && WEFT_HAS("avx512fp16"), halves = tiles && has_tiles_of_halves();
  const bool dots = WEFT_HAS("avx512vnni") && WEFT_HAS("avx512bf16");
  const Products none, tiled{"amx", "avx512vnni"}, tiled_halves{"amx", "amxfp16", "avx512vnni"},
      wide{"avx512vnni", "avx512bf16"}, narrow{"avxvnni"}, pairs{"avx2"};
  const int native_bytes = WEFT_HAS("avx512vl") ? 64 : WEFT_HAS("avx2") ? 32 : 16;
  constexpr std::string_view x86 = "x86_64-unknown-linux-gnu", arm = "aarch64-unknown-linux-gnu",
                             riscv = "riscv64-unknown-linux-gnu";
  // clang-format off
  return {{
      // name            triple model             features                    bytes         FMA                        halves                      bf16                    products runs here                        like this
      {"native",         "",    "",               "",                         native_bytes, is_arm || WEFT_HAS("fma"), is_arm || WEFT_HAS("f16c"), WEFT_HAS("avx512bf16"), here,   true,                            true},
      {"x86-64-v2",      x86,   "x86-64-v2",      "",                         16,           false,                     false,                      false,                  none,   WEFT_HAS("x86-64-v2"),           is_x86},
      {"x86-64-v3",      x86,   "x86-64-v3",      "",                         32,           true,                      true,                       false,                  pairs,  WEFT_HAS("x86-64-v3"),           is_x86},
      {"x86-64-v3-vnni", x86,   "x86-64-v3",      "+avxvnni",                 32,           true,                      true,                       false,                  narrow, WEFT_HAS("x86-64-v3") && WEFT_HAS("avxvnni"), is_x86},
      {"x86-64-v4",      x86,   "x86-64-v4",      "",                         64,           true,                      true,                       false,                  none,   WEFT_HAS("x86-64-v4"),           is_x86},
      {"x86-64-v4-vnni", x86,   "x86-64-v4",      "+avx512vnni,+avx512bf16",  64,           true,                      true,                       true,                   wide,   WEFT_HAS("x86-64-v4") && dots,   is_x86},
      {"sapphirerapids", x86,   "sapphirerapids", "",                         64,           true,                      true,                       true,                   tiled,  tiles,                           is_x86},
      {"graniterapids",  x86,   "graniterapids",  "",                         64,           true,                      true,                       true,                   tiled_halves, halves,                    is_x86},
      {"aarch64",        arm,   "generic",        "",                         16,           true,                      true,                       false,                  none,   is_arm,                          is_arm},
      // What Linux distributions are made for: libraries are compiled for it, no code is loaded. It has no vectors:
      // LLVM makes scalars of ours.
      {"riscv64",        riscv, "generic",        "+m,+a,+f,+d,+c",           16,           true,                      false,                      false,                  none,   false,                           false},
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
