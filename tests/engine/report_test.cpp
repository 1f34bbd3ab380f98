// What DEBUG says of runs.

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <weft/settings.h>
#include <weft/weft.h>

namespace weft {
namespace {

std::vector<std::string> lines_of(const Tensor& tensor) {
  testing::internal::CaptureStderr();
  {
    const Context told{{"DEBUG", 2}};
    tensor.realize();
  }
  std::istringstream text(testing::internal::GetCapturedStderr());
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// Where caches are smaller than what lies between its kernels, a convolution by tiles runs them for some rows at a time: each
// is one line, and counts once.
TEST(Report, ShowsAKernelOnceForAllItsBands) {
  const Context on{{"DEV", "CPU"}};
  const Tensor x = Tensor::empty({1, 64, 224, 224}), weight = Tensor::empty({64, 64, 3, 3});
  Tensor::realize({x, weight});
  const std::vector<std::string> lines = lines_of(x.conv2d(weight, {.padding = 1}));
  ASSERT_GT(lines.size(), 2u);
  std::istringstream last(lines.back());
  std::string word;
  std::size_t kernels = 0;
  last >> word >> kernels;
  EXPECT_EQ(kernels, lines.size() - 1);
}

}  // namespace
}  // namespace weft
