// Errors of a model: its file comes first, once, then the node.
#pragma once

#include <string_view>

#include <weft/dev/io/file.h>
#include <weft/error.h>

#include "proto.h"

namespace weft::onnx {

// Throws the error again, of this node. Where it says the file already, that is left to whoever adds it in front.
[[noreturn]] void fail_in(const NodeProto& node, const Error& error, const InFile& in);
[[noreturn]] void fail_in(const InFile& in, const Error& error);

// What `work` returns; its errors say which model it is.
template <class Work>
auto in_its_name(const InFile& in, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    fail_in(in, error);
  }
}

// "node 'conv1' (Conv)"
std::string text_of(const NodeProto& node);

}  // namespace weft::onnx
