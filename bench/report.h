// What benchmarks print: a table to read, and the same numbers as JSON with --json FILE.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace weft::bench {

// The fastest of `repeats` runs, in seconds: noise only ever adds.
inline double best_seconds(int repeats, const std::function<void()>& run) {
  double best = 1e300;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

class Report {
 public:
  Report(std::string_view title, int argc, char** argv) : title_(title) {
    for (int i = 1; i + 1 < argc; ++i)
      if (std::string_view(argv[i]) == "--json") json_file_ = argv[i + 1];
  }
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;
  ~Report() { write_json(); }

  void row(std::string_view name, double value, std::string_view unit, std::string_view goal = "") {
    if (rows_.empty()) fmt::print("{}\n", title_);
    fmt::print("  {:<52} {:>12.2f} {:<10} {}\n", name, value, unit, goal);
    std::fflush(stdout);
    rows_.push_back({std::string(name), value, std::string(unit), std::string(goal)});
  }

 private:
  struct Row {
    std::string name;
    double value;
    std::string unit, goal;
  };

  void write_json() const {
    if (json_file_.empty()) return;
    std::FILE* out = std::fopen(json_file_.c_str(), "w");
    if (out == nullptr) return;
    fmt::print(out, "{{\"benchmark\": \"{}\", \"rows\": [", title_);
    for (std::size_t i = 0; i < rows_.size(); ++i)
      fmt::print(out,
                 "{}\n  {{\"name\": \"{}\", \"value\": {}, \"unit\": \"{}\", \"goal\": \"{}\"}}",
                 i == 0 ? "" : ",", rows_[i].name, rows_[i].value, rows_[i].unit, rows_[i].goal);
    fmt::print(out, "\n]}}\n");
    std::fclose(out);
  }

  std::string title_, json_file_;
  std::vector<Row> rows_;
};

}  // namespace weft::bench
