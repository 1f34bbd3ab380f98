// Instructions that multiply matrices and add to one: c[m, n] += sum over k of a[m, k] * b[k, n].
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <weft/dtype.h>

namespace weft {

struct MmaShape {
  static constexpr std::int64_t fewest_rows = 7;  // that are worth a tile which is not full

  std::string_view name;
  DType a, b, c;
  std::int64_t rows, columns, depth;  // iterations of m, n and k, at most
  // Fragments are rows in memory: of a one for each m; of c one for each m; of b one for each
  // `group` of k, in which those of one n are neighbours. What has one row is a vector, to whose
  // lanes a row of a is multiplied.
  std::int64_t group;
  std::string_view feature;  // of processors that have it
  double cycles;             // until the next can begin
  std::int64_t registers;    // for fragments
  // What numbers of b are at most, so that sums on the way do not saturate; 0: any. Of what is read
  // nothing is known: only what is computed, such as codes, is known to be less.
  std::int64_t most = 0;

  // A vector's row may be made of bytes, which become what it takes when they are staged.
  bool widens(DType from) const;
  bool takes(DType first, DType second) const;  // factors that are read, whatever numbers they are
  bool may_hold(std::int64_t largest) const { return most == 0 || largest <= most; }

  // Tiles may have fewer rows, and less depth: as many iterations of loops as fill them evenly. 0:
  // there are none.
  std::int64_t rows_for(std::int64_t iterations) const;
  std::int64_t depth_for(std::int64_t iterations) const;

  friend bool operator==(const MmaShape&, const MmaShape&) = default;
};

// All that are known, whether or not a device has them.
std::span<const MmaShape> mma_shapes();
const MmaShape* find_mma(std::string_view name);

// Tiles are so large that a program has to ask Linux for them, once and for all of its threads, by
// a system call of x86-64: arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA), which gives 0.
struct AskForTiles {
  static constexpr long call = 158, request = 0x1023, tiles = 18;
};

}  // namespace weft
