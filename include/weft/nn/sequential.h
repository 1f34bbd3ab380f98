// Layers one after the other, and those that are of use there.
//
//   nn::Sequential net{nn::Linear(784, 128), &Tensor::relu, nn::Dropout{0.2}, nn::Linear(128, 10)};
//   Tensor y = net(x);   // 0.weight, 0.bias, 3.weight, 3.bias
#pragma once

#include <functional>
#include <tuple>
#include <utility>

#include <weft/fields.h>
#include <weft/functional.h>

namespace weft::nn {

// Whatever makes a tensor of a tensor: layers, pointers to methods and functions, lambdas that capture
// nothing. Fields are their numbers.
template <class... Layers>
struct Sequential {
  std::tuple<Layers...> layers;

  explicit Sequential(Layers... given) : layers(std::move(given)...) {}

  Tensor operator()(Tensor x) const {
    std::apply([&](const auto&... layer) { ((x = std::invoke(layer, x)), ...); }, layers);
    return x;
  }

  template <class Visit>
  void visit_fields(Visit&& visit) {
    for_each_member(layers, visit);
  }
  template <class Visit>
  void visit_fields(Visit&& visit) const {
    for_each_member(layers, visit);
  }
};

// --- What has parameters of its own, but no tensors --------------------------------------------------

struct Identity {
  Tensor operator()(const Tensor& x) const { return x; }
};

struct ReLU {
  Tensor operator()(const Tensor& x) const { return x.relu(); }
};

struct LeakyReLU {
  double negative_slope = 0.01;
  Tensor operator()(const Tensor& x) const { return x.leaky_relu(negative_slope); }
  WEFT_FIELDS();
};

struct ELU {
  double alpha = 1;
  Tensor operator()(const Tensor& x) const { return x.elu(alpha); }
  WEFT_FIELDS();
};

struct GELU {
  Gelu form = Gelu::Exact;
  Tensor operator()(const Tensor& x) const { return x.gelu(form); }
  WEFT_FIELDS();
};

struct SiLU {
  Tensor operator()(const Tensor& x) const { return x.silu(); }
};

struct Tanh {
  Tensor operator()(const Tensor& x) const { return x.tanh(); }
};

struct Sigmoid {
  Tensor operator()(const Tensor& x) const { return x.sigmoid(); }
};

struct Softmax {
  std::int64_t axis = -1;
  Tensor operator()(const Tensor& x) const { return x.softmax(axis); }
  WEFT_FIELDS();
};

struct LogSoftmax {
  std::int64_t axis = -1;
  Tensor operator()(const Tensor& x) const { return x.log_softmax(axis); }
  WEFT_FIELDS();
};

// Slopes that are learned: one, or one for each channel.
struct PReLU {
  Tensor weight;
  explicit PReLU(std::int64_t num_parameters = 1, double init = 0.25, const Options& options = {});
  Tensor operator()(const Tensor& x) const { return functional::prelu(x, weight); }
  WEFT_FIELDS(weight);
};

// Within a Training.
struct Dropout {
  double p = 0.5;
  Tensor operator()(const Tensor& x) const { return x.dropout(p); }
  WEFT_FIELDS();
};

struct Flatten {
  std::int64_t first = 1, last = -1;
  Tensor operator()(const Tensor& x) const { return x.flatten(first, last); }
  WEFT_FIELDS();
};

// Over as many of the last axes as the kernel has numbers.
struct MaxPool {
  PerDim kernel_size;
  MaxPoolOptions options = {};
  Tensor operator()(const Tensor& x) const { return x.max_pool(kernel_size, options); }
  WEFT_FIELDS();
};

struct AvgPool {
  PerDim kernel_size;
  AvgPoolOptions options = {};
  Tensor operator()(const Tensor& x) const { return x.avg_pool(kernel_size, options); }
  WEFT_FIELDS();
};

}  // namespace weft::nn
