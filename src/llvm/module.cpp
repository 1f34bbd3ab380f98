#include "module.h"

#include <llvm/Config/llvm-config.h>

const WeftLlvm weft_llvm = {
    .built = "weft " WEFT_VERSION ", LLVM " LLVM_VERSION_STRING,
    .host = weft::module::host,
    .compile = weft::module::compile,
    .link = weft::module::link,
    .archive = weft::module::archive,
    .frames = weft::module::frames,
};
