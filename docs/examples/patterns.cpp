// A formula says which axes run along together, and which are one.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor x = Tensor::arange(6, {.dtype = dtypes::f32}).reshape({2, 3});
  std::cout << Tensor::einsum("ij,kj->ik", {x, x}) << "\n";
  std::cout << Tensor::einsum("ij->", {x}) << "\n";
  const Tensor a = Tensor::rand({8, 1000}), b = Tensor::rand({1000, 8}),
               c = Tensor::rand({8, 1000});
  const Tensor chain = Tensor::einsum("ij,jk,kl->il", {a.realize(), b.realize(), c.realize()});
  std::cout << chain.schedule()[0].work.flops << " flops\n";
  std::cout << x.rearrange("a (b c) -> c (a b)", {{"b", 1}}) << "\n";
  std::cout << x.reduce("a b -> b", Tensor::Reduce::Mean) << "\n";
  std::cout << x[0].repeat("a -> (a n)", {{"n", 2}}) << "\n";
}

//> [[ 5. 14.]
//>  [14. 50.]]
//> 15.
//> 256000 flops
//> [[0. 3.]
//>  [1. 4.]
//>  [2. 5.]]
//> [1.5 2.5 3.5]
//> [0. 0. 1. 1. 2. 2.]
