// What DEBUG prints about runs, on stderr.
#pragma once

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/dev/schedule/plan.h>

namespace weft {

// What tells it: bands and steps are computed by one kernel in the same memory.
using Together = std::pair<const Node*, std::vector<std::uint32_t>>;

// DEBUG=1: a line for each run; `between` bytes are for what lives between its kernels.
void report_run(const Plan& plan, std::size_t between, double seconds);
// DEBUG=2: a line for each kernel and copy, with the lines of the program that made it. A kernel that runs for one band of
// its output after the other, or for the steps of a loop, is one line, once the last has run.
class StepReport {
 public:
  explicit StepReport(const Plan& plan);
  void add(const Step& step, double seconds, std::string_view callers);

 private:
  struct Runs {
    std::size_t count = 0, left = 0;
    double seconds = 0;
  };
  const Plan& plan_;
  std::map<Together, Runs> runs_;
};
// DEBUG=3: what is compiled.
void report_source(std::string_view kernel, std::string_view device, std::string_view source);

// How far a search is, where somebody looks: on a terminal, or under DEBUG=1 when it is done.
void report_search(const std::string& line, bool is_done);

}  // namespace weft
