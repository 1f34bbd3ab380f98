#include <weft/dev/engine/lineage.h>

#include <algorithm>
#include <set>

#include <weft/dev/engine/storage.h>
#include <weft/dev/grad/gradient.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>

namespace weft {

struct Lost {
  std::weak_ptr<const Buffer> memory;
};

namespace {

using Memory = std::weak_ptr<const Buffer>;

// Larger graphs are forgotten.
constexpr std::size_t most_nodes = 1000;
// Of the PARAMs that stand for sources: beyond all those that bodies of calls have.
constexpr std::int32_t first_slot = 1 << 20;

// How a memory's bytes were computed: over PARAMs in place of the sources, which are not kept for it. What was computed
// on the way may have memory of its own.
struct Computation {
  struct Part {
    std::weak_ptr<Buffer> memory;
    std::uint64_t overwritten;
    UOp node;

    bool is_in(const std::shared_ptr<Buffer>& present) const {
      return present != nullptr && present->overwritten() == overwritten;
    }
  };
  std::set<Memory, std::owner_less<Memory>> stems;
  UOp graph = {};  // null where it is too large, or writes to its sources
  std::vector<Part> sources = {}, stops = {};
};

// What a chain of RESHAPEs is of.
const Node* reshaped(const Node* view) {
  while (view->op() == Op::Reshape) view = view->src(0);
  return view;
}

// Present or lost.
Memory memory_behind(const Node* buffer) {
  if (const auto lost = shared_graph().attached<Lost>(buffer)) return lost->memory;
  return shared_graph().attached<Buffer>(buffer);
}

std::shared_ptr<const Computation> computation_behind(const Node* buffer) {
  const auto memory = shared_graph().attached<Buffer>(buffer);
  return memory == nullptr ? nullptr : std::static_pointer_cast<const Computation>(memory->note());
}

bool passes_gradients(const Node* node) {
  return node->op() != Op::Detach && (node->dtype().is_float() || node->dtype().is_void());
}

bool writes_memory(const Node* node) {
  if (node->op() != Op::After) return false;
  while (info(node->op()).cls == OpClass::Movement || node->op() == Op::After) node = node->src(0);
  return OpSet{Op::Buffer, Op::Multi}.contains(node->op());
}

// What a node was computed into, all of that memory and nothing else; null where there is none.
std::shared_ptr<Buffer> memory_of_all(const Node* node) {
  const auto known = shared_graph().attached<UOp>(node);
  if (known == nullptr || node->op() == Op::Buffer) return nullptr;
  const Node* whole = reshaped(known->node());
  return whole->op() == Op::Buffer ? shared_graph().attached<Buffer>(whole) : nullptr;
}

void remember(Computation& computation, const Node* buffer, const UOp& graph) {
  const std::vector<const Node*> nodes = toposort(graph.node());
  if (nodes.size() > most_nodes || std::ranges::any_of(nodes, writes_memory)) return;
  Substitution params;
  for (const Node* node : nodes) {
    if (node->op() != Op::Buffer) continue;
    const auto memory = shared_graph().attached<Buffer>(node);
    if (memory == nullptr) return;
    const ParamArg arg{first_slot + static_cast<std::int32_t>(params.size()), Access::Read, 0};
    const UOp param = make(Op::Param, sizes_of(UOp(node)), node->dtype(), arg);
    params.emplace(node, param);
    computation.sources.push_back({memory, memory->overwritten(), param});
  }
  for (const Node* node : nodes)
    if (const auto memory = node == graph.node() ? nullptr : memory_of_all(node))
      computation.stops.push_back({memory, memory->overwritten(), substitute(UOp(node), params)});
  computation.graph =
      with_call_gradients(reshape(substitute(graph, params), sizes_of(UOp(buffer))));
}

}  // namespace

Loss::Loss(UOp buffer) : buffer_(std::move(buffer)), lost_(std::make_shared<Lost>()) {
  shared_graph().make_room<Lost>(buffer_.node());
  shared_graph().make_room<Buffer>(buffer_.node());
}

void Loss::happen() const noexcept {
  if (auto memory = shared_graph().attached<Buffer>(buffer_.node())) {
    memory->count_overwriting();
    lost_->memory = memory;
    shared_graph().attach(buffer_.node(), lost_);
  }
  shared_graph().attach(buffer_.node(), std::shared_ptr<Buffer>());
}

void lose_memory(const Node* buffer) { Loss(UOp(buffer)).happen(); }

// Of memory that is gone there is no tensor to ask for.
void note_computation(const UOp& view, const UOp& graph) {
  const Node* whole = reshaped(view.node());
  auto computation = std::make_shared<Computation>();
  for (const Node* node : gradient_paths(graph.node())) {
    if (const auto stop = node == graph.node() ? nullptr : memory_of_all(node))
      computation->stems.insert(stop);
    if (node->op() != Op::Buffer || !node->dtype().is_float()) continue;
    if (Memory source = memory_behind(node); !source.expired()) computation->stems.insert(source);
    if (const auto earlier = computation_behind(node))
      for (const Memory& source : earlier->stems)
        if (!source.expired()) computation->stems.insert(source);
  }
  if (computation->stems.empty()) return;
  if (whole->op() == Op::Buffer) remember(*computation, whole, graph);
  for (const Node* buffer : buffers_of(view.node()))
    if (const auto memory = shared_graph().attached<Buffer>(buffer)) memory->set_note(computation);
}

void Lineage::add(const Node* buffer, std::size_t number, const Node* tensor) {
  const Node* whole = reshaped(tensor) == buffer ? tensor : buffer;
  known_.emplace(memory_behind(buffer), Known{buffer, whole, number});
}

std::optional<std::size_t> Lineage::shares(const Node* buffer) const {
  const auto found = known_.find(memory_behind(buffer));
  return found == known_.end() ? std::nullopt : std::optional(found->second.number);
}

std::optional<std::size_t> Lineage::stems_from(const Node* buffer) const {
  if (const auto computation = computation_behind(buffer))
    for (const auto& [memory, known] : known_)
      if (computation->stems.contains(memory)) return known.number;
  return {};
}

// Memory that one of these lies in is that BUFFER.
UOp Lineage::computation_of(const Node* buffer) const {
  const auto computation = computation_behind(buffer);
  if (computation == nullptr || computation->graph.is_null()) return {};
  Substitution sources;
  const auto among_these = [&](const std::shared_ptr<Buffer>& memory, const UOp& node) {
    const auto known = known_.find(memory);
    return known != known_.end() && shared_graph().attached<Buffer>(known->second.buffer) != nullptr
               ? reshape(UOp(known->second.whole), sizes_of(node))
               : UOp();
  };
  for (const Computation::Part& source : computation->sources) {
    const auto memory = source.memory.lock();
    if (!source.is_in(memory)) return {};
    const UOp known = among_these(memory, source.node);
    sources.emplace(
        source.node.node(),
        known.is_null() ? new_buffer(source.node->dtype(), sizes_of(source.node), memory) : known);
  }
  for (const Computation::Part& stop : computation->stops)
    if (const auto memory = stop.memory.lock(); stop.is_in(memory))
      if (const UOp known = among_these(memory, stop.node); !known.is_null())
        sources.emplace(stop.node.node(), known);
  return with_call_gradients(substitute(computation->graph, sources));
}

UOp Lineage::recalled(UOp graph, const std::unordered_set<const Node*>& ends) const {
  while (true) {
    Substitution computations;
    for (const Node* node : gradient_paths(graph.node(), ends)) {
      if (node->op() != Op::Buffer || ends.contains(node) || !stems_from(node)) continue;
      if (UOp computation = computation_of(node); !computation.is_null())
        computations.emplace(node, std::move(computation));
    }
    if (computations.empty()) return graph;
    graph = with_call_gradients(substitute(graph, computations));
  }
}

std::vector<const Node*> gradient_paths(const Node* loss,
                                        const std::unordered_set<const Node*>& ends) {
  std::unordered_set<const Node*> reached;
  std::vector<const Node*> found, open{loss};
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (!reached.insert(node).second) continue;
    found.push_back(node);
    if (!passes_gradients(node) || ends.contains(node)) continue;
    const auto sources = node->src().subspan(node->op() == Op::Call ? 1 : 0);
    open.insert(open.end(), sources.begin(), sources.end());
  }
  return found;
}

}  // namespace weft
