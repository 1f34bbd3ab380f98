// Tensors from values, and from nothing.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor table({{1, 2, 3}, {4, 5, 6}});  // i32; with a point in one of them, f32
  std::cout << table << "\n";
  std::vector<float> memory{1, 2, 3, 4};
  const Tensor seen = Tensor::from_blob(memory.data(), {2, 2});  // no copy
  std::cout << seen << "\n";
  std::cout << Tensor::arange(0, 1, 0.25) << "\n";
  std::cout << Tensor::eye(2, {.dtype = dtypes::f64}).repr() << "\n";
  Tensor::manual_seed(7);
  const Tensor noise = Tensor::rand({1000});
  std::cout << (noise.min().item<float>() >= 0) << (noise.max().item<float>() < 1) << "\n";
}

//> [[1 2 3]
//>  [4 5 6]]
//> [[1. 2.]
//>  [3. 4.]]
//> [0.   0.25 0.5  0.75]
//> Tensor([[1. 0.]
//>         [0. 1.]], shape=(2, 2), dtype=f64, device=CPU)
//> 11
