// Compiling all kernels of ResNet-50, in one line of JSON:  peers_compile lower|load
//
// `lower` goes as far as rendered kernels, one after the other; `load` to programs that are ready
// to run, by the engine itself, from what CACHE_DIR holds.

#include <iostream>
#include <string_view>

#include <nlohmann/json.hpp>

#include "../../src/engine/programs.h"
#include "../convolutions.h"
#include "../lowering.h"
#include "memory.h"

namespace weft::bench {
namespace {

nlohmann::json lower() {
  const Times times = measure([] { return std::vector{ResNet50().forward()}; });
  return {{"build", times.build},
          {"schedule", times.schedule},
          {"lower", times.lower},
          {"kernels", times.kernels},
          {"distinct", times.distinct}};
}

nlohmann::json load() {
  const Clock::time_point start = Clock::now();
  const std::vector<ScheduleItem> items = Tensor::schedule({ResNet50().forward()});
  std::vector<KernelFor> kernels;
  for (const ScheduleItem& item : items) kernels.push_back({item.kernel, &find_device("CPU")});
  load_kernels(kernels, extra_rules());
  return {{"total", seconds_since(start)}};
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  using namespace weft::bench;
  nlohmann::json line = argc > 1 && std::string_view(argv[1]) == "lower" ? lower() : load();
  line["peak_mb"] = peak_mb();
  std::cout << line.dump() << std::endl;
}
