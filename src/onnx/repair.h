// What some tools write otherwise than the standard says, where the file itself shows what they mean.
#pragma once

#include "proto.h"

namespace weft::onnx {

void repair(ModelProto& model);

}  // namespace weft::onnx
