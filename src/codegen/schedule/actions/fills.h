// Loops that actions add to a kernel, and the memory that loops fill.
#pragma once

#include <algorithm>
#include <vector>

#include <weft/dev/codegen/filled.h>
#include <weft/dev/codegen/slice.h>

namespace weft {

inline bool has_node(NodeList list, const Node* node) {
  return std::ranges::find(list, node) != list.end();
}

inline UOp with_first_source(const UOp& node, const UOp& first) {
  std::vector<UOp> src = list_of(node->src());
  src[0] = first;
  return with_sources(node, src);
}

inline bool changes_with_one_of(const Node* value, NodeList ranges) {
  return std::ranges::any_of(ranges, [&](auto range) { return changes_with(value, range); });
}
inline bool changes_with_each_of(const Node* value, NodeList ranges) {
  return std::ranges::all_of(ranges, [&](auto range) { return changes_with(value, range); });
}

// Whether no action has given the loop a kind.
inline bool is_plain_loop(const Node* range) {
  return kind_of(range) == LoopKind::Loop || kind_of(range) == LoopKind::Reduce;
}

// Returns the loops that the value depends on, except `own`.
inline std::vector<UOp> loops_outside(const Node* value, NodeList own) {
  std::vector<UOp> outside;
  for (const Node* range : value->ranges())
    if (!has_node(own, range)) outside.emplace_back(range);
  return outside;
}

inline double bytes_of_memory(const Node* memory) {
  double bytes = static_cast<double>(memory->dtype().bytes());
  for (const Node* size : memory->dims()) bytes *= static_cast<double>(size->bounds().hi);
  return bytes;
}

// Plain loops of the same sizes as others, for a copy of what these compute: each RANGE is closed
// only once.
struct LoopCopies {
  explicit LoopCopies(NodeList others) {
    for (const Node* range : others) {
      loops.push_back(weft::range(UOp(range->src(0)), fresh_id().value));
      by.emplace(range, loops.back());
    }
  }
  UOp copy_of(const UOp& value) const { return substitute(value, by); }

  std::vector<UOp> loops;
  Substitution by;
};

// Memory after the loops that have filled it.
struct FilledMemory {
  std::vector<UOp> loops;
  UOp ready;
  UOp read_at(const std::vector<UOp>& at) const { return make(Op::Load, {place_in(ready, at)}); }
};

// Computes the value beforehand for all iterations of the loops `inside`, in scratch memory.
inline FilledMemory computed_before(const Node* value, NodeList inside) {
  const LoopCopies own(inside);
  const UOp memory = memory_for(own.loops, value->dtype(), Space::Scratch);
  const UOp begin = with_list(Op::After, memory, loops_outside(value, inside));
  const UOp store = store_at(place_in(begin, own.loops), own.copy_of(UOp(value)));
  return {own.loops, make(Op::After, {memory, with_list(Op::End, store, own.loops)})};
}

// Returns the STORE that alone has filled memory, with or without loops. Returns null for other
// values, such as memory that a loop carries.
inline const Node* only_store_into(const Node* ready) {
  if (ready->op() != Op::After || ready->size() != 2) return nullptr;
  const Node* fill = ready->src(1);
  const Node* store = fill->op() == Op::End ? fill->src(0) : fill;
  return store->op() == Op::Store ? store : nullptr;
}

// Maps the loops that index the place of a STORE to the indices at which the memory is read.
inline Substitution loops_at(const Node* stored, const Node* read) {
  Substitution by;
  for (std::size_t i = 2; i < stored->size(); ++i)
    if (stored->src(i)->op() == Op::Range) by.emplace(stored->src(i), UOp(read->src(i)));
  return by;
}

}  // namespace weft
