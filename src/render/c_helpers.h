// Functions that rendered C calls, and what all of its vectors need.
#pragma once

#include <string_view>

#include <weft/dev/render/render.h>

namespace weft {

// The order in which they stand: those behind may call those before.
enum CHelperOrder : int { VectorWords, VectorType, OfScalars, OfVectors, OfVectorFunctions };

// Macros for what compilers with and without vectors write differently: VECTOR declares a type of n lanes, with room for a
// power of two; EACH and LANES are the bodies of functions, by a result for all lanes at once and for lane i.
extern const std::string_view c_vector_words;

}  // namespace weft
