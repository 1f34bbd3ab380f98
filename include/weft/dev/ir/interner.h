// Interners: where nodes live.
//
// SharedGraph   the tensor graph: used by all threads, nodes are counted and freed with their
//               last handle. One per process: shared_graph().
// Arena         one compilation: used by one thread, nothing is counted, everything is freed at
//               once. Several times faster, and its ids are dense.
//
// A node's sources live in the same interner as the node. The functions that build nodes use
// Interner::current(): the shared graph unless an InternerScope names another.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <typeindex>
#include <unordered_map>
#include <utility>
#include <vector>

#include <weft/dev/ir/node.h>

namespace weft {

// Everything that makes a node what it is. `arg` points to the struct of the op's ArgType.
struct NodeFields {
  Op op;
  DType dtype;
  NodeList src;
  const void* arg = nullptr;
};

// Where a node comes from: outside its identity, so it never keeps equal nodes apart. A number, whose
// meaning is up to who notes it.
enum class Origin : std::uint32_t {};

class Interner {
 public:
  explicit Interner(bool counted) : counted_(counted) {}
  Interner(const Interner&) = delete;
  Interner& operator=(const Interner&) = delete;
  virtual ~Interner() = default;

  // The node with these fields. In a counted interner the caller owns one count of it.
  // Throws user_error where shapes do not fit.
  virtual const Node* intern(const NodeFields& fields) = 0;
  virtual void release(const Node* node) = 0;  // gives a count back
  virtual std::size_t size() const = 0;        // live nodes
  virtual std::size_t bytes() const = 0;       // held by nodes and tables

  void annotate(const Node* node, Origin origin);
  std::optional<Origin> origin(const Node* node) const;
  // A node without an origin gets that of another one, which may live in another interner.
  void inherit(const Node* node, const Node* other, const Interner& of_other) {
    if (!other->has_origin() || node->has_origin()) return;
    if (const auto origin = of_other.origin(other)) annotate(node, *origin);
  }
  void forget_origins();

  // Hangs something on a node, outside its identity, such as the memory of a BUFFER: one thing of
  // each type. It goes with the node, or when another of its type takes its place.
  template <class T>
  void attach(const Node* node, std::shared_ptr<T> thing) {
    attach(node, typeid(T), std::move(thing));
  }
  // After this, attaching a thing of that type asks for no memory.
  template <class T>
  void make_room(const Node* node) {
    make_room(node, typeid(T));
  }
  template <class T>
  std::shared_ptr<T> attached(const Node* node) const {  // null where there is nothing
    return std::static_pointer_cast<T>(attached(node, typeid(T)));
  }

  bool counted() const { return counted_; }
  static Interner& current();

 protected:
  void forget_notes(const Node* node);
  void forget_all_notes();

 private:
  struct Note {
    std::optional<Origin> origin;
    std::vector<std::pair<std::type_index, std::shared_ptr<void>>> things;
  };
  using Notes = std::unordered_map<const Node*, Note>;
  void attach(const Node* node, std::type_index type, std::shared_ptr<void> thing);
  void make_room(const Node* node, std::type_index type);
  std::shared_ptr<void> attached(const Node* node, std::type_index type) const;
  // The place of a thing of that type, which is made if there is none. The lock is held.
  std::shared_ptr<void>& room(const Node* node, std::type_index type);
  // What `read` finds in the node's note; nothing where it has none.
  template <class Read>
  auto from_note(const Node* node, Read read) const;

  const bool counted_;
  mutable std::mutex notes_mutex_;
  Notes notes_;
};

Interner& shared_graph();

class Arena final : public Interner {
 public:
  Arena();
  ~Arena() override;
  const Node* intern(const NodeFields& fields) override;
  void release(const Node*) override {}
  std::size_t size() const override { return nodes_.size(); }
  std::size_t bytes() const override;
  bool owns(const Node* node) const {
    return node->id() < nodes_.size() && nodes_[node->id()] == node;
  }
  void reset();  // frees all nodes and keeps the memory for the next compilation

 private:
  struct Chunk;
  std::byte* allocate(std::size_t bytes);

  std::unique_ptr<class NodeTable> table_;
  std::vector<const Node*> nodes_;  // by id
  std::vector<Chunk> chunks_;
  std::size_t chunk_ = 0;      // the one in use
  std::byte* next_ = nullptr;  // free space in it
  std::byte* end_ = nullptr;
};

// Makes an interner the current one of this thread.
class InternerScope {
 public:
  explicit InternerScope(Interner& interner);
  ~InternerScope();
  InternerScope(const InternerScope&) = delete;
  InternerScope& operator=(const InternerScope&) = delete;

 private:
  Interner* previous_;
};

}  // namespace weft
