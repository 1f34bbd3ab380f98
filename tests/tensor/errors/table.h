// Wrong calls, and what they complain of.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "../tensor_test.h"

namespace weft {

struct WrongCall {
  std::string_view name;  // the method, and behind a comma what is wrong: "norm, axis"
  std::function<void()> call;
  std::string text;
};

// Each call throws an Error of this text, which begins with the method. After each, every tensor that anybody
// holds is computed with and has the values that it had before.
void expect_errors(std::span<const WrongCall> calls);

// Operands to be held until their call is over: 0, 1, 2 ... in this shape (zeros where that is symbolic), and
// these values.
Tensor of(const Shape& shape, const Options& options = {});
Tensor values(std::initializer_list<Nested> values, const Options& options = {});

inline const std::string is_null = ": a Tensor is null: it was never given a value";

}  // namespace weft
