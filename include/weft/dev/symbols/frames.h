// Which function, file and line an address of code is, by what its program or shared object says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

struct Frame {
  std::string function = {};  // as the linker knows it; empty where nothing says
  std::uint64_t offset = 0;   // of the address, from the start of the function; 0 where inlined
  std::string file = {};      // with its path; empty without debug information
  std::uint32_t line = 0;
  std::string module = {};    // the file of the program or shared object
  std::uint64_t address = 0;  // in that file, as addr2line takes it

  // "model.cpp:42"; "step(Model&)+0x1f" without debug information; "program+0x1234" without a name.
  std::string str() const;
};

// The calls that stand where a return address leads back to, innermost first: several where functions
// were inlined. Never none. Found once and kept.
const std::vector<Frame>& frames_at(const void* return_address);

// Whether the function is this library's own, or one of the standard library, which calls back.
bool is_of_library(const Frame& frame);

// Where the program called the library, by the return addresses of a call stack, innermost first. A
// program that says neither files nor functions gets all addresses of its own.
std::string caller_of_library(const std::vector<const void*>& stack);

}  // namespace weft
