// Devices and dtypes.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor x({1.5, 2.5, -1.5});
  std::cout << x.cast(dtypes::i32).repr() << "\n";
  std::cout << (Tensor({1, 2}) + Tensor({0.5, 0.5}, {.dtype = dtypes::f16})).dtype().str() << "\n";
  const Tensor there = x.to("CPU:1") * 2;  // computed on the second device
  std::cout << there.device() << " " << there.to("CPU") << "\n";
  const Tensor parts = Tensor({1, 2, 3, 4}).shard({"CPU", "CPU:1"}, 0);  // two elements on each
  std::cout << parts.device() << " " << parts.sum().item<int>() << "\n";
}

//> Tensor([ 1  2 -1], shape=(3,), dtype=i32, device=CPU)
//> f16
//> CPU:1 [ 3.  5. -3.]
//> CPU,CPU:1 10
