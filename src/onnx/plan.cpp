#include "plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>

#include "errors.h"

namespace weft::onnx {
namespace {

using Texts = std::vector<std::string_view>;

constexpr std::size_t most_levels = 64;  // of functions

constexpr std::string_view random_ops[] = {"RandomNormal",      "RandomNormalLike", "RandomUniform",
                                           "RandomUniformLike", "Bernoulli",        "Multinomial"};

// Dropout draws where it is asked to train, by its third input.
bool draws(const NodeProto& node) {
  return std::ranges::find(random_ops, node.op) != std::end(random_ops) ||
         (node.op == "Dropout" && node.inputs.size() > 2);
}

std::int64_t opset_of(std::string_view domain, const std::vector<OpsetId>& opsets) {
  const auto found = std::ranges::find(opsets, domain, &OpsetId::domain);
  return found == opsets.end() ? 1 : found->version;
}

// The nodes that outputs need, each behind those whose outputs it reads; as near to their order as that allows.
class Order {
 public:
  Order(const std::vector<const Step*>& steps, const Texts& given) : steps_(steps) {
    for (const std::string_view name : given) producers_.emplace(name, nullptr);
    for (const Step* step : steps)
      for (const std::string_view output : step->node->outputs)
        if (!output.empty() && !producers_.emplace(output, step).second)
          user_error(
              fmt::format("{}: there is another '{}' in its graph", text_of(*step->node), output));
  }

  const Step* producer(std::string_view name) const {
    const auto found = producers_.find(name);
    return found == producers_.end() ? nullptr : found->second;
  }
  bool has(std::string_view name) const { return producers_.contains(name); }

  std::vector<const Step*> of(const Texts& outputs) {
    std::unordered_set<const Step*> needed;
    std::vector<const Step*> open;
    const auto need = [&](std::string_view name) {
      const Step* step = producer(name);
      if (step != nullptr && needed.insert(step).second) open.push_back(step);
    };
    for (const std::string_view output : outputs) need(output);
    while (!open.empty()) {
      const Step* step = open.back();
      open.pop_back();
      for (const std::string_view name : step->reads) need(name);
    }
    for (const Step* step : steps_)
      if (needed.contains(step)) place(step);
    return std::move(order_);
  }

 private:
  // Depth first, without recursion: files have chains of any length.
  void place(const Step* first) {
    std::vector<std::pair<const Step*, std::size_t>> path;
    const auto enter = [&](const Step* step) {
      auto& state = states_[step];
      if (state == Placed) return;
      if (state == Entered)
        user_error(fmt::format("{} needs its own output", text_of(*step->node)));
      state = Entered;
      path.emplace_back(step, 0);
    };
    enter(first);
    while (!path.empty()) {
      auto& [step, next] = path.back();
      if (next < step->reads.size()) {
        if (const Step* before = producer(step->reads[next++])) enter(before);
        continue;
      }
      states_[step] = Placed;
      order_.push_back(step);
      path.pop_back();
    }
  }

  enum State : std::uint8_t { New, Entered, Placed };
  const std::vector<const Step*>& steps_;
  std::unordered_map<std::string_view, const Step*> producers_;
  std::unordered_map<const Step*, State> states_;
  std::vector<const Step*> order_;
};

}  // namespace

struct Plans::Source {
  const std::vector<NodeProto>& nodes;
  Texts given, outputs;
  const std::vector<OpsetId>& opsets;
};

const FunctionProto* Plans::find_function(const NodeProto& node) const {
  const auto found = std::ranges::find_if(model_.functions, [&](const FunctionProto& each) {
    return each.name == node.op && each.domain == node.domain && each.overload == node.overload;
  });
  return found == model_.functions.end() ? nullptr : &*found;
}

// Graphs in it are planned first: that tells what they read. Gradient has the names of what it reads in attributes.
Step Plans::step(const NodeProto& node, const std::vector<OpsetId>& opsets) {
  Step step{&node, nullptr,     find_function(node), opset_of(node.domain, opsets),
            {},    draws(node), draws(node)};
  if (step.function == nullptr) step.op = find_op(node.domain, node.op, step.opset);
  const auto take = [&](const Plan& plan) {
    step.is_random = step.is_random || std::ranges::any_of(plan.steps, &Step::is_random);
    return plan.reads_around;
  };
  for (const std::string_view input : node.inputs)
    if (!input.empty()) step.reads.push_back(input);
  const bool has_names = node.op == "Gradient" && node.domain == "ai.onnx.preview.training";
  for (const AttributeProto& attribute : node.attributes) {
    for (const GraphProto& graph : attribute.graphs)
      for (const std::string_view name : take(of_graph(graph, opsets))) step.reads.push_back(name);
    if (has_names)
      step.reads.insert(step.reads.end(), attribute.strings.begin(), attribute.strings.end());
  }
  if (step.function != nullptr) take(of_function(*step.function));
  return step;
}

Plan Plans::made(const Source& source) {
  std::vector<Step> steps;
  steps.reserve(source.nodes.size());
  for (const NodeProto& node : source.nodes) steps.push_back(step(node, source.opsets));
  std::vector<const Step*> all;
  for (const Step& each : steps) all.push_back(&each);
  Order order(all, source.given);
  Plan plan;
  std::set<std::string_view> around;
  for (const Step* each : order.of(source.outputs)) {
    for (const std::string_view name : each->reads)
      if (!order.has(name)) around.insert(name);
    plan.steps.push_back(*each);
  }
  for (const std::string_view output : source.outputs)
    if (!output.empty() && !order.has(output)) around.insert(output);
  plan.reads_around.assign(around.begin(), around.end());
  return plan;
}

const Plan& Plans::of_graph(const GraphProto& graph, const std::vector<OpsetId>& opsets) {
  auto& plan = plans_[&graph];
  if (plan != nullptr) return *plan;
  Source source{graph.nodes, {}, {}, opsets};
  std::unordered_set<std::string_view> seen;  // an initialiser may stand for an input
  const auto give = [&](std::string_view name) {
    if (seen.insert(name).second) source.given.push_back(name);
  };
  for (const ValueInfoProto& input : graph.inputs) give(input.name);
  for (const TensorProto& each : graph.initialisers) give(each.name);
  for (const SparseTensorProto& each : graph.sparse_initialisers) give(each.values.name);
  for (const ValueInfoProto& output : graph.outputs) source.outputs.push_back(output.name);
  auto made_now = std::make_unique<const Plan>(made(source));
  return *(plans_[&graph] = std::move(made_now));
}

const Plan& Plans::of_function(const FunctionProto& function) {
  if (const auto found = plans_.find(&function); found != plans_.end()) return *found->second;
  if (std::ranges::find(entered_, &function) != entered_.end())
    user_error(fmt::format("function '{}' calls itself", function.name));
  if (entered_.size() == most_levels)
    user_error(fmt::format("functions call each other over more than {} levels", most_levels));
  entered_.push_back(&function);
  auto plan = std::make_unique<const Plan>(
      made({function.nodes, function.inputs, function.outputs, function.opsets}));
  entered_.pop_back();
  return *(plans_[&function] = std::move(plan));
}

// Counts operators. What functions in functions use is known after the first time.
class Plans::Uses {
 public:
  explicit Uses(Plans& plans) : plans_(plans) {}

  void add(const Plan& plan, const std::vector<OpsetId>& opsets) {
    for (const Step& step : plan.steps) {
      if (step.function != nullptr) {
        if (seen_.insert(step.function).second)
          add(plans_.of_function(*step.function), step.function->opsets);
        continue;
      }
      const NodeProto& node = *step.node;
      OpUse& use = found_[std::tuple(node.domain, node.op, step.opset)];
      if (use.nodes++ == 0)
        use = {std::string(node.domain), std::string(node.op), int(step.opset), 1,
               std::string(node.name),   step.op != nullptr};
      for (const AttributeProto& attribute : node.attributes)
        for (const GraphProto& graph : attribute.graphs)
          add(plans_.of_graph(graph, opsets), opsets);
    }
  }
  std::vector<OpUse> all() const {
    std::vector<OpUse> result;
    for (const auto& [key, use] : found_) result.push_back(use);
    return result;
  }

 private:
  Plans& plans_;
  std::set<const FunctionProto*> seen_;
  std::map<std::tuple<std::string_view, std::string_view, std::int64_t>, OpUse> found_;
};

std::vector<OpUse> Plans::uses(const Plan& plan, const std::vector<OpsetId>& opsets) {
  Uses uses(*this);
  uses.add(plan, opsets);
  return uses.all();
}

}  // namespace weft::onnx
