// Sets of dtype kinds.
#pragma once

#include <cstdint>
#include <initializer_list>

#include <weft/dtype.h>

namespace weft {

// A set of dtype kinds, whatever the lanes.
class KindSet {
 public:
  constexpr KindSet() = default;
  constexpr KindSet(std::initializer_list<Kind> kinds) {
    for (Kind kind : kinds) bits_ |= bit(kind);
  }
  static constexpr KindSet all() {
    KindSet set;
    set.bits_ = ~std::uint32_t{0};
    return set;
  }
  constexpr bool contains(Kind kind) const { return (bits_ & bit(kind)) != 0; }
  constexpr std::uint32_t bits() const { return bits_; }
  friend constexpr KindSet operator|(KindSet a, KindSet b) {
    a.bits_ |= b.bits_;
    return a;
  }
  friend constexpr bool operator==(KindSet, KindSet) = default;

 private:
  static constexpr std::uint32_t bit(Kind kind) {
    return std::uint32_t{1} << static_cast<int>(kind);
  }
  std::uint32_t bits_ = 0;
};
inline constexpr KindSet int_kinds{Kind::Index, Kind::I8,  Kind::I16, Kind::I32, Kind::I64,
                                   Kind::U8,    Kind::U16, Kind::U32, Kind::U64};
inline constexpr KindSet signed_kinds{Kind::Index, Kind::I8, Kind::I16, Kind::I32, Kind::I64};
inline constexpr KindSet float_kinds{Kind::Weak, Kind::F8E4M3, Kind::F8E5M2, Kind::F16,
                                     Kind::BF16, Kind::F32,    Kind::F64};

}  // namespace weft
