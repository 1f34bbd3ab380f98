#include <weft/dev/ir/repeated.h>

#include <algorithm>
#include <set>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>

namespace weft {
namespace {

// No program can call a variable of its own like these.
Symbol name_of_iteration() {
  static const Symbol name("<iteration>");
  return name;
}
Symbol name_of_call() {
  static const Symbol name("<call>");
  return name;
}

const Node* variable_in(const Node* kernel, Symbol name) {
  for (const Node* node : toposort(kernel))
    if (node->op() == Op::Variable && node->arg<VariableArg>().name == name) return node;
  return nullptr;
}

// What is done in one iteration, with a variable in place of the loop.
std::vector<UOp> effects_of_iteration(const UOp& kernel, Symbol name) {
  const Node* loop = loop_around(kernel.node());
  const UOp iteration = Variable(name.get(), 0, loop->src(0)->lo() - 1, loop->dtype());
  const UOp done = substitute(kernel.src(0).src(0), {{loop, iteration}});
  std::vector<UOp> effects;
  const auto add = [&](const Node* end) {
    effects.emplace_back(end->size() == 1 ? end->src(0) : end);  // of no loops: a STORE alone
  };
  if (done->op() == Op::End)
    add(done.node());
  else
    std::ranges::for_each(done->src(), add);
  return effects;
}

bool are_ends(NodeList effects) {
  return std::ranges::all_of(effects, [](auto effect) { return effect->op() == Op::End; });
}

// As loops of schedules have it, where kernels are run that have been scheduled.
bool has_memory_of_each_iteration(const Node* done, const Node* loop) {
  return std::ranges::any_of(toposort(done), [&](const Node* node) {
    return node->op() == Op::After && std::ranges::find(node->src(), loop) != node->src().end();
  });
}

// The memory that it writes, but for what is done before it.
std::set<const Node*> written_by(const Node* effect, const NodeMap<std::size_t>& before) {
  std::set<const Node*> written;
  for (const Node* node : toposort(effect))
    if (node->op() == Op::Store && !before.contains(node))
      written.insert(storage_of(node->src(0)->src(0)));
  return written;
}

struct Effect {
  UOp done;
  std::set<const Node*> written;
};

UOp after_writes(const UOp& place, const std::vector<Effect>& effects) {
  std::vector<UOp> after{place.src(0)}, src;
  for (const Effect& effect : effects)
    if (effect.written.contains(storage_of(place->src(0)))) after.push_back(effect.done);
  if (after.size() == 1) return place;
  for (const Node* source : place->src()) src.emplace_back(source);
  src[0] = make(Op::After, after);
  return with_sources(place, src);
}

// Each after those before it that write what it reads. What several have in common is part of the first.
std::vector<UOp> effects_in_order(const UOp& kernel) {
  std::vector<Effect> effects;
  std::vector<UOp> made, result;
  NodeMap<std::size_t> place;
  for (const Node* effect : kernel->src()) {
    std::set<const Node*> written = written_by(effect, place);
    for (const Node* node : toposort(effect)) {
      if (place.contains(node)) continue;
      std::vector<UOp> src;
      for (const Node* source : node->src()) src.push_back(made[*place.find(source)]);
      if (node->op() == Op::Load) src[0] = after_writes(src[0], effects);
      place.set(node, made.size());
      made.push_back(with_sources(UOp(node), src));
    }
    result.push_back(made[*place.find(effect)]);
    effects.push_back({result.back(), std::move(written)});
  }
  return result;
}

UOp sink_like(const UOp& kernel, const std::vector<UOp>& effects) {
  return make(Op::Sink, effects, {}, kernel->arg<KernelArg>());
}

}  // namespace

const Node* loop_around(const Node* kernel) {
  if (kernel->op() != Op::Sink || kernel->size() != 1) return nullptr;
  const Node* end = kernel->src(0);
  if (end->op() != Op::End || end->size() != 2) return nullptr;
  const Node* done = end->src(0);
  const bool repeats = done->op() == Op::End || (done->op() == Op::Tuple && are_ends(done->src()));
  return repeats && !has_memory_of_each_iteration(done, end->src(1)) ? end->src(1) : nullptr;
}

UOp strip_loop(const UOp& kernel) {
  return sink_like(kernel, effects_of_iteration(kernel, name_of_iteration()));
}

const Node* iteration_in(const Node* kernel) { return variable_in(kernel, name_of_iteration()); }

std::vector<UOp> calls_of_iteration(const UOp& kernel) {
  std::vector<UOp> kernels;
  for (const UOp& effect : effects_of_iteration(kernel, name_of_call()))
    kernels.push_back(sink_like(kernel, {effect}));
  return kernels;
}

bool finds_what_it_left(const Node* kernel) {
  return iteration_in(kernel) != nullptr || variable_in(kernel, name_of_call()) != nullptr;
}

UOp in_order(const UOp& kernel) {
  return iteration_in(kernel.node()) == nullptr ? kernel
                                                : sink_like(kernel, effects_in_order(kernel));
}

// The memory of its own begins anew in each iteration.
UOp restore_loop(const UOp& kernel) {
  const Node* iteration = iteration_in(kernel.node());
  if (iteration == nullptr) return kernel;
  std::vector<UOp> effects;
  for (std::size_t i = 0; i < kernel->size(); ++i) effects.push_back(kernel.src(i));
  const UOp loop = range(const_int(iteration->hi() + 1, iteration->dtype()), fresh_id().value);
  const UOp done = effects.size() == 1 ? effects[0] : tuple(effects);
  Substitution by{{iteration, loop}};
  for (const Node* memory : toposort(done.node()))
    if (memory->op() == Op::Buffer) by.emplace(memory, make(Op::After, {UOp(memory), loop}));
  return sink_like(kernel, {make(Op::End, {substitute(done, by), loop})});
}

}  // namespace weft
