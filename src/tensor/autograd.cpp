// Gradients: which tensors want one, and how they get it.

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <weft/dev/engine/realize.h>
#include <weft/dev/grad/gradient.h>
#include <weft/dev/ir/graph.h>
#include <weft/error.h>

#include "ops.h"
#include "state.h"

namespace weft {
namespace {

thread_local bool no_grad = false;

// The tensors that were set to require a gradient, for backward() to find.
struct Leaves {
  std::mutex mutex;
  std::vector<std::weak_ptr<Tensor::State>> states;

  void add(const std::shared_ptr<Tensor::State>& state) {
    const std::lock_guard lock(mutex);
    std::erase_if(states, [](const auto& known) { return known.expired(); });
    states.push_back(state);
  }

  std::vector<std::shared_ptr<Tensor::State>> alive() {
    const std::lock_guard lock(mutex);
    std::vector<std::shared_ptr<Tensor::State>> result;
    for (const auto& known : states)
      if (auto state = known.lock(); state != nullptr && state->leaf)
        result.push_back(std::move(state));
    return result;
  }
};

Leaves& leaves() {
  static auto& all = *new Leaves;  // leaked on purpose: tensors may be static
  return all;
}

const Node* memory_below(const Node* view) {
  while (info(view->op()).cls == OpClass::Movement) view = view->src(0);
  return view;
}

// What was read of a target before its memory was computed is the same as what is read from the memory
// now; as one node they get one gradient.
UOp with_memory(const UOp& graph, const std::vector<UOp>& targets) {
  std::unordered_set<const Node*> buffers;
  for (const UOp& target : targets) buffers.insert(memory_below(target.node()));
  Substitution known;
  for (const Node* node : toposort(graph.node()))
    if (UOp buffer = node->op() == Op::After ? computed(node) : UOp();
        !buffer.is_null() && buffers.contains(memory_below(buffer.node())))
      known.emplace(node, std::move(buffer));
  return known.empty() ? graph : substitute(graph, known);
}

// Targets that have given way to memory, and of which the graph has what was computed there, become that.
void find_within(const UOp& graph, std::vector<UOp>& targets) {
  const std::vector<const Node*> order = toposort(graph.node());
  const std::unordered_set<const Node*> present(order.begin(), order.end());
  std::unordered_map<const Node*, std::vector<UOp*>> absent;
  for (UOp& target : targets)
    if (!present.contains(target.node())) absent[target.node()].push_back(&target);
  if (absent.empty()) return;
  for (const Node* node : order) {
    const UOp known = node->op() == Op::Buffer ? UOp() : computed(node);
    if (known.is_null()) continue;
    if (const auto found = absent.find(known.node()); found != absent.end())
      for (UOp* target : found->second) *target = UOp(node);
  }
}

// Nothing below a DETACH.
std::unordered_set<const Node*> reached_by_gradients(const UOp& loss) {
  std::unordered_set<const Node*> reached;
  std::vector<const Node*> open{loss.node()};
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (reached.insert(node).second && node->op() != Op::Detach)
      open.insert(open.end(), node->src().begin(), node->src().end());
  }
  return reached;
}

// A seed may be what a further gradient is asked for: movement alone would be composed with that of the
// gradient, past its node.
UOp seed_for(const UOp& loss, const Tensor& seed) {
  if (seed.is_null()) return {};
  const Operand value(seed);
  const UOp whole = expand(
      broadcast("gradient", converted(value.uop(), loss->dtype()), sizes_of(loss)), sizes_of(loss));
  const bool is_view = info(whole->op()).cls == OpClass::Movement;
  return is_view ? make(Op::Mul, {whole, const_int(1, whole->dtype())}) : whole;
}

// What was read without a gradient to pass on is memory: what it was made of is forgotten.
bool is_forgotten(const Operand& loss, const std::vector<UOp>& targets) {
  const auto is_target = [&](const Node* node) {
    return std::ranges::any_of(targets, [=](const UOp& target) { return target.node() == node; });
  };
  const Node* view = loss.uop().node();
  while (!is_target(view) && info(view->op()).cls == OpClass::Movement) view = view->src(0);
  return !loss.tracked && view->op() == Op::Buffer && !is_target(view);
}

void want_float(std::string_view op, const UOp& tensor) {
  if (!tensor->dtype().is_float())
    user_error(fmt::format("{}: a tensor of {} has no gradient", op, tensor->dtype().str()));
}

}  // namespace

NoGrad::NoGrad() : before_(no_grad) { no_grad = true; }
NoGrad::~NoGrad() { no_grad = before_; }
bool NoGrad::is_on() { return no_grad; }

bool Tensor::requires_grad() const { return !is_null() && is_tracked(); }

// A leaf has memory of its own, so that equal tensors get different gradients.
Tensor& Tensor::set_requires_grad(bool on) {
  const Called called;
  const UOp graph = uop();
  if (on == state_->leaf) return *this;
  if (on) {
    want_float("set_requires_grad", graph);
    if (is_tracked()) return *this;  // it passes gradients on already
    state_->storage->own();
    leaves().add(state_);
  }
  state_->leaf = state_->tracked = on;
  return *this;
}

Tensor Tensor::grad() const {
  if (is_null()) return {};
  const std::lock_guard lock(state_->mutex);
  return state_->grad;
}

void Tensor::set_grad(const Tensor& grad) {
  const Called called;
  const UOp own = uop();
  if (!grad.is_null() && grad.uop()->shape() != own->shape())
    user_error(fmt::format("set_grad: shape {} for a tensor of shape {}", shape_text(grad.uop()),
                           shape_text(own)));
  const std::lock_guard lock(state_->mutex);
  state_->grad = grad;
}

std::vector<Tensor> Tensor::gradient(const std::vector<Tensor>& targets, const Tensor& seed) const {
  const Called called;
  const Operand loss(*this);
  want_float("gradient", loss.uop());
  std::vector<UOp> nodes;
  for (const Tensor& target : targets) {
    want_float("gradient", target.uop());
    nodes.push_back(target.uop());
  }
  const UOp graph = with_memory(loss.uop(), nodes);
  find_within(graph, nodes);
  if (is_forgotten(loss, nodes))
    user_error(
        "gradient: this tensor requires no gradient and is in memory, where nothing is known of "
        "what it was made of: set_requires_grad() before it is made, or read it after");
  const std::vector<UOp> gradients = weft::gradient(graph, nodes, seed_for(graph, seed));
  const bool tracked = loss.tracked || seed.requires_grad();
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < targets.size(); ++i)  // each where its target is
    results.push_back(from({gradients[i], Operand(targets[i]).device, tracked}));
  return results;
}

Tensor Tensor::as_param(std::int64_t slot) const {
  const Called called;
  if (slot < 0) user_error(fmt::format("as_param: the slot is {}, below 0", slot));
  const UOp graph = uop();
  const ParamArg place{static_cast<std::int32_t>(slot), Access::Read, 0};
  const UOp parameter = make(Op::Param, sizes_of(graph), graph->dtype(), place);
  return from({parameter, Operand(*this).device, false});
}

namespace {

// The inputs that a function's parameters stand for; those of calls within it are theirs.
void want_inputs_for(const UOp& function, const std::vector<UOp>& inputs) {
  std::unordered_set<const Node*> seen{function.node()};
  for (std::vector<const Node*> open{function.node()}; !open.empty();) {
    const Node* node = open.back();
    open.pop_back();
    if (node->op() == Op::Param) {
      const auto slot = static_cast<std::size_t>(node->arg<ParamArg>().slot);
      const UOp parameter(node);
      if (slot >= inputs.size())
        user_error(fmt::format("call: the function has a parameter {}, and there are {} inputs",
                               slot, inputs.size()));
      if (inputs[slot]->dtype() != node->dtype() || inputs[slot]->shape() != node->shape())
        user_error(fmt::format("call: input {} is {} of shape {}, its parameter {} of shape {}",
                               slot, inputs[slot]->dtype().str(), shape_text(inputs[slot]),
                               node->dtype().str(), shape_text(parameter)));
    }
    for (const Node* source : node->src().subspan(node->op() == Op::Call ? 1 : 0))
      if (seen.insert(source).second) open.push_back(source);
  }
}

std::vector<UOp> graphs_of(const std::vector<Tensor>& tensors) {
  std::vector<UOp> graphs;
  for (const Tensor& tensor : tensors) graphs.push_back(tensor.uop());
  return graphs;
}

Tensor applied(const Tensor& function, const std::vector<Tensor>& inputs,
               const Tensor::Backward& backward) {
  Symbol device;
  bool tracked = false;
  for (const Tensor& input : inputs) {
    const Operand value(input);
    device = value.device;
    tracked = tracked || value.tracked;
  }
  CallGradient run_backward;
  if (backward)
    run_backward = [backward, device](const UOp& output, const UOp& call) {
      const auto tensor = [&](const UOp& graph) { return Tensor::from({graph, device, false}); };
      std::vector<Tensor> given;
      for (const Node* argument : call->src().subspan(1)) given.push_back(tensor(UOp(argument)));
      std::vector<UOp> gradients;
      for (const Tensor& gradient : backward(tensor(output), given, tensor(call)))
        gradients.push_back(gradient.is_null() ? UOp() : gradient.uop());
      return gradients;
    };
  const UOp graph = weft::call(function.uop(), graphs_of(inputs), run_backward);
  return Tensor::from({graph, device, tracked});
}

}  // namespace

Tensor Tensor::call(const std::vector<Tensor>& inputs, const Tensor& function,
                    const Backward& backward) {
  const Called called;
  want_inputs_for(function.uop(), graphs_of(inputs));
  return applied(function, inputs, backward);
}

Tensor Tensor::custom(const std::vector<Tensor>& inputs, const Forward& forward,
                      const Backward& backward) {
  std::vector<Tensor> parameters;
  for (const Tensor& input : inputs)
    parameters.push_back((Called(), input.as_param(std::ssize(parameters))));
  const Tensor function = forward(parameters);  // what it calls has a name of its own
  return Called(), applied(function, inputs, backward);
}

Tensor Tensor::contiguous_backward() const {
  const Called called;
  return custom(
      {*this}, [](const std::vector<Tensor>& in) { return in[0]; },
      [](const Tensor& gradient, const std::vector<Tensor>&, const Tensor&) {
        return std::vector<Tensor>{gradient.contiguous()};
      });
}

void Tensor::backward(const Tensor& seed) const {
  const Called called;
  const UOp loss = uop();
  if (seed.is_null() && numel() != 1)
    user_error(
        fmt::format("backward: a tensor of shape {} needs a seed, the gradient of its elements",
                    shape_text(loss)));
  std::vector<Tensor> candidates, targets;
  std::vector<UOp> graphs;
  for (const auto& state : leaves().alive()) {
    candidates.push_back(Tensor(state));
    graphs.push_back(candidates.back().uop());
  }
  const UOp graph = with_memory(loss, graphs);
  const std::unordered_set<const Node*> reached = reached_by_gradients(graph);
  for (std::size_t i = 0; i < graphs.size(); ++i)
    if (reached.contains(graphs[i].node())) targets.push_back(candidates[i]);
  if (targets.empty())
    user_error("backward: nothing that this tensor depends on requires a gradient");
  const NoGrad constant;
  const std::vector<Tensor> gradients = gradient(targets, seed);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Tensor before = targets[i].grad();
    targets[i].set_grad(before.is_null() ? gradients[i] : before + gradients[i]);
  }
}

}  // namespace weft
