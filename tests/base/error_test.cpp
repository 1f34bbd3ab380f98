#include <weft/error.h>

#include <gtest/gtest.h>

#include "../support/errors.h"

namespace weft {
namespace {

TEST(Error, SaysWhoseFaultItIs) {
  EXPECT_EQ(error_of([] { user_error("add: shapes differ"); }), "add: shapes differ");
  EXPECT_EQ(error_of([] { internal_error("pass x"); }), "internal error: pass x");
}

TEST(Error, IsAStandardException) {
  EXPECT_THROW(user_error("a"), std::runtime_error);
  EXPECT_THROW(internal_error("b"), std::exception);
}

}  // namespace
}  // namespace weft
