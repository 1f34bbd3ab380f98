// Wrong calls of what makes tensors from nothing.

#include "table.h"

namespace weft {
namespace {

TEST(TensorErrors, SizesBelowZero) {
  const WrongCall calls[] = {
      {"empty", [] { Tensor::empty({-1}); }, "empty: a size is negative"},
      {"zeros", [] { Tensor::zeros({2, -3}); }, "zeros: a size is negative"},
      {"ones", [] { Tensor::ones({-1, 0}); }, "ones: a size is negative"},
      {"full", [] { Tensor::full({-10}, 2.5); }, "full: a size is negative"},
      {"eye", [] { Tensor::eye(-10); }, "eye: a size is negative"},
      {"eye, columns", [] { Tensor::eye(10, -10); }, "eye: a size is negative"},
      {"rand", [] { Tensor::rand({-3}); }, "rand: a size is negative or too large"},
      {"kaiming_uniform", [] { Tensor::kaiming_uniform({-10, 2}); },
       "kaiming_uniform: a size is negative or too large"},
      {"kaiming_normal", [] { Tensor::kaiming_normal({10, -2}); },
       "kaiming_normal: a size is negative or too large"},
  };
  expect_errors(calls);
}

}  // namespace
}  // namespace weft
