#include "hardware.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "compiler.h"
#include "host_processor.h"

namespace weft::cpu {
namespace {

// The value of a line "key   : value"; empty for other lines.
std::string field_of(const std::string& line, std::string_view key) {
  if (!line.starts_with(key)) return {};
  const std::size_t at = line.find_first_not_of(" \t", key.size());
  if (at == line.npos || line[at] != ':') return {};
  const std::size_t begin = line.find_first_not_of(' ', at + 1);
  return begin == line.npos ? "" : line.substr(begin);
}

// As the system says, which knows neither on every kind of processor.
Hardware of_this_machine() {
  Hardware found;
  std::set<std::pair<std::string, std::string>> cores;
  std::string socket;
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (std::string name = field_of(line, "model name"); !name.empty()) found.name = name;
    if (std::string id = field_of(line, "physical id"); !id.empty()) socket = id;
    if (std::string id = field_of(line, "core id"); !id.empty()) cores.emplace(socket, id);
  }
  found.cores = static_cast<int>(cores.size());
  if (!finds_llvm()) return found;
  const std::string& model = host_processor().model;
  found.name = found.name.empty() ? model : fmt::format("{} ({})", found.name, model);
  return found;
}

bool has_x86_instructions(const Processor& processor) {
#if defined(__x86_64__)
  if (processor.triple.empty()) return true;
#endif
  return processor.triple.starts_with("x86_64");
}

bool multiplies_by(const Target& target, std::string_view feature) {
  return std::ranges::find(target.mma, feature, &MmaShape::feature) != target.mma.end();
}

std::vector<std::string> instructions_of(const Target& target) {
  const std::pair<bool, const char*> sets[] = {
      {target.vector_bytes == 16, "SSE"},
      {target.vector_bytes == 32, "AVX2"},
      {target.vector_bytes == 64, "AVX-512"},
      {target.ops.contains(Op::MulAcc), "FMA"},
      {target.converts.contains(Kind::F16), "F16C"},
      {multiplies_by(target, "avxvnni"), "AVX-VNNI"},
      {multiplies_by(target, "avx512vnni"), "AVX512-VNNI"},
      {multiplies_by(target, "avx512bf16") || target.rounds.contains(Kind::BF16), "AVX512-BF16"},
      {multiplies_by(target, "amx"), "AMX"},
      {multiplies_by(target, "amxfp16"), "AMX-FP16"},
  };
  std::vector<std::string> names;
  for (const auto& [is_used, name] : sets)
    if (is_used) names.emplace_back(name);
  return names;
}

}  // namespace

Hardware hardware_of(const Processor& processor, const Target& target) {
  Hardware found;
  if (processor.model.empty())
    found = of_this_machine();
  else
    found.name = processor.name;
  if (has_x86_instructions(processor)) found.instructions = instructions_of(target);
  return found;
}

}  // namespace weft::cpu
