// Whether gradients are what small steps say: for functions with gradients of their own, and for learning.
//
//   const auto norm = [](const std::vector<Tensor>& in) { return in[0].rmsnorm(); };
//   const Gradcheck check = gradcheck(norm, {Tensor::randn({8, 32}, {.dtype = dtypes::f64})});
//   if (!check) std::cout << check << "\n";   // where the gradient is wrong, and by how much
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include <weft/tensor.h>

namespace weft {

struct GradcheckOptions {
  // The step ahead and behind. f32 has so few digits that its differences are right to about 1e-3: take f64, or
  // larger tolerances.
  double eps = 1e-4;
  // A gradient may be off by atol, and by rtol of itself.
  double atol = 1e-5, rtol = 1e-3;
  std::int64_t samples = 256;  // elements of each input that are moved, at most: random ones
  std::uint64_t seed = 0;      // of what is random
};

// Errors are differences of gradients; relative ones are shares of the gradient, or of the difference where that
// is larger, plus atol.
struct Gradcheck {
  bool is_right = true;
  double max_absolute_error = 0, max_relative_error = 0;
  std::int64_t compared = 0;  // elements
  // Where the error is farthest beyond what it may be, or nearest to that: the element of the flattened input,
  // and what gradient() and the steps say of it.
  std::size_t input = 0;
  std::int64_t element = 0;
  double gradient = 0, difference = 0;

  explicit operator bool() const { return is_right; }
  std::string str() const;
  friend std::ostream& operator<<(std::ostream& out, const Gradcheck& check);
};

// The gradients of what the function makes of the inputs, beside central differences. An output of several elements
// is weighted by random numbers and summed. The function has to make the same of the same; inputs that hold no
// floats stay as they are. At a kink, such as relu at 0, there is no gradient to compare with.
Gradcheck gradcheck(const Tensor::Forward& function, const std::vector<Tensor>& inputs,
                    const GradcheckOptions& options = {});

}  // namespace weft
