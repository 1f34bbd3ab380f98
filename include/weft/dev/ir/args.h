// Args: the constant fields of a node that are not sources. One struct per kind, and its fields
// listed once; hashing, comparing, printing and parsing all follow from that list.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <weft/dev/base/interned.h>
#include <weft/dev/ir/op.h>

namespace weft {

// Keeps nodes apart that hash-consing would merge. Structural hashes renumber it.
struct UniqueId {
  std::uint64_t value = 0;
  friend bool operator==(UniqueId, UniqueId) = default;
};
UniqueId fresh_id();           // one that nobody in this process has, or has reserved
void reserve_id(UniqueId id);  // an id from outside, such as a text's

enum class LoopKind : std::uint8_t {
  Loop,
  Reduce,
  Thread,
  Global,
  Local,
  Warp,
  Lane,
  Upcast,
  Vector,
  Unroll,
  Mma,  // one instruction for all iterations of such loops
  Dot,  // neighbours whose products an instruction adds up in each lane
};
// Whether workers share the iterations, one each.
constexpr bool is_parallel(LoopKind kind) {
  return kind == LoopKind::Thread || kind == LoopKind::Global || kind == LoopKind::Local;
}

// Constant memory is global, and never written again while the program runs.
enum class Space : std::uint8_t { Global, Shared, Scratch, Register, Constant };
enum class Access : std::uint8_t { Read, Write, ReadWrite, Constant };
constexpr bool reads(Access access) { return access != Access::Write; }
constexpr bool writes(Access access) {
  return access == Access::Write || access == Access::ReadWrite;
}
enum class Scope : std::uint8_t { Warp, Group, Team, Device };

// The names that the text form uses, in order.
std::span<const std::string_view> enum_names(LoopKind);
std::span<const std::string_view> enum_names(Space);
std::span<const std::string_view> enum_names(Access);
std::span<const std::string_view> enum_names(Scope);

template <class Struct, class T>
struct Field {
  std::string_view name;
  T Struct::* member;
};

struct NoArg {
  static constexpr auto fields() { return std::tuple{}; }
};

struct ConstArg {
  std::uint64_t bits = 0;  // see value.h
  static constexpr auto fields() { return std::tuple{Field{"bits", &ConstArg::bits}}; }
};

struct VariableArg {
  Symbol name;
  UniqueId id;
  std::int64_t lo = 0, hi = 0;
  static constexpr auto fields() {
    return std::tuple{Field{"name", &VariableArg::name}, Field{"id", &VariableArg::id},
                      Field{"lo", &VariableArg::lo}, Field{"hi", &VariableArg::hi}};
  }
};

struct IdArg {
  UniqueId id;
  static constexpr auto fields() { return std::tuple{Field{"id", &IdArg::id}}; }
};

struct RangeArg {
  UniqueId id;
  LoopKind kind = LoopKind::Loop;
  static constexpr auto fields() {
    return std::tuple{Field{"id", &RangeArg::id}, Field{"kind", &RangeArg::kind}};
  }
};

struct SpecialArg {
  LoopKind kind = LoopKind::Global;  // which level of the launch grid
  std::int32_t axis = 0;
  static constexpr auto fields() {
    return std::tuple{Field{"kind", &SpecialArg::kind}, Field{"axis", &SpecialArg::axis}};
  }
};

struct BufferArg {
  UniqueId id;
  Space space = Space::Global;
  std::int32_t align = 0;    // bytes; 0 is the dtype's own
  std::int32_t swizzle = 0;  // log2 of the rows over which banks are rotated; 0 is none
  Symbol device = {};
  static constexpr auto fields() {
    return std::tuple{Field{"id", &BufferArg::id}, Field{"space", &BufferArg::space},
                      Field{"align", &BufferArg::align}, Field{"swizzle", &BufferArg::swizzle},
                      Field{"device", &BufferArg::device}};
  }
};

struct ParamArg {
  std::int32_t slot = 0;
  Access access = Access::Read;
  std::int32_t alias = 0;  // params of one class may overlap; 0 overlaps nothing
  static constexpr auto fields() {
    return std::tuple{Field{"slot", &ParamArg::slot}, Field{"access", &ParamArg::access},
                      Field{"alias", &ParamArg::alias}};
  }
};

struct AxesArg {
  IntList axes;
  static constexpr auto fields() { return std::tuple{Field{"axes", &AxesArg::axes}}; }
};

struct ReduceArg {
  Op op = Op::Add;
  IntList axes;
  static constexpr auto fields() {
    return std::tuple{Field{"op", &ReduceArg::op}, Field{"axes", &ReduceArg::axes}};
  }
};

struct PositionArg {
  std::int32_t at = 0;
  static constexpr auto fields() { return std::tuple{Field{"at", &PositionArg::at}}; }
};

struct DeviceArg {
  Symbol device;
  static constexpr auto fields() { return std::tuple{Field{"device", &DeviceArg::device}}; }
};

struct ShardArg {
  std::int32_t axis = 0;  // -1: each device has all of it
  Symbol devices;         // names with commas between
  static constexpr auto fields() {
    return std::tuple{Field{"axis", &ShardArg::axis}, Field{"devices", &ShardArg::devices}};
  }
};

struct CallArg {
  UniqueId id;
  Symbol name;
  bool again = false;
  static constexpr auto fields() {
    return std::tuple{Field{"id", &CallArg::id}, Field{"name", &CallArg::name},
                      Field{"again", &CallArg::again}};
  }
};

struct CustomArg {
  Symbol code;
  static constexpr auto fields() { return std::tuple{Field{"code", &CustomArg::code}}; }
};

struct NameArg {
  Symbol name;
  static constexpr auto fields() { return std::tuple{Field{"name", &NameArg::name}}; }
};

struct KernelArg {
  Symbol name;
  Symbol schedule = {};        // actions on its loops, as text; empty: the compiler's choice
  bool far_constants = false;  // they come from memory in every call
  static constexpr auto fields() {
    return std::tuple{Field{"name", &KernelArg::name}, Field{"schedule", &KernelArg::schedule},
                      Field{"far_constants", &KernelArg::far_constants}};
  }
};

struct StoreArg {
  bool combine = false;  // put `place op value` instead of value
  Op op = Op::Add;
  static constexpr auto fields() {
    return std::tuple{Field{"combine", &StoreArg::combine}, Field{"op", &StoreArg::op}};
  }
};

struct StageArg {
  UniqueId id;
  Space space = Space::Global;
  IntList layout;  // order of the dimensions, outermost first; empty is as given
  static constexpr auto fields() {
    return std::tuple{Field{"id", &StageArg::id}, Field{"space", &StageArg::space},
                      Field{"layout", &StageArg::layout}};
  }
};

struct ScopeArg {
  Scope scope = Scope::Group;
  static constexpr auto fields() { return std::tuple{Field{"scope", &ScopeArg::scope}}; }
};

// Calls f with a value-initialised struct of the type: the bridge from table to template.
template <class F>
decltype(auto) with_arg_type(ArgType type, F&& f) {
  switch (type) {
#define X(name) \
  case ArgType::name: return f(name{});
    WEFT_ARG_TYPES(X)
#undef X
  }
  return f(NoArg{});
}

template <class Arg>
constexpr ArgType arg_type_of() {
#define X(name) \
  if constexpr (std::is_same_v<Arg, name>) return ArgType::name;
  WEFT_ARG_TYPES(X)
#undef X
}

// Calls f(field, value) for each field of the arg.
template <class Arg, class F>
void for_each_field(Arg& arg, F&& f) {
  std::apply([&](const auto&... field) { (f(field.name, arg.*field.member), ...); },
             std::remove_cv_t<Arg>::fields());
}

// What the interner needs of an arg it holds as bytes.
std::size_t arg_size(ArgType type);
std::uint64_t arg_hash(ArgType type, const void* arg, bool with_ids);
bool arg_equal(ArgType type, const void* a, const void* b);

}  // namespace weft
