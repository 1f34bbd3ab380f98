// Gradients: which tensors want one, and how they get it.

#include <algorithm>
#include <mutex>
#include <unordered_set>

#include <fmt/format.h>
#include <weft/dev/engine/callers.h>
#include <weft/dev/grad/gradient.h>
#include <weft/dev/ir/graph.h>
#include <weft/error.h>

#include "capture.h"
#include "ops.h"
#include "state.h"
#include "targets.h"

namespace weft {
namespace {

thread_local bool no_grad = false;

// The tensors that were set to require a gradient, for backward() to find.
struct Leaves {
  std::mutex mutex;
  std::vector<std::weak_ptr<Tensor::State>> states;

  void add(const std::shared_ptr<Tensor::State>& state) {
    const std::lock_guard lock(mutex);
    std::erase_if(states, [&](const auto& known) {
      const auto other = known.lock();
      return other == nullptr || other == state;
    });
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

void want_float(std::string_view op, const UOp& tensor) {
  if (!tensor->dtype().is_float())
    user_error(fmt::format("{}: a tensor of {} has no gradient", op, tensor->dtype().str()));
}

void want_present(std::string_view op, const Targets& targets, const std::vector<UOp>& nodes,
                  const std::function<std::optional<Origin>(std::size_t)>& writer) {
  if (const auto i = targets.overwritten()) {
    const auto origin = writer(*i);
    user_error(fmt::format(
        "{}: the tensor of shape {} that the gradient is for was assigned to{} after this was "
        "computed from it: ask for the gradient before",
        op, shape_text(nodes[*i]), origin ? fmt::format(" at {}", caller(*origin)) : ""));
  }
  if (const auto i = targets.forgotten())
    user_error(
        fmt::format("{}: what was computed from the tensor of shape {} was read or realized while "
                    "nothing required a "
                    "gradient, and how it was computed is forgotten: set_requires_grad() first, or "
                    "detach() what is "
                    "constant",
                    op, shape_text(nodes[*i])));
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
    state_->storage->note_writers();
    leaves().add(state_);
  }
  state_->leaf = state_->tracked = on;
  return *this;
}

Tensor Tensor::grad() const {
  if (is_null()) return {};
  const std::lock_guard lock(state_->mutex);
  if (Capture* capture = Capture::refusing())
    capture->note_gradient(state_, state_->grad.state_, false);
  return state_->grad;
}

void Tensor::set_grad(const Tensor& grad) {
  const Called called;
  const UOp own = uop();
  if (!grad.is_null() && grad.uop()->shape() != own->shape())
    user_error(fmt::format("set_grad: shape {} for a tensor of shape {}", shape_text(grad.uop()),
                           shape_text(own)));
  const std::lock_guard lock(state_->mutex);
  if (Capture* capture = Capture::refusing())
    capture->note_gradient(state_, state_->grad.state_, true);
  state_->grad = grad;
}

std::vector<Tensor> Tensor::gradient(const std::vector<Tensor>& targets, const Tensor& seed,
                                     bool allow_unused) const {
  const Called called;
  const Operand loss(*this);
  want_float("gradient", loss.uop());
  std::vector<UOp> nodes;
  for (const Tensor& target : targets) {
    want_float("gradient", target.uop());
    nodes.push_back(target.uop());
  }
  std::vector<bool> are_ends;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    are_ends.push_back(is_end(*targets[i].state_, nodes[i], nodes.size()));
  const Targets found(loss.uop(), nodes, are_ends);
  const UOp& graph = found.graph();
  want_present("gradient", found, nodes,
               [&](std::size_t i) { return targets[i].state_->storage->writer(); });
  for (std::size_t i = 0; i < nodes.size() && !allow_unused; ++i)
    if (!found.reaches(i))
      user_error(fmt::format(
          "gradient: this tensor does not depend on target {}, of shape {}: allow_unused makes its "
          "gradient 0",
          i, shape_text(nodes[i])));
  const std::vector<UOp> gradients = weft::gradient(graph, found.nodes(), seed_for(graph, seed));
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
    graphs.push_back(state->present());  // no use of it: most are of others
  }
  const Targets found(loss, graphs, std::vector<bool>(graphs.size(), true));
  want_present("backward", found, graphs,
               [&](std::size_t i) { return candidates[i].state_->storage->writer(); });
  for (std::size_t i = 0; i < graphs.size(); ++i)
    if (found.reaches(i)) targets.push_back(candidates[i]);
  if (targets.empty())
    user_error("backward: nothing that this tensor depends on requires a gradient");
  const NoGrad constant;
  const std::vector<Tensor> gradients = gradient(targets, seed);
  Capture* const capture = Capture::refusing();
  for (std::size_t i = 0; i < targets.size(); ++i) {
    Tensor before = targets[i].grad();
    if (before.is_null())
      targets[i].set_grad(gradients[i]);
    else if (capture != nullptr && before.state_->storage->is_of_calls() &&
             capture->prepare_to_assign(before.state_->storage))
      before.assign(before + gradients[i]);  // later calls add to it as well
    else
      targets[i].set_grad(before + gradients[i]);
  }
}

}  // namespace weft
