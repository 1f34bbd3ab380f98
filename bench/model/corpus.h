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

struct CorpusKernel {
  std::string program, family;
  UOp kernel;
  std::string name;
  Device* device;
  std::size_t constant_bytes;  // that its program reads in a call
};

class Corpus {
 public:
  void add(const std::string& program, const std::string& family,
           const std::vector<ScheduleItem>& items);
  void add_file(const std::string& path);
  void add_random(std::uint64_t seed);
  void add_training();  // a step of each model

  const std::vector<CorpusKernel>& kernels() const { return kernels_; }
  std::size_t programs() const { return programs_; }

 private:
  std::vector<CorpusKernel> kernels_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen_;  // by structure
  std::size_t programs_ = 0;
};

}  // namespace weft::bench
