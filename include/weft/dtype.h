// Element types: what they are, how they convert and promote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

enum class Kind : std::uint8_t {
  Void,
  Bool,
  Index,  // an integer whose width is not chosen yet: sizes, indices, literals
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  Weak,  // a float literal whose width is not chosen yet
  F8E4M3,
  F8E5M2,
  F16,
  BF16,
  F32,
  F64,
  Fragment,  // an opaque register tile of a matrix unit
};
inline constexpr int kind_count = static_cast<int>(Kind::Fragment) + 1;

// A scalar kind and a number of lanes; for fragments, a name instead of lanes.
class DType {
 public:
  // A vector is what registers hold: a limit lets work per lane count as bounded.
  static constexpr std::uint32_t most_lanes = 4096;

  constexpr DType() = default;
  constexpr explicit DType(Kind kind) : DType(kind, 1) {
    if (kind == Kind::Fragment) refuse_unnamed();
  }
  // The tile with this name, which has no blanks and no angle brackets. Equal names, equal dtypes.
  static DType fragment(std::string_view name);

  constexpr Kind kind() const { return static_cast<Kind>(kind_); }
  constexpr std::uint32_t lanes() const { return kind() == Kind::Fragment ? 1 : lanes_; }
  constexpr DType scalar() const { return kind() == Kind::Fragment ? *this : DType(kind()); }
  // 1 to most_lanes lanes of scalar(); of Void and fragments only 1.
  constexpr DType vec(std::uint32_t lanes) const {
    if (lanes == 1) return scalar();
    const bool is_number = !is_void() && kind() != Kind::Fragment;
    if (lanes == 0 || lanes > most_lanes || !is_number) scalar().refuse_lanes(lanes);
    return DType(kind(), lanes);
  }

  constexpr bool is_void() const { return kind() == Kind::Void; }
  constexpr bool is_bool() const { return kind() == Kind::Bool; }
  constexpr bool is_index() const { return kind() == Kind::Index; }
  constexpr bool is_int() const { return kind() >= Kind::Index && kind() <= Kind::U64; }
  constexpr bool is_unsigned() const { return kind() >= Kind::U8 && kind() <= Kind::U64; }
  constexpr bool is_float() const { return kind() >= Kind::Weak && kind() <= Kind::F64; }
  constexpr bool is_weak() const { return kind() == Kind::Index || kind() == Kind::Weak; }
  constexpr bool is_fp8() const { return kind() == Kind::F8E4M3 || kind() == Kind::F8E5M2; }

  int bits() const;  // of one lane; Bool has 1, Index and Weak are held in 64, Void and Fragment 0
  std::size_t bytes() const;               // of all lanes, as stored in memory
  std::string_view fragment_name() const;  // valid for good; empty for other kinds
  std::string str() const;                 // "f32", "i8x16", "fragment<name>"

  friend constexpr bool operator==(DType, DType) = default;

 private:
  constexpr DType(Kind kind, std::uint32_t lanes)
      : kind_(static_cast<std::uint32_t>(kind)), lanes_(lanes) {}
  [[noreturn]] static void refuse_unnamed();
  [[noreturn]] void refuse_lanes(std::uint32_t lanes) const;

  std::uint32_t kind_ : 8 = 0;
  std::uint32_t lanes_ : 24 = 1;  // of a fragment, the number of its name
};
static_assert(sizeof(DType) == 4);

// Reads back exactly what str() writes.
std::optional<DType> parse_dtype(std::string_view text);

// The least dtype that both convert to: bool, index (an integer literal), the integers, weak (a
// float literal), fp8, f16 and bf16, f32, f64. Lanes must agree.
//   - A literal takes the dtype of what it meets: f16 + weak is f16, i8 + index is i8. An integer
//     with a float gives that float, so i32 + weak is still a literal.
//   - u8, u16, u32 with a signed integer no wider give the next wider signed one. u64 with any
//     signed integer gives f32, the default float, since no integer holds both.
//   - The two fp8 give f16, which holds both exactly; f16 with bf16 gives f32.
// Commutative. Associative but for the last two: u64 and a signed integer beside a float below f32,
// and both fp8 beside bf16.
DType promote(DType a, DType b);

namespace dtypes {
inline constexpr DType void_{Kind::Void}, bool_{Kind::Bool}, index{Kind::Index};
inline constexpr DType i8{Kind::I8}, i16{Kind::I16}, i32{Kind::I32}, i64{Kind::I64};
inline constexpr DType u8{Kind::U8}, u16{Kind::U16}, u32{Kind::U32}, u64{Kind::U64};
inline constexpr DType weak{Kind::Weak}, f8e4m3{Kind::F8E4M3}, f8e5m2{Kind::F8E5M2};
inline constexpr DType f16{Kind::F16}, bf16{Kind::BF16}, f32{Kind::F32}, f64{Kind::F64};
}  // namespace dtypes

}  // namespace weft
