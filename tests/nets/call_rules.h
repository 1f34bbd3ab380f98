// How tables say a kind of step and its call on one line: the text of the reproducer is the code itself.
#pragma once

#include <span>

#include "calls.h"

#define CALL(kind, ...)                                                                           \
  CallRule {                                                                                      \
    kind, #__VA_ARGS__, [](CallArguments& arguments) -> weft::Tensor {                            \
      [[maybe_unused]] auto& [x, y, z, all, n, bounds, i, j, k, flag, type, number, scalar, real, \
                              index] = arguments;                                                 \
      return __VA_ARGS__;                                                                         \
    }                                                                                             \
  }
#define UNARY(name) CALL(#name, x.name())
#define METHOD(name) CALL(#name, x.name(y)), CALL(#name "_number", x.name(number))

namespace nets {

// Beside those of calls.cpp.
std::span<const CallRule> function_calls();
std::span<const CallRule> shape_calls();
std::span<const CallRule> statistics_calls();
std::span<const CallRule> network_calls();

}  // namespace nets
