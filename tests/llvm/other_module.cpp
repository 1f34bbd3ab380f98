// The module of another version.

#include "../../src/llvm/interface.h"

const WeftLlvm weft_llvm = {.built = "weft 0.0.1, LLVM 1.0",
                            .host = nullptr,
                            .compile = nullptr,
                            .link = nullptr,
                            .archive = nullptr,
                            .frames = nullptr};
