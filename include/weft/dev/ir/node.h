// Node: one immutable value of the IR, and what is known about it.
//
// Nodes are hash-consed: within an interner, equal op, dtype, sources and arg mean the same
// address. In memory a node is this header, then its source pointers, then its arg.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include <weft/dev/ir/args.h>
#include <weft/dev/ir/op.h>
#include <weft/dtype.h>

namespace weft {

class Node;
using NodeList = std::span<const Node* const>;

// The smallest and largest value an integer or bool can take. Wide enough for every dtype.
__extension__ typedef __int128 Wide;
struct Interval {
  Wide lo, hi;
  bool is_point() const { return lo == hi; }
  bool contains(Wide value) const { return lo <= value && value <= hi; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

Interval dtype_interval(DType dtype);  // all values of an integer or bool dtype

// Rounding toward minus infinity; b is not 0.
template <class T>
constexpr T floor_div(T a, T b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
template <class T>
constexpr T floor_mod(T a, T b) {
  const T rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

class Node {
 public:
  Op op() const { return op_; }
  DType dtype() const { return dtype_; }
  std::uint32_t size() const { return size_; }  // number of sources
  NodeList src() const { return {sources(), size_}; }
  const Node* src(std::size_t i) const { return sources()[i]; }

  template <class Arg>
  const Arg& arg() const {
    return *static_cast<const Arg*>(arg_bytes());
  }
  const void* arg_bytes() const { return sources() + size_; }

  // A small number, unique among the live nodes of the interner: the index of a NodeMap.
  std::uint32_t id() const { return id_; }
  // Of the structure below this node with unique ids left out: the same in every run.
  std::uint64_t hash() const { return hash_; }

  // Integers and bools only; otherwise the interval is meaningless.
  Interval bounds() const;
  std::int64_t lo() const { return lo_; }  // as i64, which for u64 reinterprets
  std::int64_t hi() const { return hi_; }
  // The mathematical result lies in the dtype for all values in the sources' bounds.
  bool is_exact() const { return (flags_ & Exact) != 0; }

  // The ranges this value changes with, by increasing id.
  NodeList ranges() const;
  // The shape as a TUPLE of sizes; null for a scalar and for what is not a tensor.
  const Node* shape() const { return shape_; }
  NodeList dims() const { return shape_ != nullptr ? shape_->src() : NodeList{}; }

  // How many applications of this associative op its first sources hold, up to 255: rules that
  // look along such a chain are bounded by it.
  int chain() const { return chain_; }

  bool is_annotated() const { return notes_.load(std::memory_order_relaxed) != 0; }
  bool has_origin() const { return (notes_.load(std::memory_order_relaxed) & HasOrigin) != 0; }
  bool is_counted() const { return (flags_ & Counted) != 0; }
  bool is_const() const { return op_ == Op::Const; }
  bool is_const_int(std::int64_t value) const;  // an integer or bool of this value

 private:
  friend class Interner;
  friend class Arena;
  friend class SharedGraph;
  friend class NodeTable;
  friend class UOp;
  friend struct Analysis;

  enum Flag : std::uint8_t { Exact = 1, Counted = 2 };
  enum Noted : std::uint8_t { HasOrigin = 1, HasThings = 2 };

  Node() = default;
  const Node* const* sources() const { return reinterpret_cast<const Node* const*>(this + 1); }

  std::uint64_t hash_;
  std::int64_t lo_, hi_;
  const Node* shape_;
  const Node* ranges_;                        // null, one RANGE, or a TUPLE of them
  mutable std::atomic<std::uint32_t> count_;  // handles and parents; counted interners only
  std::uint32_t id_;
  std::uint32_t key_;  // low bits of the identity hash
  DType dtype_;
  std::uint32_t size_;
  Op op_;
  std::uint8_t flags_;
  std::uint8_t chain_;
  mutable std::atomic<std::uint8_t> notes_;  // what its interner knows of it besides
};
static_assert(sizeof(Node) == 64, "a node's header is one cache line");

inline NodeList Node::ranges() const {
  if (ranges_ == nullptr) return {};
  if (ranges_->op() == Op::Range) return {&ranges_, 1};
  return ranges_->src();
}

inline bool Node::is_const_int(std::int64_t value) const {
  return op_ == Op::Const && !dtype_.is_float() &&
         arg<ConstArg>().bits == static_cast<std::uint64_t>(value);
}

}  // namespace weft
