// Programs whose functions are replayed, beside the same ones without replay.
#pragma once

#include <functional>
#include <vector>

#include <gtest/gtest.h>
#include <weft/settings.h>

namespace weft {

using Floats = std::vector<float>;

// The numbers that it returns are the same where its functions run in each call.
inline void expect_as_run(const std::function<Floats()>& program) {
  Floats expected;
  {
    const Context plain{{"JIT", 0}};
    expected = program();
  }
  EXPECT_EQ(program(), expected);
}

}  // namespace weft
