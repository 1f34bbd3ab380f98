// Elements in place, by their indices, as std::mdspan has them.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  Tensor x = Tensor::zeros({2, 3}).contiguous().realize(), column = x.T()[1];
  {
    const HostView<float, 2> view = x.host_view<float, 2>();
    for (std::int64_t i = 0; i < view.extent(0); ++i)
      for (std::int64_t j = 0; j < view.extent(1); ++j) view(i, j) = static_cast<float>(10 * i + j);
  }  // now whoever looks at the memory sees it
  std::cout << x << " " << column << "\n";
  std::cout << x.T().host_view<float, 2>().stride(1) << "\n";

  const std::vector<float> values = x.to_vector<float>();  // a copy
  const std::span<const float> memory = x.data<float>();   // no copy
  std::cout << values[4] << " " << memory[5] << " " << Tensor(values).shape()[0] << "\n";
}

//> [[ 0.  1.  2.]
//>  [10. 11. 12.]] [ 1. 11.]
//> 3
//> 11 12 6
