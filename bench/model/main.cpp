// model_bench: the cost model beside the clock, over the kernels of many programs.
//
//   model_bench [--random FIRST COUNT] [--training] [--file MODEL.onnx]... [--worst N] [--json FILE]
//               [--regret COUNT WIDTH SECONDS]
//
// --regret searches schedules of COUNT of the kernels, drawn by their numbers, instead of measuring all.
#include <algorithm>
#include <cstdint>
#include <exception>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "table.h"

namespace weft::bench {
namespace {

struct Options {
  std::uint64_t first = 1, count = 0;
  bool has_training = false;
  std::vector<std::string> files;
  std::size_t worst = 20;
  std::string json;
  std::size_t searched = 0;  // with the next two
  std::int64_t width = 0;
  double seconds = 0;
};

class Arguments {
 public:
  Arguments(int count, char** all) : all_(all + 1, all + count) {}
  bool is_empty() const { return at_ == all_.size(); }
  std::string next() {
    if (is_empty()) throw std::runtime_error("an argument is missing at the end");
    return all_[at_++];
  }
  std::uint64_t number() { return std::stoull(next()); }

 private:
  std::vector<std::string> all_;
  std::size_t at_ = 0;
};

Options parsed(Arguments arguments) {
  Options options;
  while (!arguments.is_empty()) {
    const std::string name = arguments.next();
    if (name == "--random") {
      options.first = arguments.number();
      options.count = arguments.number();
    } else if (name == "--training") {
      options.has_training = true;
    } else if (name == "--file") {
      options.files.push_back(arguments.next());
    } else if (name == "--worst") {
      options.worst = arguments.number();
    } else if (name == "--json") {
      options.json = arguments.next();
    } else if (name == "--regret") {
      options.searched = arguments.number();
      options.width = static_cast<std::int64_t>(arguments.number());
      options.seconds = std::stod(arguments.next());
    } else {
      throw std::runtime_error("there is no option " + name);
    }
  }
  return options;
}

void show(std::string_view what, std::size_t at, std::size_t count) {
  fmt::print(stderr, "\r{} {} of {}  {}", what, at, count, at == count ? "\n" : "");
}

Corpus corpus_of(const Options& options) {
  Corpus corpus;
  for (const std::string& file : options.files) try {
      corpus.add_file(file);
    } catch (const std::exception& error) {
      fmt::print(stderr, "without {}: {}\n", file, error.what());
    }
  if (options.has_training) corpus.add_training();
  for (std::uint64_t i = 0; i < options.count; ++i) {
    corpus.add_random(options.first + i);
    show("network", i + 1, options.count);
  }
  return corpus;
}

std::vector<Measured> measured(const Corpus& corpus) {
  std::vector<std::vector<double>> seconds;
  for (const CorpusProgram& program : corpus.programs()) {
    seconds.push_back(seconds_of_items(program));
    show("program", seconds.size(), corpus.programs().size());
  }
  std::vector<Measured> all;
  for (const CorpusKernel& kernel : corpus.kernels())
    all.push_back({&kernel, {expected_seconds_of(kernel), seconds[kernel.number][kernel.at]}});
  return all;
}

// The same ones for the same kernels.
std::vector<Searched> searched(const std::vector<CorpusKernel>& kernels, const Options& options) {
  std::vector<const CorpusKernel*> drawn;
  for (const CorpusKernel& kernel : kernels) drawn.push_back(&kernel);
  std::mt19937_64 random(1);
  for (std::size_t i = drawn.size(); i > 1; --i) std::swap(drawn[i - 1], drawn[random() % i]);
  std::vector<Searched> all;
  const std::size_t count = std::min(options.searched, drawn.size());
  for (std::size_t i = 0; i < drawn.size() && all.size() < count; ++i)
    if (const auto found = searched(*drawn[i], options.width, options.seconds)) {
      all.push_back({drawn[i], *found});
      show("search", all.size(), count);
    }
  return all;
}

int run(const Options& options) {
  const Corpus corpus = corpus_of(options);
  fmt::print("{} kernels of {} programs\n\n", corpus.kernels().size(), corpus.programs().size());
  std::vector<Measured> times;
  std::vector<Searched> regret;
  if (options.searched > 0) {
    regret = searched(corpus.kernels(), options);
    fmt::print("{}", table_of_regret(regret, options.worst));
  } else {
    times = measured(corpus);
    fmt::print("{}", table_of_times(times, options.worst));
  }
  if (!options.json.empty()) std::ofstream(options.json) << json_of(times, regret) << '\n';
  return 0;
}

}  // namespace
}  // namespace weft::bench

int main(int count, char** arguments) try {
  return weft::bench::run(weft::bench::parsed({count, arguments}));
} catch (const std::exception& error) {
  fmt::print(stderr, "model_bench: {}\n", error.what());
  return 2;
}
