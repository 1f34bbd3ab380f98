// UOp: a handle on a node, and the functions that build nodes.
//
// A UOp is one pointer with value semantics. Handles on nodes of the shared graph are counted;
// those on an arena's nodes are as cheap as the pointer and end with the arena. Passes and
// matchers borrow `const Node*` instead.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/dev/ir/interner.h>
#include <weft/dev/ir/value.h>

namespace weft {

class UOp {
 public:
  UOp() = default;
  // A new handle on a node that someone else keeps alive.
  explicit UOp(const Node* node) : node_(node) { retain(); }
  // Takes over the count that Interner::intern gave.
  static UOp adopt(const Node* node);

  UOp(const UOp& other) : node_(other.node_) { retain(); }
  UOp(UOp&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  UOp& operator=(UOp other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~UOp() { release(); }

  // No conversion to bool: `if (a < b)` would ask whether a node exists, and always be true.
  bool is_null() const { return node_ == nullptr; }
  const Node* node() const { return node_; }
  const Node* operator->() const { return node_; }
  const Node& operator*() const { return *node_; }
  UOp src(std::size_t i) const { return UOp(node_->src(i)); }

  // Identity: within an interner, equal structure.
  bool is(const UOp& other) const { return node_ == other.node_; }

 private:
  void retain() const {
    if (node_ != nullptr && (node_->flags_ & Node::Counted) != 0)
      node_->count_.fetch_add(1, std::memory_order_relaxed);
  }
  void release() const {
    if (node_ != nullptr && (node_->flags_ & Node::Counted) != 0) shared_graph().release(node_);
  }

  const Node* node_ = nullptr;
};

// The dtype that the op's rule gives for these sources; `given` where the rule leaves it open.
DType infer_dtype(Op op, NodeList src, DType given);

// The general way to make a node. The dtype follows from the op unless its rule is Given.
const Node* make_node(Interner& interner, Op op, NodeList src, DType given = dtypes::void_,
                      const void* arg = nullptr);

template <class Arg = NoArg>
UOp make(Op op, std::initializer_list<UOp> src, DType given = dtypes::void_, const Arg& arg = {}) {
  std::vector<const Node*> nodes;
  for (const UOp& source : src) nodes.push_back(source.node());
  return UOp::adopt(make_node(Interner::current(), op, nodes, given, &arg));
}
template <class Arg = NoArg>
UOp make(Op op, const std::vector<UOp>& src, DType given = dtypes::void_, const Arg& arg = {}) {
  std::vector<const Node*> nodes;
  for (const UOp& source : src) nodes.push_back(source.node());
  return UOp::adopt(make_node(Interner::current(), op, nodes, given, &arg));
}

// Leaves.
const Node* make_const(Interner& interner, DType dtype, Bits bits);
UOp const_bits(DType dtype, Bits bits);
UOp const_int(std::int64_t value, DType dtype = dtypes::index);  // rounds for floats, wraps
UOp const_float(double value, DType dtype = dtypes::weak);
UOp const_bool(bool value);
UOp range(const UOp& size, std::uint64_t id, LoopKind kind = LoopKind::Loop);
UOp range(std::int64_t size, std::uint64_t id, LoopKind kind = LoopKind::Loop);
// A symbolic integer; each call makes a new one.
UOp Variable(std::string_view name, std::int64_t lo, std::int64_t hi, DType dtype = dtypes::index);
UOp tuple(const std::vector<UOp>& members);
UOp sizes(std::initializer_list<std::int64_t> values);  // a shape

// Algebra. On integers `/` and `%` are FLOORDIV and FLOORMOD; on floats DIV and MOD. A literal
// takes the dtype of the other operand.
#define WEFT_OPERATOR(symbol)                         \
  UOp operator symbol(const UOp& a, const UOp& b);    \
  UOp operator symbol(const UOp& a, std::int64_t b);  \
  UOp operator symbol(std::int64_t a, const UOp& b);
WEFT_OPERATOR(+)
WEFT_OPERATOR(-)
WEFT_OPERATOR(*)
WEFT_OPERATOR(/)
WEFT_OPERATOR(%)
WEFT_OPERATOR(<)
WEFT_OPERATOR(>)
WEFT_OPERATOR(<=)  // a <= b is !(b < a): integers only
WEFT_OPERATOR(>=)
WEFT_OPERATOR(!=)
WEFT_OPERATOR(==)
WEFT_OPERATOR(&)
WEFT_OPERATOR(|)
WEFT_OPERATOR(^)
#undef WEFT_OPERATOR
UOp operator-(const UOp& a);
UOp operator!(const UOp& a);  // of a bool: a != true
UOp max(const UOp& a, const UOp& b);
UOp min(const UOp& a, const UOp& b);  // -max(-a, -b) for floats; by WHERE for integers
UOp where(const UOp& condition, const UOp& yes, const UOp& no);
UOp cast(const UOp& value, DType dtype);
UOp bitcast(const UOp& value, DType dtype);

}  // namespace weft
