// Def-use chains between the steps of a plan. Reusing memory may not change them: SPEC=1 compares them before and after.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <weft/dev/schedule/plan.h>

namespace weft {

class DataFlow {
 public:
  explicit DataFlow(const Plan& plan);

  // Throws where the plan, which has the same steps, has other data flow than it had.
  void check(const Plan& plan, std::string_view after) const;

 private:
  using Writer =
      std::optional<std::size_t>;  // the step that wrote there last; nothing where none has

  // Of each step, those of what it reads, in increasing order; of the roots, those of the memory below them.
  std::vector<std::vector<Writer>> steps_, roots_;
};

}  // namespace weft
