// The kinds of steps as calls of weft: the expression that a user writes, and the function that it is.
#pragma once

#include <string>
#include <string_view>

#include <weft/weft.h>

#include "program.h"

namespace nets {

// What an expression may name.
struct CallArguments {
  weft::Tensor x, y, z;           // the first three operands
  std::vector<weft::Tensor> all;  // and all of them
  Numbers n;
  weft::Tensor::Bounds bounds;  // n in pairs
  std::int64_t i = 0, j = 0, k = 0;
  bool flag = false;
  weft::DType type;
  weft::Operand number;  // where it meets a tensor
  weft::Scalar scalar;   // and elsewhere
  double real = 0;       // and where only a float may stand
  weft::Indices index;
};

struct CallRule {
  std::string_view kind;
  std::string_view text;  // `call`, letter by letter
  weft::Tensor (*call)(CallArguments& arguments);
};
const CallRule& call_rule(std::string_view kind);

weft::DType dtype_of(Type type);
weft::Tensor input_tensor(const Step& step, std::size_t call);
Array array_of(const weft::Tensor& tensor);  // computed
std::vector<weft::Tensor> tensors_of(const Step& step, const std::vector<weft::Tensor>& values);
weft::Tensor call_weft(const Step& step, const std::vector<weft::Tensor>& values);

// The step as a line of C++, which defines its value, or as an expression.
std::string cpp_of(const Step& step, std::size_t number, std::size_t call = 0);
std::string input_text(const Step& step, std::size_t call);
// A program that a user could compile, with what the oracle expects of each read.
std::string cpp_of(const Program& program);

}  // namespace nets
