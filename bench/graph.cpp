// From a network to kernels that could run: tensors built, scheduled, lowered and rendered; only the
// target compiler is left out. ResNet-50 forward, and a training step of a 12-layer transformer.

#include <fstream>
#include <functional>

#include <nlohmann/json.hpp>

#include <weft/weft.h>

#include "convolutions.h"
#include "lowering.h"
#include "report.h"
#include "transformer.h"

namespace weft::bench {
namespace {

// What tinygrad_graph.py wrote, where it could run: seconds, or 0.
double tinygrad_seconds(const char* network) {
  std::ifstream file("tinygrad_graph.json");
  if (!file) return 0;
  return nlohmann::json::parse(file)[network]["total"].get<double>();
}

void report_network(Report& report, const std::string& name, const char* goal, const char* key,
                    const std::function<std::vector<Tensor>()>& network) {
  const Times t = measure(network);
  const auto kernels = static_cast<double>(t.kernels), distinct = static_cast<double>(t.distinct);
  report.row(name, t.build + t.schedule + t.lower, "s", goal);
  if (const double seconds = tinygrad_seconds(key); seconds > 0) {
    report.row("  tinygrad, the same network", seconds, "s");
    report.row("  weft is faster", seconds / (t.build + t.schedule + t.lower), "times");
  }
  report.row("  tensors built", t.build, "s");
  report.row("  scheduled", t.schedule, "s");
  report.row("  lowered and rendered", t.lower, "s");
  report.row("  kernels", kernels, "");
  report.row("  distinct kernels", distinct, "");
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  using namespace weft::bench;
  Report report("from a network to its kernels, without the target compiler", argc, argv);
  // Rules are compiled when they are first used.
  measure([] { return std::vector{weft::Tensor::empty({8, 8}).softmax().matmul(weight({8, 8}))}; });
  report_network(report, "ResNet-50 forward, batch 1", "goal 0.5", "resnet50",
                 [] { return std::vector{ResNet50().forward()}; });
  report_network(report, "12-layer transformer, training step", "goal 1", "transformer",
                 [] { return Transformer().step(); });
}
