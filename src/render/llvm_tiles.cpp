#include "llvm_tiles.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <weft/dev/device/mma.h>
#include <weft/error.h>

#include "llvm_text.h"

namespace weft {
namespace {

struct Instruction {
  std::string_view shape, name;
  bool adds = true;  // to sums that it is given
};

constexpr Instruction instructions[] = {
    {"amx_bf16", "tdpbf16ps"},
    {"amx_f16", "tdpfp16ps"},
    {"amx_i8i8", "tdpbssd"},
    {"amx_i8u8", "tdpbsud"},
    {"amx_u8i8", "tdpbusd"},
    {"amx_u8u8", "tdpbuud"},
    {"avx512_bf16", "avx512bf16.dpbf16ps.512"},
    {"avx512_i8u8", "avx512.vpdpbusd.512"},
    {"avx512_u8i8", "avx512.vpdpbusd.512"},
    {"avx_i8u8", "avx512.vpdpbusd.256"},
    {"avx_u8i8", "avx512.vpdpbusd.256"},
    {"avx2_i16i8", "avx2.pmadd.wd", false},
    {"avx2_i16u8", "avx2.pmadd.wd", false},
    {"avx2_i16i16", "avx2.pmadd.wd", false},
    {"avx2_i8u7", "avx2.pmadd.ub.sw", false},
};

const Instruction& instruction_of(const Node* mma) {
  const std::string_view name = mma->arg<NameArg>().name.get();
  const auto* found = std::ranges::find(instructions, name, &Instruction::shape);
  if (found == std::end(instructions))
    user_error(fmt::format("LLVM has no instruction '{}'", name));
  return *found;
}

std::int64_t bytes_of(DType dtype) {
  return static_cast<std::int64_t>(dtype.lanes() * dtype.scalar().bytes());
}

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

std::int64_t rows_of_factor(const Node* mma, std::size_t which) {
  return full_rows(which == 0 ? mma->dtype() : mma->src(1)->dtype());
}

std::int64_t full_rows(DType dtype) { return bytes_of(dtype) / row_bytes; }

std::optional<TileRows> rows_of(const Node* place, std::int64_t count) {
  const Node* at = index_of(place);
  const auto bytes = static_cast<std::int64_t>(place->dtype().scalar().bytes());
  if (at == nullptr) return std::nullopt;
  const std::int64_t columns = at->dtype().lanes() / count;
  TileRows rows{count, columns * bytes};
  if (columns * count != at->dtype().lanes() || rows.bytes > row_bytes) return std::nullopt;
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

std::string tile_load(const TileRows& rows, const std::string& address) {
  return fmt::format("call x86_amx @llvm.x86.tileloadd64.internal(i16 {}, i16 {}, ptr {}, i64 {})",
                     rows.count, rows.bytes, address, rows.bytes_apart);
}

std::string tile_zero(DType dtype) {
  return fmt::format("call x86_amx @llvm.x86.tilezero.internal(i16 {}, i16 {})", full_rows(dtype),
                     row_bytes);
}

std::string tile_of_vector(DType dtype, const std::string& vector) {
  return fmt::format("call x86_amx @llvm.x86.cast.vector.to.tile({} {})", llvm_type(dtype), vector);
}

std::string vector_of_tile(DType dtype, const std::string& tile) {
  return fmt::format("call {} @llvm.x86.cast.tile.to.vector(x86_amx {})", llvm_type(dtype), tile);
}

std::string tile_store(const TileRows& rows, const std::string& address, const std::string& tile) {
  return fmt::format(
      "call void @llvm.x86.tilestored64.internal(i16 {}, i16 {}, ptr {}, i64 {}, x86_amx {})",
      rows.count, rows.bytes, address, rows.bytes_apart, tile);
}

std::string tile_product(const Node* mma, const std::string& a, const std::string& b,
                         const std::string& c) {
  const std::int64_t rows = full_rows(mma->dtype()), depth = bytes_of(mma->src(0)->dtype()) / rows;
  return fmt::format(
      "call x86_amx @llvm.x86.{}.internal(i16 {}, i16 {}, i16 {}, x86_amx {}, x86_amx {}, x86_amx "
      "{})",
      instruction_of(mma).name, rows, row_bytes, depth, c, a, b);
}

const MmaShape& shape_of(const Node* mma) {
  const MmaShape* shape = find_mma(mma->arg<NameArg>().name.get());
  if (shape == nullptr)
    user_error(fmt::format("there is no instruction '{}'", mma->arg<NameArg>().name.get()));
  return *shape;
}

namespace {

// As the instruction takes factors: bytes are lanes of i32 for those that add them up so.
std::string factor_type(const MmaShape& shape, bool adds) {
  const DType all = shape.a.vec(static_cast<std::uint32_t>(shape.group * shape.columns));
  if (shape.a == dtypes::bf16) return llvm_half(all);
  return adds ? fmt::format("<{} x i32>", shape.columns) : llvm_type(all);
}

// By an instruction that adds to nothing. It adds up products of bytes in pairs, which are i16: their products by 1 are
// what is left to add.
std::string sums_of_products(const Node* mma, const std::string& type, const std::string& left,
                             const std::string& right, const WriteLine& write) {
  const std::string sums = llvm_type(mma->dtype());
  const DType two = dtypes::i16.vec(2 * mma->dtype().lanes());
  const bool are_bytes = mma->src(0)->dtype().scalar().bytes() == 1;
  const std::string first = write(fmt::format("call {0} @llvm.x86.{1}({2} {3}, {2} {4})",
                                              are_bytes ? llvm_type(two) : sums,
                                              instruction_of(mma).name, type, left, right));
  if (!are_bytes) return first;
  return write(fmt::format("call {0} @llvm.x86.avx2.pmadd.wd({1} {2}, {1} {3})", sums,
                           llvm_type(two), first, llvm_splat("1", two)));
}

}  // namespace

std::string vector_product(const Node* mma, const std::string& a, const std::string& b,
                           const std::string& c, const WriteLine& write) {
  const MmaShape& shape = shape_of(mma);
  const Instruction& instruction = instruction_of(mma);
  const std::string words = fmt::format("<{} x i32>", shape.columns),
                    type = factor_type(shape, instruction.adds), sums = llvm_type(mma->dtype());
  const auto convert = [&](std::string_view how, const std::string& from, const std::string& value,
                           const std::string& to) {
    return from == to ? value : write(fmt::format("{} {} {} to {}", how, from, value, to));
  };
  const std::string group = convert("bitcast", llvm_type(mma->src(0)->dtype()), a, "i32");
  const std::string first =
      write(fmt::format("insertelement {} poison, i32 {}, i32 0", words, group));
  const std::string all =
      write(fmt::format("shufflevector {0} {1}, {0} poison, <{2} x i32> zeroinitializer", words,
                        first, shape.columns));
  const std::string_view how = shape.b.bytes() == shape.a.bytes() ? "bitcast"
                               : shape.b == dtypes::u8            ? "zext"
                                                                  : "sext";
  std::string left = convert("bitcast", words, all, type),
              right = convert(how, llvm_type(mma->src(1)->dtype()), b, type);
  if (shape.b == dtypes::u8) std::swap(left, right);  // the unsigned one is the first
  if (!instruction.adds)
    return write(
        fmt::format("add {} {}, {}", sums, c, sums_of_products(mma, type, left, right, write)));
  return write(fmt::format("call {0} @llvm.x86.{1}({0} {2}, {3} {4}, {3} {5})", sums,
                           instruction.name, c, type, left, right));
}

}  // namespace weft
