#include "step_callers.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/dev/engine/callers.h>
#include <weft/dev/ir/graph.h>

namespace weft {
namespace {

using Place = std::size_t;  // of a node, as toposort() meets them below the roots

class StepCallers {
 public:
  StepCallers(const Plan& plan, const Resolved& resolved) : origins_(resolved.origins) {
    std::vector<const Node*> roots;
    for (const Root& root : resolved.roots) roots.push_back(root.tensor.node());
    nodes_ = toposort(roots);
    for (Place place = 0; place < nodes_.size(); ++place) {
      places_.set(nodes_[place], place);
      reads_.push_back(nodes_[place]->op() == Op::Buffer ||
                       std::ranges::any_of(nodes_[place]->src(), [&](const Node* source) {
                         return reads_[*places_.find(source)];
                       }));
    }
    is_stored_.resize(nodes_.size());
    for (const Step& step : plan.steps)
      for (const Origin each : step.origins) is_stored_[Place(each)] = true;
  }

  std::string of(const Step& step) const {
    std::set<std::pair<Origin, Place>> stored;  // in the order in which the program made them
    for (const Origin each : step.origins)
      if (const auto& origin = origins_[Place(each)]) stored.emplace(*origin, Place(each));
    std::vector<std::string> texts;
    for (const auto& [origin, place] : stored)
      if (std::string text = text_of(origin, place);
          !text.empty() && std::ranges::find(texts, text) == texts.end())
        texts.push_back(std::move(text));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

 private:
  // A line leads to those before it; a name does not.
  std::string text_of(Origin origin, Place stored) const {
    const std::string last = caller(origin);
    if (last.empty() || !is_named(origin)) return last;
    const std::string first = caller(first_named(origin, stored));
    return first.empty() || first == last ? last : fmt::format("{} ... {}", first, last);
  }

  // Of what is computed from memory for the stored value. Numbers have the name of any that has the same.
  Origin first_named(Origin origin, Place stored) const {
    Place first = stored;
    std::set<Place> seen{stored};
    std::vector<Place> open{stored};
    while (!open.empty()) {
      const Node* node = nodes_[open.back()];
      open.pop_back();
      // What calls share of their bodies has no place of its own.
      for (const Node* source : node->op() == Op::Call ? node->src().subspan(1) : node->src()) {
        const Place place = *places_.find(source);
        if (!reads_[place] || is_stored_[place] || source->op() == Op::Buffer ||
            !seen.insert(place).second)
          continue;
        const bool is_computed = info(source->op()).cls != OpClass::Movement;
        const auto& made = origins_[place];
        if (is_computed && place < first && made && is_named(*made)) {
          first = place;
          origin = *made;
        }
        open.push_back(place);
      }
    }
    return origin;
  }

  const std::vector<std::optional<Origin>>& origins_;
  std::vector<const Node*> nodes_;
  NodeMap<Place> places_;
  std::vector<bool> reads_;      // memory, or depends on what does
  std::vector<bool> is_stored_;  // by a step
};

}  // namespace

std::vector<std::string> step_callers(const Plan& plan, const Resolved& resolved) {
  std::vector<std::string> result;
  if (resolved.origins.empty()) return result;
  const StepCallers callers(plan, resolved);
  for (const Step& step : plan.steps) result.push_back(callers.of(step));
  return result;
}

}  // namespace weft
