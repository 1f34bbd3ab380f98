#include <weft/dev/base/lru_cache.h>

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(LruCaches, ForgetWhatWasNotAskedForTheLongest) {
  LruCache<std::string, int> cache(3);
  EXPECT_EQ(cache.find("a"), nullptr);
  for (const auto& [key, value] : {std::pair{"a", 1}, {"b", 2}, {"c", 3}})
    EXPECT_EQ(cache.insert(key, value), value);
  EXPECT_EQ(*cache.find("a"), 1);
  cache.insert("d", 4);
  EXPECT_EQ(cache.find("b"), nullptr);
  for (const auto& [key, value] : {std::pair{"c", 3}, {"a", 1}, {"d", 4}})
    EXPECT_EQ(*cache.find(key), value);
  cache.insert("e", 5);
  EXPECT_EQ(cache.find("c"), nullptr);
}

TEST(LruCaches, KeepTheFirstValueOfAKey) {
  LruCache<int, int> cache(2);
  cache.insert(1, 10);
  cache.insert(2, 20);
  EXPECT_EQ(cache.insert(1, 11), 10);  // which is asking for it
  cache.insert(3, 30);
  EXPECT_EQ(*cache.find(1), 10);
  EXPECT_EQ(cache.find(2), nullptr);
}

TEST(LruCaches, LetGoOfTheirValues) {
  LruCache<int, std::shared_ptr<int>> cache(1);
  const auto held = std::make_shared<int>(7);
  cache.insert(1, held);
  EXPECT_EQ(held.use_count(), 2);
  cache.insert(2, nullptr);
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace weft
