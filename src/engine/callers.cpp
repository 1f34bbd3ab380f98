#include <weft/dev/engine/callers.h>

#include <unwind.h>

#include <map>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <weft/dev/symbols/frames.h>
#include <weft/settings.h>

namespace weft {
namespace {

constexpr std::size_t most_frames = 48;

using CallStack = std::vector<const void*>;  // return addresses, innermost first
using Maker = std::variant<CallStack, std::string>;

// An Origin is the number of a call stack or a name; what a stack stands for is looked up when it is asked for.
struct Makers {
  std::mutex mutex;
  std::map<Maker, Origin> numbers;
  std::vector<const Maker*> all;  // by number

  Origin number_of(Maker maker) {
    const std::lock_guard lock(mutex);
    const auto [known, is_new] = numbers.emplace(std::move(maker), Origin(all.size()));
    if (is_new) all.push_back(&known->first);
    return known->second;
  }
  const Maker& at(Origin origin) {
    const std::lock_guard lock(mutex);
    return *all.at(static_cast<std::size_t>(origin));
  }
};

Makers& makers() {
  static auto& all = *new Makers;  // leaked on purpose: tensors may be static
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

thread_local const NamedScope* innermost = nullptr;
thread_local bool is_noting = false;

}  // namespace

NamedScope::NamedScope(std::string_view name, std::string_view kind)
    : name_(name), kind_(kind), outer_(innermost) {
  innermost = this;
}

NamedScope::~NamedScope() { innermost = outer_; }

const NamedScope* NamedScope::current() { return innermost; }

std::string NamedScope::str() const {
  const std::string around = outer_ == nullptr ? "" : outer_->str();
  if (name_.empty()) return around;
  return fmt::format("{}{}{}{}", around, around.empty() ? "" : "/", name_,
                     kind_.empty() ? "" : fmt::format(" ({})", kind_));
}

Origin NamedScope::origin() const {
  if (!origin_) origin_ = makers().number_of(str());
  return *origin_;
}

NotingCallers::NotingCallers() : was_on_(std::exchange(is_noting, true)) {}
NotingCallers::~NotingCallers() { is_noting = was_on_; }

bool notes_callers() { return is_noting || debug_level() >= 2; }

// What the present call did not make ends the walk, or it would go through the whole graph. Memory and
// numbers come from nowhere: no kernel computes them.
void note_caller(const UOp& tensor) {
  if (!notes_callers()) return;
  const NamedScope* scope = NamedScope::current();
  const Origin origin = scope != nullptr ? scope->origin() : makers().number_of(present_stack());
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
  const Maker& maker = makers().at(origin);
  if (const auto* name = std::get_if<std::string>(&maker)) return *name;
  return caller_of_library(std::get<CallStack>(maker));
}

std::string present_caller() {
  const NamedScope* scope = NamedScope::current();
  return scope != nullptr ? scope->str() : caller_of_library(present_stack());
}

bool is_named(Origin origin) { return std::holds_alternative<std::string>(makers().at(origin)); }

}  // namespace weft
