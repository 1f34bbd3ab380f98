// Instructions of a function in LLVM IR, one after the other.
#pragma once

#include <string>

#include <fmt/format.h>

#include "llvm_text.h"

namespace weft {

class LlvmWriter {
 protected:
  void line(std::string_view text) { body_ += fmt::format("  {}\n", text); }
  std::string fresh() { return fmt::format("%v{}", values_++); }

  // An instruction with a result, which is returned.
  std::string define(std::string_view instruction) {
    const std::string result = fresh();
    line(fmt::format("{} = {}", result, instruction));
    return result;
  }
  template <class... T>
  std::string add(fmt::format_string<T...> format, T&&... parts) {
    return define(fmt::format(format, std::forward<T>(parts)...));
  }

  void label(const std::string& block) {
    body_ += block + ":\n";
    block_ = block;
  }

  std::string splat(const std::string& scalar, DType dtype) {
    const std::string type = llvm_type(dtype);
    const std::string first =
        add("insertelement {} poison, {} {}, i32 0", type, llvm_type(dtype.scalar()), scalar);
    return add("shufflevector {0} {1}, {0} poison, <{2} x i32> zeroinitializer", type, first,
               dtype.lanes());
  }

  const std::string& body() const { return body_; }
  const std::string& block() const { return block_; }  // that the next instruction is in

 private:
  std::string body_, block_ = "begin";
  int values_ = 0;
};

}  // namespace weft
