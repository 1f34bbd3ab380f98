// An object file in the memory of this process, as a linker and a loader would have put it there.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace weft::cpu {

using ElfSymbols = std::map<std::string, std::span<std::byte>, std::less<>>;

// Code and constants. Nothing of it can be written once it is loaded.
class ElfObject {
 public:
  // Throws for bytes that are no such object file, whatever they are, and for what neither the object
  // nor this process defines.
  explicit ElfObject(std::string_view file);

  // What the object defines for others, by its name. Throws where there is no such thing.
  std::byte* find(std::string_view symbol) const { return contents(symbol).data(); }
  std::span<std::byte> contents(std::string_view symbol) const;
  bool defines(std::string_view symbol) const { return symbols_.contains(symbol); }
  // Whether the code is for this processor.
  bool runs_here() const { return runs_here_; }

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* memory) const;
  };

  bool runs_here_ = false;
  std::unique_ptr<std::byte, Unmap> memory_;
  ElfSymbols symbols_;
};

}  // namespace weft::cpu
