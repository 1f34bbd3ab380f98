// The forms that kernels of a plan may take, such as Winograd's for a convolution, and their times.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <weft/dev/schedule/plan.h>

#include "algorithms/kernel_form.h"
#include "algorithms/winograd/winograd.h"

namespace weft {

// Remembers what it was asked. All kernels must be in the current arena.
class KernelForms {
 public:
  KernelForms(const KernelSeconds& seconds, const Target& target);

  // Returns the modelled time of the kernel in its best form; nothing if it is not known.
  std::optional<double> seconds(const UOp& kernel, Symbol device) {
    return best_of(kernel, device).seconds;
  }
  // Returns its best form; null if the kernel is best as it is.
  const KernelForm* best(const UOp& kernel, Symbol device);
  // Finds the times of these kernels and of their forms at once, for later calls.
  void find(const std::vector<KernelOnDevice>& kernels);

 private:
  // By structure, and device.
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::string_view>;
  struct Best {
    std::optional<double> seconds = {};
    std::optional<std::size_t> form = {};
  };
  struct Forms {
    UOp kernel;  // keeps its node
    std::vector<KernelForm> forms;
  };

  const Best& best_of(const UOp& kernel, Symbol device);
  Best found_best(const UOp& kernel, Symbol device);
  std::optional<double> seconds_of(const KernelForm& form, Symbol device) const;
  const std::vector<KernelForm>& forms_of(const UOp& kernel);

  const KernelSeconds& seconds_;
  FormLimits limits_;
  bool may_use_limbs_;
  std::map<Key, Best> best_;
  std::unordered_map<const Node*, Forms> forms_;
};

}  // namespace weft
