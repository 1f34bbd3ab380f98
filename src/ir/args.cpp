#include <weft/dev/ir/args.h>

#include <array>
#include <atomic>
#include <type_traits>

#include <weft/dev/base/hash.h>

namespace weft {
namespace {

constexpr std::array<std::string_view, 12> loop_kinds{"loop",   "reduce", "thread", "global",
                                                      "local",  "warp",   "lane",   "upcast",
                                                      "vector", "unroll", "mma",    "dot"};
constexpr std::array<std::string_view, 5> spaces{"global", "shared", "scratch", "register",
                                                 "constant"};
constexpr std::array<std::string_view, 4> accesses{"read", "write", "readwrite", "constant"};
constexpr std::array<std::string_view, 4> scopes{"warp", "group", "team", "device"};

std::uint64_t field_hash(Symbol value) { return value.hash(); }
std::uint64_t field_hash(IntList value) { return value.hash(); }
std::uint64_t field_hash(UniqueId value) { return value.value; }
template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
std::uint64_t field_hash(T value) {
  return static_cast<std::uint64_t>(value);
}

}  // namespace

std::span<const std::string_view> enum_names(LoopKind) { return loop_kinds; }
std::span<const std::string_view> enum_names(Space) { return spaces; }
std::span<const std::string_view> enum_names(Access) { return accesses; }
std::span<const std::string_view> enum_names(Scope) { return scopes; }

namespace {
std::atomic<std::uint64_t> next_id{1};
}

UniqueId fresh_id() { return {next_id.fetch_add(1, std::memory_order_relaxed)}; }

void reserve_id(UniqueId id) {
  if (id.value >> 63 != 0) return;  // counting never gets there, unless it were sent there
  std::uint64_t next = next_id.load(std::memory_order_relaxed);
  while (next <= id.value && !next_id.compare_exchange_weak(next, id.value + 1)) {
  }
}

std::size_t arg_size(ArgType type) {
  if (type == ArgType::NoArg) return 0;
  return with_arg_type(type, [](auto arg) {
    using Arg = decltype(arg);
    static_assert(std::is_trivially_destructible_v<Arg> && alignof(Arg) <= alignof(void*));
    return sizeof(Arg);
  });
}

std::uint64_t arg_hash(ArgType type, const void* arg, bool with_ids) {
  if (type == ArgType::NoArg) return 0;
  return with_arg_type(type, [&](auto sample) {
    std::uint64_t state = 0;
    for_each_field(*static_cast<const decltype(sample)*>(arg),
                   [&](std::string_view, const auto& value) {
                     if constexpr (std::is_same_v<std::decay_t<decltype(value)>, UniqueId>)
                       if (!with_ids) return;
                     state = hash_mix(state, field_hash(value));
                   });
    return state;
  });
}

bool arg_equal(ArgType type, const void* a, const void* b) {
  if (type == ArgType::NoArg) return true;
  return with_arg_type(type, [&](auto sample) {
    using Arg = decltype(sample);
    return std::apply(
        [&](const auto&... field) {
          const Arg& x = *static_cast<const Arg*>(a);
          const Arg& y = *static_cast<const Arg*>(b);
          return ((x.*field.member == y.*field.member) && ...);
        },
        Arg::fields());
  });
}

}  // namespace weft
