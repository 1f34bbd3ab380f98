// Numbers of a list of numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace weft::bench {

using Numbers = std::vector<double>;

// The one below which this share of them is.
inline double quantile(Numbers all, double share) {
  if (all.empty()) return 0;
  std::ranges::sort(all);
  const auto place = static_cast<std::size_t>(share * static_cast<double>(all.size() - 1) + 0.5);
  return all[place];
}

template <class Test>
double share_of(const Numbers& all, const Test& test) {
  if (all.empty()) return 0;
  return static_cast<double>(std::ranges::count_if(all, test)) / static_cast<double>(all.size());
}

inline double geometric_mean(const Numbers& all) {
  double sum = 0;
  for (const double each : all) sum += std::log(each);
  return all.empty() ? 1 : std::exp(sum / static_cast<double>(all.size()));
}

// Places in order, from 0; equal numbers share the mean of theirs.
inline Numbers ranks(const Numbers& all) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return all[i]; });
  Numbers places(all.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i + 1;
    while (end < order.size() && all[order[end]] == all[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) places[order[k]] = static_cast<double>(i + end - 1) / 2;
    i = end;
  }
  return places;
}

inline double rank_correlation(const Numbers& a, const Numbers& b) {
  const Numbers x = ranks(a), y = ranks(b);
  const double mean = static_cast<double>(a.size() - 1) / 2;
  double both = 0, first = 0, second = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    both += (x[i] - mean) * (y[i] - mean);
    first += (x[i] - mean) * (x[i] - mean);
    second += (y[i] - mean) * (y[i] - mean);
  }
  return first == 0 || second == 0 ? 1 : both / std::sqrt(first * second);
}

}  // namespace weft::bench
