#include "host_processor.h"

#include <fstream>
#include <optional>
#include <set>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <fmt/format.h>

namespace weft::cpu {
namespace {

#if defined(__x86_64__)

// What CPUID answers, but for the registers that differ between the cores of a machine (the number of
// the core, ebx of 1) or say nothing of instructions. They are all that LLVM 19 looks at, and more of it.
struct Leaf {
  unsigned number, part;
  std::string_view registers;
};
constexpr Leaf leaves[] = {
    {0x0, 0, "abcd"},         // the maker
    {0x1, 0, "acd"},          // family, model; the first features
    {0x7, 0, "abcd"},         // features since AVX2
    {0x7, 1, "abcd"},         //
    {0xd, 1, "a"},            // XSAVE
    {0x14, 0, "abcd"},        // PTWRITE
    {0x19, 0, "abcd"},        // key locker
    {0x24, 0, "abcd"},        // AVX10
    {0x80000000, 0, "abcd"},  //
    {0x80000001, 0, "abcd"},  // AMD's features
    {0x80000008, 0, "b"},     //
};

// Which registers the system keeps for programs: without that no vector can be used.
std::uint64_t kept_registers() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return 0;
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

std::string identity() {
  std::string text = fmt::format("xcr0 {:x}", kept_registers());
  for (const Leaf& leaf : leaves) {
    unsigned value[4] = {};
    __get_cpuid_count(leaf.number, leaf.part, &value[0], &value[1], &value[2], &value[3]);
    text += fmt::format("\n{:x}.{}", leaf.number, leaf.part);
    for (const char name : leaf.registers) text += fmt::format(" {:x}", value[name - 'a']);
  }
  return text;
}

#elif defined(__aarch64__)

// What the system says of its processors, each line once: LLVM reads the same.
std::string identity() {
  std::ifstream in("/proc/cpuinfo");
  std::set<std::string> lines;
  for (std::string line; std::getline(in, line);)
    if (line.find("processor") == line.npos) lines.insert(line);
  return fmt::format("{}", fmt::join(lines, "\n"));
}

#else

std::string identity() { return {}; }

#endif

std::optional<LlvmProcessor> parsed(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != text.npos; begin = end + 1)
    lines.push_back(text.substr(begin, end - begin));
  if (lines.size() != 3) return std::nullopt;
  return LlvmProcessor{lines[0], lines[1], lines[2]};
}

}  // namespace

std::string processor_identity() { return identity(); }

LlvmProcessor described(const DiskCache& cache, const std::string& identity,
                        const std::function<LlvmProcessor()>& ask) {
  if (identity.empty()) return ask();
  const std::string key = fmt::format("processor 1, llvm {}\n{}", llvm_version(), identity);
  if (const auto text = cache.find(key))
    if (auto known = parsed(*text)) return *std::move(known);
  LlvmProcessor found = ask();
  cache.keep(key, fmt::format("{}\n{}\n{}\n", found.triple, found.model, found.features));
  return found;
}

const LlvmProcessor& host_processor() {
  static const LlvmProcessor host = described(disk_cache(), processor_identity(), llvm_host);
  return host;
}

}  // namespace weft::cpu
