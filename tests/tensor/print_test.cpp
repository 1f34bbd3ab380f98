#include <cmath>
#include <limits>
#include <sstream>

#include "tensor_test.h"

namespace weft {
namespace {

// What numpy prints for the same values at precision 4.
TEST(TensorPrint, LikeNumpy) {
  EXPECT_EQ(Tensor({1, 20, -3}).str(), "[ 1 20 -3]");
  EXPECT_EQ(Tensor({1.0, 2.0}).str(), "[1. 2.]");
  EXPECT_EQ(Tensor({1.5, 2.25}).str(), "[1.5  2.25]");
  EXPECT_EQ(Tensor({1.0 / 3, 20.0}).str(), "[ 0.3333 20.    ]");
  EXPECT_EQ(Tensor({1e-6, 1.0}).str(), "[1.0000e-06 1.0000e+00]");
  EXPECT_EQ(Tensor({std::nan(""), std::numeric_limits<double>::infinity(), -1.5}).str(),
            "[ nan  inf -1.5]");
  EXPECT_EQ(Tensor({true, false}).str(), "[ true false]");
  EXPECT_EQ(Tensor(3.5).str(), "3.5");
  EXPECT_EQ((Tensor{{1, 2}, {3, 4}}.str()), "[[1 2]\n [3 4]]");
  EXPECT_EQ((Tensor{{{1, 2}}, {{3, 4}}}.str()), "[[[1 2]]\n\n [[3 4]]]");
  EXPECT_EQ(Tensor::zeros({0, 3}).str(), "[]");
  EXPECT_EQ(
      Tensor({std::numeric_limits<std::uint64_t>::max() / 2 + 1}, {.dtype = dtypes::u64}).str(),
      "[9223372036854775808]");
}

TEST(TensorPrint, LongLinesBreak) {
  EXPECT_EQ(Tensor::arange(30).str(),
            "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
            " 24 25 26 27 28 29]");
}

TEST(TensorPrint, LargeTensorsAreSummarised) {
  EXPECT_EQ(Tensor::arange(2000).str(), "[   0    1    2 ... 1997 1998 1999]");
  EXPECT_EQ(Tensor::arange(4000).reshape({1000, 4}).str(),
            "[[   0    1    2    3]\n [   4    5    6    7]\n [   8    9   10   11]\n ...\n"
            " [3988 3989 3990 3991]\n [3992 3993 3994 3995]\n [3996 3997 3998 3999]]");
}

TEST(TensorPrint, ReprSaysWhatItIs) {
  const Context device{{"DEV", "INTERP"}};
  EXPECT_EQ((Tensor{{1, 2}, {3, 4}}.repr()),
            "Tensor([[1 2]\n        [3 4]], shape=(2, 2), dtype=i32, device=INTERP)");
  EXPECT_EQ(Tensor().repr(), "Tensor(null)");
  std::ostringstream out;
  out << Tensor({1, 2});
  EXPECT_EQ(out.str(), "[1 2]");
}

TEST(TensorPrint, Options) {
  const Tensor x({1.0, 0.123456789, -20.5});
  EXPECT_EQ(x.str(PrintStyle{.precision = 2}), "[  1.     0.12 -20.5 ]");
  EXPECT_EQ(x.str(PrintStyle{.precision = 1, .scientific = true}), "[ 1.0e+00  1.2e-01 -2.0e+01]");
  EXPECT_EQ(Tensor::arange(10).str(PrintStyle{.threshold = 5, .edge_items = 1}), "[0 ... 9]");
  EXPECT_EQ(Tensor::arange(6).str(PrintStyle{.line_width = 6}), "[0 1\n 2 3\n 4 5]");
  Tensor::set_print_style({.precision = 1});
  EXPECT_EQ(x.str(), "[  1.    0.1 -20.5]");
  Tensor::set_print_style({});
  EXPECT_EQ(error_of([] { Tensor::set_print_style({.precision = -1}); }),
            "set_print_style: a precision of -1 and 3 items at the edge");
}

}  // namespace
}  // namespace weft
