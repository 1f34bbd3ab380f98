#include "nets.h"

#include <csignal>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>
#include <weft/settings.h>

#include "calls.h"
#include "gradients.h"
#include "run.h"
#include "shrink.h"

namespace nets {
namespace {

char running[64];  // what the handler of a signal writes

void say_seed(int signal) {
  [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, running, std::strlen(running));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void note_seed(std::uint64_t seed) {
  std::snprintf(running, sizeof running, "killed in seed %llu\n",
                static_cast<unsigned long long>(seed));
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS}) std::signal(signal, say_seed);
}

using FindFault = std::optional<Fault> (&)(const Program& program);

std::string shrunk_report(std::uint64_t seed, FindFault fault_of) {
  note_seed(seed);
  const weft::Context unchecked{
      {"CHECK", "0"}};  // integers may be past the end: what is read there is 0
  const Program program = program_of(seed);
  const auto fault = fault_of(program);
  if (!fault) return {};
  Fault last = *fault;
  // An error stays an error of the same method.
  const auto kind = [](const Fault& each) {
    return each.is_error ? each.what.substr(0, each.what.find(':')) : std::string();
  };
  const Program small = shrink(program, [&](const Program& candidate) {
    const auto found = fault_of(candidate);
    if (!found || kind(*found) != kind(*fault)) return false;
    last = *found;
    return true;
  });
  return fmt::format("// seed {}: {}\n{}", seed, last.what, cpp_of(small));
}

std::optional<Fault> fault_of_readings(const Program& program) {
  if (program.mode != Mode::Gradient) return {};
  std::string text = reading_fault(program);
  return text.empty() ? std::nullopt : std::optional(Fault{false, std::move(text)});
}

}  // namespace

std::string report_of(std::uint64_t seed) { return shrunk_report(seed, fault_of); }

std::string reading_report_of(std::uint64_t seed) { return shrunk_report(seed, fault_of_readings); }

std::uint64_t checksum_from(std::uint64_t seed) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < programs_in_checksum; ++i)
    sum = sum * 1099511628211u + checksum_of(program_of(seed + i));
  return sum;
}

}  // namespace nets
