// Tensors by a plan whose orders and forms follow times that a test gives, run as realize() does.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <weft/dev/base/parallel.h>
#include <weft/dev/engine/storage.h>
#include <weft/weft.h>

#include "../../src/engine/run.h"
#include "plan_for.h"

namespace weft {

class Planned {
 public:
  Planned(const Tensor& tensor, const KernelSeconds& seconds, bool fuses = true,
          std::vector<MmaShape> mma = {})
      : Planned(std::vector{tensor}, seconds, fuses, std::move(mma)) {}
  Planned(const std::vector<Tensor>& tensors, const KernelSeconds& seconds, bool fuses = true,
          std::vector<MmaShape> mma = {}) {
    const InternerScope scope(arena_);
    const PassOptions options;
    std::vector<Wanted> wanted;
    for (const Tensor& tensor : tensors) wanted.push_back({tensor.uop(), Symbol(tensor.device())});
    resolved_ = resolve(wanted, options);
    Target target = fixed_target();
    target.machine.set_workers(thread_count());
    if (!fuses) target.ops = {};
    target.mma = std::move(mma);
    runnable_.plan = make_plan(resolved_.roots, target, seconds);
    runnable_.extra = options.extra;
  }

  const Plan& plan() const { return runnable_.plan; }

  std::vector<float> values(std::size_t root_number = 0) {
    const InternerScope scope(arena_);
    const Plan& plan = runnable_.plan;
    std::vector<std::shared_ptr<Buffer>> memory(plan.slots.size());
    std::vector<std::shared_ptr<Buffer>> roots(plan.roots.size());
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (const auto& input = plan.slots[i].input)
        memory[i] = memory_of(resolved_.buffers[*input].node());
      for (std::size_t root = 0; root < roots.size(); ++root)
        if (plan.slots[i].buffer.node() == buffers_of(plan.roots[root].node())[0])
          roots[root] = memory[i] = memory_for(plan.slots[i]);
    }
    const std::shared_ptr<Buffer>& root = roots[root_number];
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
