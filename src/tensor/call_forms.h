// What calls of a captured function have in common: the forms of their arguments.
#pragma once

#include <string>
#include <vector>

#include <weft/jit.h>

namespace weft {

struct Form {
  explicit Form(const NamedTensor& argument);
  std::string text() const;
  bool is_like(const Form& other) const {
    return dtype == other.dtype && shape.is(other.shape) && device == other.device;
  }

  std::string name;
  DType dtype;
  UOp shape;  // null of a scalar
  Symbol device;
};

struct Forms {
  explicit Forms(const JitArguments& arguments);
  // Throws where the arguments have others, and says which.
  void want(const JitArguments& arguments) const;

  std::vector<Form> tensors;
  std::vector<std::string> plain;
  std::vector<UOp> variables;
};

}  // namespace weft
