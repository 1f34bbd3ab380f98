// UOp: a handle on a node, and the functions that build nodes.
//
// A UOp is one pointer with value semantics. Handles on nodes of the shared graph are counted;
// those on an arena's nodes are as cheap as the pointer and end with the arena. Passes and
// matchers borrow `const Node*` instead.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
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
  UOp bind(std::int64_t value) const;  // a Variable with one of its values

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

// The nodes behind the handles, which keep them alive.
std::vector<const Node*> nodes_of(std::span<const UOp> uops);

// make(Op::Range, {size}, dtypes::void_, RangeArg{...}): the arg has to be the op's own struct.
UOp make_uop(Op op, std::span<const UOp> src, DType given, ArgType type, const void* arg);

template <class Arg = NoArg>
UOp make(Op op, std::initializer_list<UOp> src, DType given = dtypes::void_, const Arg& arg = {}) {
  return make_uop(op, src, given, arg_type_of<Arg>(), &arg);
}
template <class Arg = NoArg>
UOp make(Op op, const std::vector<UOp>& src, DType given = dtypes::void_, const Arg& arg = {}) {
  return make_uop(op, src, given, arg_type_of<Arg>(), &arg);
}

// Leaves.
const Node* make_const(Interner& interner, DType dtype, Bits bits);
UOp const_bits(DType dtype, Bits bits);
UOp const_int(std::int64_t value, DType dtype = dtypes::index);  // rounds for floats, wraps
UOp const_float(double value, DType dtype = dtypes::weak);
UOp const_bool(bool value);
UOp range(const UOp& size, std::uint64_t id, LoopKind kind = LoopKind::Loop);
UOp range(std::int64_t size, std::uint64_t id, LoopKind kind = LoopKind::Loop);
// A symbolic integer; each call makes a new one. Its bounds are i64: one of u64 ends at 2^63 - 1.
UOp Variable(std::string_view name, std::int64_t lo, std::int64_t hi, DType dtype = dtypes::index);
UOp tuple(const std::vector<UOp>& members);
UOp sizes(std::initializer_list<std::int64_t> values);  // a shape

// Algebra. On integers `/` and `%` are FLOORDIV and FLOORMOD; on floats DIV and MOD. A literal
// takes the dtype of the other operand.
UOp literal_like(std::int64_t value, const UOp& other);
UOp literal_like(double value, const UOp& other);  // not for integers, which it would round
template <class T>
concept Literal = std::is_arithmetic_v<T>;
template <Literal T>
using LiteralValue = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;

#define WEFT_OPERATOR(symbol)                                         \
  UOp operator symbol(const UOp& a, const UOp& b);                    \
  template <Literal T>                                                \
  UOp operator symbol(const UOp& a, T b) {                            \
    return a symbol literal_like(static_cast<LiteralValue<T>>(b), a); \
  }                                                                   \
  template <Literal T>                                                \
  UOp operator symbol(T a, const UOp& b) {                            \
    return literal_like(static_cast<LiteralValue<T>>(a), b) symbol b; \
  }
WEFT_OPERATOR(+)
WEFT_OPERATOR(-)
WEFT_OPERATOR(*)
WEFT_OPERATOR(/)
WEFT_OPERATOR(%)
WEFT_OPERATOR(<)
WEFT_OPERATOR(>)
WEFT_OPERATOR(<=)
WEFT_OPERATOR(>=)
WEFT_OPERATOR(!=)
WEFT_OPERATOR(==)
WEFT_OPERATOR(&)
WEFT_OPERATOR(|)
WEFT_OPERATOR(^)
#undef WEFT_OPERATOR
UOp operator-(const UOp& a);
UOp operator!(const UOp& a);  // of a bool
UOp max(const UOp& a, const UOp& b);
UOp min(const UOp& a, const UOp& b);  // -max(-a, -b) for floats; by WHERE for integers
UOp where(const UOp& condition, const UOp& yes, const UOp& no);
UOp cast(const UOp& value, DType dtype);
UOp bitcast(const UOp& value, DType dtype);

}  // namespace weft
