#include "buffer_reuse.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include <weft/dev/base/size_limits.h>
#include <weft/dev/ir/below.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>
#include <weft/settings.h>

#include "plan_steps.h"

namespace weft {
namespace {

constexpr double least_bytes = 64 << 10;

std::size_t bytes_of(const Slot& slot) {
  constexpr double most = 1ULL << 62;
  return static_cast<std::size_t>(std::min(memory_bytes(slot.buffer), most));
}

// Returns the only STORE of a kernel; null if there is not exactly one.
const Node* only_store(const std::vector<const Node*>& nodes) {
  if (std::ranges::count(nodes, Op::Store, &Node::op) != 1) return nullptr;
  return *std::ranges::find(nodes, Op::Store, &Node::op);
}

// Returns the reads that are elementwise operands of the stored value and that no inner loop
// contains. An inner loop might read an element again after it has been overwritten.
std::vector<const Node*> direct_reads(const Node* store) {
  std::vector<const Node*> reads, loops;
  for (const Node* node : elementwise_below({store->src(1)})) {
    if (node->op() == Op::Load)
      reads.push_back(node->src(0));
    else if (!is_elementwise(node->op()))
      loops.push_back(node);
  }
  NodeMap<bool> in_loops;
  for (const Node* node : toposort(loops)) in_loops.set(node, true);
  std::erase_if(reads, [&](const Node* read) { return in_loops.contains(read); });
  return reads;
}

// The PARAMs of a kernel's output and of the inputs whose buffers it may take.
struct Sharing {
  const Node* output = nullptr;
  std::vector<const Node*> inputs;
};

bool can_take_place(const Node* output, const Node* input) {
  return input->op() == Op::Param && input != output &&
         input->arg<ParamArg>().access == Access::Read && input->dtype() == output->dtype() &&
         input->shape() == output->shape();
}

Sharing sharing_in(const UOp& kernel) {
  const std::vector<const Node*> nodes = toposort(kernel.node());
  const Node* store = only_store(nodes);
  if (store == nullptr || store->arg<StoreArg>().combine) return {};
  const Node *place = store->src(0), *output = place->src(0);
  if (output->op() != Op::Param || output->arg<ParamArg>().access != Access::Write) return {};
  const std::vector<const Node*> direct = direct_reads(store);
  Sharing found{output, {}};
  for (const Node* param : nodes) {
    const auto is_read_in_place = [&](const Node* node) {
      if (node->op() != Op::Index || node->src(0) != param) return true;
      return std::ranges::equal(node->src().subspan(2), place->src().subspan(2)) &&
             std::ranges::find(direct, node) != direct.end();
    };
    if (can_take_place(output, param) && std::ranges::all_of(nodes, is_read_in_place))
      found.inputs.push_back(param);
  }
  return found;
}

// Returns the kernel with one PARAM for both. The slots after that of the input move up.
UOp joined(const UOp& kernel, const Node* output, const Node* input) {
  Substitution params;
  for (const Node* param : toposort(kernel.node())) {
    if (param->op() != Op::Param) continue;
    ParamArg arg = param->arg<ParamArg>();
    if (arg.slot > input->arg<ParamArg>().slot) --arg.slot;
    if (param == output) arg.access = Access::ReadWrite;
    params.emplace(param, make(Op::Param, sizes_of(UOp(param)), param->dtype(), arg));
  }
  params.at(input) = params.at(output);
  return substitute(kernel, params);
}

class Reuser {
 public:
  explicit Reuser(Plan& plan) : plan_(plan), lives_(plan.slots.size()) {
    const std::vector<bool> internal = internal_slots(plan);
    for (std::size_t i = 0; i < plan.steps.size(); ++i)
      for (std::uint32_t slot : plan.steps[i].slots) {
        Life& life = lives_[slot];
        if (!life.is_own) life.first = i;
        life.last = i;
        life.is_own = internal[slot];
      }
  }

  void wherever() {
    for (std::size_t step = 0; step < plan_.steps.size(); ++step) reuse_at(step);
  }

  // Reuses buffers that exceed the first-level cache. What is written is then in the cache already
  // and evicts nothing else.
  void where_no_slower(const KernelSeconds& seconds) {
    for (std::size_t at = 0; at < plan_.steps.size(); ++at) {
      const Step& step = plan_.steps[at];
      const auto is_large_and_new = [&](std::uint32_t slot) {
        return lives_[slot].is_own && lives_[slot].first == at &&
               bytes_of(plan_.slots[slot]) >= least_work(least_bytes);
      };
      if (std::ranges::none_of(step.slots, is_large_and_new)) continue;
      const auto reuse = possible_at(at);
      if (!reuse) continue;
      const auto before = seconds(step.kernel, step.device);
      const auto now = seconds(reuse->kernel, step.device);
      if (before && now && *now <= *before) apply(*reuse, at);
    }
  }

  // Reuses buffers at the step of peak memory, as long as the peak falls.
  void for_less() {
    for (auto& [device, needed] : needed_by_device()) {
      while (!needed.empty()) {
        const auto most = std::ranges::max_element(needed);
        const auto at = static_cast<std::size_t>(most - needed.begin());
        if (at >= plan_.steps.size() || plan_.steps[at].device.get() != device) break;
        const std::size_t saved = reuse_at(at);
        if (saved == 0) break;
        *most -= saved;
      }
    }
  }

  void remove_unused() {
    std::vector<std::uint32_t> number;
    std::vector<Slot> slots;
    for (std::size_t i = 0; i < plan_.slots.size(); ++i) {
      number.push_back(static_cast<std::uint32_t>(slots.size()));
      if (!lives_[i].is_gone) slots.push_back(std::move(plan_.slots[i]));
    }
    plan_.slots = std::move(slots);
    for (Step& step : plan_.steps)
      for (std::uint32_t& slot : step.slots) slot = number[slot];
  }

 private:
  struct Life {
    std::size_t first = 0, last = 0;       // steps; `first` only if it is the plan's own
    bool is_own = false, is_gone = false;  // is_gone: another slot has taken its place
  };

  Symbol device_of(std::size_t slot) const {
    return plan_.slots[slot].buffer->arg<BufferArg>().device;
  }

  // Returns the bytes of the plan's own buffers that are live at each step, by device.
  std::map<std::string, std::vector<std::size_t>> needed_by_device() const {
    std::map<std::string, std::vector<std::size_t>> needed;  // at first the differences
    for (std::size_t i = 0; i < lives_.size(); ++i) {
      if (!lives_[i].is_own) continue;
      auto& bytes = needed[std::string(device_of(i).get())];
      bytes.resize(plan_.steps.size() + 1);
      bytes[lives_[i].first] += bytes_of(plan_.slots[i]);
      bytes[lives_[i].last + 1] -= bytes_of(plan_.slots[i]);  // wraps around, and back in the sum
    }
    for (auto& [device, bytes] : needed)
      std::partial_sum(bytes.begin(), bytes.end(), bytes.begin());
    return needed;
  }

  struct Reuse {
    std::uint32_t to, from;  // slots
    std::int32_t argument;   // of the step, to be removed
    UOp kernel;
  };

  std::optional<Reuse> possible_at(std::size_t at) const {
    const Step& step = plan_.steps[at];
    if (step.kernel.is_null()) return std::nullopt;
    const Sharing sharing = sharing_in(step.kernel);
    for (const Node* input : sharing.inputs) {
      const std::uint32_t to = slot_of(step, sharing.output), from = slot_of(step, input);
      if (may_share(from, to, at))
        return Reuse{to, from, input->arg<ParamArg>().slot,
                     joined(step.kernel, sharing.output, input)};
    }
    return std::nullopt;
  }

  void apply(const Reuse& reuse, std::size_t at) {
    Step& step = plan_.steps[at];
    step.kernel = reuse.kernel;
    step.slots.erase(step.slots.begin() + reuse.argument);
    for (Step& later : std::span(plan_.steps).subspan(at))
      std::ranges::replace(later.slots, reuse.to, reuse.from);
    lives_[reuse.from].last = lives_[reuse.to].last;
    lives_[reuse.to].is_gone = true;
    lives_[reuse.to].is_own = false;
  }

  // Returns the bytes that the step saves.
  std::size_t reuse_at(std::size_t at) {
    const auto reuse = possible_at(at);
    if (!reuse) return 0;
    apply(*reuse, at);
    return bytes_of(plan_.slots[reuse->to]);
  }

  bool may_share(std::uint32_t from, std::uint32_t to, std::size_t at) const {
    return lives_[from].is_own && lives_[to].is_own && lives_[from].last == at &&
           lives_[to].first == at && device_of(from) == device_of(to) &&
           plan_.slots[from].buffer->shape() == plan_.slots[to].buffer->shape();
  }

  Plan& plan_;
  std::vector<Life> lives_;  // by slot
};

}  // namespace

InPlace in_place_in_force() {
  thread_local KnownSetting<InPlace> known;
  return known.value([] {
    const std::int64_t asked = setting_int("IN_PLACE");
    return asked == 0 ? InPlace::Never : asked == 1 ? InPlace::Useful : InPlace::Wherever;
  });
}

void reuse_inputs(Plan& plan, const KernelSeconds& seconds, InPlace where) {
  if (where == InPlace::Never) return;
  Reuser reuser(plan);
  if (where == InPlace::Wherever) {
    reuser.wherever();
  } else {
    reuser.for_less();
    if (seconds) reuser.where_no_slower(seconds);
  }
  reuser.remove_unused();
}

}  // namespace weft
