#include <weft/dev/base/inline_vector.h>

#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace weft {
namespace {

using Numbers = InlineVector<int, 4>;

// 0, 1 ... size-1.
Numbers counting(int size) {
  Numbers numbers;
  for (int i = 0; i < size; ++i) numbers.push_back(i);
  return numbers;
}

std::vector<int> list(const Numbers& numbers) { return {numbers.begin(), numbers.end()}; }

std::vector<int> counted(int size) {
  std::vector<int> numbers(static_cast<std::size_t>(size));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// Inline, full, just spilled and well beyond.
constexpr int sizes[] = {0, 1, 3, 4, 5, 6, 20};

TEST(InlineVector, HoldsWhatIsPushed) {
  for (int size : sizes) {
    const Numbers numbers = counting(size);
    EXPECT_EQ(numbers.size(), static_cast<std::size_t>(size));
    EXPECT_EQ(numbers.empty(), size == 0);
    EXPECT_EQ(list(numbers), counted(size));
  }
  EXPECT_EQ(list(Numbers{0, 1, 2, 3, 4}), counted(5));
}

TEST(InlineVector, PushesElementsOfItself) {
  Numbers numbers{7};
  for (int i = 0; i < 10; ++i) numbers.push_back(numbers[0]);
  EXPECT_EQ(list(numbers), std::vector<int>(11, 7));
}

TEST(InlineVector, CopiesStandAlone) {
  for (int from : sizes)
    for (int to : sizes) {
      const Numbers source = counting(from);
      Numbers copy = counting(to);
      copy = source;
      copy.push_back(99);
      EXPECT_EQ(list(source), counted(from));
      EXPECT_EQ(copy.size(), source.size() + 1);
      EXPECT_EQ(copy.back(), 99);
    }
}

TEST(InlineVector, IsEmptyAndUsableOnceMovedFrom) {
  for (int from : sizes)
    for (int to : sizes) {
      Numbers source = counting(from), target = counting(to);
      target = std::move(source);
      EXPECT_EQ(list(target), counted(from));
      EXPECT_TRUE(source.empty());  // NOLINT(bugprone-use-after-move)
      for (int i = 0; i < to; ++i) source.push_back(i);
      EXPECT_EQ(list(source), counted(to));
      const Numbers built(std::move(target));
      EXPECT_EQ(list(built), counted(from));
      EXPECT_TRUE(target.empty());  // NOLINT(bugprone-use-after-move)
    }
}

TEST(InlineVector, AssignsToItself) {
  for (int size : sizes) {
    Numbers numbers = counting(size);
    Numbers& same = numbers;
    numbers = same;
    EXPECT_EQ(list(numbers), counted(size));
    numbers = std::move(same);
    EXPECT_EQ(list(numbers), counted(size));
  }
}

TEST(InlineVector, ShrinksAndGrowsAgain) {
  for (int size : sizes)
    for (int left = 0; left <= size; ++left) {
      Numbers numbers = counting(size);
      while (numbers.size() > static_cast<std::size_t>(left)) numbers.pop_back();
      EXPECT_EQ(list(numbers), counted(left));
      for (int i = left; i < 10; ++i) numbers.push_back(i);
      EXPECT_EQ(list(numbers), counted(std::max(left, 10)));
    }
  Numbers numbers = counting(20);
  numbers.clear();
  EXPECT_TRUE(numbers.empty());
  numbers.push_back(5);
  EXPECT_EQ(list(numbers), std::vector{5});
}

TEST(InlineVector, ErasesOneOrSome) {
  for (int size : {3, 4, 5, 9}) {
    Numbers numbers = counting(size);
    numbers.erase(numbers.begin() + 1);
    std::vector<int> expected = counted(size);
    expected.erase(expected.begin() + 1);
    EXPECT_EQ(list(numbers), expected);
    numbers.remove_if([](int value) { return value % 2 == 0; });
    std::erase_if(expected, [](int value) { return value % 2 == 0; });
    EXPECT_EQ(list(numbers), expected);
    numbers.remove_if([](int) { return true; });
    EXPECT_TRUE(numbers.empty());
  }
}

}  // namespace
}  // namespace weft
