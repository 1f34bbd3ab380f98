// Products of matrices in LLVM's words. For AMX fragments are tiles of rows of 64 bytes, which LLVM gives registers; for
// others they are vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <weft/dev/device/mma.h>

#include "program.h"

namespace weft {

constexpr std::int64_t row_bytes = 64;  // at most

// The place of a fragment: rows that begin at equal distances.
struct TileRows {
  std::int64_t count = 0, bytes = 0;
  const Node* base = nullptr;  // where the first begins, from `first` on; null: from 0
  std::int64_t first = 0;
  std::int64_t bytes_apart = 0;
};
std::optional<TileRows> rows_of(const Node* place, std::int64_t count);
// Of a factor of a product: as many as the product has, and of the second as many as fill 64 bytes each.
std::int64_t rows_of_factor(const Node* mma, std::size_t which);
std::int64_t full_rows(DType dtype);  // of 64 bytes

// The right sides of instructions; a store is all of it.
std::string tile_load(const TileRows& rows, const std::string& address);
std::string tile_zero(DType dtype);
std::string tile_of_vector(DType dtype, const std::string& vector);
std::string vector_of_tile(DType dtype, const std::string& tile);
std::string tile_store(const TileRows& rows, const std::string& address, const std::string& tile);
std::string tile_product(const Node* mma, const std::string& a, const std::string& b,
                         const std::string& c);

const MmaShape& shape_of(const Node* mma);

// A product of vectors is several instructions, which stand in lines of their own: `write` takes the right side of one,
// and gives the name of its value.
using WriteLine = std::function<std::string(const std::string&)>;
std::string vector_product(const Node* mma, const std::string& a, const std::string& b,
                           const std::string& c, const WriteLine& write);

}  // namespace weft
