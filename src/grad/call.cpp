// Calls backwards, by a function of their own or by the body's gradient; likewise ops that a program
// adds, whose body is what they mean.

#include <weft/dev/grad/gradient.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_map>

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

// What a call computes, of which arguments.
class Body {
 public:
  explicit Body(const Step& step) : body_(step.a) {
    for (const Node* source : step.y->src().subspan(1)) values_.emplace_back(source);
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
      if (!seed.is_null()) seed = as_param(seed, values);
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
  static UOp as_param(const UOp& value, std::vector<UOp>& values) {
    const auto slot = static_cast<std::int32_t>(values.size());
    values.push_back(value);
    return make(Op::Param, sizes_of(value), value->dtype(), ParamArg{slot, Access::Read, 0});
  }

  UOp body_;
  std::vector<UOp> values_, params_;  // those of wanted arguments
};

// An id of its own says that a call has a function of its own.
std::vector<UOp> argument_gradients(const Step& step) {
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

UOp call(const UOp& body, const std::vector<UOp>& arguments, CallGradient backward,
         std::string_view name) {
  std::vector<UOp> src{body};
  src.insert(src.end(), arguments.begin(), arguments.end());
  const UniqueId id = backward ? fresh_id() : UniqueId{};
  const UOp result = make(Op::Call, src, body->dtype(), CallArg{id, Symbol(std::string(name))});
  if (backward) hang_on(result, call_gradients().add(id, std::move(backward)));
  return result;
}

Gradients of_call(const Step& step) {
  Gradients gradients = argument_gradients(step);
  gradients.insert(gradients.begin(), UOp());  // the body's
  return gradients;
}

namespace {

// The meaning is differentiated on its own, as a function of placeholders: the walk would go on below
// the operands otherwise.
std::vector<UOp> meaning_gradients(const Step& step) {
  const std::vector<UOp> operands = operands_of(step.y.node());
  Substitution values;
  const auto placeholder = [&](const UOp& value) {
    const auto slot = static_cast<std::int32_t>(values.size());
    const UOp param =
        make(Op::Param, sizes_of(value), value->dtype(), ParamArg{slot, Access::Read, 0});
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
Gradients of_custom(const Step& step) {
  const auto definition = definition_of(step.y.node());
  Gradients gradients = definition->backward ? checked(definition->backward(step.g, step.y), step.y)
                                             : meaning_gradients(step);
  gradients.insert(gradients.begin(), UOp());  // the shape's
  return gradients;
}

}  // namespace weft
