#include <weft/dev/engine/callers.h>

#include <unwind.h>

#include <map>
#include <mutex>
#include <utility>

#include <weft/dev/symbols/frames.h>
#include <weft/settings.h>

namespace weft {
namespace {

constexpr std::size_t most_frames = 48;

using CallStack = std::vector<const void*>;  // return addresses, innermost first

// An Origin is the number of a call stack; what it stands for is looked up when it is asked for.
struct CallStacks {
  std::mutex mutex;
  std::map<CallStack, Origin> numbers;
  std::vector<const CallStack*> stacks;  // by number
};

CallStacks& call_stacks() {
  static auto& all = *new CallStacks;  // leaked on purpose: tensors may be static
  return all;
}

// By the unwinder itself: a sanitizer's backtrace() puts a frame of its own on top.
CallStack present_stack() {
  CallStack stack;
  const auto add = [](_Unwind_Context* frame, void* found) {
    auto& stack = *static_cast<CallStack*>(found);
    stack.push_back(reinterpret_cast<const void*>(_Unwind_GetIP(frame)));
    return stack.size() < most_frames ? _URC_NO_REASON : _URC_END_OF_STACK;
  };
  _Unwind_Backtrace(add, &stack);
  return stack;
}

Origin present_call() {
  CallStack present = present_stack();
  CallStacks& all = call_stacks();
  const std::lock_guard lock(all.mutex);
  const auto next = static_cast<Origin>(all.stacks.size());
  const auto [stack, is_new] = all.numbers.emplace(std::move(present), next);
  if (is_new) all.stacks.push_back(&stack->first);
  return stack->second;
}

}  // namespace

// What the present call did not make ends the walk, or it would go through the whole graph. Memory and
// numbers come from nowhere: no kernel computes them.
void note_caller(const UOp& tensor) {
  if (debug_level() < 2) return;
  const Origin origin = present_call();
  std::vector<const Node*> open{tensor.node()};
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (node->has_origin() || node->op() == Op::Buffer) continue;
    Interner::current().annotate(node, origin);
    for (const Node* source : node->src())
      if (source->size() > 0) open.push_back(source);
  }
}

std::string caller(Origin origin) {
  CallStacks& all = call_stacks();
  const CallStack* stack = nullptr;
  {
    const std::lock_guard lock(all.mutex);
    stack = all.stacks.at(static_cast<std::size_t>(origin));
  }
  return caller_of_library(*stack);
}

}  // namespace weft
