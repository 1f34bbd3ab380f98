#include "kernel_order.h"

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
        done_(kernels.size()),
        open_(Later{&kernels}),
        even_(Later{&kernels}),
        freeing_(Later{&kernels}) {}

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
    while (!open_.empty()) {
      Queue& queue = !freeing_.empty() ? freeing_ : !even_.empty() ? even_ : open_;
      const std::size_t kernel = queue.top();
      queue.pop();
      if (done_[kernel]) continue;
      done_[kernel] = true;
      order.push_back(kernel);
      finish(kernel);
    }
    return order;
  }

 private:
  struct Later {
    const std::vector<OrderedKernel>* kernels;
    bool operator()(std::size_t a, std::size_t b) const {
      return (*kernels)[a].place > (*kernels)[b].place;
    }
  };
  using Queue = std::priority_queue<std::size_t, std::vector<std::size_t>, Later>;

  void add(std::size_t kernel) {
    open_.push(kernel);
    add_if_it_frees(kernel);
  }

  void add_if_it_frees(std::size_t kernel) {
    std::size_t freed = 0, taken = 0;
    for (std::size_t value : kernels_[kernel].reads)
      if (readers_[value] == 1) freed += bytes_[value];
    for (std::size_t value : kernels_[kernel].writes) taken += bytes_[value];
    if (freed == 0 || freed < taken) return;
    (freed > taken ? freeing_ : even_).push(kernel);
  }

  void finish(std::size_t kernel) {
    for (std::size_t value : kernels_[kernel].reads) {
      sums_[value] -= kernel;
      if (--readers_[value] != 1) continue;
      const std::size_t last = sums_[value];
      if (waits_[last] == 0 && !done_[last]) add_if_it_frees(last);
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
  // Ready kernels: all of them, those that free as much memory as they take, and those that free
  // more. A kernel may be in several queues.
  Queue open_, even_, freeing_;
};

}  // namespace

std::vector<std::size_t> kernel_order(const std::vector<OrderedKernel>& kernels,
                                      const std::vector<std::size_t>& bytes) {
  return Orderer(kernels, bytes).run();
}

}  // namespace weft
