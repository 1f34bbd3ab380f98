// Numbers that name places or classes, checked when they are given (CHECK=1).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <weft/tensor.h>

namespace weft {

enum class Negative : std::uint8_t { FromTheEnd, Refused };

// With CHECK=1, throws where a number is outside of so many. It is computed for that at once, unless its value is known
// only later: in functions of parameters, while jit() captures, with open sizes.
void want_within(std::string_view op, const Operand& numbers, const UOp& count,
                 Negative negative = Negative::FromTheEnd,
                 std::optional<std::int64_t> ignored = {});

// In its scope nothing is checked: for numbers of weft's own, of which some are outside on purpose.
class Unchecked {
 public:
  Unchecked();
  ~Unchecked();
  Unchecked(const Unchecked&) = delete;
  Unchecked& operator=(const Unchecked&) = delete;
};

}  // namespace weft
