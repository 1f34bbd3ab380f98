#include <weft/dev/interpret/interpreter.h>

#include <algorithm>

#include <fmt/core.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "machine.h"

namespace weft {
namespace interp {
namespace {

constexpr OpSet refused{Op::If,    Op::EndIf,  Op::Shuffle, Op::Mma,        Op::AsyncCopy,
                        Op::Wait,  Op::Custom, Op::Counter, Op::Contiguous, Op::Detach,
                        Op::Remat, Op::Copy,   Op::Call,    Op::Bind};

bool runs(const Node* node) {
  if (info(node->op()).cls == OpClass::Movement) return false;
  switch (node->op()) {
    case Op::Special: return is_parallel(node->arg<SpecialArg>().kind) && node->src(0)->is_const();
    case Op::Barrier: return node->arg<ScopeArg>().scope == Scope::Group;
    // Its items would run one after the other, where they have to meet at barriers.
    case Op::Range: return node->arg<RangeArg>().kind != LoopKind::Local;
    case Op::Stage: return !node->dtype().is_void();
    case Op::Reduce: return node->arg<ReduceArg>().axes.get().empty();
    default: return !refused.contains(node->op());
  }
}

using Place = std::vector<std::int64_t>;  // along each SPECIAL

std::vector<const Node*> workers_of(const Signature& signature, bool are_items) {
  std::vector<const Node*> found;
  for (const Node* special : signature.workers)
    if ((special->arg<SpecialArg>().kind == LoopKind::Local) == are_items) found.push_back(special);
  return found;
}

// All places along the SPECIALs, the last of them changing fastest.
std::vector<Place> places_of(const std::vector<const Node*>& specials) {
  std::vector<Place> places{{}};
  for (const Node* special : specials) {
    std::vector<Place> more;
    for (const Place& place : places)
      for (std::int64_t i = 0; i < special->src(0)->lo(); ++i) {
        more.push_back(place);
        more.back().push_back(i);
      }
    places = std::move(more);
  }
  return places;
}

// In turns, until all have reached the end: they meet at the same barriers.
void run_group(std::span<Machine> items) {
  if (items.empty()) return;
  const Node* barrier = nullptr;
  do {
    barrier = items[0].run();
    for (Machine& item : items.subspan(1))
      if (item.run() != barrier)
        internal_error("INTERP: the items of a work-group wait at different barriers");
  } while (barrier != nullptr);
}

// The first item, which the others are like.
Machine first_item(const Steps& steps, const Signature& signature,
                   std::span<const Argument> arguments, std::span<const std::int64_t> values,
                   Launch& launch) {
  if (arguments.size() < signature.params.size() || values.size() != signature.variables.size())
    internal_error(fmt::format("INTERP: {} takes {} buffers and {} values, not {} and {}",
                               steps.kernel()->arg<KernelArg>().name.get(), signature.params.size(),
                               signature.variables.size(), arguments.size(), values.size()));
  Machine machine(steps, arguments, launch);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Node* variable = signature.variables[i];
    if (!variable->bounds().contains(values[i]))
      internal_error(fmt::format("INTERP: {} = {} is outside its bounds", expression_text(variable),
                                 values[i]));
    machine.set(variable, values[i]);
  }
  return machine;
}

// With all workers. Those of the launch grid run one after the other; the items of a work-group in turns, each from one
// barrier to the next. INTERP_BACKWARD=1: the last item first.
void run_all(const Steps& steps, const Signature& signature, std::span<const Argument> arguments,
             std::span<const std::int64_t> values, std::int64_t most) {
  const std::vector<const Node*> grid = workers_of(signature, false);
  const std::vector<const Node*> group = workers_of(signature, true);
  std::vector<Place> turns = places_of(group);
  if (setting_int("INTERP_BACKWARD") != 0) std::ranges::reverse(turns);
  Launch launch{.shared = {}, .steps_left = most};
  const Machine first = first_item(steps, signature, arguments, values, launch);
  std::vector<Machine> items(turns.size(), first);
  for (std::size_t i = 0; i < items.size(); ++i) items[i].set(group, turns[i]);
  for (const Place& place : places_of(grid)) {
    launch.shared.assign(steps.storages(), {});
    for (Machine& item : items) {
      item.set(grid, place);
      item.begin();
    }
    run_group(items);
  }
}

}  // namespace
}  // namespace interp

const Node* not_interpreted(const Node* kernel) {
  for (const Node* node : toposort(kernel))
    if (!interp::runs(node)) return node;
  return nullptr;
}

struct Interpreter::Parts {
  Signature signature;
  interp::Steps steps;
};

Interpreter::Interpreter(const Node* kernel)
    : parts_(new Parts{signature_of(kernel), interp::Steps(kernel)}) {}
Interpreter::Interpreter(Interpreter&&) noexcept = default;
Interpreter::~Interpreter() = default;

bool Interpreter::run(std::span<const Argument> arguments, std::span<const std::int64_t> values,
                      std::int64_t most) const {
  try {
    interp::run_all(parts_->steps, parts_->signature, arguments, values, most);
  } catch (const interp::OutOfSteps&) {
    return false;
  }
  return true;
}

}  // namespace weft
