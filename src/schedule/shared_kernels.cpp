// Without this pass, a program that computes x * 0.1, x * 0.2 and so on in one realize would
// compile a kernel for each number.

#include "shared_kernels.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <weft/dev/device/device.h>
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

// Groups the steps by the kernel that they run.
std::map<const Node*, Numbered> kernels_of(Plan& plan) {
  std::map<const Node*, Numbered> kernels;
  for (Step& step : plan.steps)
    if (!step.kernel.is_null() && !step.is_once) kernels[step.kernel.node()].steps.push_back(&step);
  return kernels;
}

bool is_of_plan(const Node* variable, const Plan& plan) {
  return std::ranges::find(plan.variables, variable, &UOp::node) != plan.variables.end();
}

// Returns whether the kernel has variables whose values its steps already pass.
bool takes_values(const Numbered& kernel, const Plan& plan) {
  return std::ranges::any_of(kernel.nodes, [&](const Node* node) {
    return node->op() == Op::Variable && !is_of_plan(node, plan);
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
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (node->op() == Op::Load || found.contains(node)) continue;
    found.set(node, true);
    open.insert(open.end(), node->src().begin(), node->src().end());
  }
}

std::vector<NumberUse> shareable_numbers(const std::vector<const Node*>& nodes) {
  NodeMap<bool> addresses;
  mark_addresses(nodes, addresses);
  std::vector<NumberUse> uses = constant_uses(nodes);
  std::erase_if(uses, [&](const NumberUse& use) { return addresses.contains(use.user); });
  return uses;
}

// Groups kernels of equal name and node count, which may differ only in their numbers.
std::vector<std::vector<Numbered>> candidates(Plan& plan) {
  std::map<std::pair<std::string, std::size_t>, std::vector<Numbered>> alike;
  for (auto& [kernel, numbered] : kernels_of(plan)) {
    numbered.nodes = toposort(kernel);
    alike[{std::string(kernel->arg<KernelArg>().name.get()), numbered.nodes.size()}].push_back(
        std::move(numbered));
  }
  std::vector<std::vector<Numbered>> result;
  for (auto& [name, kernels] : alike) {
    if (kernels.size() < least_kernels) continue;
    std::erase_if(kernels, [&](const Numbered& kernel) { return takes_values(kernel, plan); });
    for (Numbered& kernel : kernels) kernel.uses = shareable_numbers(kernel.nodes);
    result.push_back(std::move(kernels));
  }
  return result;
}

// Groups the kernels that are equal except for their numbers. Structural hashes do not tell the
// plan's variables apart, which have different values, so the variables are part of the key.
std::vector<std::vector<const Numbered*>> alike_but_for_numbers(
    const std::vector<Numbered>& kernels) {
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::vector<const Node*>>;
  std::map<Key, std::vector<const Numbered*>> groups;
  for (const Numbered& kernel : kernels) {
    const std::vector<UOp> root{UOp(kernel.nodes.back())};
    const StructuralHash hash =
        structural_hash(nodes_of(without_constants(root, kernel.nodes, kernel.uses)));
    groups[{hash.high, hash.low, signature_of(kernel.nodes.back()).variables}].push_back(&kernel);
  }
  std::vector<std::vector<const Numbered*>> result;
  for (auto& [key, group] : groups)
    if (group.size() >= least_kernels) result.push_back(std::move(group));
  return result;
}

// The variables that replace numbers. Uses whose numbers agree in every kernel share a variable; a
// use with the same number in all kernels has none (null).
struct Variables {
  std::map<std::vector<Bits>, UOp> by_values;
  std::vector<UOp> of_uses;

  explicit Variables(const std::vector<const Numbered*>& group) {
    for (std::size_t use = 0; use < group[0]->uses.size(); ++use) {
      std::vector<Bits> values;
      for (const Numbered* kernel : group) values.push_back(kernel->uses[use].bits());
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

void share(const std::vector<const Numbered*>& group) {
  const Variables variables(group);
  if (variables.by_values.empty() || variables.by_values.size() > most_numbers) return;
  const Numbered& one = *group[0];
  const UOp kernel = with_constants_as_variables({UOp(one.nodes.back())}, one.nodes, one.uses,
                                                 variables.of_uses)[0];
  for (const Numbered* each : group)
    for (Step* step : each->steps) step->values.clear();
  for (const Node* variable : signature_of(kernel.node()).variables)
    for (const auto& [values, own] : variables.by_values)
      if (own.node() == variable)
        for (std::size_t i = 0; i < group.size(); ++i)
          for (Step* step : group[i]->steps)
            step->values.push_back(static_cast<std::int64_t>(values[i]));
  for (const Numbered* each : group)
    for (Step* step : each->steps) step->kernel = kernel;
}

}  // namespace

void share_kernels(Plan& plan) {
  for (const std::vector<Numbered>& kernels : candidates(plan))
    for (const auto& group : alike_but_for_numbers(kernels)) share(group);
}

}  // namespace weft
