// Known integers, one and another: numbers or symbolic.
#pragma once

#include <optional>
#include <string_view>

#include <weft/tensor.h>

namespace weft::onnx {

std::int64_t number(const Dim& dim);  // of one that is not symbolic

// Floats hold only what every one of them holds exactly; integers what their dtype has.
bool fits(const Dim& element, DType dtype);

// Nothing where what they give is not known.
using KnownElement = std::optional<Dim> (*)(const Dim& a, const Dim& b);
std::optional<Dim> add(const Dim& a, const Dim& b);
std::optional<Dim> subtract(const Dim& a, const Dim& b);
std::optional<Dim> multiply(const Dim& a, const Dim& b);

// An operator of two inputs that goes by elements.
struct KnownOp {
  std::string_view name;
  KnownElement element;
  bool gives_bool = false;
  bool is_division = false;
};
const KnownOp* find_known_op(std::string_view name);  // null where there is none

}  // namespace weft::onnx
