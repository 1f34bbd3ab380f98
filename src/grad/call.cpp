// Calls backwards, by a function of their own or by the body's gradient; likewise ops that a program
// adds, whose body is what they mean.

#include <weft/dev/grad/gradient.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include <fmt/core.h>
#include <weft/dev/ir/movement.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/rules/custom_op.h>
#include <weft/error.h>

#include "rules.h"

namespace weft {
namespace {

// Functions by the ids of calls. The nodes own them; here they are only found.
class CallGradients {
 public:
  std::shared_ptr<const CallGradient> add(UniqueId id, CallGradient function) {
    const auto remove = [this, id](const CallGradient* gone) {
      {
        const std::lock_guard lock(mutex_);
        by_id_.erase(id.value);
      }
      delete gone;
    };
    const std::shared_ptr<const CallGradient> owner(new CallGradient(std::move(function)), remove);
    const std::lock_guard lock(mutex_);
    by_id_[id.value] = owner;
    return owner;
  }
  std::shared_ptr<const CallGradient> find(UniqueId id) {
    const std::lock_guard lock(mutex_);
    const auto found = by_id_.find(id.value);
    return found == by_id_.end() ? nullptr : found->second.lock();
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::weak_ptr<const CallGradient>> by_id_;
};

// Never destroyed: nodes of the shared graph may go after everything else.
CallGradients& call_gradients() {
  static CallGradients& table = *new CallGradients;
  return table;
}

void hang_on(const UOp& call, const std::shared_ptr<const CallGradient>& function) {
  Interner& interner = call->is_counted() ? shared_graph() : Interner::current();
  interner.attach(call.node(), std::const_pointer_cast<CallGradient>(function));
}

std::vector<UOp> checked(std::vector<UOp> gradients, const UOp& call) {
  const auto complain = [&](const std::string& what) {
    user_error(
        fmt::format("gradient: the function of {} gave {}", expression_text(call.node()), what));
  };
  if (gradients.size() != call->size() - 1)
    complain(fmt::format("{} gradients for {} arguments", gradients.size(), call->size() - 1));
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].is_null()) continue;
    const Node *gradient = gradients[i].node(), *argument = call->src(i + 1);
    const bool fits = gradient->shape() == nullptr || gradient->shape() == argument->shape();
    if (!fits || gradient->dtype() != argument->dtype())
      complain(fmt::format("for argument {} not one of its dtype {} and shape", i,
                           argument->dtype().str()));
  }
  return gradients;
}

// What stands in a body for the value of a slot.
UOp param_for(const UOp& value, std::size_t slot) {
  const ParamArg arg{static_cast<std::int32_t>(slot), Access::Read, 0};
  return make(Op::Param, sizes_of(value), value->dtype(), arg);
}

// Without those in the bodies of further calls, which are not this body's.
std::vector<UOp> params_of(const UOp& body) {
  const std::vector<const Node*> order = toposort(body.node());
  NodeMap<bool> own;
  own.set(body.node(), true);
  std::vector<UOp> params;
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    if (!own.contains(*node)) continue;
    if ((*node)->op() == Op::Param) params.emplace_back(*node);
    for (const Node* source : (*node)->src().subspan((*node)->op() == Op::Call ? 1 : 0))
      own.set(source, true);
  }
  std::ranges::reverse(params);
  return params;
}

// The same with memory of its own: what is computed again must not store where the first one did.
UOp renewed(const UOp& body) {
  Substitution fresh;
  for (const Node* node : toposort(body.node())) {
    if (node->op() != Op::Remat) continue;
    std::vector<UOp> src;
    for (const Node* source : node->src()) src.push_back(substitute(UOp(source), fresh));
    fresh.emplace(node, make(Op::Remat, src, {}, IdArg{fresh_id()}));
  }
  return with_call_gradients(substitute(body, fresh));
}

// The value, for what is computed again once the gradient is there.
UOp awaiting(const UOp& gradient, const UOp& value) {
  std::vector<UOp> src{value};
  for (const UOp& member : members_of(gradient))
    if (!member.is_null()) src.push_back(member);
  return make(Op::Remat, src, {}, IdArg{fresh_id()});
}

// What a call computes, of which arguments.
class Body {
 public:
  explicit Body(const GradientStep& step) : body_(step.a) {
    const bool is_again = step.y->arg<CallArg>().again;
    if (is_again) body_ = renewed(body_);
    for (const Node* source : step.y->src().subspan(1))
      values_.push_back(is_again ? awaiting(step.g, UOp(source)) : UOp(source));
    for (const UOp& param : params_of(body_)) {
      if (slot_of(param) >= values_.size())
        user_error(fmt::format("gradient: {} has {} arguments and no value for {}",
                               expression_text(step.y.node()), values_.size(),
                               expression_text(param.node())));
      if (param->dtype().is_float() && step.wants(slot_of(param) + 1)) params_.push_back(param);
    }
  }

  // Of the arguments. The gradient of a function is a function: of the arguments and of the
  // gradient of each output.
  std::vector<UOp> backward(const UOp& gradient) const {
    std::vector<UOp> values = values_, seeds = members_of(gradient);
    for (UOp& seed : seeds)
      if (!seed.is_null()) {
        values.push_back(seed);
        seed = param_for(seed, values.size() - 1);
      }
    const UOp seed = gradient->dtype().is_void() ? list_of(seeds) : seeds[0];
    const std::vector<UOp> parts = weft::backward(body_, seed, params_);

    std::vector<UOp> outputs;
    for (const UOp& part : parts)
      if (!part.is_null()) outputs.push_back(part);
    std::vector<UOp> results(values_.size());
    if (outputs.empty()) return results;
    const UOp outcome = call(tuple(outputs), values);
    std::int32_t at = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].is_null()) continue;
      const UOp part = make(Op::GetTuple, {outcome}, parts[i]->dtype(), PositionArg{at++});
      UOp& result = results[slot_of(params_[i])];
      result = result.is_null() ? part : result + part;
    }
    return results;
  }

 private:
  static std::size_t slot_of(const UOp& param) {
    return static_cast<std::size_t>(param->arg<ParamArg>().slot);
  }

  UOp body_;
  std::vector<UOp> values_, params_;  // those of wanted arguments
};

// An id of its own says that a call has a function of its own.
std::vector<UOp> argument_gradients(const GradientStep& step) {
  const UniqueId id = step.y->arg<CallArg>().id;
  if (id == UniqueId{}) return Body(step).backward(step.g);
  const auto function = call_gradients().find(id);
  if (function == nullptr)
    user_error(
        fmt::format("gradient: the function of {} went with the call it was given to: keep "
                    "that call, or differentiate before it is copied",
                    expression_text(step.y.node())));
  hang_on(step.y, function);
  return checked((*function)(step.g, step.y), step.y);
}

}  // namespace

UOp with_call_gradients(const UOp& graph) {
  for (const Node* node : toposort(graph.node())) {
    if (node->op() != Op::Call || node->arg<CallArg>().id == UniqueId{}) continue;
    if (const auto function = call_gradients().find(node->arg<CallArg>().id))
      hang_on(UOp(node), function);
  }
  return graph;
}

UOp call(const UOp& body, const std::vector<UOp>& arguments, CallGradient backward,
         std::string_view name) {
  std::vector<UOp> src{body};
  src.insert(src.end(), arguments.begin(), arguments.end());
  const UniqueId id = backward ? fresh_id() : UniqueId{};
  const UOp result = make(Op::Call, src, body->dtype(), CallArg{id, Symbol(std::string(name))});
  if (backward) hang_on(result, call_gradients().add(id, std::move(backward)));
  return result;
}

UOp checkpoint(const UOp& value, const std::vector<UOp>& kept) {
  std::vector<UOp> src{UOp()};
  Substitution params;
  for (const UOp& argument : kept)
    if (params.try_emplace(argument.node(), param_for(argument, params.size())).second)
      src.push_back(argument);
  // The bodies of further calls are functions of their own arguments.
  std::unordered_set<const Node*> seen;
  for (std::vector<const Node*> open{value.node()}; !open.empty();) {
    const Node* node = open.back();
    open.pop_back();
    if (params.contains(node) || !seen.insert(node).second) continue;
    if (node->op() == Op::Call) params.try_emplace(node->src(0), node->src(0));
    open.insert(open.end(), node->src().begin(), node->src().end());
  }
  src[0] = with_call_gradients(substitute(value, params));
  CallArg arg;
  arg.again = true;
  return make(Op::Call, src, value->dtype(), arg);
}

Gradients of_call(const GradientStep& step) {
  Gradients gradients = argument_gradients(step);
  gradients.insert(gradients.begin(), UOp());  // the body's
  return gradients;
}

namespace {

// The meaning is differentiated on its own, as a function of placeholders: the walk would go on below
// the operands otherwise.
std::vector<UOp> meaning_gradients(const GradientStep& step) {
  const std::vector<UOp> operands = operands_of(step.y.node());
  Substitution values;
  const auto placeholder = [&](const UOp& value) {
    const UOp param = param_for(value, values.size());
    values.emplace(param.node(), value);
    return param;
  };
  std::vector<UOp> params, wanted, results(operands.size());
  for (const UOp& operand : operands) params.push_back(placeholder(operand));
  for (std::size_t i = 0; i < params.size(); ++i)
    if (params[i]->dtype().is_float() && step.wants(i + 1)) wanted.push_back(params[i]);
  const UOp seed = placeholder(step.g);
  const std::vector<UOp> parts = backward(meaning_of(step.y.node(), params), seed, wanted);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!parts[i].is_null())
      results[static_cast<std::size_t>(wanted[i]->arg<ParamArg>().slot)] =
          substitute(parts[i], values);
  return results;
}

}  // namespace

// Like a call, a CUSTOM has its operands from source 1.
Gradients of_custom(const GradientStep& step) {
  const auto definition = definition_of(step.y.node());
  Gradients gradients = definition->backward ? checked(definition->backward(step.g, step.y), step.y)
                                             : meaning_gradients(step);
  gradients.insert(gradients.begin(), UOp());  // the shape's
  return gradients;
}

}  // namespace weft
