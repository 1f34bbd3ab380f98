#include "fill_in_place.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include <weft/dev/codegen/filled.h>
#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/memory.h>

namespace weft {
namespace {

// A buffer after the loops that fill it by a single STORE.
struct Filling {
  const Node *ready, *buffer, *end, *place, *value;
};

std::optional<Filling> filling_of(const Node* node) {
  if (node->op() != Op::After || node->size() != 2 || node->src(0)->op() != Op::Buffer)
    return std::nullopt;
  const Node* end = node->src(1);
  if (end->op() != Op::End || end->src(0)->op() != Op::Store || end->src(0)->size() != 2)
    return std::nullopt;
  return Filling{node, node->src(0), end, end->src(0)->src(0), end->src(0)->src(1)};
}

bool is_read_by(const std::vector<const Node*>& nodes, const Node* ready) {
  return std::ranges::any_of(nodes, [&](const Node* node) {
    return std::ranges::find(node->src(), ready) != node->src().end();
  });
}

// Whether the loops of `into` read the memory only before they begin, or at the element that the
// same iteration stores.
bool reads_before(const Node* ready, const Filling& into) {
  const NodeList to = into.place->src().subspan(2);
  const auto is_there_before = [&](const Node* node) {
    return std::ranges::all_of(node->ranges(),
                               [&](auto range) { return changes_with(into.ready, range); });
  };
  std::vector<const Node*> stored{into.value};
  stored.insert(stored.end(), into.place->src().begin() + 1, into.place->src().end());
  const auto beside = nodes_below(
      stored, [](const Node* node) { return node->op() == Op::After ? NodeList{} : node->src(); });
  return std::ranges::all_of(beside, [&](const Node* node) {
    if (node == ready) return true;
    if (node->op() == Op::After && depends_on(node, ready)) return is_there_before(node);
    if (std::ranges::find(node->src(), ready) == node->src().end()) return true;
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
  std::vector<Filling> alike;
  for (const Node* node : toposort(into.value))
    if (const auto from = filling_of(node); from && are_alike(*from, into)) alike.push_back(*from);
  if (alike.empty()) return std::nullopt;
  const std::vector<const Node*> elsewhere = nodes_below(
      {kernel}, [&](const Node* node) { return node == into.end ? NodeList{} : node->src(); });
  const auto found = std::ranges::find_if(alike, [&](const Filling& from) {
    return begins_anew(from) && is_the_last(from, nodes) && !is_read_by(elsewhere, from.ready) &&
           reads_before(from.ready, into);
  });
  return found == alike.end() ? std::nullopt : std::optional(*found);
}

struct InPlace {
  Filling into, from;
};

// Returns the first pair. Adds buffers for which there is none to `others`; later replacements do
// not change that.
std::optional<InPlace> first_in_place(const Node* kernel, std::set<const Node*>& others) {
  const std::vector<const Node*> nodes = toposort(kernel);
  for (const Node* node : nodes) {
    const auto into = filling_of(node);
    if (!into || others.contains(node)) continue;
    const bool is_alone = std::ranges::count_if(nodes, [&](const Node* user) {
                            return std::ranges::find(user->src(), into->end) != user->src().end();
                          }) == 1;
    if (is_alone && stores_each_once(*into) && !filling_of(into->place->src(0)))
      if (const auto from = memory_for_filling(*into, kernel, nodes)) return InPlace{*into, *from};
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
    std::vector<UOp> loops;
    for (const Node* range : into.end->src().subspan(1)) loops.emplace_back(range);
    const UOp end = with_list(Op::End, store_at(make(Op::Index, place), UOp(into.value)), loops);
    result = substitute(result, {{into.ready, make(Op::After, {UOp(from.buffer), end})}});
  }
  return result;
}

}  // namespace weft
