// Def-use chains between the steps of a plan. Buffer reuse must not change them: SPEC=1 compares
// them before and after.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <weft/dev/schedule/plan.h>

namespace weft {

class DataFlow {
 public:
  explicit DataFlow(const Plan& plan);

  // Throws if the plan, which has the same steps, has a different data flow. `after` names the
  // pass.
  void check(const Plan& plan, std::string_view after) const;

 private:
  using Writer =
      std::optional<std::size_t>;  // the step that last wrote the slot; nothing if none has

  // For each step, the writers of what it reads, ascending. For each root, those of the memory
  // below it.
  std::vector<std::vector<Writer>> steps_, roots_;
};

}  // namespace weft
