#include "work.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <string>

#include "memory.h"

namespace weft::bench {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double seconds_of(const std::function<void()>& what) {
  const Clock::time_point start = Clock::now();
  what();
  return seconds_since(start);
}

class Server {
 public:
  Server(const Load& load, const json& configuration)
      : load_(load), configuration_(configuration) {}

  json answer(const json& request) {
    const auto what = request.at("do").get<std::string>();
    if (what == "load") return load(request);
    if (what == "run") return run(request.at("seconds").get<double>());
    if (what == "result") return write_result(request.at("file").get<std::string>());
    if (what == "configuration") return {{"configuration", configuration_}};
    if (what == "drop") work_ = nullptr;
    return json::object();
  }

 private:
  // A call that takes long is not made twice to warm up.
  static constexpr double long_call = 0.5;

  json load(const json& request) {
    work_ = nullptr;
    const double before = memory_mb("VmRSS");
    work_ = load_(request);
    start_peak();
    const double built = seconds_of([&] { work_->build(); });
    const double first = seconds_of([&] { work_->run(); });
    once_ = first < long_call ? seconds_of([&] { work_->run(); }) : first;
    return {{"once", once_},
            {"compile", built + std::max(0.0, first - once_)},
            {"peak_mb", std::max(0.0, peak_mb() - before)},
            {"flops", work_->flops()},
            {"kernels", work_->kernels()},
            {"schedules", work_->schedules()}};
  }

  json run(double seconds) {
    if (once_ < long_call) once_ = seconds_of([&] { work_->run(); });
    const auto calls = static_cast<int>(std::max(1.0, std::round(0.5e-3 / once_)));
    std::vector<double> times;
    const Clock::time_point start = Clock::now();
    do {
      times.push_back(seconds_of([&] {
                        for (int i = 0; i < calls; ++i) work_->run();
                      }) /
                      calls);
    } while (seconds_since(start) < seconds);
    std::ranges::sort(times);
    return {{"best", times[0]}, {"median", times[times.size() / 2]}, {"samples", times.size()}};
  }

  json write_result(const std::string& file) {
    const std::vector<float> values = work_->result();
    std::ofstream out(file, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(float)));
    return json::object();
  }

  const Load& load_;
  const json& configuration_;
  std::unique_ptr<Work> work_;
  double once_ = 0;  // seconds of a call
};

}  // namespace

void serve(const Load& load, const json& configuration) {
  Server server(load, configuration);
  for (std::string line; std::getline(std::cin, line);) {
    json answer;
    try {
      answer = server.answer(json::parse(line));
    } catch (const std::exception& error) {
      answer = {{"error", error.what()}};
    }
    std::cout << answer.dump() << std::endl;
  }
}

}  // namespace weft::bench
