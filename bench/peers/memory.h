// How much memory the process takes, as Linux counts it.
#pragma once

#include <fstream>
#include <string>

namespace weft::bench {

// A line of /proc/self/status such as "VmHWM", in MB; 0 where there is none.
inline double memory_mb(const std::string& name) {
  std::ifstream status("/proc/self/status");
  double kilobytes = 0;
  for (std::string word; status >> word;)
    if (word == name + ":") status >> kilobytes;
  return kilobytes / 1024;
}

inline double peak_mb() { return memory_mb("VmHWM"); }

// The peak counts from here.
inline void start_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

}  // namespace weft::bench
