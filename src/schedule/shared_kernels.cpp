// Without this pass, a program that computes x * 0.1, x * 0.2 and so on in one realize would
// compile a kernel for each number.

#include "shared_kernels.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <weft/dev/device/device.h>
#include <weft/dev/ir/below.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/schedule/number_arguments.h>

namespace weft {
namespace {

// Smaller groups keep their constants, which may give better code.
constexpr std::size_t least_kernels = 8;
// Each number is a kernel argument.
constexpr std::size_t most_numbers = 64;

struct Numbered {
  std::vector<Step*> steps;
  std::vector<const Node*> nodes;
  std::vector<NumberUse> uses;
};

// Returns the kernels and the steps that run them.
std::vector<Numbered> kernels_of(Plan& plan) {
  std::map<const Node*, std::vector<Step*>> steps;
  for (Step& step : plan.steps)
    if (!step.kernel.is_null() && !step.is_once) steps[step.kernel.node()].push_back(&step);
  std::vector<Numbered> kernels;
  for (auto& [kernel, own] : steps) kernels.push_back({std::move(own), toposort(kernel), {}});
  return kernels;
}

// Returns whether the kernel has variables whose values its steps already pass.
bool takes_values(const Numbered& kernel, const Plan& plan) {
  return std::ranges::any_of(kernel.nodes, [&](const Node* node) {
    return node->op() == Op::Variable &&
           std::ranges::find(plan.variables, node, &UOp::node) == plan.variables.end();
  });
}

// Marks the nodes that compute indices and loop sizes. Numbers in them stay constants, because
// rewrites have relied on their bounds.
void mark_addresses(const std::vector<const Node*>& nodes, NodeMap<bool>& found) {
  std::vector<const Node*> open;
  for (const Node* node : nodes) {
    if (node->op() != Op::Index && node->op() != Op::Range) continue;
    const NodeList src = node->src().subspan(node->op() == Op::Index ? 1 : 0);
    open.insert(open.end(), src.begin(), src.end());
  }
  const auto sources = [](const Node* node) {
    return node->op() == Op::Load ? NodeList{} : node->src();
  };
  for (const Node* node : nodes_below(std::move(open), sources))
    if (node->op() != Op::Load) found.set(node, true);
}

std::vector<NumberUse> shareable_numbers(const std::vector<const Node*>& nodes) {
  NodeMap<bool> addresses;
  mark_addresses(nodes, addresses);
  std::vector<NumberUse> uses = constant_uses(nodes);
  std::erase_if(uses, [&](const NumberUse& use) { return addresses.contains(use.user); });
  return uses;
}

// Returns the kernels in groups of equal keys, without groups that are too small.
template <class Key>
std::vector<std::vector<Numbered>> groups_by(std::vector<Numbered> kernels, Key key_of) {
  std::map<decltype(key_of(kernels[0])), std::vector<Numbered>> groups;
  for (Numbered& kernel : kernels) {
    std::vector<Numbered>& group = groups[key_of(kernel)];
    group.push_back(std::move(kernel));
  }
  std::vector<std::vector<Numbered>> result;
  for (auto& [key, group] : groups)
    if (group.size() >= least_kernels) result.push_back(std::move(group));
  return result;
}

// Kernels of equal name and node count may differ only in their numbers.
auto name_and_size(const Numbered& kernel) {
  const std::string_view name = kernel.nodes.back()->arg<KernelArg>().name.get();
  return std::pair(std::string(name), kernel.nodes.size());
}

// Kernels that differ only in numbers have equal structure without them. Structural hashes do not tell the plan's variables apart,
// which have different values, so the variables are part of the key.
auto structure_without_numbers(const Numbered& kernel) {
  const UOp root(kernel.nodes.back());
  const auto [high, low] =
      structural_hash(nodes_of(without_constants({root}, kernel.nodes, kernel.uses)));
  return std::tuple(high, low, signature_of(root.node()).variables);
}

// The variables that replace numbers. Uses whose numbers agree in every kernel share a variable; a
// use with the same number in all kernels has none (null).
struct Variables {
  std::map<std::vector<Bits>, UOp> by_values;
  std::vector<UOp> of_uses;

  explicit Variables(const std::vector<Numbered>& group) {
    for (std::size_t use = 0; use < group[0].uses.size(); ++use) {
      std::vector<Bits> values;
      for (const Numbered& kernel : group) values.push_back(kernel.uses[use].bits());
      const bool differs =
          std::ranges::any_of(values, [&](Bits bits) { return bits != values[0]; });
      of_uses.emplace_back();
      if (!differs) continue;
      UOp& variable = by_values[std::move(values)];
      if (variable.is_null()) variable = number_variable();
      of_uses.back() = variable;
    }
  }
};

void share(const std::vector<Numbered>& group) {
  const Variables variables(group);
  if (variables.by_values.empty() || variables.by_values.size() > most_numbers) return;
  const Numbered& one = group[0];
  const UOp kernel = with_constants_as_variables({UOp(one.nodes.back())}, one.nodes, one.uses,
                                                 variables.of_uses)[0];
  for (const Numbered& each : group)
    for (Step* step : each.steps) step->values.clear();
  for (const Node* variable : signature_of(kernel.node()).variables)
    for (const auto& [values, own] : variables.by_values)
      if (own.node() == variable)
        for (std::size_t i = 0; i < group.size(); ++i)
          for (Step* step : group[i].steps)
            step->values.push_back(static_cast<std::int64_t>(values[i]));
  for (const Numbered& each : group)
    for (Step* step : each.steps) step->kernel = kernel;
}

}  // namespace

void share_kernels(Plan& plan) {
  for (std::vector<Numbered>& alike : groups_by(kernels_of(plan), name_and_size)) {
    std::erase_if(alike, [&](const Numbered& kernel) { return takes_values(kernel, plan); });
    for (Numbered& kernel : alike) kernel.uses = shareable_numbers(kernel.nodes);
    for (const auto& group : groups_by(std::move(alike), structure_without_numbers)) share(group);
  }
}

}  // namespace weft
