// How weights begin, as torch.nn.init has it: weights are (out, in, sizes ...).
//
//   Tensor w = init::kaiming_normal({64, 3, 3, 3}, {.fan = init::Fan::Out});
//   layer.weight.assign(init::orthogonal(layer.weight.shape()));
#pragma once

#include <weft/random.h>
#include <weft/tensor.h>

namespace weft::init {

enum class Fan { In, Out };
enum class Nonlinearity { Linear, Sigmoid, Tanh, Relu, LeakyRelu, Selu };

// The numbers of inputs and of outputs that one output or input depends on.
struct Fans {
  std::int64_t in, out;
};
Fans fans_of(const Shape& shape);
// What keeps the variance from layer to layer; `slope` is that of LeakyRelu.
double gain(Nonlinearity nonlinearity, double slope = 0.01);

inline Tensor uniform(const Shape& shape, double low = 0, double high = 1,
                      const Options& options = {}) {
  return Called(), Tensor::uniform(shape, low, high, options);
}
inline Tensor normal(const Shape& shape, double mean = 0, double std = 1,
                     const Options& options = {}) {
  return Called(), Tensor::normal(shape, mean, std, options);
}
inline Tensor constant(const Shape& shape, Scalar value, const Options& options = {}) {
  return Called(), Tensor::full(shape, value, options);
}
Tensor xavier_uniform(const Shape& shape, double gain = 1, const Options& options = {});
Tensor xavier_normal(const Shape& shape, double gain = 1, const Options& options = {});
struct Kaiming {
  double slope = 0;
  Fan fan = Fan::In;
  Nonlinearity nonlinearity = Nonlinearity::LeakyRelu;
};
Tensor kaiming_uniform(const Shape& shape, const Kaiming& how = {}, const Options& options = {});
Tensor kaiming_normal(const Shape& shape, const Kaiming& how = {}, const Options& options = {});
Tensor trunc_normal(const Shape& shape, const random::TruncatedNormal& how = {},
                    const Options& options = {});
// The rows, or if there are fewer the columns, of (out, all else) are at right angles and of length gain.
Tensor orthogonal(const Shape& shape, double gain = 1, const Options& options = {});
// Of a matrix, 1 along the diagonal.
Tensor eye(const Shape& shape, const Options& options = {});
// A convolution that gives its input, as far as there are outputs; in each group of outputs once more.
Tensor dirac(const Shape& shape, std::int64_t groups = 1, const Options& options = {});
// A normal matrix, of which a share of the rows of each column is 0.
Tensor sparse(const Shape& shape, double sparsity, double std = 0.01, const Options& options = {});

}  // namespace weft::init
