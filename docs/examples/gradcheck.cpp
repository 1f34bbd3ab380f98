// A gradient of one's own, beside what small steps say of it.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

// x^3, whose gradient somebody has got wrong.
Tensor cube(const std::vector<Tensor>& inputs) {
  return Tensor::custom(
      inputs, [](const std::vector<Tensor>& in) { return in[0] * in[0] * in[0]; },
      [](const Tensor& gradient, const std::vector<Tensor>& in, const Tensor&) {
        return std::vector<Tensor>{gradient * 2 * in[0].square()};
      });
}

int main() {
  const Tensor x(2.0, {.dtype = dtypes::f64});
  const Gradcheck check = gradcheck(cube, {x});
  std::cout << check.gradient << " instead of " << check.difference << "\n";
  std::cout << (check ? "right" : "wrong") << ", of " << check.compared << "\n";
  const auto formula = [](const std::vector<Tensor>& in) { return in[0].pow(3); };
  std::cout << (gradcheck(formula, {x}, {.eps = 1e-3, .rtol = 1e-6}) ? "right" : "wrong") << "\n";
}

//> 8 instead of 12
//> wrong, of 1
//> right
