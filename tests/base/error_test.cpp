#include <weft/error.h>

#include <gtest/gtest.h>

namespace weft {
namespace {

template <class F>
std::string message_of(F raise) {
  try {
    raise();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Error, SaysWhoseFaultItIs) {
  EXPECT_EQ(message_of([] { user_error("add: shapes differ"); }), "add: shapes differ");
  EXPECT_EQ(message_of([] { internal_error("pass x"); }), "internal error: pass x");
}

TEST(Error, IsAStandardException) {
  EXPECT_THROW(user_error("a"), std::runtime_error);
  EXPECT_THROW(internal_error("b"), std::exception);
}

}  // namespace
}  // namespace weft
