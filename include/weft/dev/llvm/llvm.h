// LLVM: machine code from its IR, and the lines of debug information. It is in a module of its own that is
// loaded when somebody first asks it something: a process that finds its code compiled does without.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

// Whether this build has the module. What asks it throws where it has none, and where none is found.
bool has_llvm();
// Why it is not to be had; empty where there is one. Whether that fits, who loads it learns.
std::string llvm_problem();

// What the module is built with. Nothing is loaded to know it.
std::string_view llvm_version();

// A processor, in LLVM's words.
struct LlvmProcessor {
  std::string triple, model, features;

  bool operator==(const LlvmProcessor&) const = default;
};

// The one that this process runs on.
LlvmProcessor llvm_host();

// The object file that a source in LLVM IR is compiled to.
std::string llvm_object(const std::string& source, const LlvmProcessor& processor);

// IR of a library. The function that it defines as `kernel` is called `name` there, and only there; without a name
// everything keeps its own.
struct LlvmPart {
  std::string source, name;
};

// All of them as one object file, to be linked with programs.
std::string llvm_library(const std::vector<LlvmPart>& parts, const LlvmProcessor& processor);

// An archive, as linkers search them, with one object file, which is called `name` in it.
std::string llvm_archive(const std::string& name, const std::string& object);

// As in a Frame: of the function that an address is in.
struct LlvmFrame {
  std::string function, file;  // empty where nothing says
  std::uint32_t line;
  std::uint64_t offset;
};

// Those that an address of a program's or shared object's file is in, innermost first.
std::vector<LlvmFrame> llvm_frames(const std::string& file, std::uint64_t address);

}  // namespace weft
