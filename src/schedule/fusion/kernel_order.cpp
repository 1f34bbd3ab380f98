#include "kernel_order.h"

#include <compare>
#include <functional>
#include <queue>

namespace weft {
namespace {

class Orderer {
 public:
  Orderer(const std::vector<OrderedKernel>& kernels, const std::vector<std::size_t>& bytes)
      : kernels_(kernels),
        bytes_(bytes),
        readers_(bytes.size()),
        sums_(bytes.size()),
        waits_(kernels.size()),
        done_(kernels.size()) {}

  std::vector<std::size_t> run() {
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      for (std::size_t value : kernels_[k].reads) {
        ++readers_[value];
        sums_[value] += k;
      }
      for (std::size_t after : kernels_[k].next) ++waits_[after];
    }
    for (std::size_t k = 0; k < kernels_.size(); ++k)
      if (waits_[k] == 0) add(k);
    std::vector<std::size_t> order;
    while (!ready_.empty()) {
      const std::size_t kernel = ready_.top().kernel;
      ready_.pop();
      if (done_[kernel]) continue;
      done_[kernel] = true;
      order.push_back(kernel);
      finish(kernel);
    }
    return order;
  }

 private:
  enum class Frees { More, AsMuch, Less };  // memory than it takes
  struct Ready {
    Frees frees;
    std::size_t place, kernel;
    auto operator<=>(const Ready&) const = default;
  };

  void add(std::size_t kernel) {
    std::size_t freed = 0, taken = 0;
    for (std::size_t value : kernels_[kernel].reads)
      if (readers_[value] == 1) freed += bytes_[value];
    for (std::size_t value : kernels_[kernel].writes) taken += bytes_[value];
    const Frees frees = freed == 0 || freed < taken ? Frees::Less
                        : freed == taken            ? Frees::AsMuch
                                                    : Frees::More;
    ready_.push({frees, kernels_[kernel].place, kernel});
  }

  void finish(std::size_t kernel) {
    for (std::size_t value : kernels_[kernel].reads) {
      sums_[value] -= kernel;
      if (--readers_[value] != 1) continue;
      const std::size_t last = sums_[value];
      if (waits_[last] == 0 && !done_[last]) add(last);
    }
    for (std::size_t after : kernels_[kernel].next)
      if (--waits_[after] == 0) add(after);
  }

  const std::vector<OrderedKernel>& kernels_;
  const std::vector<std::size_t>& bytes_;
  // For each value, the number of readers that have not run, and the sum of their numbers. With one
  // reader left, the sum is its number.
  std::vector<std::size_t> readers_, sums_;
  std::vector<std::size_t> waits_;
  std::vector<bool> done_;
  // A kernel is there several times if it frees more than when it became ready.
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
};

}  // namespace

std::vector<std::size_t> kernel_order(const std::vector<OrderedKernel>& kernels,
                                      const std::vector<std::size_t>& bytes) {
  return Orderer(kernels, bytes).run();
}

}  // namespace weft
