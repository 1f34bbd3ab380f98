// Wrong calls, and what they complain of.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "../tensor_test.h"

namespace weft {

struct WrongCall {
  std::string_view name;
  std::function<void()> call;
  std::string text;
};

inline void expect_errors(std::span<const WrongCall> calls) {
  for (const WrongCall& wrong : calls)
    EXPECT_EQ(error_of([&] {
                wrong.call();
                return 0;
              }),
              wrong.text)
        << wrong.name;
}

}  // namespace weft
