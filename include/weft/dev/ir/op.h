// Ops and their properties, read from ops.def.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <weft/dtype.h>

namespace weft {

enum class Op : std::uint8_t {
#define OP(name, ...) name,
#include <weft/dev/ir/ops.def>
};

inline constexpr int op_count = 0
#define OP(...) +1
#include <weft/dev/ir/ops.def>
    ;

enum class OpClass : std::uint8_t {
  Leaf,
  Unary,
  Binary,
  Ternary,
  Movement,
  Reduce,
  Graph,
  Memory,
  Control,
  Vector,
};

enum class DTypeRule : std::uint8_t {
  Given,   // stated by whoever builds the node
  Same,    // that of the sources, which agree
  First,   // that of the first source
  Bool,    // bool, with the lanes of the sources, which agree
  Scaled,  // that of the first source; the second is an i32 of as many lanes
  Where,   // that of sources 1 and 2, which agree; source 0 is bool
  Stack,   // the sources' scalar dtype, a lane each
  Lane,    // the scalar dtype of the source
  Place,   // that of the first source, with the lanes of the others
  Void,
};

enum class Identity : std::uint8_t { None, Zero, One, Lowest, AllOnes };

namespace OpFlag {
inline constexpr std::uint16_t Commutes = 1, Associates = 2, Idempotent = 4, Compare = 8;
inline constexpr std::uint16_t Unique = 16;  // the arg has an id: equal nodes stay apart
inline constexpr std::uint16_t Closes = 32;  // the result no longer depends on ranges in src 1 ...
inline constexpr std::uint16_t Effect = 64;  // runs for what it does
// Operand dtypes allowed; Bits are integers and bools. All of them where there is no such flag.
inline constexpr std::uint16_t Int = 128, Float = 256, Bits = 512, U64 = 1024;
inline constexpr std::uint16_t Operands = Int | Float | Bits | U64;
}  // namespace OpFlag

// The structs in args.h that hold the constant fields of a node, one of them for each op.
// clang-format off
#define WEFT_ARG_TYPES(X)                                                                \
  X(NoArg) X(ConstArg) X(VariableArg) X(IdArg) X(RangeArg) X(SpecialArg) X(BufferArg)    \
  X(ParamArg) X(AxesArg) X(ReduceArg) X(PositionArg) X(DeviceArg) X(ShardArg) X(CallArg) \
  X(CustomArg) X(NameArg) X(KernelArg) X(StoreArg) X(StageArg) X(ScopeArg)
// clang-format on

enum class ArgType : std::uint8_t {
#define X(name) name,
  WEFT_ARG_TYPES(X)
#undef X
};

struct Arity {
  std::uint8_t least;
  bool exact;
  bool admits(std::size_t sources) const { return exact ? sources == least : sources >= least; }
};

struct OpInfo {
  std::string_view name, meaning;
  OpClass cls;
  Arity arity;
  std::uint16_t flags;
  Identity identity;
  DTypeRule dtype;
  ArgType arg;
};

const OpInfo& info(Op op);
std::optional<Op> parse_op(std::string_view name);

inline bool has(Op op, std::uint16_t flag) { return (info(op).flags & flag) != 0; }
bool allows(Op op, DType operand);
inline bool is_elementwise(Op op) {
  const OpClass c = info(op).cls;
  return c == OpClass::Unary || c == OpClass::Binary || c == OpClass::Ternary;
}

// A set of ops, as patterns use it.
class OpSet {
 public:
  constexpr OpSet() = default;
  constexpr OpSet(std::initializer_list<Op> ops) {
    for (Op op : ops) add(op);
  }
  constexpr void add(Op op) { words_[word(op)] |= bit(op); }
  constexpr bool contains(Op op) const { return (words_[word(op)] & bit(op)) != 0; }
  friend constexpr bool operator==(const OpSet&, const OpSet&) = default;

  template <class Predicate>
  static OpSet where(Predicate predicate) {
    OpSet set;
    for (int i = 0; i < op_count; ++i)
      if (predicate(static_cast<Op>(i))) set.add(static_cast<Op>(i));
    return set;
  }

 private:
  static constexpr int word(Op op) { return static_cast<int>(op) / 64; }
  static constexpr std::uint64_t bit(Op op) {
    return std::uint64_t{1} << (static_cast<int>(op) % 64);
  }
  std::array<std::uint64_t, 2> words_{};
};
static_assert(op_count <= 128);

}  // namespace weft
