#include "llvm_tiles.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <weft/dev/device/mma.h>
#include <weft/error.h>

#include "llvm_text.h"

namespace weft {
namespace {

constexpr std::int64_t row_bytes = 64, row_count = 16;

constexpr std::pair<std::string_view, std::string_view> instructions[] = {
    {"amx_bf16", "tdpbf16ps"}, {"amx_i8i8", "tdpbssd"}, {"amx_i8u8", "tdpbsud"},
    {"amx_u8i8", "tdpbusd"},   {"amx_u8u8", "tdpbuud"},
};

// All lanes of the numbers, which begin with `first`.
std::optional<std::int64_t> distance_of_rows(const Node* numbers, std::int64_t columns) {
  const auto at = [&](std::int64_t lane) {
    return numbers->src(static_cast<std::size_t>(lane))->lo();
  };
  const auto lanes = static_cast<std::int64_t>(numbers->size());
  if (!std::ranges::all_of(numbers->src(), [](auto number) { return number->is_const(); }))
    return std::nullopt;
  const std::int64_t distance = lanes > columns ? at(columns) - at(0) : 0;
  for (std::int64_t i = 0; i < lanes; ++i)
    if (at(i) != at(0) + i / columns * distance + i % columns) return std::nullopt;
  return distance;
}

}  // namespace

std::optional<Rows> rows_of(const Node* place) {
  const Node* at = index_of(place);
  const auto bytes = static_cast<std::int64_t>(place->dtype().scalar().bytes());
  if (at == nullptr) return std::nullopt;
  const std::int64_t columns = row_bytes / bytes;
  if (at->dtype().lanes() != columns * row_count) return std::nullopt;
  Rows rows;
  const Node* numbers = at;
  if (at->op() == Op::Add) {
    const std::size_t side = at->src(0)->op() == Op::Splat ? 0 : 1;
    if (at->src(side)->op() != Op::Splat) return std::nullopt;
    rows.base = at->src(side)->src(0);
    numbers = at->src(1 - side);
  }
  if (numbers->op() != Op::Stack) return std::nullopt;
  const auto distance = distance_of_rows(numbers, columns);
  if (!distance) return std::nullopt;
  rows.first = numbers->src(0)->lo();
  rows.bytes_apart = *distance * bytes;
  return rows;
}

std::string tile_load(const Rows& rows, const std::string& address) {
  return fmt::format("call x86_amx @llvm.x86.tileloadd64.internal(i16 {}, i16 {}, ptr {}, i64 {})",
                     row_count, row_bytes, address, rows.bytes_apart);
}

std::string tile_of_vector(DType dtype, const std::string& vector) {
  return fmt::format("call x86_amx @llvm.x86.cast.vector.to.tile({} {})", llvm_type(dtype), vector);
}

std::string vector_of_tile(DType dtype, const std::string& tile) {
  return fmt::format("call {} @llvm.x86.cast.tile.to.vector(x86_amx {})", llvm_type(dtype), tile);
}

std::string tile_store(const Rows& rows, const std::string& address, const std::string& tile) {
  return fmt::format(
      "call void @llvm.x86.tilestored64.internal(i16 {}, i16 {}, ptr {}, i64 {}, x86_amx {})",
      row_count, row_bytes, address, rows.bytes_apart, tile);
}

std::string tile_product(const Node* mma, const std::string& a, const std::string& b,
                         const std::string& c) {
  const std::string_view name = mma->arg<NameArg>().name.get();
  const auto* found =
      std::ranges::find(instructions, name, [](const auto& known) { return known.first; });
  if (found == std::end(instructions))
    user_error(fmt::format("LLVM has no instruction '{}'", name));
  return fmt::format(
      "call x86_amx @llvm.x86.{}.internal(i16 {}, i16 {}, i16 {}, x86_amx {}, x86_amx {}, x86_amx "
      "{})",
      found->second, row_count, row_bytes, row_bytes, c, a, b);
}

}  // namespace weft
