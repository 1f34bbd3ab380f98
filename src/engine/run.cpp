#include "run.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>

#include <weft/dev/device/host_memory.h>
#include <weft/dev/engine/storage.h>
#include <weft/dev/ir/graph.h>
#include <weft/settings.h>

#include "report.h"

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Which of the plan's variables the program takes, and behind them which of the step's values.
std::vector<std::size_t> variables_of(const LoadedKernel& loaded, const Step& step,
                                      const Plan& plan) {
  std::vector<std::size_t> numbers, result;
  std::size_t next = plan.variables.size();
  for (const Node* own : signature_of(step.kernel.node()).variables) {
    const auto variable = std::ranges::find(plan.variables, own, &UOp::node);
    const bool is_of_plan = variable != plan.variables.end();
    numbers.push_back(is_of_plan ? static_cast<std::size_t>(variable - plan.variables.begin())
                                 : next++);
  }
  for (std::size_t at : loaded.variables) result.push_back(numbers[at]);
  return result;
}

}  // namespace

void load(RunnablePlan& runnable) {
  const std::lock_guard lock(runnable.loading);
  if (!runnable.steps.empty()) return;
  const Plan& plan = runnable.plan;
  std::vector<KernelFor> wanted;  // once of those that several steps run
  std::map<std::pair<const Node*, Device*>, std::size_t> number;
  const auto key_of = [](const Step& step) {
    return std::pair(step.kernel.node(), &find_device(step.device.get()));
  };
  for (const Step& step : plan.steps)
    if (!step.kernel.is_null() && number.emplace(key_of(step), wanted.size()).second)
      wanted.push_back({step.kernel, key_of(step).second});
  const auto loaded = load_kernels(wanted, runnable.extra);
  std::vector<RunnablePlan::Loaded> steps(plan.steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (plan.steps[i].kernel.is_null()) continue;
    const auto& kernel = loaded[number.at(key_of(plan.steps[i]))];
    steps[i] = {kernel, variables_of(*kernel, plan.steps[i], plan)};
  }
  runnable.blocks = blocks_of(plan);
  runnable.steps = std::move(steps);
}

namespace {

// After which step each slot is needed no more.
std::vector<std::size_t> last_uses(const Plan& plan) {
  std::vector<std::size_t> last(plan.slots.size());
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    for (std::uint32_t slot : plan.steps[i].slots) last[slot] = i;
  return last;
}

// Which slots a run has to be given, or leaves behind.
std::vector<bool> outer_slots(const Plan& plan) {
  std::set<std::uint64_t> left;
  for (const UOp& root : plan.roots)
    for (const Node* buffer : buffers_of(root.node()))
      left.insert(buffer->arg<BufferArg>().id.value);
  std::vector<bool> outer;
  for (const Slot& slot : plan.slots)
    outer.push_back(slot.input || left.contains(slot.buffer->arg<BufferArg>().id.value));
  return outer;
}

std::size_t bytes_of(const Slot& slot) {
  return weft::bytes_of(slot.buffer->dtype(), slot.buffer->dims());
}

Device& device_of(const Slot& slot) {
  return find_device(slot.buffer->arg<BufferArg>().device.get());
}

void run_kernel(const RunnablePlan::Loaded& loaded, const Step& step,
                const std::vector<std::shared_ptr<Buffer>>& memory,
                const std::vector<std::int64_t>& values) {
  std::vector<Buffer*> given;
  for (std::uint32_t slot : step.slots) given.push_back(memory[slot].get());
  std::vector<std::int64_t> own;
  for (std::size_t variable : loaded.variables)
    own.push_back(variable < values.size() ? values[variable]
                                           : step.values.at(variable - values.size()));
  weft::run(*loaded.kernel, given, own);
}

constexpr std::size_t worth_trimming = std::size_t{4} << 20;

// What planning took, and what it has looked at of files, before large constants are packed.
void forget_planning(const std::vector<std::shared_ptr<Buffer>>& memory) {
  std::size_t bytes = 0;
  for (const std::shared_ptr<Buffer>& each : memory)
    if (each != nullptr && each->is_constant()) bytes += each->bytes();
  if (bytes < worth_trimming) return;
  for (const std::shared_ptr<Buffer>& each : memory)
    if (each != nullptr) each->rest();
  forget_node_maps();
  trim_host_memory();
}

// What kernels make of constants, the largest first: the weights of a file are in memory one at a time, and the largest while
// there is little else.
void make_kept(RunnablePlan& runnable, std::vector<std::shared_ptr<Buffer>>& memory) {
  if (runnable.has_made_kept.exchange(true)) return;
  const Plan& plan = runnable.plan;
  forget_planning(memory);
  const auto is_constant = [&](std::uint32_t slot) {
    return memory[slot] != nullptr && memory[slot]->is_constant();
  };
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    if (const Step& step = plan.steps[i]; step.is_once && is_constant(step.slots[1]))
      memory[step.slots[0]] = made_once(runnable, i, memory[step.slots[1]]);
  struct Wanted {
    LoadedKernel* kernel;
    const Kept* kept;
    Buffer* constant;
  };
  std::vector<Wanted> all;
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    if (LoadedKernel* kernel = runnable.steps[i].kernel.get(); kernel != nullptr)
      for (const Kept& kept : kernel->kept)
        if (const std::uint32_t slot = plan.steps[i].slots[kept.constant]; is_constant(slot))
          all.push_back({kernel, &kept, memory[slot].get()});
  std::ranges::sort(all, std::greater(), [](const Wanted& each) { return each.constant->bytes(); });
  std::size_t bytes = 0, lent = 0;
  for (const auto& [kernel, kept, constant] : all) {
    // The copy that was lent serves the next of the same size, or nobody.
    if (constant->bytes() != bytes) lent += bytes;
    if (lent >= worth_trimming) {
      trim_host_memory();
      lent = 0;
    }
    bytes = constant->bytes();
    kept_memory(*kept, *constant);
  }
}

void place_blocks(const RunnablePlan& runnable, std::vector<std::shared_ptr<Buffer>>& memory) {
  for (const auto& [device, slots, layout] : runnable.blocks) {
    const auto block = std::make_shared<Buffer>(*device, layout.bytes);
    for (std::size_t i = 0; i < slots.size(); ++i)
      memory[slots[i]] = std::make_shared<Buffer>(block, layout.offsets[i],
                                                  bytes_of(runnable.plan.slots[slots[i]]));
  }
}

}  // namespace

std::vector<Block> blocks_of(const Plan& plan) {
  const std::vector<std::size_t> last = last_uses(plan);
  std::vector<bool> is_done = outer_slots(plan);
  for (const Step& step : plan.steps)
    if (step.is_once) is_done[step.slots[0]] = true;
  std::map<Device*, std::pair<std::vector<std::uint32_t>, std::vector<Lifetime>>> parts;
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    for (std::uint32_t slot : plan.steps[i].slots) {
      if (is_done[slot]) continue;
      is_done[slot] = true;
      auto& [slots, lifetimes] = parts[&device_of(plan.slots[slot])];
      slots.push_back(slot);
      lifetimes.push_back({bytes_of(plan.slots[slot]), i, last[slot]});
    }
  std::vector<Block> blocks;
  for (auto& [device, part] : parts)
    blocks.push_back({device, std::move(part.first), lay_out(part.second)});
  return blocks;
}

std::shared_ptr<Buffer> memory_for(const Slot& slot) {
  return std::make_shared<Buffer>(device_of(slot), bytes_of(slot));
}

std::shared_ptr<Buffer> made_once(const RunnablePlan& runnable, std::size_t step,
                                  const std::shared_ptr<Buffer>& constant) {
  const Step& of = runnable.plan.steps[step];
  const UOp& memory = runnable.plan.slots[of.slots[0]].buffer;
  return made_once(runnable.steps[step].kernel, of.kernel,
                   weft::bytes_of(memory->dtype(), memory->dims()), constant);
}

std::vector<Access> accesses_of(const Step& step) {
  std::vector<Access> accesses(step.slots.size(), Access::Read);
  if (step.kernel.is_null()) {
    accesses[0] = Access::Write;  // of a copy
    return accesses;
  }
  const auto params = signature_of(step.kernel.node()).params;
  for (std::size_t i = 0; i < accesses.size(); ++i)
    if (params[i] != nullptr) accesses[i] = params[i]->arg<ParamArg>().access;
  return accesses;
}

void run(RunnablePlan& runnable, std::vector<std::shared_ptr<Buffer>> memory,
         const std::vector<std::int64_t>& values, const std::vector<std::string>& callers,
         std::size_t& steps_done) {
  load(runnable);
  const Plan& plan = runnable.plan;
  const Clock::time_point start = Clock::now();
  const std::vector<std::size_t> last = last_uses(plan);
  place_blocks(runnable, memory);
  make_kept(runnable, memory);
  const bool is_told = debug_level() >= 2 && !callers.empty();
  std::optional<StepReport> report;
  if (is_told) report.emplace(plan);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    const Clock::time_point begin = is_told ? Clock::now() : start;
    if (step.kernel.is_null())
      memory[step.slots[0]]->copy_from(*memory[step.slots[1]], step.offset);
    else if (step.is_once)
      memory[step.slots[0]] = made_once(runnable, i, memory[step.slots[1]]);
    else
      run_kernel(runnable.steps[i], step, memory, values);
    steps_done = i + 1;
    if (is_told) report->add(step, seconds_since(begin), callers[i]);
    for (std::uint32_t slot : step.slots)
      if (last[slot] == i) memory[slot] = nullptr;
  }
  if (debug_level() < 1) return;
  std::size_t between = 0;
  for (const Block& block : runnable.blocks) between += block.layout.bytes;
  report_run(plan, between, seconds_since(start));
}

}  // namespace weft
