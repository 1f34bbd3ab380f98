// Tensors of an ONNX file, and back.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <weft/dev/io/file.h>
#include <weft/dev/io/mapping.h>

#include "op.h"
#include "proto.h"

namespace weft::onnx {

// Makes tensors of what a file holds, in place where they lie as they have to, and of the files beside it that it
// names.
class Weights {
 public:
  // `file` keeps the bytes that tensors are views of. Where there is no folder, nothing may lie outside of it.
  Weights(InFile in, std::shared_ptr<const Mapping> file, std::string folder, std::string device);

  Value value(const TensorProto& tensor,
              Memory::Assigned assigned = Memory::Assigned::Perhaps) const;
  Value dense(const SparseTensorProto& tensor) const;
  Value value(const ValueProto& given) const;
  // Nothing reads it any more, and nothing has written to it.
  void forget(const TensorProto& tensor) const { file_->forget(tensor.raw); }
  // It may be assigned to: the file does not say any more what it is.
  static void hold(const Tensor& tensor);
  const InFile& in() const { return in_; }
  const std::string& device() const { return device_; }

 private:
  struct Elements {
    Bytes bytes;
    std::shared_ptr<const Mapping> file;
  };
  Elements elements(const TensorProto& tensor, std::size_t wanted) const;
  Elements external(const TensorProto& tensor, std::size_t wanted) const;
  const std::shared_ptr<const Mapping>& beside(const std::string& location) const;
  [[noreturn]] void fail(const TensorProto& tensor, std::string_view why) const;

  InFile in_;
  std::shared_ptr<const Mapping> file_;
  std::string folder_, device_;
  mutable std::map<std::string, std::shared_ptr<const Mapping>, std::less<>> files_;
};

// Elements of fewer than 8 bits, in bytes from the lowest bit on: each as it is held (Value(Tensor, Type)). Of a
// float the value, as f32.
std::vector<std::byte> unpacked(Type type, Bytes packed, std::size_t count);
std::vector<std::byte> packed(Type type, Bytes held);

// A TensorProto of a tensor or of strings.
std::string encoded(const Value& value, std::string_view name);
// The same of a tensor whose elements are at this place of a file beside the model.
std::string encoded_outside(const Value& value, std::string_view name, const std::string& file,
                            std::size_t offset);
// The elements as a file has them.
std::vector<std::byte> raw_elements(const Value& value);
std::size_t raw_size(const Value& value);

Tensor tensor_of(const Value::Known& known, const std::string& device);

}  // namespace weft::onnx
