// Decomposes THREEFRY on u64 into 32-bit additions, rotations and exclusive ors (Salmon et al.,
// "Parallel random numbers: as easy as 1, 2, 3", 2011). The first word of a pair is the low half.

#include "arithmetic_steps.h"

#include <weft/dev/codegen/decompose.h>

namespace weft {
namespace {

constexpr int rounds = 20, rounds_per_key = 4;
constexpr int rotations[] = {13, 15, 26, 6, 17, 29, 16, 24};
constexpr std::int64_t parity = 0x1bd11bda;

struct Words {
  UOp low, high;
};

Words words_of(const UOp& pair) {
  const DType u32 = dtypes::u32.vec(pair->dtype().lanes());
  return {cast(pair, u32), cast(shr(pair, 32), u32)};
}

UOp rotated(const UOp& word, int by) { return shl(word, by) | shr(word, 32 - by); }

UOp threefry(const Match& m) {
  const auto [key, other] = words_of(UOp(m.root()->src(1)));
  const UOp keys[] = {key, other, key ^ other ^ parity};
  auto [x, y] = words_of(UOp(m.root()->src(0)));
  x = x + keys[0];
  y = y + keys[1];
  for (int round = 1; round <= rounds; ++round) {
    x = x + y;
    y = rotated(y, rotations[(round - 1) % std::size(rotations)]) ^ x;
    if (round % rounds_per_key != 0) continue;
    const int turn = round / rounds_per_key;
    x = x + keys[turn % 3];
    y = y + (keys[(turn + 1) % 3] + turn);
  }
  const DType pair = m.root()->dtype();
  return shl(cast(y, pair), 32) | cast(x, pair);
}

}  // namespace

const RuleSet& threefry_rules() {
  static const RuleSet rules{"threefry", {rule(node(Op::Threefry), threefry)}};
  return rules;
}

}  // namespace weft
