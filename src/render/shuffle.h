// Lanes of vectors in another order.
#pragma once

#include <cstdint>
#include <optional>

#include <weft/dev/ir/node.h>

namespace weft {

// A STACK whose lanes are those of one vector or two.
struct Shuffle {
  const Node *a = nullptr, *b = nullptr;  // alike; one may stand for both

  static std::optional<Shuffle> of(const Node* stack) {
    Shuffle shuffle;
    for (const Node* lane : stack->src()) {
      if (lane->op() != Op::Lane) return std::nullopt;
      const Node* vector = lane->src(0);
      if (shuffle.a == nullptr) shuffle.a = shuffle.b = vector;
      if (vector != shuffle.a && shuffle.b == shuffle.a) shuffle.b = vector;
      if (vector != shuffle.a && vector != shuffle.b) return std::nullopt;
    }
    return shuffle.a->dtype() == shuffle.b->dtype() ? std::optional(shuffle) : std::nullopt;
  }

  // Of both vectors, one behind the other.
  std::int64_t place(const Node* lane) const {
    const std::int64_t before = lane->src(0) == a ? 0 : a->dtype().lanes();
    return before + lane->arg<PositionArg>().at;
  }
};

inline std::optional<Shuffle> shuffle_in(const Node* node) {
  return node->op() == Op::Stack ? Shuffle::of(node) : std::nullopt;
}

}  // namespace weft
