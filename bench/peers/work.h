// What runs beside the peers: a program that answers lines of JSON on stdin by lines on stdout, as
// worker.py does. The driver, run.py, says what to load and when to run it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace weft::bench {

// One case, with its inputs in memory.
class Work {
 public:
  virtual ~Work() = default;

  virtual void build() {}  // what has to be done once: compilation
  virtual void run() = 0;
  virtual std::vector<float> result() { return {}; }
  virtual std::size_t kernels() const { return 0; }  // of a run, where they are counted
  virtual double flops() const { return 0; }         // of a run, where the case does not say
  virtual std::vector<std::string> schedules() const { return {}; }  // of its kernels
};

using Load = std::function<std::unique_ptr<Work>(const nlohmann::json& request)>;
// Until stdin ends. What `load` and its work throw becomes an answer. A configuration is what a reader has to know of
// how the program computes.
void serve(const Load& load, const nlohmann::json& configuration = nlohmann::json::object());

}  // namespace weft::bench
