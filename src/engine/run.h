// Runs a plan.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include <weft/dev/device/buffer.h>
#include <weft/dev/schedule/memory_layout.h>
#include <weft/dev/schedule/plan.h>

#include "programs.h"

namespace weft {

// One block of a device's memory, for what lives between the steps of a plan.
struct Block {
  Device* device;
  std::vector<std::uint32_t> slots;
  MemoryLayout layout;  // of those
};

// A plan with its programs, which the first run loads.
struct RunnablePlan {
  struct Loaded {
    std::shared_ptr<LoadedKernel> kernel;  // null for a copy
    std::vector<std::size_t> variables;  // it takes: the plan's, and behind them the step's values
  };
  Plan plan;
  std::vector<std::shared_ptr<const std::vector<std::size_t>>> writes_of_roots;  // see outcome.h
  std::shared_ptr<const ExtraRuleList> extra;  // by which its kernels are compiled
  std::mutex loading;
  std::vector<Loaded> steps;
  std::vector<Block> blocks;
  std::map<std::vector<std::int64_t>, int> runs;  // by the lengths, where it serves several
  std::atomic<bool> has_made_kept = false;        // what its kernels make of constants
};

// Compiles what is not, which the first run does as well.
void load(RunnablePlan& runnable);

// What lies in blocks of the plan's own.
std::vector<Block> blocks_of(const Plan& plan);

// New memory of a slot.
std::shared_ptr<Buffer> memory_for(const Slot& slot);

// What a step makes of a constant.
std::shared_ptr<Buffer> made_once(const RunnablePlan& runnable, std::size_t step,
                                  const std::shared_ptr<Buffer>& constant);

// What a step does with each of its slots.
std::vector<Access> accesses_of(const Step& step);

// `memory` by slot: inputs and whatever outlives the run; the rest is allocated on the way. `values`
// by the plan's variables, `callers` by its steps, where they are noted. `steps_done` counts the steps as they are done.
void run(RunnablePlan& runnable, std::vector<std::shared_ptr<Buffer>> memory,
         const std::vector<std::int64_t>& values, const std::vector<std::string>& callers,
         std::size_t& steps_done);

}  // namespace weft
