// Programs as text. A program is a kernel after the passes of a lowering target.
#pragma once

#include <limits>
#include <set>
#include <string>
#include <utility>

#include <weft/dev/ir/node.h>

namespace weft {

// What text in C and LLVM IR can say: the elementwise ops and the kinds of scalars.
OpSet rendered_ops();

// Both define, with C linkage, void kernel(void* const* arguments, const int64_t* values). Arguments are
// the PARAMs' memory by slot, values the VARIABLEs in the order of signature_of(). A kernel of several
// threads takes the number of the thread as well, an int64_t, and beside it stands how many they are:
// const int64_t threads. They throw for what they cannot express, and where the kernel wants more
// memory of its own than this.
std::string render_c(const Node* kernel, std::size_t scratch_bytes);

// The same of several in one text: each as a function of its own name, that the text alone sees, after a prelude of
// types and of what they call.
using CHelpers =
    std::set<std::pair<int, std::string>>;  // by the order in which they stand, and text
std::string c_prelude(const CHelpers& helpers);
std::string render_c_function(const Node* kernel, const std::string& name,
                              std::size_t scratch_bytes, CHelpers& helpers);

// What is larger than the caches is written past them, where it fills lines.
std::string render_llvm(const Node* kernel, std::size_t scratch_bytes,
                        std::size_t cache_bytes = std::numeric_limits<std::size_t>::max());

}  // namespace weft
