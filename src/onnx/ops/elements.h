// What operators move that do not compute: elements of any type, strings too.
#pragma once

#include "tables.h"

namespace weft::onnx {

// Some inputs of one type as tensors. Strings are numbers there, in their order; 0 is the empty one, as it is
// zero of other types. So what moves tensors, compares them or sorts them does the same for strings.
class Elements {
 public:
  Elements(const Call& call, const std::vector<std::size_t>& inputs);

  // The one at this place of `inputs`; null where it is left out.
  const Tensor& operator[](std::size_t place) const { return tensors_[place]; }
  // A tensor of these elements as what the inputs are.
  Value value(const Tensor& moved) const;

 private:
  Type type_ = Type::Undefined;
  std::vector<std::string> strings_;
  std::vector<Tensor> tensors_;
};

// An operator that moves its first input.
template <Tensor (*Move)(const Call&, const Tensor&)>
Values moved(const Call& call) {
  const Elements elements(call, {0});
  return {elements.value(Move(call, elements[0]))};
}

}  // namespace weft::onnx
