#include <weft/dev/base/interned.h>

#include <thread>

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(Interned, EqualValuesAreOneHandle) {
  EXPECT_EQ(Symbol("name"), Symbol(std::string("na") + "me"));
  EXPECT_EQ(IntList({1, 2}), IntList({1, 2}));
  EXPECT_EQ(&Symbol("name").get(), &Symbol("name").get());
  EXPECT_EQ(Symbol("name").hash(), Symbol("name").hash());
}

TEST(Interned, DifferentValuesDiffer) {
  EXPECT_NE(Symbol("a"), Symbol("b"));
  EXPECT_NE(Symbol("a"), Symbol(std::string("a\0", 2)));
  EXPECT_NE(IntList({1, 2}), IntList({2, 1}));
  EXPECT_NE(IntList({0}), IntList({0, 0}));
  EXPECT_NE(IntList({0}).hash(), IntList({0, 0}).hash());
}

TEST(Interned, DefaultIsTheEmptyValue) {
  EXPECT_TRUE(Symbol().empty());
  EXPECT_EQ(Symbol(), Symbol(""));
  EXPECT_EQ(IntList(), IntList(std::vector<std::int64_t>{}));
  EXPECT_FALSE(Symbol(" ").empty());
}

TEST(Interned, ThreadsGetTheSameHandle) {
  constexpr int count = 1000;
  const auto make = [](std::vector<Symbol>& made) {
    for (int i = 0; i < count; ++i) made.emplace_back("thread " + std::to_string(i));
  };
  std::vector<Symbol> here, there;
  std::thread other(make, std::ref(there));
  make(here);
  other.join();
  EXPECT_EQ(here, there);
  EXPECT_EQ(here[7].get(), "thread 7");
}

}  // namespace
}  // namespace weft
