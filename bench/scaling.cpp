// How the way from a network to its kernels grows with the network: an unrolled LSTM, alone and with its
// gradients, and a transformer, each in four sizes. Every measurement is a process of its own, so that
// none finds the plans or the memory of another.

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <functional>

#include <fmt/core.h>
#include <weft/error.h>
#include <weft/functional.h>
#include <nlohmann/json.hpp>

#include "lowering.h"
#include "peers/memory.h"
#include "transformer.h"

namespace weft::bench {
namespace {

constexpr int repeats = 3;

struct Lstm {
  static constexpr std::int64_t in = 32, hidden = 32;
  std::vector<Tensor> parameters = {};

  Tensor parameter(const Shape& shape) {
    parameters.push_back(Tensor::empty(shape, {.requires_grad = true}));
    return parameters.back();
  }

  Tensor forward(std::int64_t steps) {
    const functional::CellWeights weights{
        .input = parameter({4 * hidden, in}),
        .hidden = parameter({4 * hidden, hidden}),
        .input_bias = parameter({4 * hidden}),
        .hidden_bias = parameter({4 * hidden}),
    };
    functional::LstmState state{Tensor::empty({1, hidden}), Tensor::empty({1, hidden})};
    for (std::int64_t step = 0; step < steps; ++step)
      state = functional::lstm_cell(Tensor::empty({1, in}), state, weights);
    return state.h;
  }

  std::vector<Tensor> gradients(std::int64_t steps) {
    const Tensor loss = forward(steps).square().sum();
    return loss.gradient(parameters);
  }
};

struct Family {
  std::string_view name, unit;
  std::array<std::int64_t, 4> sizes;
  std::vector<Tensor> (*network)(std::int64_t size);
};

const Family families[] = {
    {"LSTM",
     "steps",
     {64, 128, 256, 512},
     [](auto steps) { return std::vector{Lstm().forward(steps)}; }},
    {"LSTM with gradients",
     "steps",
     {64, 128, 256, 512},
     [](auto steps) { return Lstm().gradients(steps); }},
    {"transformer",
     "layers",
     {12, 25, 50, 100},
     [](auto layers) {
       return std::vector{Transformer{
           .layers = layers, .heads = 2, .width = 32, .words = 64, .length = 16, .batch = 1}
                              .forward()};
     }},
    {"transformer, training step",
     "layers",
     {12, 25, 50, 100},
     [](auto layers) {
       return Transformer{
           .layers = layers, .heads = 2, .width = 32, .words = 64, .length = 16, .batch = 1}
           .step();
     }},
};

// What a process measures and its parent reads.
struct Figures {
  double nodes, kernels, distinct;
  double build, schedule, lower, compile;  // ms
  double peak;                             // MB more than before

  // Lowering is left out: it is for the distinct kernels, which may be as many in every size.
  double us_per_node() const { return 1000 * (build + schedule) / nodes; }
};

Figures measure_here(const Family& family, std::int64_t size) {
  family.network(1);  // what is made once is made
  measure([&] { return family.network(2); });
  start_peak();
  const double before = peak_mb();
  const Times times = measure([&] { return family.network(size); });
  const double peak = peak_mb() - before;
  const double start = processor_seconds();
  find_device("CPU").compile_all(times.sources);
  return {.nodes = static_cast<double>(times.nodes),
          .kernels = static_cast<double>(times.kernels),
          .distinct = static_cast<double>(times.distinct),
          .build = 1000 * times.build,
          .schedule = 1000 * times.schedule,
          .lower = 1000 * times.lower,
          .compile = 1000 * (processor_seconds() - start),
          .peak = peak};
}

Figures measure_apart(const Family& family, std::int64_t size) {
  int ends[2];
  if (pipe(ends) != 0) user_error("no pipe for what a process measures");
  Figures figures{};
  const pid_t child = fork();
  if (child == 0) {
    figures = measure_here(family, size);
    _exit(write(ends[1], &figures, sizeof figures) == sizeof figures ? 0 : 1);
  }
  close(ends[1]);
  const bool is_read = read(ends[0], &figures, sizeof figures) == sizeof figures;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  if (!is_read) user_error("a process that measures has failed");
  return figures;
}

// The least of each time: noise only ever adds.
Figures best(const Family& family, std::int64_t size) {
  Figures least = measure_apart(family, size);
  for (int i = 1; i < repeats; ++i) {
    const Figures next = measure_apart(family, size);
    for (double Figures::* time :
         {&Figures::build, &Figures::schedule, &Figures::lower, &Figures::compile, &Figures::peak})
      least.*time = std::min(least.*time, next.*time);
  }
  return least;
}

nlohmann::json report(const Family& family) {
  fmt::print("{}\n  {:>6} {:>8} {:>8} {:>9} {:>10} {:>12} {:>10} {:>12} {:>9} {:>9} {:>7}\n",
             family.name, family.unit, "nodes", "kernels", "distinct", "build, ms", "schedule, ms",
             "lower, ms", "compile, ms", "peak, MB", "us/node", "ratio");
  nlohmann::json rows = nlohmann::json::array();
  double smallest = 0;
  for (std::int64_t size : family.sizes) {
    const Figures f = best(family, size);
    if (smallest == 0) smallest = f.us_per_node();
    const double ratio = f.us_per_node() / smallest;
    fmt::print(
        "  {:>6} {:>8} {:>8} {:>9} {:>10.1f} {:>12.1f} {:>10.1f} {:>12.1f} {:>9.1f} {:>9.2f} "
        "{:>7.2f}\n",
        size, f.nodes, f.kernels, f.distinct, f.build, f.schedule, f.lower, f.compile, f.peak,
        f.us_per_node(), ratio);
    std::fflush(stdout);
    rows.push_back({{"size", size},
                    {"nodes", f.nodes},
                    {"kernels", f.kernels},
                    {"distinct", f.distinct},
                    {"build_ms", f.build},
                    {"schedule_ms", f.schedule},
                    {"lower_ms", f.lower},
                    {"compile_ms", f.compile},
                    {"peak_mb", f.peak},
                    {"us_per_node", f.us_per_node()},
                    {"ratio", ratio}});
  }
  return {{"network", family.name}, {"unit", family.unit}, {"rows", rows}};
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  using namespace weft::bench;
  std::string json_file, only;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string_view(argv[i]) == "--json") json_file = argv[i + 1];
    if (std::string_view(argv[i]) == "--only") only = argv[i + 1];
  }
  nlohmann::json networks = nlohmann::json::array();
  for (const Family& family : families)
    if (only.empty() || only == family.name) networks.push_back(report(family));
  if (!json_file.empty())
    std::ofstream(json_file) << nlohmann::json{{"benchmark",
                                                "from networks of four sizes to their kernels"},
                                               {"networks", networks}}
                                    .dump(1)
                             << "\n";
}
