// Messages of the wire format.
#pragma once

#include <fmt/format.h>
#include <weft/dev/io/file.h>
#include <protozero/pbf_reader.hpp>

#include "proto.h"

namespace weft::onnx {

// Graphs within graphs, types within types.
inline constexpr int most_levels = 64;

// A message whose fields are of the kind that they are read as, or an error.
class Message {
  using pbf_wire_type = protozero::pbf_wire_type;

 public:
  Message(std::string_view what, Bytes bytes, const InFile& in, int level = 0)
      : what_(what),
        in_(in),
        level_(level),
        reader_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {
    if (level > most_levels)
      in.fail(fmt::format("messages are nested deeper than {} levels", most_levels));
  }

  bool next() { return reader_.next(); }
  unsigned field() const { return reader_.tag(); }
  void skip() { reader_.skip(); }

  std::string_view text() {
    want(pbf_wire_type::length_delimited);
    const protozero::data_view view = reader_.get_view();
    return {view.data(), view.size()};
  }
  Bytes bytes() {
    const std::string_view view = text();
    return std::as_bytes(std::span(view.data(), view.size()));
  }
  std::int64_t integer() {
    want(pbf_wire_type::varint);
    return reader_.get_int64();
  }
  float real() {
    want(pbf_wire_type::fixed32);
    return reader_.get_float();
  }
  Type type() { return as_type(integer()); }
  Message message(std::string_view what) { return {what, bytes(), in_, level_ + 1}; }

  // One of a list of integers, or a piece of it.
  template <class Number>
  void add_to(std::vector<Number>& list) {
    if (reader_.has_wire_type(pbf_wire_type::length_delimited)) {
      for (const std::int64_t each : reader_.get_packed_int64())
        list.push_back(static_cast<Number>(each));
    } else {
      list.push_back(static_cast<Number>(integer()));
    }
  }
  void add_to(std::vector<float>& list) {
    if (!reader_.has_wire_type(pbf_wire_type::length_delimited)) return list.push_back(real());
    for (const float each : reader_.get_packed_float()) list.push_back(each);
  }
  // The same of numbers of a fixed width.
  void add_to(Packed& list, std::size_t width) {
    if (reader_.has_wire_type(pbf_wire_type::length_delimited)) {
      const Bytes piece = bytes();
      if (piece.size() % width != 0) fail(fmt::format("{} bytes are no numbers", piece.size()));
      return list.add(piece);
    }
    want(width == 4 ? pbf_wire_type::fixed32 : pbf_wire_type::fixed64);
    const std::uint64_t bits = width == 4 ? reader_.get_fixed32() : reader_.get_fixed64();
    list.add(std::as_bytes(std::span(&bits, 1)).first(width));
  }

  static Type as_type(std::int64_t number) {
    return number >= 0 && number <= static_cast<std::int64_t>(Type::F6E3M2)
               ? static_cast<Type>(number)
               : Type::Undefined;
  }
  [[noreturn]] void fail(std::string_view why) const {
    in_.fail(fmt::format("field {} of a {}: {}", field(), what_, why));
  }

 private:
  void want(pbf_wire_type type) const {
    if (!reader_.has_wire_type(type))
      fail(fmt::format("it is of kind {} where {} is expected", int(reader_.wire_type()),
                       int(type)));
  }

  std::string_view what_;
  const InFile& in_;
  int level_;
  protozero::pbf_reader reader_;
};

TensorProto tensor_of(Message from);

// What `read` returns, or the error of what is cut short.
template <class Read>
auto checked_read(const InFile& in, const Read& read) {
  try {
    return read();
  } catch (const protozero::exception& error) {
    in.fail(fmt::format("it is cut short or no ONNX file ({})", error.what()));
  }
}

}  // namespace weft::onnx
