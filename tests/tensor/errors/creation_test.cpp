// Wrong calls of what makes tensors from nothing.

#include <functional>
#include <string>

#include "../tensor_test.h"

namespace weft {
namespace {

TEST(TensorErrors, SizesBelowZero) {
  const std::function<Tensor()> calls[] = {
      [] { return Tensor::empty({-1}); },
      [] { return Tensor::zeros({2, -3}); },
      [] { return Tensor::ones({-1, 0}); },
      [] { return Tensor::full({-10}, 2.5); },
      [] { return Tensor::eye(-10); },
      [] { return Tensor::eye(10, -10); },
      [] { return Tensor::rand({-3}); },
      [] { return Tensor::kaiming_uniform({-10, 2}); },
      [] { return Tensor::kaiming_normal({10, -2}); },
  };
  for (const auto& call : calls)
    EXPECT_NE(error_of(call).find(": a size is negative"), std::string::npos) << error_of(call);
  EXPECT_EQ(error_of([] { Tensor::zeros({2, -3}); }), "zeros: shape (2, -3): a size is negative");
}

}  // namespace
}  // namespace weft
