#include "resolve.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/core.h>
#include <weft/dev/engine/callers.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/custom_op.h>
#include <weft/error.h>

namespace weft {
namespace {

class Resolver {
 public:
  explicit Resolver(Symbol device) : device_(device) {}

  // Sources before users, without what lies behind a value that is known.
  const Node* resolve(const Node* root) {
    std::vector<std::pair<const Node*, bool>> open{{root, false}};
    while (!open.empty()) {
      const auto [node, sources_done] = open.back();
      open.pop_back();
      if (made_.contains(node)) continue;
      if (sources_done) {
        made_.set(node, rebuilt(node));
      } else if (const UOp known = computed_for(node, device_);
                 !known.is_null() && known.node() != node) {
        keep_.push_back(known);
        made_.set(node, resolve_view(known.node()));
      } else {
        open.emplace_back(node, true);
        for (std::size_t i = node->size(); i-- > 0;) open.emplace_back(node->src(i), false);
      }
    }
    return *made_.find(root);
  }

  // By their ids.
  std::unordered_map<std::uint64_t, std::int64_t> bound;
  std::unordered_map<std::uint64_t, UOp> buffers, variables;
  bool has_custom = false;

 private:
  // A BUFFER under a few movement ops.
  const Node* resolve_view(const Node* view) {
    for (const Node* node : toposort(view))
      if (!made_.contains(node)) made_.set(node, rebuilt(node));
    return *made_.find(view);
  }

  const Node* rebuilt(const Node* node) {
    std::vector<const Node*> src;
    for (const Node* source : node->src()) src.push_back(*made_.find(source));
    if (node->op() == Op::Bind) {
      bind(src[0], node->src(1));
      return src[0];
    }
    has_custom = has_custom || node->op() == Op::Custom;
    if (node->op() == Op::Index && info(src[0]->op()).cls == OpClass::Movement) {
      // What was computed as part of another tensor becomes a storage again.
      const Node* view[] = {src[0]};
      src[0] = Interner::current().intern({Op::Contiguous, src[0]->dtype(), view});
      copies_.emplace(src[0], view[0]);
    }
    if (node->op() == Op::Store && src[0]->op() == Op::Index && copies_.contains(src[0]->src(0))) {
      // But what is written is the memory itself, not a copy.
      std::vector<const Node*> place(src[0]->src().begin(), src[0]->src().end());
      place[0] = copies_.at(place[0]);
      src[0] = with_sources(Interner::current(), src[0], place);
    }
    if (node->op() == Op::Buffer) buffers.emplace(node->arg<BufferArg>().id.value, node);
    if (node->op() == Op::Variable) variables.emplace(node->arg<VariableArg>().id.value, node);
    return with_sources(Interner::current(), node, src);
  }

  void bind(const Node* variable, const Node* value) {
    const auto bits = evaluate(value, {});
    if (!bits) user_error("a variable is bound to what is not a constant");
    const auto number = int_from_bits(*bits, value->dtype());
    const auto& arg = variable->arg<VariableArg>();
    const auto [known, is_new] = bound.emplace(arg.id.value, number);
    if (!is_new && known->second != number)
      user_error(fmt::format("variable {} is bound to {} and to {}", arg.name.get(), known->second,
                             number));
    if (number < arg.lo || number > arg.hi)
      user_error(fmt::format("variable {} is bound to {}, outside {} ... {}", arg.name.get(),
                             number, arg.lo, arg.hi));
  }

  Symbol device_;
  NodeMap<const Node*> made_;
  std::unordered_map<const Node*, const Node*> copies_;  // and the views that these are of
  std::vector<UOp> keep_;  // another thread may compute the node anew meanwhile
};

}  // namespace

namespace {

// The calls of a body share its nodes. These know the lines that it was written in, but not for which of several names it
// is called.
NodeList sources_that_tell(const Node* node) {
  const auto origin = Interner::current().origin(node);
  const bool is_named_call = node->op() == Op::Call && origin && is_named(*origin);
  return node->src().subspan(is_named_call ? 1 : 0);
}

// Nodes that no call of the program made come from where their users do, or else their sources: the
// former are of rules, the latter of the engine.
std::vector<std::optional<Origin>> number_origins(const std::vector<const Node*>& nodes,
                                                  const std::vector<UOp>& roots) {
  Interner& arena = Interner::current();
  NodeMap<bool> tells;
  for (const UOp& root : roots) tells.set(root.node(), true);
  for (auto user = nodes.rbegin(); user != nodes.rend(); ++user) {
    if (!tells.contains(*user)) continue;
    for (const Node* source : sources_that_tell(*user)) {
      tells.set(source, true);
      arena.inherit(source, *user, arena);
    }
  }
  for (const Node* user : nodes)
    if (tells.contains(user))
      for (const Node* source : sources_that_tell(user)) arena.inherit(user, source, arena);
  std::vector<std::optional<Origin>> origins;
  for (const Node* node : nodes)
    origins.push_back(tells.contains(node) ? arena.origin(node) : std::nullopt);
  arena.forget_origins();
  for (std::size_t place = 0; place < nodes.size(); ++place)
    if (tells.contains(nodes[place])) arena.annotate(nodes[place], static_cast<Origin>(place));
  return origins;
}

// Where all is wanted; none where that is on several.
Symbol common_device(const std::vector<Wanted>& wanted) {
  const auto is_there = [&](const Wanted& each) { return each.device == wanted[0].device; };
  return std::ranges::all_of(wanted, is_there) ? wanted[0].device : Symbol();
}

}  // namespace

void list_variables(Resolved& resolved, const std::vector<BoundVariable>& added) {
  std::unordered_map<std::uint64_t, BoundVariable> known;
  const auto add = [&](const BoundVariable& each) {
    known.emplace(each.variable->arg<VariableArg>().id.value, each);
  };
  for (std::size_t i = 0; i < resolved.variables.size(); ++i)
    add({resolved.variables[i], resolved.values[i]});
  std::ranges::for_each(added, add);
  resolved.variables.clear();
  resolved.values.clear();
  std::vector<const Node*> roots;
  for (const Root& root : resolved.roots) roots.push_back(root.tensor.node());
  for (const Node* node : toposort(roots)) {
    if (node->op() != Op::Variable) continue;
    const auto& [variable, value] = known.at(node->arg<VariableArg>().id.value);
    resolved.variables.push_back(variable);
    resolved.values.push_back(value);
  }
}

Resolved resolve(const std::vector<Wanted>& wanted, const PassOptions& options) {
  Resolver resolver(common_device(wanted));
  Resolved result;
  std::vector<UOp> tensors;
  for (const Wanted& each : wanted) tensors.emplace_back(resolver.resolve(each.tensor.node()));
  if (resolver.has_custom) tensors = rewrite(tensors, custom_rules());
  tensors = rewrite_tensors(tensors, options);
  if (!options.extra->empty()) tensors = rewrite(tensors, custom_rules());  // they may make some
  for (std::size_t i = 0; i < wanted.size(); ++i)
    result.roots.push_back({tensors[i], wanted[i].device});
  const std::vector<const Node*> nodes = toposort(nodes_of(tensors));
  if (notes_callers()) result.origins = number_origins(nodes, tensors);
  for (const Node* node : nodes) {
    if (node->op() == Op::Buffer) {
      const auto known = resolver.buffers.find(node->arg<BufferArg>().id.value);
      if (known == resolver.buffers.end())
        user_error("an extra rule, or the meaning of an added op, brings memory of its own");
      result.buffers.push_back(known->second);
    }
    if (node->op() != Op::Variable) continue;
    const auto& arg = node->arg<VariableArg>();
    const auto value = resolver.bound.find(arg.id.value);
    if (value == resolver.bound.end())
      user_error(fmt::format("variable {} is not bound to a value", arg.name.get()));
    result.variables.push_back(resolver.variables.at(arg.id.value));
    result.values.push_back(value->second);
  }
  return result;
}

}  // namespace weft
