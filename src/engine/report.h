// What DEBUG prints about runs, on stderr.
#pragma once

#include <string_view>

#include <weft/dev/schedule/plan.h>

namespace weft {

// DEBUG=1: a line for each run; `between` bytes are for what lives between its kernels.
void report_run(const Plan& plan, std::size_t between, double seconds);
// DEBUG=2: a line for each kernel and copy, with the lines of the program that made it.
void report_step(const Plan& plan, const Step& step, double seconds, std::string_view callers);
// DEBUG=3: what is compiled.
void report_source(std::string_view kernel, std::string_view device, std::string_view source);

// How far a search is, where somebody looks: on a terminal, or under DEBUG=1 when it is done.
void report_search(const std::string& line, bool is_done);

}  // namespace weft
