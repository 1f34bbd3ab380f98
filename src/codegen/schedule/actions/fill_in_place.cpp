#include "fill_in_place.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <weft/dev/ir/memory.h>

#include "fills.h"

namespace weft {
namespace {

// A buffer after the loops that fill it by a single STORE.
struct Filling {
  const Node *ready, *buffer, *end, *place, *value;
};

std::optional<Filling> filling_of(const Node* node) {
  const Node* store = only_store_into(node);
  if (store == nullptr || store->size() != 2 || node->src(0)->op() != Op::Buffer ||
      node->src(1)->op() != Op::End)
    return std::nullopt;
  return Filling{node, node->src(0), node->src(1), store->src(0), store->src(1)};
}

std::ptrdiff_t users_of(const Node* source, const std::vector<const Node*>& nodes) {
  return std::ranges::count_if(nodes, [&](auto node) { return has_node(node->src(), source); });
}

// Whether the loops of `into` read the memory only before they begin, or at the element that the
// same iteration stores.
bool reads_before(const Node* ready, const Filling& into) {
  const NodeList to = into.place->src().subspan(2);
  std::vector<const Node*> stored{into.value};
  stored.insert(stored.end(), into.place->src().begin() + 1, into.place->src().end());
  const auto beside = nodes_below(
      stored, [](const Node* node) { return node->op() == Op::After ? NodeList{} : node->src(); });
  return std::ranges::all_of(beside, [&](const Node* node) {
    if (node == ready) return true;
    if (node->op() == Op::After && depends_on(node, ready))
      return changes_with_each_of(into.ready, node->ranges());  // it is there before the loops
    if (!has_node(node->src(), ready)) return true;
    return node->op() == Op::Index && std::ranges::equal(node->src().subspan(2), to);
  });
}

// Whether each iteration of the loops stores an element of its own.
bool stores_each_once(const Filling& filling) {
  const NodeList to = filling.place->src().subspan(2);
  return std::ranges::all_of(filling.end->src().subspan(1),
                             [&](const Node* range) { return std::ranges::count(to, range) == 1; });
}

// Whether two buffers have the same form and are filled inside the same loops.
bool are_alike(const Filling& a, const Filling& b) {
  const auto form = [](const Node* buffer) {
    const auto& arg = buffer->arg<BufferArg>();
    return std::tuple(arg.space, arg.align, arg.swizzle, arg.device);
  };
  return a.buffer != b.buffer && form(a.buffer) == form(b.buffer) &&
         a.buffer->dtype() == b.buffer->dtype() &&
         std::ranges::equal(a.buffer->dims(), b.buffer->dims()) &&
         std::ranges::equal(a.ready->ranges(), b.ready->ranges());
}

// Whether the loops fill memory that is empty, or that other loops have filled, rather than memory
// carried from one iteration to the next.
bool begins_anew(const Filling& filling) {
  const Node* memory = filling.place->src(0);
  return memory == filling.buffer || filling_of(memory) ||
         (memory->op() == Op::After && memory->src(0) == filling.buffer &&
          std::ranges::all_of(memory->src().subspan(1), [](const Node* before) {
            return OpSet{Op::Range, Op::Special}.contains(before->op());
          }));
}

// Whether this is the last version of the memory: no loops fill it again later.
bool is_the_last(const Filling& filling, const std::vector<const Node*>& nodes) {
  return std::ranges::all_of(nodes, [&](const Node* node) {
    return node->op() != Op::After || storage_of(node) != filling.buffer || node == filling.ready ||
           depends_on(filling.ready, node);
  });
}

// Returns an earlier filling whose memory `into` may overwrite: everything that reads it belongs to
// the loops of `into` or runs before them.
std::optional<Filling> memory_for_filling(const Filling& into, const Node* kernel,
                                          const std::vector<const Node*>& nodes) {
  for (const Node* node : toposort(into.value)) {
    const auto from = filling_of(node);
    if (!from || !are_alike(*from, into) || !begins_anew(*from) || !is_the_last(*from, nodes))
      continue;
    const std::vector<const Node*> elsewhere = nodes_below(
        {kernel}, [&](const Node* other) { return other == into.end ? NodeList{} : other->src(); });
    if (users_of(from->ready, elsewhere) == 0 && reads_before(from->ready, into)) return from;
  }
  return std::nullopt;
}

using IntoAndFrom = std::pair<Filling, Filling>;

// Returns the first pair. Adds buffers for which there is none to `others`; later replacements do
// not change that.
std::optional<IntoAndFrom> first_in_place(const Node* kernel, std::set<const Node*>& others) {
  const std::vector<const Node*> nodes = toposort(kernel);
  for (const Node* node : nodes) {
    const auto into = filling_of(node);
    if (!into || others.contains(node)) continue;
    if (users_of(into->end, nodes) == 1 && stores_each_once(*into) &&
        !filling_of(into->place->src(0)))
      if (const auto from = memory_for_filling(*into, kernel, nodes)) return {{*into, *from}};
    others.insert(node);
  }
  return std::nullopt;
}

}  // namespace

UOp reuse_buffers(const UOp& kernel) {
  UOp result = kernel;
  std::set<const Node*> others;
  while (const auto next = first_in_place(result.node(), others)) {
    const auto& [into, from] = *next;
    std::vector<UOp> place = list_of(into.place->src());
    place[0] = UOp(from.ready);
    const UOp end = with_list(Op::End, store_at(make(Op::Index, place), UOp(into.value)),
                              list_of(into.end->src().subspan(1)));
    result = substitute(result, {{into.ready, make(Op::After, {UOp(from.buffer), end})}});
  }
  return result;
}

}  // namespace weft
