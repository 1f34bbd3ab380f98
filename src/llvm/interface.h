// What the module of LLVM offers to the library, in C: nothing else passes between the two.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct WeftLlvmProcessor {
  const char *triple, *model, *features;
};

struct WeftLlvmFrame {
  const char *function, *file;
  std::uint32_t line;
  std::uint64_t offset;
};

// IR of a library, and what the function that it defines as `kernel` is called there; null where all keep their names.
struct WeftLlvmPart {
  const char *source, *name;
};

// Results are given to functions of these kinds, and are gone after the call; `to` is the caller's.
using WeftTakeText = void (*)(void* to, const char* text, std::size_t size);
using WeftTakeProcessor = void (*)(void* to, const WeftLlvmProcessor* processor);
using WeftTakeFrame = void (*)(void* to, const WeftLlvmFrame* frame);

struct WeftLlvm {
  const char* built;  // the versions of weft and of LLVM; a library takes its own only

  void (*host)(WeftTakeProcessor take, void* to);
  // Whether the text is an object file. If not, it says why.
  bool (*compile)(const char* source, const WeftLlvmProcessor* processor, WeftTakeText take,
                  void* to);
  // The same of all parts together. What has been given a name is seen by the other parts alone.
  bool (*link)(const WeftLlvmPart* parts, std::size_t count, const WeftLlvmProcessor* processor,
               WeftTakeText take, void* to);
  // The same of an archive with that object file alone, called `name` in it.
  bool (*archive)(const char* name, const char* object, std::size_t size, WeftTakeText take,
                  void* to);
  void (*frames)(const char* file, std::uint64_t address, WeftTakeFrame take, void* to);
};

// The one thing that the module is asked for by its name.
__attribute__((visibility("default"))) extern const WeftLlvm weft_llvm;
}
