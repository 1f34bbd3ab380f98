#include <weft/dev/engine/lineage.h>

#include <algorithm>
#include <atomic>
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
constexpr std::size_t most_kept_bytes = 1024;
// Of the PARAMs that stand for sources: beyond all those that bodies of calls have.
constexpr std::int32_t first_slot = 1 << 20;

// How a memory's bytes were computed: over PARAMs in place of the sources, which are not kept for it. What was computed
// on the way may have memory of its own.
struct Computation {
  struct Part {
    std::weak_ptr<Buffer> memory;
    std::uint64_t overwritten;
    UOp node;
    std::shared_ptr<Buffer> kept =
        {};  // small ones which nobody else may have: the places that x[{0, 2}] reads

    bool is_in(const std::shared_ptr<Buffer>& present) const {
      return present != nullptr && present->overwritten() == overwritten;
    }
  };
  std::set<Memory, std::owner_less<Memory>> stems;
  std::uint64_t order = next_order();  // of later ones is larger
  UOp graph = {};                      // null where it is too large, or writes to its sources
  std::vector<Part> sources = {}, stops = {};

  static std::uint64_t next_order() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
  }

  // Whether it may be a part of an earlier one, which was done without keeping it.
  bool may_be_within(const Computation* earlier) const {
    const auto is_common = [&](const Memory& stem) { return stems.contains(stem); };
    return earlier != nullptr && earlier->order < order &&
           std::ranges::any_of(earlier->stems, is_common);
  }
};

}  // namespace

const Node* without_reshapes(const Node* view) {
  while (view->op() == Op::Reshape) view = view->src(0);
  return view;
}

const Node* version_below(const Node* view) {
  while (info(view->op()).cls == OpClass::Movement || view->op() == Op::Detach) view = view->src(0);
  return view;
}

bool is_detached(const Node* node) {
  while (info(node->op()).cls == OpClass::Movement || node->op() == Op::Contiguous)
    node = node->src(0);
  return node->op() == Op::Detach;
}

namespace {

// Present or lost.
Memory memory_behind(const Node* buffer) {
  if (const auto lost = shared_graph().attached<Lost>(buffer)) return lost->memory;
  return shared_graph().attached<Buffer>(buffer);
}

std::shared_ptr<const Computation> computation_behind(const Node* buffer) {
  const auto memory = shared_graph().attached<Buffer>(buffer);
  return memory == nullptr ? nullptr : std::static_pointer_cast<const Computation>(memory->note());
}

// How it was computed, to be compared with others; null where it is not known, or was assigned to, which is no part of
// anything.
std::shared_ptr<const Computation> comparable(const Memory& place) {
  const auto memory = place.lock();
  if (memory == nullptr || memory->overwritten() > 0) return nullptr;
  const auto found = std::static_pointer_cast<const Computation>(memory->note());
  return found == nullptr || found->graph.is_null() ? nullptr : found;
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
  const Node* whole = without_reshapes(known->node());
  return whole->op() == Op::Buffer ? shared_graph().attached<Buffer>(whole) : nullptr;
}

// What was computed on the way, into memory other than this.
std::shared_ptr<Buffer> memory_on_the_way(const Node* node, const std::shared_ptr<Buffer>& own) {
  auto memory = is_detached(node) ? nullptr : memory_of_all(node);
  return memory == own ? nullptr : memory;
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
    const bool is_kept = !node->dtype().is_float() && memory->bytes() <= most_kept_bytes;
    computation.sources.push_back(
        {memory, memory->overwritten(), param, is_kept ? memory : nullptr});
  }
  std::vector<UOp> on_the_way{graph};
  const auto own = shared_graph().attached<Buffer>(buffer);
  for (const Node* node : nodes)
    if (const auto memory = memory_on_the_way(node, own)) {
      computation.stops.push_back({memory, memory->overwritten(), {}});
      on_the_way.emplace_back(node);
    }
  const UOp over_params = substitute(tuple(on_the_way), params);
  for (std::size_t i = 0; i < computation.stops.size(); ++i)
    computation.stops[i].node = over_params.src(i + 1);
  computation.graph = with_call_gradients(reshape(over_params.src(0), sizes_of(UOp(buffer))));
}

}  // namespace

UOp with_single_reshapes(const UOp& root) {
  std::unordered_map<const Node*, UOp> made;
  for (const Node* node : toposort(root.node())) {
    std::vector<UOp> src;
    for (const Node* source : node->src()) src.push_back(made.at(source));
    const bool is_same = std::ranges::equal(src, node->src(), {}, &UOp::node);
    made.emplace(node, node->op() == Op::Reshape ? reshape(src[0], sizes_of(UOp(node)))
                       : is_same                 ? UOp(node)
                                                 : with_sources(UOp(node), src));
  }
  return with_call_gradients(made.at(root.node()));
}

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
  const Node* whole = without_reshapes(view.node());
  auto computation = std::make_shared<Computation>();
  const auto own = whole->op() == Op::Buffer ? shared_graph().attached<Buffer>(whole) : nullptr;
  for (const Node* node : gradient_paths(graph.node())) {
    if (const auto stop = memory_on_the_way(node, own)) computation->stems.insert(stop);
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

void Lineage::add(const Node* buffer, std::size_t number, const Node* whole) {
  known_.emplace(memory_behind(buffer), Known{buffer, whole, number});
}

void Lineage::add_sources(const Node* expression) {
  for (const Node* node : toposort(expression))
    if (node->op() == Op::Buffer) sources_.emplace(memory_behind(node), node);
}

std::optional<std::size_t> Lineage::shares(const Node* buffer) const {
  const auto found = known_.find(memory_behind(buffer));
  return found == known_.end() ? std::nullopt : std::optional(found->second.number);
}

std::optional<std::size_t> Lineage::stems_from(const Node* buffer) const {
  const auto computation = computation_behind(buffer);
  if (computation == nullptr) return {};
  for (const auto& [memory, known] : known_)
    if (computation->stems.contains(memory)) return known.number;
  return {};
}

// In memory of its own, or as it is computed from the same.
bool Lineage::contains_one(const Node* buffer) const {
  if (stems_from(buffer)) return true;
  const auto computation = computation_behind(buffer);
  return computation != nullptr && std::ranges::any_of(sources_, [&](const auto& source) {
           return computation->stems.contains(source.first);
         });
}

bool Lineage::may_contain_one(const Node* buffer) const {
  const auto computation = computation_behind(buffer);
  if (computation == nullptr) return false;
  return contains_one(buffer) || std::ranges::any_of(known_, [&](const auto& each) {
           const auto own = comparable(each.first);
           return own != nullptr && own->may_be_within(computation.get());
         });
}

// Memory that one of these lies in is that BUFFER, other memory the same BUFFER in all computations.
UOp Lineage::present(const std::shared_ptr<Buffer>& memory, const UOp& source) {
  UOp& buffer = present_[memory];
  if (buffer.is_null()) {
    const auto known = known_.find(memory);
    const auto below = sources_.find(memory);
    const auto is_there = [](const Node* place) {
      return shared_graph().attached<Buffer>(place) != nullptr;
    };
    if (known != known_.end() && is_there(known->second.buffer))
      buffer = UOp(known->second.whole);
    else if (below != sources_.end() && is_there(below->second))
      buffer = UOp(below->second);
    else
      buffer = new_buffer(source->dtype(), sizes_of(source), memory);
  }
  return reshape(buffer, sizes_of(source));
}

// A PARAM, the same one in all computations.
UOp Lineage::absent(const Memory& memory, std::uint64_t overwritten, const UOp& source) {
  UOp& param = past_[memory][overwritten];
  if (param.is_null()) {
    const ParamArg arg{first_slot - 1 - static_cast<std::int32_t>(absent_.size()), Access::Read, 0};
    param = make(Op::Param, sizes_of(source), source->dtype(), arg);
    absent_.insert(param.node());
  }
  return reshape(param, sizes_of(source));
}

UOp Lineage::computation_of(const Node* buffer, bool with_absent) {
  const auto computation = computation_behind(buffer);
  if (computation == nullptr || computation->graph.is_null()) return {};
  Substitution sources;
  for (const Computation::Part& source : computation->sources) {
    const auto memory = source.memory.lock();
    const bool is_there = source.is_in(memory);
    if (!is_there && !with_absent) return {};
    sources.emplace(source.node.node(),
                    is_there ? present(memory, source.node)
                             : absent(source.memory, source.overwritten, source.node));
  }
  for (const Computation::Part& stop : computation->stops)
    if (const auto memory = stop.memory.lock(); stop.is_in(memory) && known_.contains(memory))
      sources.emplace(stop.node.node(), present(memory, stop.node));
  return with_call_gradients(substitute(computation->graph, sources));
}

// The graph with BUFFERs replaced by what computed them, as far as `is_wanted` and that is known.
UOp Lineage::traced_back(UOp graph, const NodeSet& ends, const Choice& is_wanted,
                         bool with_absent) {
  while (true) {
    Substitution computations;
    for (const Node* node : gradient_paths(graph.node(), ends)) {
      if (node->op() != Op::Buffer || ends.contains(node) || !is_wanted(node)) continue;
      if (UOp computation = computation_of(node, with_absent); !computation.is_null())
        computations.emplace(node, std::move(computation));
    }
    if (computations.empty()) return graph;
    graph = with_single_reshapes(substitute(graph, computations));
  }
}

// What was read before one of these was is not computed from its memory, but contains how that was computed.
void Lineage::find(const Known& known, const NodeSet& ends) {
  const auto own = computation_behind(known.buffer);
  const Choice may_contain_it = [&](const Node* buffer) {
    return own->may_be_within(computation_behind(buffer).get());
  };
  const UOp whole = traced_back(graph_, ends, may_contain_it, true);
  const UOp part = traced_back(with_single_reshapes(computation_of(known.buffer, true)), ends,
                               may_contain_it, true);
  const UOp value(without_reshapes(part.node()));
  if (OpSet{Op::Buffer, Op::Param}.contains(value->op())) return;
  const UOp itself = reshape(UOp(known.whole), sizes_of(value));
  const UOp found = with_single_reshapes(substitute(whole, {{value.node(), itself}}));
  if (found.is(whole)) return;
  const auto is_absent = [&](const Node* node) { return absent_.contains(node); };
  if (std::ranges::any_of(toposort(found.node()), is_absent))
    forgotten_ = known.number;
  else
    graph_ = found;
}

// First what was computed first: later ones may contain it. What is there as how it is computed need not be found.
void Lineage::recall(const std::vector<UOp>& graphs, const NodeSet& ends) {
  const auto wanted = [&](const Node* buffer) { return contains_one(buffer); };
  graph_ = traced_back(tuple(graphs), ends, wanted, false);
  std::vector<std::shared_ptr<const Computation>> read;
  for (const Node* node : gradient_paths(graph_.node(), ends))
    if (node->op() == Op::Buffer && !ends.contains(node))
      if (auto computation = computation_behind(node)) read.push_back(std::move(computation));
  std::multimap<std::uint64_t, const Known*> later;
  for (const auto& [memory, known] : known_) {
    const auto own = comparable(memory);
    if (own == nullptr) continue;
    const auto may_contain_it = [&](const auto& each) { return own->may_be_within(each.get()); };
    if (!stems_from(known.buffer) && std::ranges::any_of(read, may_contain_it))
      later.emplace(own->order, &known);
  }
  for (const auto& [order, known] : later) find(*known, ends);
}

std::vector<UOp> Lineage::recalled() const { return {graph_->src().begin(), graph_->src().end()}; }

std::vector<const Node*> gradient_paths(const Node* loss, const NodeSet& ends) {
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
