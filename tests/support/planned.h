// A tensor by a plan whose orders and forms follow times that a test gives, run as realize() does.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <weft/dev/base/parallel.h>
#include <weft/dev/engine/storage.h>
#include <weft/weft.h>

#include "../../src/engine/resolve.h"
#include "../../src/engine/run.h"

namespace weft {

class Planned {
 public:
  Planned(const Tensor& tensor, const KernelSeconds& seconds, bool fuses = true,
          std::vector<MmaShape> mma = {}) {
    const InternerScope scope(arena_);
    const PassOptions options;
    resolved_ = resolve({{tensor.uop(), Symbol(tensor.device())}}, options);
    Profile profile;
    profile.threads = thread_count();
    profile.fuses = fuses;
    profile.mma = std::move(mma);
    runnable_.plan = make_plan(resolved_.roots, profile, seconds);
    runnable_.extra = options.extra;
  }

  const Plan& plan() const { return runnable_.plan; }

  std::vector<float> values() {
    const InternerScope scope(arena_);
    const Plan& plan = runnable_.plan;
    std::vector<std::shared_ptr<Buffer>> memory(plan.slots.size());
    const Node* result = buffers_of(plan.roots[0].node())[0];
    std::shared_ptr<Buffer> root;
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (const auto& input = plan.slots[i].input)
        memory[i] = memory_of(resolved_.buffers[*input].node());
      if (plan.slots[i].buffer.node() == result) root = memory[i] = memory_for(plan.slots[i]);
    }
    std::size_t steps_done = 0;
    run(runnable_, memory, resolved_.values, {}, steps_done);
    std::vector<float> values(root->bytes() / sizeof(float));
    root->copy_out(std::as_writable_bytes(std::span(values)));
    return values;
  }

 private:
  Arena arena_;
  Resolved resolved_;
  RunnablePlan runnable_;
};

}  // namespace weft
