// The eager evaluator with everything that ops.def leaves open drawn at random: the order of sums and
// products of floats, the last bits of what is only bounded, whether a product is rounded before a sum
// that it is a term of or a power of 2, the sign of a sum that is 0, the bits of a NaN. Where some runs agree, every
// device has to; where they differ, they say by how much it may.
#pragma once

#include <random>
#include <set>
#include <vector>

#include "../support/eager.h"

namespace weft {

class Perturbed final : public Eager {
 public:
  explicit Perturbed(std::uint64_t seed) : random_(seed) {}

  // Which products of the graph are terms of sums, or exponents.
  void look_at(const Node* root);

 protected:
  Bits value_of(const Node* node, DType from, const std::vector<Bits>& bits) override;
  Bits combined(Op op, DType dtype, const std::vector<Bits>& terms) override;

 private:
  bool coin() { return random_() % 2 == 0; }
  double between(double lo, double hi) {
    return std::uniform_real_distribution<double>(lo, hi)(random_);
  }
  Bits any_nan(Bits nan, DType dtype);
  Bits nearby(Bits bits, DType dtype, Bits most);
  Bits sum(Bits total, DType dtype, const std::vector<double>& terms);
  Bits product(Bits total, DType dtype, const std::vector<double>& terms);

  std::mt19937_64 random_;
  std::vector<UOp> looked_at_;  // as it is computed
  std::set<const Node*> terms_;
  std::set<const Node*> powers_;  // of products with constants
};

}  // namespace weft
