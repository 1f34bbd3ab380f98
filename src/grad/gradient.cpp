// The walk from the loss back to the targets.

#include <weft/dev/grad/gradient.h>

#include <algorithm>
#include <numeric>

#include <fmt/core.h>
#include <weft/dev/ir/movement.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>

#include "rules.h"

namespace weft {

UOp list_of(const std::vector<UOp>& members) {
  std::vector<UOp> list = members;
  for (UOp& member : list)
    if (member.is_null()) member = tuple({});
  return tuple(list);
}

std::vector<UOp> members_of(const UOp& list) {
  if (list->op() != Op::Tuple) return {list};
  std::vector<UOp> members;
  for (const Node* member : list->src())
    members.push_back(member->op() == Op::Tuple ? UOp() : UOp(member));
  return members;
}

namespace {

// Of what they compute, nothing changes with the operand, or nothing is meant to.
constexpr OpSet constant_ops{Op::Detach, Op::Trunc};

bool can_have_gradient(const Node* node) {
  return (node->dtype().is_float() || node->dtype().is_void()) &&
         !constant_ops.contains(node->op());
}

// Of the shape of what it is the gradient of. A scalar that met a tensor was repeated; a constant
// gradient is a scalar until here.
UOp shaped_like(const UOp& gradient, const UOp& value) {
  if (gradient->shape() == value->shape()) return gradient;
  if (gradient->shape() == nullptr) return filled(gradient, sizes_of(value));
  if (value->shape() != nullptr) return reshape(gradient, sizes_of(value));
  Axes all(gradient->dims().size());
  std::iota(all.begin(), all.end(), 0);
  return reshape(added_up(gradient, all), {});
}

// A traversal, since a gradient is complete only once all users of the node have added to it; what
// happens at a node is a rule.
class Backward {
 public:
  Backward(const UOp& loss, const std::vector<UOp>& targets)
      : loss_(loss), order_(toposort(loss.node())), placement_(order_) {
    NodeMap<bool> is_target;
    for (const UOp& target : targets) is_target.set(target.node(), true);
    for (const Node* node : order_)
      if (is_target.contains(node) || leads_on(node)) {
        places_.set(node, static_cast<std::uint32_t>(gradients_.size()));
        gradients_.emplace_back();
      }
    for (const UOp& target : targets)
      if (const std::uint32_t* place = places_.find(target.node()))
        gradients_[*place].is_wanted = true;
  }

  void run(const UOp& seed) {
    give(loss_.node(), seed);
    for (auto node = order_.rbegin(); node != order_.rend(); ++node)
      if (const std::uint32_t* place = places_.find(*node)) step(*node, gradients_[*place]);
  }

  UOp operator[](const UOp& target) const {
    const std::uint32_t* place = places_.find(target.node());
    return place != nullptr ? gradients_[*place].total() : UOp();
  }

 private:
  // Summed up as its parts come: one for a value, one for each member of a list.
  struct Gradient {
    std::vector<UOp> members;
    bool is_wanted = false;

    void add(std::size_t member, const UOp& part) {
      if (part.is_null()) return;
      if (members.size() <= member) members.resize(member + 1);
      members[member] = members[member].is_null() ? part : members[member] + part;
    }
    UOp total() const { return members.empty() ? UOp() : members[0]; }
  };

  // Whether a target is below, on a way that gradients can go. A call's body is no such way: the
  // PARAMs in it are its own.
  bool leads_on(const Node* node) const {
    const std::size_t first = node->op() == Op::Call ? 1 : 0;
    return can_have_gradient(node) && node->size() > first &&
           std::ranges::any_of(node->src().subspan(first),
                               [&](const Node* source) { return places_.contains(source); });
  }

  void give(const Node* node, const UOp& gradient) {
    const std::uint32_t* place = places_.find(node);
    if (place == nullptr || gradient.is_null()) return;
    Gradient& sum = gradients_[*place];
    if (!node->dtype().is_void()) return sum.add(0, shaped_like(gradient, UOp(node)));
    const std::vector<UOp> members = members_of(gradient);
    for (std::size_t i = 0; i < members.size(); ++i) sum.add(i, members[i]);
  }

  void step(const Node* node, Gradient& gradient) {
    if (gradient.members.empty() || !leads_on(node)) return;
    const UOp total = is_list(node) ? list_of(gradient.members) : gradient.total();
    if (!gradient.is_wanted) gradient.members.clear();
    if (node->op() == Op::GetTuple) return give_member(node, total);
    const GradientRule rule = gradient_rule(node->op());
    if (rule == nullptr)
      user_error(fmt::format("gradient: {} has none, in {}; DETACH it to take it as constant",
                             info(node->op()).name, expression_text(node)));
    const Gradients parts = rule(GradientStep(node, total, places_, placement_));
    for (std::size_t i = 0; i < parts.size(); ++i) give(node->src(i), parts[i]);
  }

  // Not a list of all members by a rule: reading each of n would take n^2.
  void give_member(const Node* get, const UOp& part) {
    if (const std::uint32_t* place = places_.find(get->src(0)))
      gradients_[*place].add(static_cast<std::size_t>(get->arg<PositionArg>().at), part);
  }

  // What is void and no list is an effect: its gradient is that of the memory it changes.
  static bool is_list(const Node* node) {
    return node->dtype().is_void() && node->op() != Op::Store;
  }

  UOp loss_;
  std::vector<const Node*> order_;
  NodeMap<std::uint32_t> places_;  // in gradients_, of what lies between a target and the loss
  std::vector<Gradient> gradients_;
  GradientPlacement placement_;
};

void want_float(const UOp& value, std::string_view role) {
  if (!value->dtype().is_float())
    user_error(fmt::format("gradient: the {} is {}, and only floats have gradients", role,
                           value->dtype().str()));
}

void check_seed(const UOp& seed, const UOp& loss) {
  const bool fits = seed->shape() == nullptr || seed->shape() == loss->shape();
  if (seed->dtype() != loss->dtype() || !fits)
    user_error(
        fmt::format("gradient: the seed {} of {} does not have the loss's dtype {} and shape",
                    expression_text(seed.node()), seed->dtype().str(), loss->dtype().str()));
}

}  // namespace

std::vector<UOp> backward(const UOp& loss, const UOp& seed, const std::vector<UOp>& targets) {
  Backward walk(loss, targets);
  walk.run(seed);
  std::vector<UOp> results;
  for (const UOp& target : targets) results.push_back(walk[target]);
  return results;
}

std::vector<UOp> gradient(const UOp& loss, const std::vector<UOp>& targets, const UOp& seed) {
  want_float(loss, "loss");
  for (const UOp& target : targets) want_float(target, "target");
  if (!seed.is_null()) check_seed(seed, loss);
  const UOp start = seed.is_null() ? const_int(1, loss->dtype()) : seed;
  std::vector<UOp> results = backward(loss, start, targets);
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (results[i].is_null())
      results[i] = filled(const_int(0, targets[i]->dtype()), sizes_of(targets[i]));
  return results;
}

}  // namespace weft
