#include <weft/dev/ir/repeated.h>

#include <algorithm>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>

namespace weft {
namespace {

// No program can call a variable of its own like this.
Symbol name_of_trip() {
  static const Symbol name("<trip>");
  return name;
}

bool are_ends(NodeList effects) {
  return std::ranges::all_of(effects, [](auto effect) { return effect->op() == Op::End; });
}

bool writes_to(const Node* effect, const Node* param) {
  return std::ranges::any_of(toposort(effect), [&](const Node* node) {
    return node->op() == Op::Store && storage_of(node->src(0)->src(0)) == param;
  });
}

// Each after those before it that write what it reads.
std::vector<UOp> in_order(const UOp& kernel) {
  std::vector<UOp> effects;
  for (std::size_t i = 0; i < kernel->size(); ++i) {
    Substitution by;
    for (const Node* load : toposort(kernel->src(i))) {
      const bool reads = load->op() == Op::Load && load->src(0)->src(0)->op() == Op::Param;
      if (!reads || by.contains(load->src(0))) continue;
      const Node* index = load->src(0);
      std::vector<UOp> after{UOp(index->src(0))}, src;
      for (const UOp& effect : effects)
        if (writes_to(effect.node(), index->src(0))) after.push_back(effect);
      if (after.size() == 1) continue;
      for (const Node* source : index->src()) src.emplace_back(source);
      src[0] = make(Op::After, after);
      by.emplace(index, with_sources(UOp(index), src));
    }
    effects.push_back(substitute(kernel.src(i), by));
  }
  return effects;
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
  return repeats ? end->src(1) : nullptr;
}

UOp one_trip(const UOp& kernel) {
  const Node* loop = loop_around(kernel.node());
  const UOp trip = Variable(name_of_trip().get(), 0, loop->src(0)->lo() - 1, loop->dtype());
  const UOp done = substitute(kernel.src(0).src(0), {{loop, trip}});
  std::vector<UOp> effects;
  if (done->op() == Op::End)
    effects = {done};
  else
    for (std::size_t i = 0; i < done->size(); ++i) effects.push_back(done.src(i));
  return sink_like(kernel, effects);
}

const Node* trip_in(const Node* kernel) {
  for (const Node* node : toposort(kernel))
    if (node->op() == Op::Variable && node->arg<VariableArg>().name == name_of_trip()) return node;
  return nullptr;
}

// The memory of its own begins anew in each trip.
UOp all_trips(const UOp& kernel) {
  const Node* trip = trip_in(kernel.node());
  if (trip == nullptr) return kernel;
  const std::vector<UOp> effects = in_order(kernel);
  const UOp loop = range(const_int(trip->hi() + 1, trip->dtype()), fresh_id().value);
  const UOp done = effects.size() == 1 ? effects[0] : tuple(effects);
  Substitution by{{trip, loop}};
  for (const Node* memory : toposort(done.node()))
    if (memory->op() == Op::Buffer) by.emplace(memory, make(Op::After, {UOp(memory), loop}));
  return sink_like(kernel, {make(Op::End, {substitute(done, by), loop})});
}

}  // namespace weft
