// Draws what an op's expression names, given the tensor that it is applied to.
#pragma once

#include <random>

#include "program.h"

namespace weft {

class Draft {
 public:
  explicit Draft(std::mt19937_64& random) : random_(random) {}

  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }
  bool one_in(int n) { return below(n) == 0; }
  std::mt19937_64& random() { return random_; }

  std::int64_t rank() const { return std::ssize(shape); }
  // Of a tensor without axes: 0, which an op may refuse.
  std::int64_t axis() { return rank() == 0 ? 0 : below(rank()); }
  std::int64_t size(std::int64_t axis) const {
    return rank() == 0 ? 1 : shape[static_cast<std::size_t>(axis)];
  }

  Numbers shape;  // of x
  DType dtype;    // of x
  Constants with;

 private:
  std::mt19937_64& random_;
};

// Each sets the constants that an expression with these needs.
namespace draw {

void axis(Draft& draft);         // i
void axes(Draft& draft);         // n
void permutation(Draft& draft);  // n
void sizes(Draft& draft);        // n: as many elements
void expanded(Draft& draft);     // n: where x has size 1
void padding(Draft& draft);      // bounds
void part(Draft& draft);         // bounds
void slice(Draft& draft);        // axis i from j to k
void shift(Draft& draft);        // along axis i by j
void cast(Draft& draft);         // dtype
void bitcast(Draft& draft);      // dtype of the same width
void few(Draft& draft);          // i: 1, 2 or 3
void window(Draft& draft);       // stride i, padding j
void kernel(Draft& draft);       // n: one or two sizes

}  // namespace draw

// The shapes of second operands.
namespace shape {

Numbers same(Draft& draft);
Numbers scalar(Draft& draft);
Numbers broadcast(Draft& draft);
Numbers sliced(Draft& draft);  // fits slice i, j, k
Numbers joined(Draft& draft);  // the same but along axis i
Numbers factor(Draft& draft);  // of a matrix product
Numbers weight(Draft& draft);  // of a convolution
Numbers any(Draft& draft);
Numbers inside(Draft& draft);  // no larger than x

}  // namespace shape

}  // namespace weft
