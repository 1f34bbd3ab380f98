// How long kernels take, by the cost model and by the clock.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corpus.h"

namespace weft::bench {

struct Times {
  std::optional<double> expected;  // nothing where the model knows no time
  double measured = 0;             // the median of several calls of its program

  // How far the model is off, as the logarithm of measured / expected.
  double error() const;
};

// Of each item, where the whole program is called several times: caches hold then what they hold in its calls.
std::vector<double> seconds_of_items(const CorpusProgram& program);
std::optional<double> expected_seconds_of(const CorpusKernel& kernel);

// The default schedule beside the best one that a search finds, both measured in turns.
struct Found {
  double usual = 0, best = 0;
  std::string schedule;

  double regret() const { return usual / best; }
};
std::optional<Found> searched(const CorpusKernel& kernel, std::int64_t width, double seconds);

// The kernel's schedule, and its loops with what they read.
std::string text_of(const CorpusKernel& kernel);

}  // namespace weft::bench
