#include "report.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include <fmt/format.h>
#include <weft/dev/ir/text.h>
#include <weft/settings.h>

namespace weft {
namespace {

enum Color { Green = 32, Yellow = 33, Cyan = 36 };

bool has_colors() {
  static const bool colors = isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  return colors;
}

std::string colored(std::string_view text, Color color) {
  if (!has_colors()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", static_cast<int>(color), text);
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:8.2f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:8.2f} ms", seconds * 1e3);
  return fmt::format("{:8.2f} s ", seconds);
}

std::string shape_text(const Node* buffer) {
  std::string text;
  for (const Node* size : buffer->dims())
    text += fmt::format("{}{}", text.empty() ? "" : "x", expression_text(size));
  return fmt::format("{} {}", text.empty() ? "scalar" : text, buffer->dtype().str());
}

void print(const std::string& line) { std::fputs((line + "\n").c_str(), stderr); }

Together together(const Step& step) { return {step.kernel.node(), step.slots}; }

}  // namespace

void report_run(const Plan& plan, std::size_t between, double seconds) {
  std::set<std::string> devices;
  std::set<Together> kernels;
  std::size_t copies = 0;
  for (const Step& step : plan.steps) {
    devices.insert(step.device.get());
    if (step.kernel.is_null())
      ++copies;
    else
      kernels.insert(together(step));
  }
  const std::size_t runs = plan.steps.size() - copies;
  print(fmt::format("realize  {:4} kernels {:3} copies  {}  on {}{}{}", kernels.size(), copies,
                    time_text(seconds), fmt::join(devices, ", "),
                    runs == kernels.size() ? "" : fmt::format(", {} runs", runs),
                    between == 0 ? "" : fmt::format(", {} bytes between kernels", between)));
}

StepReport::StepReport(const Plan& plan) : plan_(plan) {
  for (const Step& step : plan.steps)
    if (!step.kernel.is_null()) ++runs_[together(step)].count;
  for (auto& [kernel, runs] : runs_) runs.left = runs.count;
}

void StepReport::add(const Step& step, double seconds, std::string_view callers) {
  const bool is_copy = step.kernel.is_null();
  std::size_t count = 1;
  if (!is_copy) {
    Runs& runs = runs_[together(step)];
    runs.seconds += seconds;
    if (--runs.left > 0) return;
    seconds = runs.seconds;
    count = runs.count;
  }
  const std::string name = is_copy ? "copy" : step.kernel->arg<KernelArg>().name.get();
  const double work = std::max(seconds, 1e-9) * 1e9 / static_cast<double>(count);
  print(fmt::format(
      "{:<8} {} {:<24} {:3} args {} {:9.2f} GFLOP/s {:8.2f} GB/s{}{}{}", step.device.get(),
      colored(fmt::format("{:<36}", name), is_copy ? Yellow : Green),
      shape_text(plan_.slots[step.slots[0]].buffer.node()), step.slots.size(),
      colored(time_text(seconds), Cyan), step.work.flops / work, step.work.bytes / work,
      count == 1 ? "" : fmt::format("  {} runs", count), callers.empty() ? "" : "  ", callers));
}

void report_search(const std::string& line, bool is_done) {
  static const bool is_terminal = isatty(STDERR_FILENO) != 0;
  if (is_terminal)
    fmt::print(stderr, "\r\x1b[K{}{}", line, is_done ? "\n" : "");
  else if (is_done && debug_level() >= 1)
    print(line);
}

void report_source(std::string_view kernel, std::string_view device, std::string_view source) {
  print(fmt::format("// {} for {}\n{}", kernel, device, source));
}

}  // namespace weft
