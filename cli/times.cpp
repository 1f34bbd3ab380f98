#include "times.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "json.h"

namespace weft::cli {

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Times::Times(std::vector<double> ms) : ms_(std::move(ms)) { std::ranges::sort(ms_); }

double Times::ms(double part) const {
  if (ms_.empty()) return NAN;
  const double last = std::ceil(part * static_cast<double>(ms_.size()));
  return ms_[static_cast<std::size_t>(std::max(last, 1.0)) - 1];
}

std::vector<std::pair<std::string_view, std::string>> json_members(const Times& times) {
  return {{"median_ms", json_number(times.ms(0.5))},
          {"min_ms", json_number(times.ms(0))},
          {"p90_ms", json_number(times.ms(0.9))},
          {"runs", fmt::to_string(times.size())}};
}

}  // namespace weft::cli
