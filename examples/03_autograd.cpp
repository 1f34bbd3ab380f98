// Gradients: what backward() computes, how to check it, and what it is for: networks that learn XOR.
#include <algorithm>
#include <cmath>

#include "lesson.h"

using namespace weft;

const Options in_f64{.dtype = dtypes::f64};

// --- 1. Gradients ---------------------------------------------------------------------------------------

// The gradient of a number y with respect to a tensor says how y changes with each of its elements.
void show_gradients() {
  section("1. backward()");
  const Tensor x({2.0f, 3.0f, 4.0f}, {.requires_grad = true});
  (x * x).sum().backward();
  std::cout << "y = sum(x^2), x = " << x << ": dy/dx = " << x.grad() << "\n";
  check("dy/dx = 2x", largest_error(x.grad(), Tensor({4.0f, 6.0f, 8.0f})) < 1e-5);

  const Tensor a({1.0f, 2.0f, 3.0f}, {.requires_grad = true});
  const Tensor b({-1.0f, 0.5f, 4.0f}, {.requires_grad = true});
  (a * b).sum().backward();
  std::cout << "y = sum(ab): dy/da = " << a.grad() << ", dy/db = " << b.grad() << "\n";
  check("each has the other as its gradient",
        largest_error(a.grad(), b) < 1e-5 && largest_error(b.grad(), a) < 1e-5);

  const Tensor z = Tensor::linspace(-3, 3, 7).set_requires_grad();
  const Tensor s = z.sigmoid();
  s.sum().backward();
  check("the slope of s = sigmoid(z) is s (1 - s)", largest_error(z.grad(), s * (1 - s)) < 1e-5);

  const Tensor u(2.0f), slope = (u * u * u).gradient({u})[0];  // a tensor like others
  const Tensor curvature = slope.gradient({u})[0];
  std::cout << "u^3 at 2: first derivative " << slope << ", second " << curvature << "\n";
  check("second derivatives", largest_error(curvature, Tensor(12.0f)) < 1e-4);
}

// --- 2. The chain rule ----------------------------------------------------------------------------------

void show_chain_rule() {
  section("2. The chain rule: y = relu(w x + b)");
  for (const float bias : {-4.0f, -9.0f}) {
    const Tensor x(2.0f, {.requires_grad = true}), w(3.0f, {.requires_grad = true});
    const Tensor b(bias, {.requires_grad = true});
    const Tensor y = (w * x + b).relu();
    y.backward();
    std::cout << "x 2, w 3, b " << bias << ": y " << y << ", dy/dw " << w.grad() << ", dy/dx "
              << x.grad() << ", dy/db " << b.grad() << "\n";
    const bool is_on = bias > -6;  // where relu lets pass what comes
    check(is_on ? "dw = x, dx = w, db = 1" : "of a relu that is off all gradients are 0",
          w.grad().item<float>() == (is_on ? 2 : 0) && x.grad().item<float>() == (is_on ? 3 : 0) &&
              b.grad().item<float>() == (is_on ? 1 : 0));
  }
}

// --- 3. Checking gradients ------------------------------------------------------------------------------

// A step ahead and a step behind in one element at a time: the slope between them is the gradient, up to
// eps^2. That takes two runs for each element, where backward() takes one for all of them.
std::vector<double> slopes(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  const double eps = 1e-4;
  std::vector<double> values = x.to_vector<double>(), found;
  for (double& value : values) {
    const double here = value;
    const auto f_at = [&](double place) {
      value = place;
      return f(Tensor(values).reshape(Shape(x.shape()))).sum().item<double>();
    };
    found.push_back((f_at(here + eps) - f_at(here - eps)) / (2 * eps));
    value = here;
  }
  return found;
}

// Quadratic up to 1, then linear.
Tensor huber(const Tensor& error) {
  const Tensor size = error.abs();
  return (size < 1).where(0.5 * error * error, size - 0.5);
}

void check_gradients() {
  section("3. A gradient checker");
  const Tensor errors({-3.0, -0.5, 0.25, 0.75, 2.0});
  const std::vector<double> by_steps = slopes(huber, errors);
  const Tensor by_graph = huber(errors).sum().gradient({errors})[0];
  std::cout << "Huber loss of " << errors << "\n  by steps " << Tensor(by_steps) << "\n  backward "
            << by_graph << "\n";
  check("Huber: error below 1e-3", largest_error(by_graph, Tensor(by_steps)) < 1e-3);

  // gradcheck() does the same for any function of any inputs.
  const auto norm = [](const std::vector<Tensor>& in) {
    const Tensor mean_square = in[0].square().mean(-1, true);
    return in[0] * (mean_square + 1e-6).rsqrt() * in[1];
  };
  const Gradcheck result =
      gradcheck(norm, {Tensor::randn({4, 16}, in_f64), Tensor::randn({16}, in_f64)});
  std::cout << "RMS norm is " << result << "\n";
  check("RMS norm: relative error below 1e-3", result && result.max_relative_error < 1e-3);
}

// --- 4. XOR ---------------------------------------------------------------------------------------------

struct Mlp {
  nn::Linear first{2, 8}, second{8, 8}, last{8, 1};
  Tensor operator()(const Tensor& x) const {
    return last(second(first(x).relu()).relu()).sigmoid();
  }
  WEFT_FIELDS(first, second, last);
};

// The loss after so many steps.
float train(const Mlp& mlp, const Tensor& x, const Tensor& y, int steps) {
  nn::Adam adam(mlp, {.lr = 0.01});
  const auto loss = [&] { return (mlp(x) - y).square().mean(); };
  auto step = jit([&] {  // the third call and later ones run the kernels of the second
    adam.zero_grad();
    loss().backward();
    adam.step();
  });
  for (int i = 0; i < steps; ++i) step();
  return loss().item<float>();
}

void learn_xor() {
  section("4. XOR: no line parts what is 1 from what is 0, a network does");
  const Tensor x{{0.0f, 0.0f}, {0.0f, 1.0f}, {1.0f, 0.0f}, {1.0f, 1.0f}};
  const Tensor y{{0.0f}, {1.0f}, {1.0f}, {0.0f}};
  for (const std::uint64_t seed : {1, 2, 3}) {
    Tensor::manual_seed(seed);
    const Mlp mlp;
    const float before = (mlp(x) - y).square().mean().item<float>(), after = train(mlp, x, y, 2000);
    std::cout << "seed " << seed << ": the loss goes from " << before << " to " << after
              << ", outputs " << mlp(x).flatten() << "\n";
    check("all four points are right",
          ((mlp(x) > 0.5).to_float() - y).abs().max().item<float>() == 0);
    check("the loss is near 0", after < 1e-3f);
  }
}

// A network that can learn anything can learn ten points by heart: a test of every training loop.
void learn_by_heart() {
  section("5. Ten points by heart");
  Tensor::manual_seed(4);
  const Tensor x = Tensor::uniform({10, 2}, -1, 1).realize();
  const Tensor y = (x.prod(1, true) < 0).to_float().realize();
  const float loss = train(Mlp(), x, y, 2000);
  std::cout << "the loss is " << loss << "\n";
  check("near 0", loss < 0.01f);
}

int main() try {
  Tensor::manual_seed(42);
  show_gradients();
  show_chain_rule();
  check_gradients();
  learn_xor();
  learn_by_heart();
} catch (const std::exception& error) {
  return failed(error);
}
