#include <weft/dev/engine/call_list.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include <weft/dev/device/host_memory.h>
#include <weft/dev/schedule/memory_layout.h>
#include <weft/error.h>

#include "run.h"

namespace weft {
namespace {

thread_local CallList* in_force = nullptr;

std::uint64_t id_of(const UOp& variable) { return variable->arg<VariableArg>().id.value; }

}  // namespace

CallList::Recording::Recording(CallList& list) {
  if (in_force != nullptr) internal_error("calls are recorded within a recording");
  in_force = &list;
}
CallList::Recording::~Recording() { in_force = nullptr; }  // there was none before
CallList* CallList::recording() { return in_force; }
CallList::Pause::Pause() : paused_(std::exchange(in_force, nullptr)) {}
CallList::Pause::~Pause() { in_force = paused_; }

CallList::Place CallList::place_for(const std::shared_ptr<Buffer>& memory, bool is_made) {
  const auto [known, is_new] = place_of_.emplace(memory.get(), places_.size());
  if (is_new) places_.push_back({memory, is_made});
  return known->second;
}

std::optional<CallList::Place> CallList::place_of(const std::shared_ptr<Buffer>& memory) const {
  const auto known = place_of_.find(memory.get());
  if (known == place_of_.end()) return std::nullopt;
  return known->second;
}

void CallList::note(Place place, bool reads, bool writes) {
  Memory& memory = places_[place];
  // Nothing is there yet for what a plan makes: a kernel that writes it reads what it has written.
  const bool is_own = memory.is_made && writes;
  memory.is_read_first = memory.is_read_first || (reads && !memory.is_written && !is_own);
  memory.is_written = memory.is_written || writes;
  if (memory.calls.empty() || memory.calls.back() != calls_.size())
    memory.calls.push_back(calls_.size());
}

void CallList::add(const std::shared_ptr<RunnablePlan>& runnable,
                   const std::vector<std::shared_ptr<Buffer>>& memory,
                   const std::vector<UOp>& variables, const std::vector<std::int64_t>& values,
                   const std::vector<std::string>& callers) {
  const Plan& plan = runnable->plan;
  std::vector<std::shared_ptr<Buffer>> all = memory;
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    if (const auto& slots = plan.steps[i].slots; plan.steps[i].is_once)
      all[slots[0]] = made_once(*runnable, i, all[slots[1]]);
  for (std::size_t slot = 0; slot < all.size(); ++slot)
    if (all[slot] == nullptr) all[slot] = memory_for(plan.slots[slot]);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    const RunnablePlan::Loaded& loaded = runnable->steps[i];
    Call call{runnable, i, loaded.kernel, {}, {}, {}, step.offset, step.is_once};
    call.keeps_constants =
        step.is_once || (loaded.kernel != nullptr && !loaded.kernel->kept.empty());
    if (!callers.empty()) call.caller = callers[i];
    for (std::uint32_t slot : step.slots)
      call.places.push_back(place_for(all[slot], !plan.slots[slot].input));
    const std::vector<Access> accesses = accesses_of(step);
    for (std::size_t argument = 0; argument < call.places.size(); ++argument) {
      const Access access = step.is_once ? Access::Constant : accesses[argument];
      note(call.places[argument], reads(access), writes(access));
    }
    for (std::size_t variable : loaded.variables) {
      const bool is_open = variable < variables.size();
      if (is_open)
        variables_[id_of(variables[variable])].push_back({calls_.size(), call.values.size()});
      call.values.push_back(is_open ? values[variable]
                                    : step.values.at(variable - variables.size()));
    }
    calls_.push_back(std::move(call));
  }
}

void CallList::settle(const std::vector<Place>& held) {
  std::vector<bool> is_held(places_.size());
  for (Place place : held) is_held[place] = true;
  std::map<Device*, std::vector<Place>> own;
  for (Place place = 0; place < places_.size(); ++place) {
    const Memory& memory = places_[place];
    const bool is_own =
        memory.memory.use_count() == 1 && memory.is_written && !memory.is_read_first;
    if (is_own || is_held[place]) own[&memory.memory->device()].push_back(place);
  }
  for (const auto& [device, places] : own) put_in_block(*device, places, is_held);
  for (std::size_t call = 0; call < calls_.size(); ++call) set_arguments(call);
}

void CallList::put_in_block(Device& device, const std::vector<Place>& places,
                            const std::vector<bool>& is_held) {
  std::vector<Lifetime> lifetimes;
  for (Place place : places) {
    const Memory& memory = places_[place];
    lifetimes.push_back({memory.memory->bytes(), memory.calls.front(),
                         is_held[place] ? calls_.size() - 1 : memory.calls.back()});
  }
  const MemoryLayout layout = lay_out(lifetimes);
  own_bytes_ += layout.bytes;
  least_bytes_ += layout.least;
  trim_host_memory();  // the block of the run that was recorded is of another size
  const auto block = std::make_shared<Buffer>(device, layout.bytes);
  blocks_.push_back({block, places, layout.offsets});
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::shared_ptr<Buffer>& memory = places_[places[i]].memory;
    const auto part = std::make_shared<Buffer>(block, layout.offsets[i], memory->bytes());
    if (is_held[places[i]]) part->copy_from(*memory);
    memory = part;
  }
}

CallList CallList::another() const {
  CallList other = *this;
  for (OwnBlock& block : other.blocks_) {
    block.memory = std::make_shared<Buffer>(block.memory->device(), block.memory->bytes());
    for (std::size_t i = 0; i < block.places.size(); ++i) {
      std::shared_ptr<Buffer>& memory = other.places_[block.places[i]].memory;
      memory = std::make_shared<Buffer>(block.memory, block.offsets[i], memory->bytes());
    }
  }
  for (std::size_t call = 0; call < calls_.size(); ++call) other.set_arguments(call);
  return other;
}

std::vector<CallList::Place> CallList::written_outside_of_blocks() const {
  std::vector<bool> is_inside(places_.size());
  for (const OwnBlock& block : blocks_)
    for (const Place place : block.places) is_inside[place] = true;
  std::vector<Place> outside;
  for (Place place = 0; place < places_.size(); ++place)
    if (places_[place].is_written && !is_inside[place]) outside.push_back(place);
  return outside;
}

void CallList::set_arguments(std::size_t number) {
  Call& call = calls_[number];
  if (call.is_once)
    return put(call.places[0],
               made_once(*call.runnable, call.step, places_[call.places[1]].memory));
  if (call.kernel == nullptr) return;
  std::vector<Buffer*> memory;
  for (Place place : call.places) memory.push_back(places_[place].memory.get());
  const std::lock_guard lock(call.kernel->keeping);
  call.arguments = arguments_for(*call.kernel, memory);
}

// What is captured as a constant may have been given other memory, which is none.
bool CallList::reads_constants_alone(const Call& call) const {
  const auto is_constant = [&](std::size_t argument) {
    return places_[call.places[argument]].memory->is_constant();
  };
  return call.is_once ? is_constant(1)
                      : std::ranges::all_of(call.kernel->kept, is_constant, &Kept::constant);
}

bool CallList::keeps_what_changes() const {
  return std::ranges::any_of(calls_, [&](const Call& call) {
    return call.keeps_constants && !reads_constants_alone(call);
  });
}

void CallList::put(Place place, std::shared_ptr<Buffer> memory) {
  Memory& at = places_[place];
  if (at.memory == memory) return;
  if (memory->bytes() != at.memory->bytes() || &memory->device() != &at.memory->device())
    internal_error("calls are given memory of another size or device");
  at.memory = std::move(memory);
  for (std::size_t call : at.calls) set_arguments(call);
}

void CallList::set_variable(std::uint64_t variable, std::int64_t value) {
  const auto uses = variables_.find(variable);
  if (uses == variables_.end()) return;
  for (const auto& [call, number] : uses->second) calls_[call].values[number] = value;
}

void CallList::run(std::size_t number) {
  const Call& call = calls_[number];
  const bool makes_again = call.keeps_constants && !reads_constants_alone(call);
  std::unique_lock<std::recursive_mutex> lock;  // until what was made has been read
  if (makes_again && !call.is_once) lock = std::unique_lock(call.kernel->keeping);
  if (makes_again) set_arguments(number);
  if (call.is_once) return;
  if (call.kernel == nullptr) {
    places_[call.places[0]].memory->copy_from(*places_[call.places[1]].memory, call.offset);
    return;
  }
  call.kernel->program->run(call.arguments, call.values);
}

void CallList::run() {
  for (std::size_t call = 0; call < calls_.size(); ++call) run(call);
}

std::vector<double> CallList::run_timed() {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  seconds.reserve(calls_.size());
  Clock::time_point before = Clock::now();
  for (std::size_t call = 0; call < calls_.size(); ++call) {
    run(call);
    const Clock::time_point after = Clock::now();
    seconds.push_back(std::chrono::duration<double>(after - before).count());
    before = after;
  }
  return seconds;
}

CallList::Planned CallList::planned(std::size_t call) const {
  const Step& step = calls_[call].runnable->plan.steps[calls_[call].step];
  return {step.kernel, step.device.get(), step.work, calls_[call].caller};
}

std::vector<std::uint64_t> CallList::variables_of(std::size_t call) const {
  std::vector<std::uint64_t> variables(calls_[call].values.size());
  for (const auto& [variable, uses] : variables_)
    for (const Use& use : uses)
      if (use.call == call) variables[use.value] = variable;
  return variables;
}

std::optional<CallList::Outline> CallList::outline(std::size_t call) const {
  const Call& own = calls_[call];
  if (own.is_once) return std::nullopt;
  Outline outline{{}, own.values, variables_of(call), own.kernel == nullptr, own.offset};
  for (std::size_t i = 0; i < own.places.size(); ++i) {
    const bool is_used =
        outline.is_copy || i >= own.kernel->is_read.size() || own.kernel->is_read[i];
    outline.memory.push_back({is_used ? std::optional(own.places[i]) : std::nullopt});
  }
  if (outline.is_copy) return outline;
  for (const Kept& kept : own.kernel->kept) {
    outline.memory.resize(std::max(outline.memory.size(), kept.argument + 1));
    Buffer& constant = *places_[own.places[kept.constant]].memory;
    outline.memory[kept.argument] = {{}, kept_memory(kept, constant)};
  }
  return outline;
}

void CallList::lower(std::size_t call, const std::function<void(const Node*)>& use) const {
  const Call& own = calls_[call];
  const Step& step = own.runnable->plan.steps[own.step];
  lower_again({step.kernel, &find_device(step.device.get())}, own.runnable->extra, use);
}

}  // namespace weft
