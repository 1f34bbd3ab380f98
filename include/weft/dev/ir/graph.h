// Walking graphs: order, slices, substitution, copying between interners. All iterative, so depth
// is no limit, and linear in the number of nodes.
#pragma once

#include <functional>
#include <memory>
#include <new>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// Of this thread: memory that maps of nodes keep for those to come.
void forget_node_maps();

namespace detail {
void on_forgetting_node_maps(void (*forget)());
}

// A map from the nodes of one interner to small values, indexed by the nodes' ids: a few
// nanoseconds for a look-up. The storage is kept per thread and reused, never cleared.
template <class T>
class NodeMap {
 public:
  NodeMap() : storage_(acquire()), epoch_(++storage_->epoch) {
    if (epoch_ == 0) {  // the counter wrapped around: old entries would look fresh
      storage_->entries.assign(storage_->entries.size(), {});
      epoch_ = storage_->epoch = 1;
    }
  }
  ~NodeMap() {
    try {
      pool().push_back(std::move(storage_));
    } catch (const std::bad_alloc&) {
      storage_ = nullptr;  // there is no room to keep it
    }
  }
  NodeMap(const NodeMap&) = delete;
  NodeMap& operator=(const NodeMap&) = delete;

  const T* find(const Node* node) const {
    const auto& entries = storage_->entries;
    if (node->id() >= entries.size() || entries[node->id()].epoch != epoch_) return nullptr;
    return &entries[node->id()].value;
  }
  bool contains(const Node* node) const { return find(node) != nullptr; }
  void set(const Node* node, T value) {
    auto& entries = storage_->entries;
    // What a vector keeps beyond its size is not touched, and so takes no memory.
    if (node->id() >= entries.size()) entries.resize(std::size_t{node->id()} + ahead);
    entries[node->id()] = {epoch_, value};
  }
  // False, and no change, where the node was there.
  bool insert(const Node* node, T value) {
    if (contains(node)) return false;
    set(node, value);
    return true;
  }

 private:
  static constexpr std::size_t ahead = 1024;  // of the greatest id

  struct Entry {
    std::uint32_t epoch = 0;
    T value{};
  };
  struct Storage {
    std::vector<Entry> entries;
    std::uint32_t epoch = 0;
  };
  struct Pool {
    Pool() {
      detail::on_forgetting_node_maps([] { pool().clear(); });
    }
    std::vector<std::unique_ptr<Storage>> free;
  };
  static std::vector<std::unique_ptr<Storage>>& pool() {
    thread_local Pool all;
    return all.free;
  }
  static std::unique_ptr<Storage> acquire() {
    auto& free = pool();
    if (free.empty()) return std::make_unique<Storage>();
    auto storage = std::move(free.back());
    free.pop_back();
    return storage;
  }

  std::unique_ptr<Storage> storage_;
  std::uint32_t epoch_;
};

// Every node that the roots depend on, sources before users; the order follows the sources'.
std::vector<const Node*> toposort(NodeList roots);
std::vector<const Node*> toposort(const Node* root);

// Those nodes of the roots' graph that depend on `on`, itself included, sources before users.
std::vector<const Node*> forward_slice(NodeList roots, const Node* on);
bool depends_on(const Node* root, const Node* on);

// What an AND joins, from left to right; a condition that is none by itself.
std::vector<const Node*> clauses_of(const Node* condition);

// Leaves first, each node with replaced sources made anew; `by` may map inner nodes too, whose
// replacements are not looked into again. A replacement has the dtype of what it replaces; shapes,
// ranges and bounds follow anew.
using Substitution = std::unordered_map<const Node*, UOp>;
UOp substitute(const UOp& root, const Substitution& by);

// The same op, arg and origin on other sources. The first keeps the dtype as well; the second infers
// it.
const Node* with_sources(Interner& interner, const Node* node, NodeList src);
UOp with_sources(const UOp& node, const std::vector<UOp>& src);

// The graph with other sources: `other` is asked for each source of each node, in order, and gives null for those that stay.
// `nodes` are all below the roots, sources before users.
std::vector<UOp> with_other_sources(
    const std::vector<UOp>& roots, const std::vector<const Node*>& nodes,
    const std::function<UOp(const Node* user, std::size_t source)>& other);

// The graph's copy in another interner, unique ids and origins kept.
std::vector<UOp> import_graph(NodeList roots, Interner& from, Interner& to);

// Of the whole structure, unique ids renumbered by first appearance: equal for equal graphs in
// different interners, processes and runs.
struct StructuralHash {
  std::uint64_t high, low;
  friend bool operator==(const StructuralHash&, const StructuralHash&) = default;
};
StructuralHash structural_hash(NodeList roots);
// The same without constants of dtype index: equal for graphs that differ in those alone.
StructuralHash structural_hash_without_sizes(NodeList roots);

// The value of an integer or bool expression under given values of its leaves (ranges, variables,
// specials). Nothing where it meets an op without a value here or a leaf without one.
using Assignment = std::unordered_map<const Node*, Bits>;
std::optional<Bits> evaluate(const Node* root, const Assignment& leaves);

}  // namespace weft
