#include <weft/error.h>

#include <gtest/gtest.h>

#include <weft/dev/base/called.h>
#include <weft/dev/base/internal.h>

#include "../support/errors.h"

namespace weft {
namespace {

TEST(Error, SaysWhoseFaultItIs) {
  EXPECT_EQ(error_of([] { user_error("add: shapes differ"); }), "add: shapes differ");
  EXPECT_EQ(error_of([] { internal_error("pass x"); }), "internal error: pass x");
}

TEST(Error, IsInTheNameOfWhatWasCalled) {
  const auto complaint = [](const std::string& message) {
    return error_of([&] { user_error(message); });
  };
  {
    const Called called("norm");
    EXPECT_EQ(complaint("sum: there is no axis 2"), "norm: there is no axis 2");
    EXPECT_EQ(complaint("norm: there is no axis 2"), "norm: there is no axis 2");
    EXPECT_EQ(complaint("[]: index 2 is outside"), "norm: index 2 is outside");
    EXPECT_EQ(complaint("a shape: it is none"), "norm: a shape: it is none");
    EXPECT_EQ(complaint("CPU: there is no clang"), "norm: CPU: there is no clang");
    EXPECT_EQ(complaint("SKIP=x: there is no pass"), "norm: SKIP=x: there is no pass");
    EXPECT_EQ(complaint("nothing"), "norm: nothing");
    EXPECT_EQ(complaint("schedule: 'tile r0 5': it has only 12 iterations"),
              "norm: schedule: 'tile r0 5': it has only 12 iterations");
    const Called inner("sum");
    EXPECT_EQ(complaint("sum: there is no axis 2"), "norm: there is no axis 2");
    EXPECT_EQ(error_of([] { internal_error("pass x"); }), "norm: internal error: pass x");
  }
  EXPECT_EQ(complaint("sum: there is no axis 2"), "sum: there is no axis 2");
  const auto method = [] {
    const Called called("dist");
    user_error("sub: shapes differ");
  };
  EXPECT_EQ(error_of([&] { method(); }), "dist: shapes differ");
  EXPECT_EQ(complaint("add: shapes differ"), "add: shapes differ");  // that call is over
}

TEST(Error, IsInternalWhereItSaysSoItself) {
  EXPECT_TRUE(is_internal("internal error: pass x"));
  EXPECT_TRUE(is_internal("norm: internal error: pass x"));
  EXPECT_FALSE(is_internal("norm: there is no axis 2"));
  EXPECT_FALSE(is_internal("onnx: node 'internal error: ' (Div): it has no inputs"));
  EXPECT_FALSE(is_internal("there is no 'a: internal error: b' to read"));
}

TEST(Error, IsAStandardException) {
  EXPECT_THROW(user_error("a"), std::runtime_error);
  EXPECT_THROW(internal_error("b"), std::exception);
}

}  // namespace
}  // namespace weft
