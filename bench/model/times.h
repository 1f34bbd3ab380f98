// How long kernels take, by the cost model and by the clock.
#pragma once

#include <optional>
#include <string>

#include "corpus.h"

namespace weft::bench {

struct Times {
  std::optional<double> expected;  // nothing where the model knows no time
  double measured = 0;             // the median of several samples, after a first run

  // How far the model is off, as the logarithm of measured / expected.
  double error() const;
};

Times times_of(const CorpusKernel& kernel);

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
