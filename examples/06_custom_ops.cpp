// Ops that one writes oneself: activations, norms and losses of a few tensor ops each. They fuse, and their
// gradients come by themselves; each is compared with plain loops, and its gradient with small steps.
#include <chrono>
#include <cmath>
#include <numbers>

#include "lesson.h"

using namespace weft;

using Tensors = std::vector<Tensor>;

Tensor random_f64(const Shape& shape) { return Tensor::randn(shape, {.dtype = dtypes::f64}); }

void check_gradient(const std::string& name, const Tensor::Forward& function, const Tensors& inputs,
                    double limit) {
  const Gradcheck result = gradcheck(function, inputs);
  std::cout << "      its gradient: relative error " << result.max_relative_error << "\n";
  check(name + ", gradient", result && result.max_relative_error < limit);
}

// --- 1. Activations -------------------------------------------------------------------------------------

Tensor gelu_tanh(const Tensor& x) {
  return 0.5 * x * (1 + (std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)).tanh());
}
Tensor gelu_erf(const Tensor& x) { return 0.5 * x * (1 + (x / std::numbers::sqrt2).erf()); }
Tensor swish(const Tensor& x) { return x / (1 + (-x).exp()); }
Tensor mish(const Tensor& x) { return x * (1 + x.exp()).log().tanh(); }
// Half of the last axis opens and closes the other half.
Tensor swiglu(const Tensor& x) {
  const Tensors halves = x.chunk(2, -1);
  return swish(halves[0]) * halves[1];
}

void show_activations() {
  section("1. Activations");
  struct Activation {
    const char* name;
    Tensor (*function)(const Tensor&);
    double (*number)(double);
  };
  const Activation activations[] = {
      {"GELU by tanh", gelu_tanh,
       [](double x) {
         return 0.5 * x * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
       }},
      {"GELU by erf", gelu_erf,
       [](double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }},
      {"Swish", swish, [](double x) { return x / (1 + std::exp(-x)); }},
      {"Mish", mish, [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
  };
  const Tensor x = Tensor::linspace(-4, 4, 101).realize();
  for (const auto& [name, function, number] : activations) {
    std::vector<double> expected = x.to_vector<double>();
    for (double& value : expected) value = number(value);
    const double error = largest_error(function(x), Tensor(expected));
    std::cout << name << ": " << function(x).schedule().size() << " kernel, error " << error
              << "\n";
    check(name, error < 1e-5);
    check_gradient(
        name, [&](const Tensors& in) { return function(in[0]); }, {random_f64({20})}, 1e-3);
  }
  const Tensor wide = random_f64({4, 8});
  const Tensor left = wide[{Slice{}, Slice{0, 4}}], right = wide[{Slice{}, Slice{4, 8}}];
  check("SwiGLU", largest_error(swiglu(wide), left.silu() * right) < 1e-12);
  check_gradient("SwiGLU", [](const Tensors& in) { return swiglu(in[0]); }, {wide}, 1e-3);
}

// --- 2. Norms -------------------------------------------------------------------------------------------

Tensor rms_norm(const Tensor& x, const Tensor& weight) {
  return x * (x.square().mean(-1, true) + 1e-6).rsqrt() * weight;
}
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Tensor centred = x - x.mean(-1, true);
  return centred * (centred.square().mean(-1, true) + 1e-5).rsqrt() * weight + bias;
}

void show_norms() {
  section("2. Norms of 8 x 32");
  const Tensor x = random_f64({8, 32}), weight = random_f64({32}), bias = random_f64({32});
  const Tensor scaled = rms_norm(x, Tensor::ones({32}));
  check("RMSNorm: each row has a mean square of 1",
        largest_error(scaled.square().mean(1), Tensor::ones({8})) < 1e-5);
  check_gradient(
      "RMSNorm", [](const Tensors& in) { return rms_norm(in[0], in[1]); }, {x, weight}, 5e-3);
  const Tensor plain = layer_norm(x, Tensor::ones({32}), Tensor::zeros({32}));
  check("LayerNorm: each row has mean 0 and variance 1",
        plain.mean(1).abs().max().item<double>() < 1e-6 &&
            largest_error(plain.var(1, {.correction = 0}), Tensor::ones({8})) < 1e-4);
  check_gradient(
      "LayerNorm", [](const Tensors& in) { return layer_norm(in[0], in[1], in[2]); },
      {x, weight, bias}, 5e-3);
  std::cout << "kernels: RMSNorm " << rms_norm(x, weight).schedule().size() << ", LayerNorm "
            << layer_norm(x, weight, bias).schedule().size() << "\n";
}

// --- 3. Losses ------------------------------------------------------------------------------------------

// Like a square near the target, like a distance far from it.
Tensor huber(const Tensor& x, const Tensor& target, double delta = 1) {
  const Tensor error = (x - target).abs();
  return (error < delta).where(0.5 * error * error, delta * (error - 0.5 * delta)).mean();
}

// Cross entropy of yes and no, where what is easy counts little.
Tensor focal(const Tensor& logits, const Tensor& target, double gamma = 2, double alpha = 0.25) {
  const Tensor p = logits.sigmoid(), right = target * p + (1 - target) * (1 - p);
  const Tensor balance = target * alpha + (1 - target) * (1 - alpha);
  return (-(balance * (1 - right).pow(gamma) * right.log())).mean();
}

// Row i of a belongs to row i of b, and to no other.
Tensor contrastive(const Tensor& a, const Tensor& b, double temperature = 0.1) {
  const Tensor left = a / a.norm(2, 1, true), right = b / b.norm(2, 1, true);
  return (left.matmul(right.T()) / temperature).log_softmax(1).diagonal().mean().neg();
}

void show_losses() {
  section("3. Losses");
  const Tensor x = random_f64({32}), target = random_f64({32});
  check("Huber", largest_error(huber(x, target), functional::huber_loss(x, target)) < 1e-12);
  check_gradient("Huber", [](const Tensors& in) { return huber(in[0], in[1]); }, {x, target}, 1e-3);

  double expected = 0;
  const auto logits = x.to_vector<double>(), signs = target.to_vector<double>();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double p = 1 / (1 + std::exp(-logits[i])), right = signs[i] > 0 ? p : 1 - p;
    expected -= (signs[i] > 0 ? 0.25 : 0.75) * (1 - right) * (1 - right) * std::log(right);
  }
  const Tensor labels = (target > 0).to_double();
  check("focal, gamma 2, alpha 0.25",
        std::abs(focal(x, labels).item<double>() - expected / 32) < 1e-12);
  check_gradient("focal", [&](const Tensors& in) { return focal(in[0], labels); }, {x}, 1e-3);

  const Tensor a = random_f64({6, 8}), b = a + 0.1 * random_f64({6, 8});
  std::cout << "contrastive: of pairs " << contrastive(a, b) << ", of others "
            << contrastive(a, b.flip(0)) << "\n";
  check("what belongs together costs less",
        (contrastive(a, b) < contrastive(a, b.flip(0))).item<bool>());
  check_gradient(
      "contrastive", [](const Tensors& in) { return contrastive(in[0], in[1]); }, {a, b}, 1e-3);
}

// --- 4. A gradient of one's own -------------------------------------------------------------------------

// max(x, 0)^2 with its gradient by a formula. gradcheck() tells whether that is right.
Tensor squared_relu(const Tensors& inputs, double factor) {
  return Tensor::custom(
      inputs, [](const Tensors& in) { return in[0].maximum(0).square(); },
      [=](const Tensor& gradient, const Tensors& in, const Tensor&) {
        return Tensors{gradient * factor * in[0].maximum(0)};
      });
}

void show_own_gradient() {
  section("4. A gradient of one's own");
  const Tensor x({-1.0, 0.5, 2.0});
  check("2 max(x, 0)", bool(gradcheck([](const Tensors& in) { return squared_relu(in, 2); }, {x})));
  const Gradcheck wrong = gradcheck([](const Tensors& in) { return squared_relu(in, 3); }, {x});
  std::cout << "with 3 in place of 2: " << wrong << "\n";
  check("a mistake is found", !wrong);
}

// --- 5. What fusing is worth ----------------------------------------------------------------------------

// The same GELU, with everything on the way put into memory.
Tensor unfused_gelu(const Tensor& x) {
  const Tensor square = (x * x).contiguous(), cube = (square * x).contiguous();
  const Tensor inner = (std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * cube)).contiguous();
  const Tensor bend = inner.tanh().contiguous();
  return 0.5 * x * (1 + bend);
}

double milliseconds(Tensor (*function)(const Tensor&), const Tensor& x) {
  function(x).realize();  // compiles
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; ++i) function(x).realize();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
             .count() /
         10;
}

void show_fusion() {
  section("5. GELU of a million numbers, fused and not");
  const Tensor x = Tensor::randn({1 << 20}).realize();
  const std::size_t one = gelu_tanh(x).schedule().size(), more = unfused_gelu(x).schedule().size();
  const double fused = milliseconds(gelu_tanh, x), unfused = milliseconds(unfused_gelu, x);
  std::cout << "fused " << one << " kernel, " << fused << " ms; unfused " << more << " kernels, "
            << unfused << " ms: " << unfused / fused << " times as long\n";
  check("one kernel in place of five", one == 1 && more == 5);
  check("the same values", largest_error(gelu_tanh(x), unfused_gelu(x)) < 1e-6);
}

int main() try {
  Tensor::manual_seed(42);
  show_activations();
  show_norms();
  show_losses();
  show_own_gradient();
  show_fusion();
} catch (const std::exception& error) {
  return failed(error);
}
