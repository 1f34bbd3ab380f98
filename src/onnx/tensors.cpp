#include "tensors.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/dev/engine/storage.h>
#include <weft/dev/io/shape.h>

namespace weft::onnx {
namespace {

namespace fs = std::filesystem;

// How many elements; nothing where no tensor has this shape.
std::optional<std::size_t> count_of(const std::vector<std::int64_t>& dims) {
  return checked_bytes(dtypes::u8, dims);
}

// The lowest bytes of each number.
template <class Number>
std::vector<std::byte> narrowed(const std::vector<Number>& numbers, std::size_t width) {
  std::vector<std::byte> bytes(numbers.size() * width);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    std::memcpy(bytes.data() + i * width, &numbers[i], width);
  return bytes;
}

// What a key of external data says, as a number.
std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

}  // namespace

Weights::Weights(InFile in, std::shared_ptr<const Mapping> file, std::string folder,
                 std::string device)
    : in_(std::move(in)),
      file_(std::move(file)),
      folder_(std::move(folder)),
      device_(device.empty() ? default_device() : std::move(device)) {}

void Weights::fail(const TensorProto& tensor, std::string_view why) const {
  in_.fail(fmt::format("tensor '{}' of {}, shape ({}): {}", tensor.name, name_of(tensor.type),
                       fmt::join(tensor.dims, ", "), why));
}

const std::shared_ptr<const Mapping>& Weights::beside(const std::string& location) const {
  if (const auto found = files_.find(location); found != files_.end()) return found->second;
  if (folder_.empty()) in_.fail(fmt::format("there is no folder to look for '{}' in", location));
  std::error_code error;
  const fs::path folder = fs::canonical(folder_, error);
  if (error) in_.fail(fmt::format("'{}': {}", folder_, error.message()));
  const fs::path asked(location), file = fs::canonical(folder / asked, error);
  const auto inside = std::ranges::mismatch(folder, file);
  const bool leaves = std::ranges::find(asked, fs::path("..")) != asked.end();
  if (asked.is_absolute() || leaves || (!error && inside.in1 != folder.end()))
    in_.fail(fmt::format("its data in '{}' are not within the folder '{}'", location, folder_));
  if (error) in_.fail(fmt::format("its data in '{}': {}", location, error.message()));
  return files_.emplace(location, std::make_shared<const Mapping>(file.string())).first->second;
}

Weights::Elements Weights::external(const TensorProto& tensor, std::size_t wanted) const {
  std::string location;
  std::optional<std::uint64_t> offset = 0, length = wanted;
  for (const auto& [key, text] : tensor.external) {
    if (key == "location") location = text;
    if (key == "offset") offset = number_of(text);
    if (key == "length") length = number_of(text);
  }
  if (location.empty() || location.find('\0') != location.npos)
    fail(tensor, "nothing says in which file its data are");
  if (!offset || !length) fail(tensor, "offset or length of its data is no number");
  const auto& file = beside(location);
  const std::size_t size = file->bytes().size();
  if (*length != wanted || *offset > size || *length > size - *offset)
    fail(tensor, fmt::format("{} bytes from {} of '{}', which has {}, where it takes {}", *length,
                             *offset, location, size, wanted));
  return {file->bytes().subspan(*offset, wanted), file};
}

// As raw bytes, whichever field they are in.
Weights::Elements Weights::elements(const TensorProto& tensor, std::size_t wanted) const {
  if (tensor.is_external) return external(tensor, wanted);
  Elements result{tensor.raw, file_};
  const auto own = [&](std::vector<std::byte> bytes) {
    const auto kept = std::make_shared<const Mapping>(std::move(bytes));
    result = {kept->bytes(), kept};
  };
  // Below a byte, an int32 holds a byte of elements, or an element of 6 bits.
  const int bits = bits_of(tensor.type);
  const auto width = static_cast<std::size_t>(std::max(bits, 8)) / 8;
  if (tensor.is_raw) {
  } else if (!tensor.floats.empty()) {
    result.bytes = tensor.floats.bytes();
  } else if (!tensor.doubles.empty()) {
    result.bytes = tensor.doubles.bytes();
  } else if (!tensor.ints32.empty() && bits == 6) {
    std::vector<float> values;
    for (const std::int32_t code : tensor.ints32) {
      const auto byte = static_cast<std::byte>(code & 0x3F);
      const auto value = unpacked(tensor.type, Bytes(&byte, 1), 1);
      std::memcpy(&values.emplace_back(), value.data(), sizeof(float));
    }
    own(packed(tensor.type, std::as_bytes(std::span(values))));
  } else if (!tensor.ints32.empty() && width <= sizeof(std::int32_t)) {
    own(narrowed(tensor.ints32, width));
  } else if (!tensor.ints64.empty() && width == sizeof(std::int64_t)) {
    own(narrowed(tensor.ints64, width));
  } else if (!tensor.uints64.empty() && width <= sizeof(std::uint64_t)) {
    own(narrowed(tensor.uints64, width));
  }
  if (result.bytes.size() != wanted)
    fail(tensor, fmt::format("it has {} bytes where it takes {}", result.bytes.size(), wanted));
  return result;
}

Value Weights::value(const TensorProto& tensor, Memory::Assigned assigned) const {
  const auto count = count_of(tensor.dims);
  if (!count) fail(tensor, "there is no tensor of this shape");
  if (tensor.type == Type::String) {
    if (tensor.strings.size() != *count)
      fail(tensor, fmt::format("it has {} strings", tensor.strings.size()));
    return Text{tensor.dims, {tensor.strings.begin(), tensor.strings.end()}};
  }
  const auto bits = static_cast<std::size_t>(bits_of(tensor.type));
  if (bits == 0 || tensor.type == Type::C64 || tensor.type == Type::C128)
    fail(tensor, "there are no tensors of this type");
  const DType dtype = dtype_of(tensor.type);
  if (*count > std::numeric_limits<std::size_t>::max() / 128)
    fail(tensor, "there is no tensor of this shape");
  const Elements given = elements(tensor, (*count * bits + 7) / 8);
  const Options options{.dtype = dtype, .device = device_};
  if (*count == 0) return {Tensor::zeros(Shape(tensor.dims), options), tensor.type};
  if (bits < 8) {
    const auto held = unpacked(tensor.type, given.bytes, *count);
    return {Tensor::from_bytes(held, Shape(tensor.dims), options), tensor.type};
  }
  const Memory memory(given.file, device_, assigned);
  return {memory.tensor(given.bytes, dtype, tensor.dims), tensor.type};
}

void Weights::hold(const Tensor& tensor) {
  for (const Node* buffer : buffers_of(tensor.uop().node())) memory_of(buffer)->after_lending({});
}

// Indices are places in the flattened tensor, or rows of one for each axis.
Value Weights::dense(const SparseTensorProto& tensor) const {
  if (!count_of(tensor.dims)) fail(tensor.values, "there is no tensor of the sparse one's shape");
  const Value values = value(tensor.values), indices = value(tensor.indices);
  if (!values.is_tensor() || indices.type() != Type::I64)
    fail(tensor.values, "of a sparse tensor the values are no numbers, or the indices no int64");
  const Tensor places = indices.tensor();
  const std::int64_t count = values.tensor().numel();
  const auto axes = static_cast<std::int64_t>(tensor.dims.size());
  const bool are_flat = places.ndim() == 1 && places.numel() == count;
  if (!are_flat && (places.ndim() != 2 || places.size(0) != count || places.size(1) != axes))
    fail(tensor.indices, fmt::format("they do not fit {} values in {} axes", count, axes));
  Tensor flat =
      are_flat ? places : Tensor::zeros({count}, {.dtype = dtypes::i64, .device = device_});
  std::int64_t elements = 1;
  for (std::int64_t axis = axes; axis-- > 0;) {
    if (!are_flat) flat = flat + places.select(1, axis) * elements;
    elements *= tensor.dims[static_cast<std::size_t>(axis)];
  }
  const Tensor given = values.tensor();
  const Tensor all = Tensor::zeros({elements}, {.dtype = given.dtype(), .device = device_});
  return {all.scatter(0, flat, given).reshape(Shape(tensor.dims)), values.type()};
}

Value Weights::value(const ValueProto& given) const {
  if (given.kind == TypeProto::Tensor) return value(given.tensor);
  if (given.kind == TypeProto::Optional)
    return given.parts.empty() ? Value() : value(given.parts[0]);
  if (given.kind == TypeProto::Map) {
    Map map;
    for (std::size_t i = 0; i < given.keys.size(); ++i)
      map.emplace(given.keys[i], value(given.parts[i]));
    return map;
  }
  Sequence sequence;
  for (const ValueProto& part : given.parts) sequence.push_back(value(part));
  return sequence;
}

}  // namespace weft::onnx
