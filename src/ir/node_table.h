// The hash table of an interner: open addressing, a slot is one word.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include <weft/dev/ir/interner.h>

namespace weft {

// What the table is asked for: the fields and their identity hash.
struct NodeKey {
  explicit NodeKey(const NodeFields& fields);
  bool matches(const Node& node) const;

  const NodeFields& fields;
  ArgType arg_type;
  std::uint64_t hash;
};

// A slot holds a node's address in its low 48 bits and 16 bits of its hash above, so that neither
// probing past other nodes nor erasing one touches their memory. Erasing leaves a tombstone.
class NodeTable {
 public:
  explicit NodeTable(std::size_t capacity = 1024) : slots_(capacity), mask_(capacity - 1) {}

  // Calls accept(node) for nodes equal to the key until it returns true; that node, or null.
  template <class Accept>
  const Node* find(const NodeKey& key, Accept&& accept) const {
    const std::uint64_t tag = tag_of(static_cast<std::uint32_t>(key.hash));
    for (std::size_t i = key.hash & mask_; slots_[i] != 0; i = (i + 1) & mask_)
      if ((slots_[i] & ~address_mask) == tag && slots_[i] != tombstone)
        if (const Node* node = node_at(i); key.matches(*node) && accept(node)) return node;
    return nullptr;
  }

  void insert(const Node* node) {
    if ((used_ + erased_ + 1) * 4 > slots_.size() * 3) rebuild();
    place(node);
    ++used_;
  }

  void erase(const Node* node);
  void clear();
  std::size_t used() const { return used_; }
  std::size_t bytes() const { return slots_.size() * sizeof(slots_[0]); }

 private:
  static constexpr std::uint64_t address_mask = (std::uint64_t{1} << 48) - 1;
  static constexpr std::uint64_t tombstone = ~address_mask;
  // Bits of the key that the position seldom uses.
  static std::uint64_t tag_of(std::uint32_t key) { return std::uint64_t{key >> 16} << 48; }
  const Node* node_at(std::size_t i) const {
    return reinterpret_cast<const Node*>(slots_[i] & address_mask);
  }
  void place(const Node* node);
  void rebuild();

  std::vector<std::uint64_t> slots_;
  std::size_t mask_;
  std::size_t used_ = 0, erased_ = 0;
};

// What a node's memory needs, and filling it: shared by the interners.
struct Analysis {
  static std::size_t node_bytes(std::size_t sources, ArgType arg_type);
  // Constructs the node in `memory`; may intern shapes and range sets. The analyses' nodes are
  // owned (counted) by the new node.
  static Node* construct(void* memory, const NodeKey& key, Interner& interner);
};

}  // namespace weft
