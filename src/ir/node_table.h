// The hash table of an interner: open addressing, a slot is one word.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/dev/ir/interner.h>

namespace weft {

// What the table is asked for: the fields, and what places them.
struct NodeKey {
  explicit NodeKey(const NodeFields& fields);
  bool matches(const Node& node) const;

  const NodeFields& fields;
  ArgType arg_type;
  std::uint64_t hash;    // of what makes nodes equal
  std::uint32_t newest;  // the largest id of the sources; of a constant its value
};

// Slots in blocks: a node is in the block that its start lies in, and is looked for all around it.
// A slot holds the node's address in its low 48 bits and 16 bits of its hash above, so that neither
// probing past other nodes nor erasing one touches their memory.
class Slots {
 public:
  // Both powers of two.
  Slots(std::size_t capacity, std::size_t block) : words_(capacity), block_(block) {}

  // Calls accept(node) for nodes that may have the hash until it returns true: that node. Null, and
  // `full`, where the whole block holds others.
  template <class Accept>
  const Node* find(std::size_t start, std::uint32_t hash, bool& full, Accept&& accept) const {
    const std::uint64_t tag = tag_of(hash);
    std::size_t i = start & (words_.size() - 1);
    for (std::size_t tries = block_; tries > 0; --tries, i = next(i)) {
      const std::uint64_t word = words_[i];
      if (word == 0) return nullptr;
      if ((word & ~address_mask) == tag && word != tombstone)
        if (const Node* node = node_in(word); accept(node)) return node;
    }
    full = true;
    return nullptr;
  }

  bool insert(std::size_t start, std::uint32_t hash, const Node* node);  // false: the block is full
  bool erase(std::size_t start, const Node* node);                       // false: it is not there

  template <class F>
  void for_each(F f) const {
    for (std::uint64_t word : words_)
      if (const Node* node = node_in(word)) f(node);
  }
  std::size_t capacity() const { return words_.size(); }
  std::size_t taken() const { return taken_; }  // by nodes and by tombstones
  std::size_t bytes() const { return words_.size() * sizeof(words_[0]); }
  void clear();

 private:
  static constexpr std::uint64_t address_mask = (std::uint64_t{1} << 48) - 1;
  static constexpr std::uint64_t tombstone = ~address_mask;  // what was here is not the end
  static std::uint64_t tag_of(std::uint32_t hash) { return std::uint64_t{hash >> 16} << 48; }
  static const Node* node_in(std::uint64_t word) {
    return reinterpret_cast<const Node*>(word & address_mask);
  }
  std::size_t next(std::size_t i) const { return (i & ~(block_ - 1)) | ((i + 1) & (block_ - 1)); }

  std::vector<std::uint64_t> words_;
  std::size_t block_;
  std::size_t taken_ = 0;
};

// A node is first looked for in a small block near its newest source: a graph is built from what is
// recent, so that block is in the cache. Where it is full, as beside a source that thousands share,
// the node is placed by its hash, in slots of their own: blocks fill unevenly.
class NodeTable {
 public:
  // Ids are dense once shifted right by id_shift.
  explicit NodeTable(int id_shift = 0)
      : id_shift_(id_shift), near_(smallest, block), far_(smallest, smallest) {}

  // Calls accept(node) for nodes equal to the key until it returns true; that node, or null.
  template <class Accept>
  const Node* find(const NodeKey& key, Accept&& accept) const {
    const auto equal = [&](const Node* node) { return key.matches(*node) && accept(node); };
    const auto hash = static_cast<std::uint32_t>(key.hash);
    bool full = false;
    const Node* node = near_.find(home(key.newest), hash, full, equal);
    return full ? far_.find(hash, hash, full, equal) : node;
  }

  void insert(const Node* node);
  void erase(const Node* node);
  void clear();
  std::size_t used() const { return used_; }
  std::size_t bytes() const { return near_.bytes() + far_.bytes(); }

 private:
  static constexpr std::size_t smallest = 1024, block = 16;
  // There are at least 4/3 slots for each node.
  std::size_t home(std::uint32_t newest) const {
    const std::size_t id = newest >> id_shift_;
    return id + id / 3;
  }
  std::size_t home_of(const Node* node) const;
  void place(const Node* node);
  void rebuild();
  void rebuild_far();

  int id_shift_;
  Slots near_, far_;
  std::size_t used_ = 0;
};

// What a node's memory needs, and filling it: shared by the interners.
struct Analysis {
  static std::size_t node_bytes(std::size_t sources, ArgType arg_type);
  // Constructs the node in `memory`; may intern shapes and range sets. The analyses' nodes are
  // owned (counted) by the new node.
  static Node* construct(void* memory, const NodeKey& key, Interner& interner);
};

}  // namespace weft
