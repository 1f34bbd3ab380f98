// Times of runs, and what is said of them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::cli {

using Clock = std::chrono::steady_clock;
double ms_since(Clock::time_point start);

class Times {
 public:
  Times() = default;
  explicit Times(std::vector<double> ms);

  std::size_t size() const { return ms_.size(); }
  // The time that this part of the runs stays below: 0 the fastest, 0.5 the median. NaN without any.
  double ms(double part) const;

 private:
  std::vector<double> ms_;  // in ascending order
};

// median_ms, min_ms, p90_ms, runs
std::vector<std::pair<std::string_view, std::string>> json_members(const Times& times);

}  // namespace weft::cli
