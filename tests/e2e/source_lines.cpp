// A program whose lines DEBUG=2 names: each that ends in "kernel N" makes the kernel that runs as the
// Nth. source_lines.sh compares.
#include <weft/weft.h>

using weft::Tensor;

[[gnu::noinline]] static Tensor scaled(const Tensor& x) {
  Tensor result = x * 3;  // kernel 3
  return result;
}

int main() {
  const Tensor a({1.0f, 2.0f, 3.0f}), b({4.0f, 5.0f, 6.0f});
  const Tensor sum = a + b;         // kernel 1
  const Tensor difference = a - b;  // kernel 2
  sum.realize();
  difference.realize();
  scaled(a).realize();

  const Tensor first = (a * 5).exp2();   // kernel 4
  const Tensor second = (b * 5).exp2();  // kernel 5
  first.realize();
  second.realize();

  const Tensor product = a * b;
  const Tensor shifted = product + 7;
  const Tensor fused = shifted.relu();  // kernel 6
  fused.realize();

  const Tensor products = a.reshape({3, 1}).matmul(b.reshape({1, 3})).contiguous();  // kernel 7
  const Tensor outer = products.softmax(1);                                          // kernel 8
  outer.realize();
}
