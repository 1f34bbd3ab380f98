// What is lazy, what fuses, and what costs nothing: weft in six sections.
//
// Kernels are reported on stderr as they run (DEBUG=2), unless the environment says otherwise: DEBUG=0 is
// silent, DEBUG=3 shows their source.
#include <cmath>
#include <numbers>

#include "lesson.h"

using namespace weft;

// --- 1. Lazy evaluation -------------------------------------------------------------------------------

// Methods of Tensor write down what is to be computed. Asking for values computes it, once.
void show_laziness() {
  section("1. Nothing runs until values are asked for");
  const Tensor a = Tensor::full({4}, 2.0f), b = Tensor({1.0f, 2.0f, 3.0f, 4.0f});
  const Tensor c = a * b + 1;
  std::cout << "c is a graph that ends in " << info(c.uop()->op()).name << ", to be computed by "
            << c.schedule().size() << " kernel\n";
  check("one kernel is still to run", c.schedule().size() == 1);
  std::cout << "c = " << c << "\n";  // printing asks for values
  check("now nothing is left to run", c.schedule().empty());
  check("2 * b + 1", c.to_vector<float>() == std::vector<float>{3, 5, 7, 9});
}

// --- 2. Fusion ----------------------------------------------------------------------------------------

// A chain of ops becomes one loop over memory: what lies between never exists as a tensor.
void show_fusion() {
  section("2. A chain of ops is one kernel");
  const Tensor x = Tensor::randn({256, 256}).realize();
  const Tensor chain = ((x * 2 + 1).relu().sqrt() - x.exp()).sum();
  std::cout << "seven ops and a sum: " << chain.schedule().size() << " kernel\n";
  check("they fuse", chain.schedule().size() == 1);
  check("its value is a number", std::isfinite(chain.item<float>()));
}

// --- 3. The schedule ----------------------------------------------------------------------------------

// What would run can be looked at before anything does.
void show_schedule() {
  section("3. The schedule says what will run");
  const Tensor x = Tensor::randn({32, 64}).realize(), w = Tensor::randn({64, 16}).realize();
  const Tensor hidden = x.matmul(w).relu(), y = hidden.softmax();
  for (const ScheduleItem& item : y.schedule()) std::cout << item.str() << "\n";
  const std::vector<Tensor> both{hidden, y};  // together they share what both need
  std::cout << "hidden and y together: " << Tensor::schedule(both).size() << " kernels\n";
  check("a product, an activation and a softmax take at most 2", y.schedule().size() <= 2);
  y.realize();
}

// --- 4. Functions from primitives -----------------------------------------------------------------------

Tensor my_sigmoid(const Tensor& x) { return 1 / (1 + (-x).exp()); }
Tensor my_swish(const Tensor& x) { return x * my_sigmoid(x); }
Tensor my_gelu(const Tensor& x) {
  const double scale = std::sqrt(2 / std::numbers::pi);
  return 0.5 * x * (1 + (scale * (x + 0.044715 * x.pow(3))).tanh());
}

void show_functions() {
  section("4. Swish and GELU from primitives");
  const Tensor x = Tensor::linspace(-4, 4, 9).realize();
  std::cout << "x     " << x << "\nswish " << my_swish(x) << "\ngelu  " << my_gelu(x) << "\n";
  check("swish is what silu() says", my_swish(x).allclose(x.silu(), 1e-5, 1e-6));
  check("gelu is what gelu() says", my_gelu(x).allclose(x.gelu(), 1e-5, 1e-6));
  check("each is one kernel",
        my_swish(x + 1).schedule().size() == 1 && my_gelu(x + 1).schedule().size() == 1);
}

// --- 5. Views -----------------------------------------------------------------------------------------

// What only looks at a tensor from elsewhere shares its memory.
void show_views() {
  section("5. Movement copies nothing");
  Tensor x = Tensor::arange(12).reshape({3, 4}).contiguous().realize();
  const Tensor views[] = {x.T(), x.reshape({2, 6}), x[{Slice{1, 3}, Slice{.step = 2}}], x.flip(1),
                          x.unsqueeze(0).expand({5, 3, 4})};
  for (const Tensor& view : views) {
    std::cout << view.shape() << ": " << view.schedule().size() << " kernels, " << view.views()
              << "\n";
    check("no kernel", view.schedule().empty());
  }
  check("the same memory", x.T().memory()->first == x.memory()->first);
  x[0].assign(Tensor::zeros({4}, {.dtype = dtypes::i32}));  // written through one view ...
  check("seen through another", views[0][{Slice{}, 0}].sum().item<int>() == 0);
}

// --- 6. The device --------------------------------------------------------------------------------------

void show_device() {
  section("6. Where a tensor is, and what");
  const Tensor x = Tensor::ones({2, 3});
  std::cout << "default device: " << default_device() << "\n"
            << "shape " << x.shape() << ", dtype " << x.dtype().str() << ", device " << x.device()
            << "\n"
            << x.repr() << "\n";
  check("new tensors are on the default device", x.device() == default_device());
}

int main() try {
  if (std::getenv("DEBUG") == nullptr) set_setting("DEBUG", 2);
  Tensor::manual_seed(42);
  show_laziness();
  show_fusion();
  show_schedule();
  show_functions();
  show_views();
  show_device();
} catch (const std::exception& error) {
  return failed(error);
}
