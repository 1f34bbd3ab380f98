// Inputs as files, for whatever reads files.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>
#include <weft/dev/base/internal.h>
#include <weft/weft.h>

namespace weft {

class AsFile {
 public:
  explicit AsFile(std::string_view bytes) : descriptor_(::memfd_create("input", 0)) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count <= 0) std::abort();
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  ~AsFile() { ::close(descriptor_); }
  AsFile(const AsFile&) = delete;
  AsFile& operator=(const AsFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

// What is wrong with a file is an Error, and no internal one.
template <class F>
void refused_or(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    const std::string_view what = error.what();
    if (!is_internal(what)) return;
    std::cerr << what << "\n";
    std::abort();
  }
}

// Computes with what is small enough; in the interpreter, which checks every access.
inline void touch(const Tensor& tensor) {
  constexpr std::size_t small = 1 << 10;
  if (tensor.nbytes() <= small) tensor.to("INTERP").clone().realize();
}
template <class Tensors>
void touch_all(const Tensors& tensors) {
  for (const auto& [name, tensor] : tensors) touch(tensor);
}

}  // namespace weft

// Defines what the fuzzer calls, by a function of text that may throw Error.
#define WEFT_FUZZ(function)                                                           \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    const std::string_view text(reinterpret_cast<const char*>(data), size);           \
    weft::refused_or([&] { function(text); });                                        \
    return 0;                                                                         \
  }
