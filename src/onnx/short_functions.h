// Functions of a few bits.
#pragma once

#include "proto.h"

namespace weft::onnx {

// Where all that is made of erf, by arithmetic, is rounded to bf16 before anybody else reads it, erf need not have the
// digits of f32.
void shorten_functions(GraphProto& graph);

}  // namespace weft::onnx
