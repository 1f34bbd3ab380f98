// Memory that networks take, known before anything runs: what lies between kernels in one block, beside
// what is needed of it at one time.

#include <functional>

#include <weft/weft.h>

#include "convolutions.h"
#include "report.h"
#include "transformer.h"

namespace weft::bench {
namespace {

constexpr double megabyte = 1e6;

void report_network(Report& report, const std::string& name,
                    const std::function<std::vector<Tensor>()>& network) {
  const RunCost cost = Tensor::cost(network());
  report.row(name + ": between kernels", static_cast<double>(cost.own_bytes) / megabyte, "MB");
  report.row("  needed of that at one time", static_cast<double>(cost.least_bytes) / megabyte,
             "MB");
  report.row("  as much as needed",
             static_cast<double>(cost.own_bytes) / static_cast<double>(cost.least_bytes), "times",
             "goal 1.15");
  report.row("  with the results", static_cast<double>(cost.peak_bytes()) / megabyte, "MB");
  report.row("  to compute", cost.flops / 1e9, "GFLOP");
  report.row("  kernels", static_cast<double>(cost.kernels), "");
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  using namespace weft::bench;
  using Results = std::vector<weft::Tensor>;
  Report report("memory of networks, before they run", argc, argv);
  report_network(report, "ResNet-50, batch 1", [] { return Results{ResNet50().forward()}; });
  report_network(report, "ResNet-50, training, batch 32",
                 [] { return ResNet50{{.is_training = true}, 32}.step(); });
  report_network(report, "ResNet-50, training with checkpoints", [] {
    return ResNet50{{.is_training = true, .is_checkpointed = true}, 32}.step();
  });
  report_network(report, "U-Net, 256 x 256", [] { return Results{UNet().forward()}; });
  report_network(report, "U-Net, training, batch 4",
                 [] { return UNet{{.is_training = true}, 4}.step(); });
  report_network(report, "12-layer transformer, 4 x 256",
                 [] { return Results{Transformer().forward()}; });
  report_network(report, "12-layer transformer, training", [] { return Transformer().step(); });
  report_network(report, "12-layer transformer, training with checkpoints",
                 [] { return Transformer{.is_checkpointed = true}.step(); });
}
