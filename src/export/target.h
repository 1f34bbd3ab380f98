// What libraries are written for.
#pragma once

#include <string>
#include <string_view>

#include <weft/dev/llvm/llvm.h>

namespace weft::exported {

struct Target {
  std::string_view name;
  std::string_view device;                   // that plans for it
  std::string_view triple, model, features;  // as LLVM has them; none: this processor's
  std::string_view compiler;  // of C, by which it is linked; empty: that of the processor here
  std::string_view machine;   // by whose numbers it is planned; empty: those of the machine here
  bool is_c = false;

  LlvmProcessor processor() const;
};

// Throws, naming those that there are.
const Target& target_named(std::string_view name);

}  // namespace weft::exported
