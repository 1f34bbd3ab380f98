// Distributions beyond the creation methods of Tensor.
//
//   Tensor waits = random::exponential({1000}, 2.5);
//   Tensor each = random::gamma({1000, 3}, concentrations);   // parameters broadcast to the shape
//
// All draw from the stream that Tensor::manual_seed() begins, and give f32 unless the options say
// otherwise. Gradients reach what a draw is moved and scaled by, and no other parameter.
#pragma once

#include <cstdint>

#include <weft/tensor.h>

namespace weft::random {

// Where the stream is, as a tensor to save; what is drawn after it was set is what was drawn after state().
Tensor state();
void set_state(const Tensor& state);

// --- Continuous ---------------------------------------------------------------------------------

Tensor exponential(const Shape& shape, const Operand& rate = 1, const Options& options = {});
Tensor laplace(const Shape& shape, const Operand& mean = 0, const Operand& scale = 1,
               const Options& options = {});
Tensor logistic(const Shape& shape, const Operand& mean = 0, const Operand& scale = 1,
                const Options& options = {});
Tensor gumbel(const Shape& shape, const Operand& location = 0, const Operand& scale = 1,
              const Options& options = {});
Tensor cauchy(const Shape& shape, const Operand& median = 0, const Operand& scale = 1,
              const Options& options = {});
Tensor weibull(const Shape& shape, const Operand& concentration, const Operand& scale = 1,
               const Options& options = {});
Tensor pareto(const Shape& shape, const Operand& concentration, const Operand& scale = 1,
              const Options& options = {});
// Its logarithm is normal, with this mean and deviation.
Tensor log_normal(const Shape& shape, const Operand& mean = 0, const Operand& std = 1,
                  const Options& options = {});
struct TruncatedNormal {
  double mean = 0, std = 1;
  double low = -2, high = 2;  // no draw is beyond
};
Tensor truncated_normal(const Shape& shape, const TruncatedNormal& parameters = {},
                        const Options& options = {});
// Of all draws about one in 10^8 has to take a value that was not accepted, here and below.
Tensor gamma(const Shape& shape, const Operand& concentration, const Operand& rate = 1,
             const Options& options = {});
Tensor chisquare(const Shape& shape, const Operand& degrees, const Options& options = {});
Tensor beta(const Shape& shape, const Operand& a, const Operand& b, const Options& options = {});
Tensor student_t(const Shape& shape, const Operand& degrees, const Options& options = {});
// One draw for each row: this many positive numbers in the last axis, which add up to 1.
Tensor dirichlet(const Tensor& concentration);

// --- Discrete -----------------------------------------------------------------------------------

Tensor bernoulli(const Shape& shape, const Operand& p, const Options& options = {});
Tensor bernoulli(const Tensor& p);  // 0 or 1 for each, in its dtype
// How often one has to try until something of probability p happens: 1, 2 ...
Tensor geometric(const Shape& shape, const Operand& p, const Options& options = {});
Tensor poisson(const Shape& shape, const Operand& rate, const Options& options = {});
Tensor poisson(const Tensor& rate);

// --- Of what is there ---------------------------------------------------------------------------

// The parts of x along an axis in random order.
Tensor permutation(const Tensor& x, std::int64_t axis = 0);
struct ChoiceOptions {
  bool replacement = true;
  Tensor weights = {};  // of any sum; all alike by default
};
// Parts of x along axis 0, so many in that shape.
Tensor choice(const Tensor& x, const Shape& shape, const ChoiceOptions& options = {});

}  // namespace weft::random
