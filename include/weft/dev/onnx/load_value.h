// Values in files of their own, as the test data of the ONNX standard has them.
#pragma once

#include <string>

#include <weft/onnx.h>

namespace weft::onnx {

// A TensorProto, or where the port's kind is that, a SequenceProto, OptionalProto or MapProto.
Value load_value(const std::string& path, const Port& port);
void save_value(const std::string& path, const Value& tensor, const std::string& name);

}  // namespace weft::onnx
