// Schedules that differ from a given one in a single action, for a search by measurement.

#include <algorithm>

#include <weft/dev/codegen/candidates.h>
#include <weft/dev/codegen/choose.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/scan.h>

namespace weft {
namespace {

class Steps {
 public:
  Steps(const Node* kernel, const Schedule& from) : kernel_(kernel), from_(from) {}

  std::vector<Schedule> all() {
    for (at_ = 0; at_ < from_.size(); ++at_) {
      if (from_[at_].type == Action::Tile) resize();
      if (from_[at_].type == Action::Order) swap();
    }
    for (at_ = 0; at_ < from_.size(); ++at_) {
      if (from_[at_].type == Action::Order) stage();
      if (from_[at_].type == Action::Stage) unstage();
    }
    return std::move(steps_);
  }

 private:
  void resize() {
    const std::int64_t count = from_[at_].count;
    for (std::int64_t other : {count * 2, count / 2, count + 1, count - 1})
      if (other > 1 && other != count) changed().count = other;
  }

  void swap() {
    for (std::size_t i = 0; i + 1 < from_[at_].loops.size(); ++i) {
      auto& loops = changed().loops;
      std::swap(loops[i], loops[i + 1]);
    }
  }

  void stage() {
    for (const NamedRead& read : reads_of_kernel(kernel_)) {
      const auto is_staged = [&](const Action& action) {
        return action.type == Action::Stage && action.name == read.name;
      };
      if (std::ranges::any_of(from_, is_staged)) continue;
      for (const std::string& loop : from_[at_].loops) {
        Schedule step = from_;
        step.insert(step.begin() + static_cast<std::ptrdiff_t>(at_) + 1,
                    {.type = Action::Stage, .name = read.name, .at = loop});
        steps_.push_back(std::move(step));
      }
    }
  }

  void unstage() {
    Schedule step = from_;
    step.erase(step.begin() + static_cast<std::ptrdiff_t>(at_));
    steps_.push_back(std::move(step));
  }

  // Adds a copy of the schedule and returns its current action.
  Action& changed() {
    steps_.push_back(from_);
    return steps_.back()[at_];
  }

  const Node* kernel_;
  const Schedule& from_;
  std::size_t at_ = 0;
  std::vector<Schedule> steps_;
};

}  // namespace

// Kernels with scans have none: a scan that no loop carries takes n^2 steps, too slow to measure.
std::vector<Schedule> neighbours(const UOp& kernel, const Schedule& schedule) {
  const UOp ready = ready_to_schedule(kernel);
  if (std::ranges::any_of(toposort(ready.node()),
                          [](auto node) { return scan_of(node).has_value(); }))
    return {};
  return Steps(ready.node(), schedule).all();
}

}  // namespace weft
