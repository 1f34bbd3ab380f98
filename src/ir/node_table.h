// The hash table of an interner: open addressing, a slot is one word.
#pragma once

#include <algorithm>
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
  std::uint32_t newest;  // the largest id of the sources; what numbers a leaf
};

// The slots where a node may be, in order. First a block near its newest source: a graph is built
// from what is recent, so that block is in the cache. Where it is full, as beside a source that
// thousands share, anywhere by the hash.
class Probe {
 public:
  static constexpr std::uint32_t block = 16;

  Probe(std::uint32_t near, std::uint32_t hash, std::size_t mask)
      : near_(near + near / 3), hash_(hash), mask_(mask) {}  // a node has at least 4/3 slots
  std::size_t at() const {
    if (step_ >= block) return (std::size_t{hash_} + step_ - block) & mask_;
    return ((near_ & ~(block - 1)) | ((near_ + step_) & (block - 1))) & mask_;
  }
  void next() { ++step_; }

 private:
  std::uint32_t near_, hash_, step_ = 0;
  std::size_t mask_;
};

// A slot holds a node's address in its low 48 bits and 16 bits of its hash above, so that neither
// probing past other nodes nor erasing one touches their memory. Erasing leaves a tombstone where
// the probe of another node may lead on past the slot.
class NodeTable {
 public:
  // Ids are dense once shifted right by id_shift.
  explicit NodeTable(int id_shift = 0, std::size_t capacity = 1024)
      : slots_(capacity), mask_(capacity - 1), id_shift_(id_shift) {}

  // Calls accept(node) for nodes equal to the key until it returns true; that node, or null.
  template <class Accept>
  const Node* find(const NodeKey& key, Accept&& accept) const {
    const auto hash = static_cast<std::uint32_t>(key.hash);
    const std::uint64_t tag = tag_of(hash);
    Probe probe(key.newest >> id_shift_, hash, mask_);
    for (std::uint64_t slot; (slot = slots_[probe.at()]) != 0; probe.next())
      if ((slot & ~address_mask) == tag && slot != tombstone)
        if (const Node* node = node_in(slot); key.matches(*node) && accept(node)) return node;
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
  static std::uint64_t tag_of(std::uint32_t hash) { return std::uint64_t{hash >> 16} << 48; }
  static const Node* node_in(std::uint64_t slot) {
    return reinterpret_cast<const Node*>(slot & address_mask);
  }
  Probe probe(const Node* node) const;
  void place(const Node* node);
  void rebuild();

  std::vector<std::uint64_t> slots_;
  std::size_t mask_;
  int id_shift_;
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
