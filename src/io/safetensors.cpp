// The format: how long the header is, in 8 bytes, the header, and the values. The header is JSON: of each tensor its
// dtype, its shape, and where its values begin and end. They follow each other without a gap.

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>
#include <weft/state.h>

#include <weft/dev/io/file.h>
#include <weft/dev/io/json.h>
#include <weft/dev/io/mapping.h>
#include <weft/dev/io/shape.h>

namespace weft {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t most_header = 100'000'000, alignment = 8;
constexpr std::string_view metadata_key = "__metadata__";

struct Named {
  std::string_view name;
  DType dtype;
};
// The last come first in a file: so all lie where the processor wants them.
constexpr Named named[] = {
    {"BOOL", dtypes::bool_},     {"U8", dtypes::u8},          {"I8", dtypes::i8},
    {"F8_E5M2", dtypes::f8e5m2}, {"F8_E4M3", dtypes::f8e4m3}, {"I16", dtypes::i16},
    {"U16", dtypes::u16},        {"F16", dtypes::f16},        {"BF16", dtypes::bf16},
    {"I32", dtypes::i32},        {"U32", dtypes::u32},        {"F32", dtypes::f32},
    {"F64", dtypes::f64},        {"I64", dtypes::i64},        {"U64", dtypes::u64},
};

const Named& named_as(DType dtype) {
  const auto* found = std::ranges::find(named, dtype, &Named::dtype);
  if (found == std::end(named)) internal_error("a dtype without a name in safetensors");
  return *found;
}

struct Entry {
  std::string name;
  DType dtype;
  std::vector<std::int64_t> shape;
  std::size_t begin, end;  // in the values
};

struct Header {
  std::vector<Entry> entries;  // in the order of their values
  Metadata metadata;
  std::size_t size;  // of what goes before the values
};

class HeaderReader {
 public:
  HeaderReader(std::span<const std::byte> file, const InFile& in) : file_(file), in_(in) {}

  Header read() const {
    std::uint64_t length = 0;
    if (file_.size() < sizeof length) in_.fail("it is too short for safetensors");
    std::memcpy(&length, file_.data(), sizeof length);
    if (length > file_.size() - sizeof length || length > most_header)
      in_.fail(fmt::format("a header of {} bytes is not within it, or larger than {}", length,
                           most_header));
    const std::string_view text(reinterpret_cast<const char*>(file_.data()) + sizeof length,
                                length);
    Header header;
    header.size = sizeof length + length;
    const Object json = parsed_json(text, in_);
    if (!json.is<Object::Dict>()) in_.fail("its header is no dictionary");
    for (const auto& [name, value] : json.as<Object::Dict>()) {
      if (!value.is<Object::Dict>()) in_.fail(fmt::format("'{}' is no dictionary", name));
      if (name == metadata_key)
        read_metadata(value.as<Object::Dict>(), header.metadata);
      else
        header.entries.push_back(entry(name, value));
    }
    check(header);
    return header;
  }

 private:
  void read_metadata(const Object::Dict& from, Metadata& to) const {
    for (const auto& [name, value] : from) {
      if (!value.is<std::string>()) in_.fail(fmt::format("metadata '{}' is no text", name));
      to[name] = value.as<std::string>();
    }
  }

  std::vector<std::int64_t> sizes(const std::string& name, const Object& from,
                                  std::string_view key) const {
    const Object* list = from.find(key);
    std::vector<std::int64_t> result;
    if (list != nullptr && list->is<Object::List>()) {
      for (const Object& size : list->as<Object::List>())
        if (size.is<std::int64_t>() && size.as<std::int64_t>() >= 0)
          result.push_back(size.as<std::int64_t>());
      if (result.size() == list->size()) return result;
    }
    in_.fail(fmt::format("{} of '{}' is no list of sizes", key, name));
  }

  Entry entry(const std::string& name, const Object& from) const {
    const Object* dtype = from.find("dtype");
    if (dtype == nullptr || !dtype->is<std::string>())
      in_.fail(fmt::format("'{}' has no dtype", name));
    const auto* found = std::ranges::find(named, dtype->as<std::string>(), &Named::name);
    if (found == std::end(named))
      in_.fail(fmt::format("'{}': there is no dtype for {}", name, dtype->as<std::string>()));
    const std::vector<std::int64_t> shape = sizes(name, from, "shape");
    const std::vector<std::int64_t> place = sizes(name, from, "data_offsets");
    const auto bytes = checked_bytes(found->dtype, shape);
    if (place.size() != 2 || place[0] > place[1] || bytes != std::size_t(place[1] - place[0]))
      in_.fail(fmt::format("'{}': {} of shape ({}) does not take what lies from {}", name,
                           found->dtype.str(), fmt::join(shape, ", "), fmt::join(place, " to ")));
    return {name, found->dtype, shape, std::size_t(place[0]), std::size_t(place[1])};
  }

  void check(Header& header) const {
    std::ranges::sort(header.entries, {},
                      [](const Entry& each) { return std::pair(each.begin, each.end); });
    std::size_t at = 0;
    for (const Entry& entry : header.entries) {
      if (entry.begin != at)
        in_.fail(fmt::format("'{}' begins at {} where the values before it end at {}", entry.name,
                             entry.begin, at));
      at = entry.end;
    }
    if (at != file_.size() - header.size)
      in_.fail(
          fmt::format("its tensors take {} bytes where it has {}", at, file_.size() - header.size));
  }

  const std::span<const std::byte> file_;
  const InFile& in_;
};

// By dtype, then by name.
std::vector<StateDict::const_iterator> in_order(const StateDict& state) {
  std::vector<StateDict::const_iterator> order;
  for (auto it = state.begin(); it != state.end(); ++it) order.push_back(it);
  std::ranges::sort(order, {}, [](const StateDict::const_iterator& each) {
    return std::pair(named - &named_as(each->second.dtype()), std::string_view(each->first));
  });
  return order;
}

std::string header_of(const std::vector<StateDict::const_iterator>& order,
                      const Metadata& metadata) {
  std::vector<std::string> members;
  if (!metadata.empty()) {
    std::vector<std::string> texts;
    for (const auto& [name, text] : metadata)
      texts.push_back(fmt::format("{}:{}", quoted_json(name), quoted_json(text)));
    members.push_back(fmt::format("\"{}\":{{{}}}", metadata_key, fmt::join(texts, ",")));
  }
  std::size_t at = 0;
  for (const auto& each : order) {
    const auto& [name, tensor] = *each;
    members.push_back(fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                                  quoted_json(name), named_as(tensor.dtype()).name,
                                  fmt::join(tensor.shape(), ","), at, at + tensor.nbytes()));
    at += tensor.nbytes();
  }
  std::string header = fmt::format("{{{}}}", fmt::join(members, ","));
  header.append((alignment - header.size() % alignment) % alignment, ' ');
  return header;
}

}  // namespace

StateDict load_safetensors(const std::string& path, const std::string& device) {
  const Called called;
  const InFile in{path};
  const auto file = std::make_shared<const Mapping>(path);
  const Header header = HeaderReader(file->bytes(), in).read();
  const auto values = file->bytes().subspan(header.size);
  const Memory memory(file, device);
  StateDict state;
  for (const Entry& each : header.entries) {
    const auto part = values.subspan(each.begin, each.end - each.begin);
    if (!state.emplace(each.name, memory.tensor(part, each.dtype, each.shape)).second)
      in.fail(fmt::format("two tensors are named '{}'", each.name));
  }
  return state;
}

Metadata load_safetensors_metadata(const std::string& path) {
  const Called called;
  const Mapping file(path);
  return HeaderReader(file.bytes(), {path}).read().metadata;
}

void save_safetensors(const std::string& path, const StateDict& state, const Metadata& metadata) {
  const Called called;
  if (state.contains(std::string(metadata_key)))
    user_error(fmt::format("'{}' is no name for a tensor", metadata_key));
  const auto order = in_order(state);
  const std::string header = header_of(order, metadata);
  std::vector<Tensor> tensors;
  for (const auto& each : order) tensors.push_back(each->second);
  Tensor::realize(tensors);  // together: what they share is computed once
  NewFile file(path);
  const std::uint64_t length = header.size();
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(header);
  std::vector<std::byte> bytes;
  for (const Tensor& tensor : tensors) {
    bytes.resize(tensor.nbytes());
    tensor.to_bytes(bytes);
    file.write(bytes);
  }
  file.commit();
}

}  // namespace weft
