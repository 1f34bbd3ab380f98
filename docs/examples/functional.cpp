// What torch.nn.functional has beyond the methods of Tensor.
#include <iostream>

#include <weft/weft.h>

using namespace weft;
namespace F = functional;

int main() {
  const Tensor x = Tensor::arange(8).reshape({1, 2, 2, 2}).to_float();
  std::cout << F::adaptive_avg_pool2d(x, 1).flatten() << "\n";
  std::cout << F::lp_pool2d(x, 2, 2).flatten() << "\n";
  std::cout << F::group_norm(x, 1, {}, {}, 0).flatten(1) << "\n";
  std::cout << F::pixel_shuffle(Tensor::arange(4).reshape({1, 4, 1, 1}), 2) << "\n";
  const Tensor q = Tensor::eye(2), seen = Tensor({{true, false}, {true, true}});
  std::cout << F::scaled_dot_product_attention(q, q, q, seen) << "\n";
  std::cout << F::scaled_dot_product_attention(q, q, q, {.is_causal = true, .scale = 0}) << "\n";
}

//> [1.5 5.5]
//> [ 3.7417 11.225 ]
//> [[-1.5275 -1.0911 -0.6547 -0.2182  0.2182  0.6547  1.0911  1.5275]]
//> [[[[0 1]
//>    [2 3]]]]
//> [[1.     0.    ]
//>  [0.3302 0.6698]]
//> [[1.  0. ]
//>  [0.5 0.5]]
