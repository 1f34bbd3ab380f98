// Kernels of many programs, each once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <weft/dev/device/device.h>
#include <weft/dev/engine/schedule.h>

namespace weft::bench {

// What a call runs, in order: what follows from constants alone, which only the first call computes, is not in it.
struct CorpusProgram {
  std::string name, family;
  std::vector<ScheduleItem> items;
  std::size_t constant_bytes;  // that a call reads
};

struct CorpusKernel {
  std::string program, family;
  UOp kernel;
  std::string name;
  Device* device;
  std::size_t constant_bytes;      // that its program reads in a call
  std::size_t number = 0, at = 0;  // of the program, and of the item in that
};

class Corpus {
 public:
  void add(const std::string& program, const std::string& family,
           const std::vector<ScheduleItem>& items);
  void add_file(const std::string& path);
  void add_random(std::uint64_t seed);
  void add_training();  // a step of each model

  const std::vector<CorpusKernel>& kernels() const { return kernels_; }
  const std::vector<CorpusProgram>& programs() const { return programs_; }

 private:
  std::vector<CorpusProgram> programs_;
  std::vector<CorpusKernel> kernels_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen_;  // by structure
};

}  // namespace weft::bench
