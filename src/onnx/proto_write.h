// ONNX files, written.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "proto.h"

namespace weft::onnx {

// TensorProtos by the places of the initialisers that they replace.
using Replacements = std::map<std::size_t, std::string>;

// The model, in every other respect as it is.
std::string with_initialisers(Bytes model, const Replacements& replacements, const InFile& in);

// A StringStringEntryProto.
std::string encoded_entry(std::string_view key, std::string_view value);

// A file of ONNX has fewer than 2 GB.
void check_size(const std::string& file, const InFile& in);

}  // namespace weft::onnx
