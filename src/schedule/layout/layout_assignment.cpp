// The time of a kernel depends on the layouts of all slots that it accesses; the search minimises
// the sum over all kernels. It starts from the better of two assignments: the graph's layouts, or
// the first candidate dimension of each slot contiguous. Then it changes one slot at a time as long
// as that gains.

#include "layout_assignment.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>

#include "kernel_slots.h"
#include "plan_steps.h"

namespace weft {
namespace {

constexpr std::int64_t least_size = 8;  // of a contiguous dimension
constexpr double gain = 0.97;           // another layout must take less than this fraction
constexpr double clear_gain = 0.9;      // a slot that gains this much in begin() is settled
constexpr int most_rounds = 2;
constexpr double never = std::numeric_limits<double>::infinity();

class LayoutSearch {
 public:
  LayoutSearch(Plan& plan, KernelForms& forms)
      : plan_(plan),
        forms_(forms),
        users_(plan.slots.size()),
        contiguous_(plan.slots.size(), as_made) {
    for (std::size_t i = 0; i < plan.steps.size(); ++i)
      if (!plan.steps[i].kernel.is_null()) kernels_.emplace_back(plan.steps[i], i);
    for (const KernelSlots& kernel : kernels_)
      for (const std::uint32_t slot : kernel.slots()) users_[slot].push_back(&kernel);
  }

  void choose() {
    find_candidates();
    choose_from_candidates();
    apply();
  }

  // Returns the total time; nothing if that of a kernel is not known. Other kernels of the program,
  // which would suggest layouts, are missing here. A slot without candidates therefore gets one:
  // its outermost dimension of sufficient size, such as channels.
  std::optional<double> choose_alone() {
    for (const KernelSlots& kernel : kernels_)
      if (!forms_.seconds(kernel.ordered(contiguous_), plan_.steps[kernel.number()].device))
        return {};
    find_candidates();
    const std::vector<bool> open = open_slots();
    for (std::uint32_t slot = 0; slot < open.size(); ++slot)
      for (int i = 0; open[slot] && i < std::ssize(plan_.slots[slot].buffer->dims()); ++i)
        if (!candidates_.contains(slot) && may_be_last(slot, i)) candidates_[slot] = {i};
    return choose_from_candidates();
  }

 private:
  // Returns which slots may change layout: internal ones of constant sizes that are accessed by
  // INDEX alone.
  std::vector<bool> open_slots() const {
    std::vector<bool> open = internal_slots(plan_);
    for (std::size_t slot = 0; slot < open.size(); ++slot)
      open[slot] = open[slot] && !users_[slot].empty() &&
                   std::ranges::all_of(plan_.slots[slot].buffer->dims(), &Node::is_const);
    for (const Step& step : plan_.steps)
      if (step.kernel.is_null())
        for (const std::uint32_t slot : step.slots) open[slot] = false;
    for (const KernelSlots& kernel : kernels_)
      for (const std::uint32_t slot : kernel.touched_otherwise()) open[slot] = false;
    return open;
  }

  bool may_be_last(std::uint32_t slot, int dimension) const {
    const NodeList dims = plan_.slots[slot].buffer->dims();
    const auto at = static_cast<std::size_t>(dimension);
    const auto is_more = [](const Node* size) { return size->lo() > 1; };
    return dims[at]->lo() >= least_size && std::ranges::any_of(dims.subspan(at + 1), is_more);
  }

  // Candidates are the dimensions that products are summed along, those that share a loop with the
  // last dimension of a stored slot and, transitively, those that share a loop with a candidate.
  void find_candidates() {
    const std::vector<bool> open = open_slots();
    std::vector<std::pair<std::uint32_t, int>> found;
    const auto add = [&](const std::pair<std::uint32_t, int>& place) {
      const auto [slot, dimension] = place;
      if (!open[slot] || !may_be_last(slot, dimension)) return;
      std::vector<int>& known = candidates_[slot];
      if (std::ranges::find(known, dimension) != known.end()) return;
      known.push_back(dimension);
      found.push_back(place);
    };
    for (const KernelSlots& kernel : kernels_) {
      std::ranges::for_each(kernel.summed(), add);
      for (const SlotDimension& stored : kernel.stored_along())
        std::ranges::for_each(kernel.beside(stored), add);
    }
    while (!found.empty()) {
      const auto place = found.back();
      found.pop_back();
      for (const KernelSlots* kernel : users_[place.first])
        std::ranges::for_each(kernel->beside(place), add);
    }
  }

  static std::vector<int> key_of(const KernelSlots& kernel, const std::vector<int>& last) {
    std::vector<int> key{static_cast<int>(kernel.number())};
    for (const std::uint32_t slot : kernel.slots()) key.push_back(last[slot]);
    return key;
  }

  double seconds_of(const KernelSlots& kernel, const std::vector<int>& last) {
    const auto [known, is_new] = by_order_.try_emplace(key_of(kernel, last), 0);
    if (is_new) known->second = found_seconds(kernel, last);
    return known->second;
  }

  // A kernel of unknown time is assumed to take equally long in any layout. If its time is known,
  // layouts in which it is not are excluded.
  double found_seconds(const KernelSlots& kernel, const std::vector<int>& last) {
    const Symbol device = plan_.steps[kernel.number()].device;
    const std::vector<int> none(last.size(), as_made);
    if (!forms_.seconds(kernel.ordered(none), device)) return 0;
    return forms_.seconds(kernel.ordered(last), device).value_or(never);
  }

  KernelOnDevice in_layouts(const KernelSlots& kernel, const std::vector<int>& last) const {
    return {kernel.ordered(last), plan_.steps[kernel.number()].device};
  }

  double seconds_of_all(const std::vector<int>& last) {
    double sum = 0;
    for (const KernelSlots& kernel : kernels_) sum += seconds_of(kernel, last);
    return sum;
  }

  double seconds_around(std::uint32_t slot, const std::vector<int>& last) {
    double sum = 0;
    for (const KernelSlots* kernel : users_[slot]) sum += seconds_of(*kernel, last);
    return sum;
  }

  // Returns the total time of the chosen layouts.
  double choose_from_candidates() {
    begin();
    for (int round = 0; round < most_rounds; ++round)
      if (!improve_slots()) break;
    return seconds_of_all(contiguous_);
  }

  void begin() {
    std::vector<int> turned = contiguous_;
    for (const auto& [slot, dimensions] : candidates_) turned[slot] = dimensions[0];
    std::vector<KernelOnDevice> trials;
    for (const KernelSlots& kernel : kernels_)
      for (const auto* last : {&contiguous_, &turned}) trials.push_back(in_layouts(kernel, *last));
    forms_.find(trials);
    for (const KernelSlots& kernel : kernels_)
      if (seconds_of(kernel, turned) == never)
        for (const std::uint32_t slot : kernel.slots()) turned[slot] = as_made;
    if (seconds_of_all(turned) >= gain * seconds_of_all(contiguous_)) return;
    for (const auto& [slot, dimensions] : candidates_)
      if (seconds_around(slot, turned) < clear_gain * seconds_around(slot, contiguous_))
        is_settled_.insert(slot);
    contiguous_ = turned;
  }

  // Returns the layouts that a slot may change to.
  std::vector<int> others_of(std::uint32_t slot, const std::vector<int>& dimensions) const {
    std::vector<int> others;
    if (contiguous_[slot] != as_made) others.push_back(as_made);
    for (const int dimension : dimensions)
      if (dimension != contiguous_[slot]) others.push_back(dimension);
    return others;
  }

  // Finds the times around each slot with another layout for it alone.
  void find_changes() {
    std::vector<KernelOnDevice> trials;
    std::vector<int> last = contiguous_;
    for (const auto& [slot, dimensions] : candidates_) {
      if (is_settled_.contains(slot)) continue;
      for (const int dimension : others_of(slot, dimensions)) {
        last[slot] = dimension;
        for (const KernelSlots* kernel : users_[slot])
          if (!by_order_.contains(key_of(*kernel, last)))
            trials.push_back(in_layouts(*kernel, last));
      }
      last[slot] = contiguous_[slot];
    }
    forms_.find(trials);
  }

  // Changes slots one at a time. Returns whether one gained.
  bool improve_slots() {
    find_changes();
    bool is_better = false;
    for (const auto& [slot, dimensions] : candidates_) {
      if (is_settled_.contains(slot)) continue;
      const int before = contiguous_[slot];
      double best = seconds_around(slot, contiguous_);
      const auto try_out = [&](int dimension) {
        std::vector<int> trial = contiguous_;
        trial[slot] = dimension;
        const double seconds = seconds_around(slot, trial);
        if (seconds >= gain * best) return;
        best = seconds;
        contiguous_ = std::move(trial);
      };
      for (const int dimension : others_of(slot, dimensions)) try_out(dimension);
      is_better = is_better || contiguous_[slot] != before;
    }
    return is_better;
  }

  void apply() {
    for (const auto& [slot, dimensions] : candidates_)
      if (contiguous_[slot] != as_made) relayout(slot);
    for (const KernelSlots& kernel : kernels_)
      plan_.steps[kernel.number()].kernel = kernel.ordered(contiguous_);
    replace_steps(plan_, [&](const Step& step) -> std::vector<Step> {
      const KernelForm* form =
          step.kernel.is_null() ? nullptr : forms_.best(step.kernel, step.device);
      return form == nullptr ? std::vector<Step>{} : in_form(step, *form);
    });
  }

  void relayout(std::uint32_t slot) {
    std::vector<int> before = contiguous_;
    before[slot] = as_made;
    const double as_made_seconds = seconds_around(slot, before);
    UOp& buffer = plan_.slots[slot].buffer;
    std::vector<int> order(buffer->dims().size());
    std::iota(order.begin(), order.end(), 0);
    plan_.layouts.push_back({.kernel = maker_of(slot),
                             .sizes = sizes_in(buffer->dims()),
                             .order = with_last(order, contiguous_[slot]),
                             .seconds = seconds_around(slot, contiguous_),
                             .seconds_as_made = as_made_seconds < never ? as_made_seconds : 0});
    buffer = with_sources(buffer, with_last(sizes_of(buffer), contiguous_[slot]));
  }

  // Returns the name of the first kernel that writes the slot.
  Symbol maker_of(std::uint32_t slot) const {
    for (const KernelSlots* kernel : users_[slot])
      if (kernel->writes_to(slot)) return kernel->kernel()->arg<KernelArg>().name;
    return {};
  }

  static std::vector<std::int64_t> sizes_in(NodeList dims) {
    std::vector<std::int64_t> sizes;
    for (const Node* size : dims) sizes.push_back(size->lo());
    return sizes;
  }

  // Returns the bytes that part of a form accesses of the original kernel's slots.
  double outer_bytes(const Step& part, const Step& whole) const {
    double bytes = 0;
    for (const std::uint32_t slot : part.slots)
      if (std::ranges::find(whole.slots, slot) != whole.slots.end())
        bytes += memory_bytes(plan_.slots[slot].buffer);
    return bytes;
  }

  // Returns the steps of a kernel in another form.
  std::vector<Step> in_form(const Step& step, const KernelForm& form) {
    std::vector<std::uint32_t> slots(step.slots);
    slots.resize(static_cast<std::size_t>(form.params));
    for (const UOp& buffer : form.memory) {
      slots.push_back(static_cast<std::uint32_t>(plan_.slots.size()));
      BufferArg arg = buffer->arg<BufferArg>();
      arg.device = step.device;
      arg.id = fresh_id();  // equal kernels share a form
      plan_.slots.push_back({.buffer = make(Op::Buffer, sizes_of(buffer), buffer->dtype(), arg)});
    }
    std::vector<Step> steps, repeated;
    for (const KernelForm::Part& part : form.parts) {
      Step made = step_like(step, part.kernel, slots);
      made.is_once = part.is_once;
      if (part.is_repeated)
        made.work.bytes -= outer_bytes(made, step) * (1 - 1 / static_cast<double>(form.iterations));
      (part.is_repeated ? repeated : steps).push_back(std::move(made));
    }
    for (std::int64_t iteration = 0; iteration < form.iterations; ++iteration)
      for (Step& each : repeated) {
        each.values = {iteration};
        steps.push_back(each);
      }
    return steps;
  }

  Plan& plan_;
  KernelForms& forms_;
  std::vector<KernelSlots> kernels_;
  std::vector<std::vector<const KernelSlots*>> users_;    // by slot
  std::vector<int> contiguous_;                           // by slot: the contiguous dimension
  std::map<std::uint32_t, std::vector<int>> candidates_;  // by slot
  std::set<std::uint32_t> is_settled_;                    // slots that gained clearly in begin()
  std::map<std::vector<int>, double> by_order_;           // by kernel and the layouts of its slots
};

}  // namespace

void assign_layouts(Plan& plan, KernelForms& forms) { LayoutSearch(plan, forms).choose(); }

std::optional<double> best_layout_seconds(Plan& plan, KernelForms& forms) {
  return LayoutSearch(plan, forms).choose_alone();
}

}  // namespace weft
