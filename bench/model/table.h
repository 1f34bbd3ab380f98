// What was measured, as text in Markdown and as JSON.
#pragma once

#include <string>
#include <vector>

#include "times.h"

namespace weft::bench {

struct Measured {
  const CorpusKernel* kernel;
  Times times;
};
struct Searched {
  const CorpusKernel* kernel;
  Found found;
};

// By family and in all; then the kernels that the model is furthest off for, with their texts.
std::string table_of_times(const std::vector<Measured>& all, std::size_t worst);
std::string table_of_regret(const std::vector<Searched>& all, std::size_t worst);
std::string json_of(const std::vector<Measured>& times, const std::vector<Searched>& regret);

}  // namespace weft::bench
