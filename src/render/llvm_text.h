// Types, constants and instructions of LLVM IR.
#pragma once

#include <string>
#include <vector>

#include "program.h"

namespace weft {

std::string llvm_type(DType dtype);
std::string llvm_half(DType dtype);  // of f16 and bf16 as LLVM computes with them
std::string llvm_memory_type(DType dtype);
std::string llvm_constant(const Node* node);  // a CONST, or a STACK of them
std::string llvm_zero(DType dtype);
std::string llvm_splat(std::string_view scalar, DType dtype);  // of constants

// The right side; empty where the result is the first operand.
std::string llvm_instruction(const Node* node, const std::vector<std::string>& operands);
std::string llvm_combine(Op op, DType dtype, const std::string& a, const std::string& b);

}  // namespace weft
