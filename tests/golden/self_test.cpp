// That a wrong tensor is told from a right one, and a line is read as it is written.

#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "../support/errors.h"
#include "compare.h"

namespace weft::golden {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), nan = NAN;
constexpr std::array<float, 6> floats{1, -2, nan, infinity, 0, 100};

std::string fault(const Tensor& found, std::string_view expected = "f32[2,3]@0") {
  const Stored stored(expected, std::as_bytes(std::span(floats)));
  return difference(found, stored, tolerance_of(stored.dtype));
}

TEST(GoldenCompare, TellsWhatDiffers) {
  const auto row = [](float last) { return Tensor{{1, -2, nan}, {infinity, -0.0F, last}}; };
  EXPECT_EQ(fault(row(100.0009F)), "");
  EXPECT_EQ(fault(row(100.01F)), "at [1, 2]: 100.01000213623047 instead of 100");
  EXPECT_EQ(fault(row(nan)), "at [1, 2]: nan instead of 100");
  EXPECT_EQ(fault(row(infinity)), "at [1, 2]: inf instead of 100");
  EXPECT_EQ(fault(Tensor{{1, -2, nan}, {100.0F, 0, 100}}), "at [1, 0]: 100 instead of inf");
  EXPECT_EQ(fault(Tensor{{1, -2, 0}, {infinity, 0, 100}}), "at [0, 2]: 0 instead of nan");
  EXPECT_EQ(fault(row(100).reshape({6})), "the shape is [6] instead of [2, 3]");
  EXPECT_EQ(fault(row(100).cast(dtypes::f64)), "the dtype is f64 instead of f32");
  EXPECT_EQ(fault(Tensor({0x3f800000, 1}, {.dtype = dtypes::i32}), "i32[2]@0"),
            "at [1]: 1 instead of -1073741824");
}

TEST(GoldenCase, ReadsALine) {
  const Case c(
      R"(any n=-2 x=1.5 yes=true name="a b" none=[] list=[1,-2] lists=[[1],[2,3]] type="f16" )"
      "in f32[2,3]@0|permute[1,0]|step[2,1] - f32[]@4 out f32[1]@20 i32[0,2]@0 seed f32[1]@0 - "
      "grad f32[2,3]@0 - -",
      std::as_bytes(std::span(floats)));
  EXPECT_EQ(c.integer("n"), -2);
  EXPECT_EQ(c.integer("m", 7), 7);
  EXPECT_EQ(error_of([&] { return c.integer("m"); }), "golden: the case has no argument m");
  EXPECT_EQ(error_of([&] { return c.integer("x"); }), "golden: '1.5' is no such number");
  EXPECT_EQ(c.real("x"), 1.5);
  EXPECT_TRUE(c.flag("yes"));
  EXPECT_FALSE(c.flag("no"));
  EXPECT_EQ(c.text("name"), "a b");
  EXPECT_EQ(c.numbers("none"), Numbers{});
  EXPECT_EQ(c.numbers("list"), (Numbers{1, -2}));
  EXPECT_EQ(c.lists("lists"), (std::vector<Numbers>{{1}, {2, 3}}));
  EXPECT_EQ(c.dtype("type"), dtypes::f16);
  EXPECT_TRUE(c.axes("axes").is_all());
  EXPECT_EQ(c[0].shape(), (Numbers{2, 2}));
  EXPECT_EQ(c[0].slice(1, {1, 2}).to_vector<float>(), (std::vector<float>{infinity, 100}));
  EXPECT_TRUE(c[1].is_null());
  EXPECT_EQ(c[2].item<float>(), -2);
  EXPECT_EQ(c.outputs[1].shape, (Numbers{0, 2}));
  EXPECT_FALSE(c.seeds[1]);
  EXPECT_EQ(c.gradients.size(), 3U);
  EXPECT_EQ(c.largest, 6);
  EXPECT_TRUE(c.is_odd);
}

}  // namespace
}  // namespace weft::golden
