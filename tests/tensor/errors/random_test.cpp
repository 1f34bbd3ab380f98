// Wrong calls of random numbers and of how weights begin.

#include "table.h"

namespace weft {
namespace {

TEST(TensorErrors, Random) {
  const Tensor key = Tensor(std::vector<std::uint64_t>{1});
  const Tensor two = Tensor(std::vector<std::uint64_t>{1, 2});
  const WrongCall calls[] = {
      {"rand_like", [&] { values({1, 2}).rand_like(); }, "rand_like: i32 is no float"},
      {"normal", [&] { Tensor::normal({2}, 0, -0.5); }, "normal: deviation -0.5 is not at least 0"},
      {"threefry", [&] { of({2}).threefry(key); }, "threefry: of f32 under u64: both are u64"},
      {"threefry, key", [&] { key.threefry(of({2})); }, "threefry: of u64 under f32: both are u64"},
      {"random_bits", [&] { Tensor::random_bits(key, two, 3); },
       "random_bits: a key or counter of u64 and shape (2,) is not one u64"},
      {"random_bits, count", [&] { Tensor::random_bits(key, key, -1); },
       "random_bits: -1 numbers: want at least 0"},
      {"randperm", [&] { Tensor::randperm(-2); }, "randperm: -2 numbers: want at least 0"},
      {"multinomial, shape", [&] { of({2, 2, 2}).multinomial(); },
       "multinomial: weights of shape (2, 2, 2) are not (places) or (rows, places)"},
      {"multinomial, count", [&] { of({3}).multinomial(4); },
       "multinomial: 4 samples without replacement from 3 places"},
      {"multinomial, none", [&] { of({3}).multinomial(0, true); },
       "multinomial: 0 samples with replacement from 3 places"},
      {"exponential, rate", [&] { random::exponential({2}, -1); },
       "exponential: rate -1 is not above 0"},
      {"laplace, scale", [&] { random::laplace({2}, 0, 0); }, "laplace: scale 0 is not above 0"},
      {"bernoulli, p", [&] { random::bernoulli({2}, 1.5); }, "bernoulli: p 1.5 is not from 0 to 1"},
      {"poisson", [&] { random::poisson({2}, -0.5); }, "poisson: rate -0.5 is not at least 0"},
      {"gamma, shape", [&] { random::gamma({3}, of({2})); },
       "gamma: shapes (3,) and (2,) do not broadcast: 3 does not match 2"},
      {"gamma, larger", [&] { random::gamma({1}, of({2})); },
       "gamma: concentration of shape (2,) does not broadcast to (1,)"},
      {"gumbel, more axes", [&] { random::gumbel({2}, of({1, 2})); },
       "gumbel: location of shape (1, 2) does not broadcast to (2,)"},
      {"gamma, bool", [&] { random::gamma({2}, 1, 1, {.dtype = dtypes::bool_}); },
       "gamma: draws are no bool"},
      {"truncated_normal, interval", [&] { random::truncated_normal({2}, {.low = 1, .high = 1}); },
       "truncated_normal: deviation 1 from 1 to 1"},
      {"dirichlet", [&] { random::dirichlet(values({1, 2})); },
       "dirichlet: concentrations of i32 and shape (2,) are not floats (..., count)"},
      {"permutation", [&] { random::permutation(of({2}), 1); },
       "permutation: there is no axis 1 in a tensor of 1 axes"},
      {"choice", [&] { random::choice(of({2}), {3}, {.replacement = false}); },
       "choice: 3 of 2 without replacement"},
      {"choice, weights", [&] { random::choice(of({2}), {3}, {.weights = of({3})}); },
       "choice: weights of shape (3,) for 2 to choose from"},
      {"choice, nothing", [&] { random::choice(of({0}), {1}); },
       "choice: shape (0,) has nothing to choose from"},
      {"xavier_normal, fans", [&] { init::xavier_normal({3}); },
       "xavier_normal: a weight of 1 axes has no inputs and outputs"},
      {"orthogonal", [&] { init::orthogonal({3}); },
       "orthogonal: a weight of 1 axes has no rows and columns"},
      {"cauchy, negative", [&] { random::cauchy({-1}); },
       "cauchy: a size is negative or too large"},
  };
  expect_errors(calls);
}

}  // namespace
}  // namespace weft
