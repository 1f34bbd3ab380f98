// An option, tried on the model.
#pragma once

#include <vector>

#include <weft/dev/device/target.h>

#include "option.h"

namespace weft {

// The fastest first; of equals the one that was tried first.
void sort_by_time(std::vector<Option>& options);

// Whether there is another loop than those of reductions.
bool has_outputs(const Nest& nest);

class Trial {
 public:
  Trial(const Nest& nest, const Target& target) : nest_(nest), target_(target) {}

  double seconds(const Option& option, bool with_copies = true) const;
  bool may_be_staged(const NestAccess& access) const;
  // Whether what is staged, and what is summed in parts, has a place and fits into the scratch memory.
  bool is_legal(const Option& option) const;

 private:
  const Nest& nest_;
  const Target& target_;
};

}  // namespace weft
