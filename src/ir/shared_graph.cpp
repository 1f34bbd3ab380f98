// The tensor graph's interner: sharded, counted, with entries that do not keep nodes alive.
//
// A node whose count has reached 0 belongs to the thread that brought it there, which takes it out
// of the table. Until then a lookup may meet it, but only revives nodes whose count is above 0.
//
// Handles are given back without asking for memory, since there may be none: nodes that are to go are a list by themselves.

#include <array>
#include <cstdlib>
#include <new>

#include <fmt/core.h>
#include <weft/error.h>

#include "node_table.h"

namespace weft {

class SharedGraph final : public Interner {
 public:
  SharedGraph() : Interner(true) {}
  const Node* intern(const NodeFields& fields) override;
  void release(const Node* node) override;
  std::size_t size() const override;
  std::size_t bytes() const override;

 private:
  static constexpr int shard_bits = 6, shard_count = 1 << shard_bits;
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    NodeTable table{shard_bits};
    std::vector<std::uint32_t> free_ids;
    std::uint32_t next_id = 0;
    std::size_t node_bytes = 0;
  };

  // Nodes without owner that are not destroyed yet. Bounds are read by owners alone, so that their place holds the next.
  class Dead {
   public:
    void push(const Node* node) {
      const_cast<Node*>(node)->hi_ =
          static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(last_));
      last_ = node;
    }
    // Null where there is none.
    const Node* pop() {
      const Node* node = last_;
      if (node != nullptr)
        last_ = reinterpret_cast<const Node*>(static_cast<std::intptr_t>(node->hi_));
      return node;
    }

   private:
    const Node* last_ = nullptr;
  };

  static std::uint32_t shard_index(std::uint32_t key) { return key >> (32 - shard_bits); }
  static bool revive(const Node* node);
  static void retain(const Node* node) { node->count_.fetch_add(1, std::memory_order_relaxed); }
  static std::size_t size_of(const Node* node);
  const Node* find(Shard& shard, const NodeKey& key) { return shard.table.find(key, revive); }
  void enter(Shard& shard, Node* node);
  void destroy(const Node* node, Dead& dead);
  void destroy_all(Dead& dead);
  void drop_parts(const Node* node, Dead& dead);
  void discard(Node* node);

  std::array<Shard, shard_count> shards_;
};

bool SharedGraph::revive(const Node* node) {
  std::uint32_t count = node->count_.load(std::memory_order_relaxed);
  while (count != 0)
    if (node->count_.compare_exchange_weak(count, count + 1, std::memory_order_acquire,
                                           std::memory_order_relaxed))
      return true;
  return false;
}

std::size_t SharedGraph::size_of(const Node* node) {
  return Analysis::node_bytes(node->size(), info(node->op()).arg);
}

const Node* SharedGraph::intern(const NodeFields& fields) {
  const NodeKey key(fields);
  Shard& shard = shards_[shard_index(static_cast<std::uint32_t>(key.hash))];
  {
    const std::lock_guard lock(shard.mutex);
    if (const Node* found = find(shard, key)) return found;
  }
  for (const Node* source : fields.src)
    if (!source->is_counted())
      internal_error(fmt::format("a source of {} is from another interner", info(fields.op).name));
  // Made outside the lock, because it may intern the node's shape. Another thread may do the same.
  void* memory = std::malloc(Analysis::node_bytes(fields.src.size(), key.arg_type));
  if (memory == nullptr) throw std::bad_alloc();
  Node* node;
  try {
    node = Analysis::construct(memory, key, *this);
  } catch (...) {
    std::free(memory);
    throw;
  }
  node->flags_ |= Node::Counted;
  for (const Node* source : fields.src) retain(source);
  const Node* found;
  try {
    const std::lock_guard lock(shard.mutex);
    found = find(shard, key);
    if (found == nullptr) enter(shard, node);
  } catch (...) {
    discard(node);
    throw;
  }
  if (found == nullptr) return node;
  discard(node);
  return found;
}

// One that is in no table.
void SharedGraph::discard(Node* node) {
  Dead dead;
  drop_parts(node, dead);
  std::free(node);
  destroy_all(dead);
}

void SharedGraph::enter(Shard& shard, Node* node) {
  shard.table.insert(node);
  if (shard.free_ids.empty()) {
    node->id_ = shard.next_id++ << shard_bits | static_cast<std::uint32_t>(&shard - shards_.data());
  } else {
    node->id_ = shard.free_ids.back();
    shard.free_ids.pop_back();
  }
  shard.node_bytes += size_of(node);
}

void SharedGraph::release(const Node* node) {
  if (node->count_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  Dead dead;
  destroy(node, dead);
  destroy_all(dead);
}

// Iterative: chains may be very long.
void SharedGraph::destroy_all(Dead& dead) {
  while (const Node* next = dead.pop()) destroy(next, dead);
}

void SharedGraph::destroy(const Node* node, Dead& dead) {
  Shard& shard = shards_[shard_index(node->key_)];
  {
    const std::lock_guard lock(shard.mutex);
    shard.table.erase(node);
    try {
      shard.free_ids.push_back(node->id_);
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
      // Nobody has that number from now on.
    }
    shard.node_bytes -= size_of(node);
  }
  drop_parts(node, dead);
  if (node->is_annotated()) forget_notes(node);
  std::free(const_cast<Node*>(node));
}

// Gives back what the node holds, and lists what that leaves without owner.
void SharedGraph::drop_parts(const Node* node, Dead& dead) {
  const auto drop = [&](const Node* part) {
    if (part->count_.fetch_sub(1, std::memory_order_acq_rel) == 1) dead.push(part);
  };
  for (const Node* source : node->src()) drop(source);
  if (node->shape_ != nullptr) drop(node->shape_);
  if (node->ranges_ != nullptr && node->ranges_ != node) drop(node->ranges_);
}

std::size_t SharedGraph::size() const {
  std::size_t total = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    total += shard.table.used();
  }
  return total;
}

std::size_t SharedGraph::bytes() const {
  std::size_t total = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    total +=
        shard.table.bytes() + shard.node_bytes + shard.free_ids.capacity() * sizeof(std::uint32_t);
  }
  return total;
}

Interner& shared_graph() {
  // Leaked on purpose: handles in static objects may be released after any destructor here.
  static auto& graph = *new SharedGraph;
  return graph;
}

}  // namespace weft
