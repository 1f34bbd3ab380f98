// Dtypes, and what two of them become together.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  for (const DType dtype : {dtypes::bool_, dtypes::u8, dtypes::bf16, dtypes::f64})
    std::cout << dtype.str() << " " << dtype.bytes() << " " << dtype.is_float() << "\n";
  const Tensor a({1, 2}, {.dtype = dtypes::i8}), b({0.5, 1.5}, {.dtype = dtypes::f16});
  std::cout << Tensor::result_type(a, b).str() << " " << (a + 1).dtype().str() << " "
            << (a * 0.5).dtype().str() << "\n";
}

//> bool 1 0
//> u8 1 0
//> bf16 2 1
//> f64 8 1
//> f16 i8 f32
