// The format: metadata by keys, then of each tensor its name, sizes (the one of neighbours first), type and place,
// then the values.

#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>
#include <weft/state.h>

#include <weft/dev/io/mapping.h>
#include <weft/dev/io/shape.h>
#include "cursor.h"
#include "gguf_blocks.h"

namespace weft {
namespace {

constexpr std::string_view magic = "GGUF";
constexpr std::uint32_t oldest = 2, newest = 3, most_axes = 4, text_type = 8, list_type = 9;
constexpr std::int64_t usual_alignment = 32;
constexpr int most_levels = 8;

struct Entry {
  std::string name;
  const GgufType* type;
  std::vector<std::int64_t> shape;
  std::size_t offset, bytes;
};

class GgufReader {
 public:
  GgufReader(std::span<const std::byte> file, const InFile& in) : from_(file, in), in_(in) {}

  void read() {
    if (from_.left() < magic.size() || from_.text(magic.size()) != magic) in_.fail("it is no GGUF");
    const auto version = from_.number<std::uint32_t>();
    if (version < oldest || version > newest)
      in_.fail(fmt::format("it is GGUF of version {} where {} and {} are known", version, oldest,
                           newest));
    const auto tensors = from_.number<std::uint64_t>(), keys = from_.number<std::uint64_t>();
    Object::Dict dict;
    for (std::uint64_t i = 0; i < keys; ++i) {
      std::string key = text();
      const auto type = from_.number<std::uint32_t>();
      dict.emplace_back(std::move(key), value(type, 0));
    }
    metadata = dict;
    for (std::uint64_t i = 0; i < tensors; ++i) entries.push_back(entry());
    start = from_.at();
    const std::size_t alignment = this->alignment();
    start += (alignment - start % alignment) % alignment;
  }

  Object metadata;
  std::vector<Entry> entries;
  std::size_t start = 0;  // of the values

 private:
  std::string text() { return std::string(from_.text(from_.number<std::uint64_t>())); }

  template <class T>
  static Object number(Cursor& from) {
    return from.number<T>();
  }
  static Object truth(Cursor& from) { return from.number<std::uint8_t>() != 0; }
  static Object large(Cursor& from) {  // what does not fit in an integer is a double
    const auto value = from.number<std::uint64_t>();
    return value >> 63 == 0 ? Object(value) : Object(static_cast<double>(value));
  }

  struct Scalar {
    std::size_t bytes;
    Object (*read)(Cursor&);
  };
  static constexpr Scalar scalars[] = {{1, number<std::uint8_t>},
                                       {1, number<std::int8_t>},
                                       {2, number<std::uint16_t>},
                                       {2, number<std::int16_t>},
                                       {4, number<std::uint32_t>},
                                       {4, number<std::int32_t>},
                                       {4, number<float>},
                                       {1, truth},
                                       {8, nullptr},   // text: its length
                                       {12, nullptr},  // a list: type and length
                                       {8, large},
                                       {8, number<std::int64_t>},
                                       {8, number<double>}};

  Object value(std::uint32_t type, int level) {
    if (type >= std::size(scalars))
      in_.fail(fmt::format("it has a value of unknown type {}", type));
    if (level > most_levels) in_.fail("its lists are nested too deeply");
    if (type == text_type) return text();
    if (type != list_type) return scalars[type].read(from_);
    const auto of = from_.number<std::uint32_t>();
    const auto count = from_.number<std::uint64_t>();
    if (of >= std::size(scalars)) in_.fail(fmt::format("it has a list of unknown type {}", of));
    from_.want(count, scalars[of].bytes);
    Object::List list;
    for (std::uint64_t i = 0; i < count; ++i) list.push_back(value(of, level + 1));
    return list;
  }

  std::size_t alignment() const {
    const Object* found = metadata.find("general.alignment");
    if (found == nullptr) return usual_alignment;
    const std::int64_t value = found->is<std::int64_t>() ? found->as<std::int64_t>() : 0;
    if (value <= 0 || !std::has_single_bit(static_cast<std::uint64_t>(value)))
      in_.fail("its alignment is no power of two");
    return static_cast<std::size_t>(value);
  }

  Entry entry() {
    Entry result{text(), nullptr, {}, 0, 0};
    const auto axes = from_.number<std::uint32_t>();
    if (axes > most_axes) in_.fail(fmt::format("'{}' has {} axes", result.name, axes));
    for (std::uint32_t i = 0; i < axes; ++i)
      result.shape.insert(result.shape.begin(), from_.number<std::int64_t>());
    const auto code = from_.number<std::uint32_t>();
    result.type = find_gguf_type(code);
    if (result.type == nullptr)
      in_.fail(fmt::format("'{}' is of type {}, which is not known", result.name, code));
    const auto count = checked_bytes(dtypes::u8, result.shape);
    const std::int64_t row = result.shape.empty() ? 1 : result.shape.back();
    if (!count || row % result.type->elements != 0)
      in_.fail(fmt::format("'{}': {} of shape ({}) is no whole number of blocks", result.name,
                           result.type->name, fmt::join(result.shape, ", ")));
    const std::size_t blocks = *count / static_cast<std::size_t>(result.type->elements);
    if (__builtin_mul_overflow(blocks, static_cast<std::size_t>(result.type->bytes), &result.bytes))
      in_.fail(fmt::format("'{}' is larger than any memory", result.name));
    result.offset = from_.number<std::uint64_t>();
    return result;
  }

  Cursor from_;
  const InFile& in_;
};

// Nobody but the tensor's graph has its blocks: what is assigned goes elsewhere. So kernels may pack them.
Tensor constant(const Memory& memory, std::span<const std::byte> blocks, std::int64_t size) {
  Tensor tensor = memory.tensor(blocks, dtypes::u8, {std::ssize(blocks) / size, size});
  const bool is_in_place = tensor.uop()->op() == Op::Buffer;
  return is_in_place ? tensor.freeze() : tensor;
}

struct Memories {
  Memory plain, blocks;
};

Tensor tensor_of(const Memories& memory, std::span<const std::byte> bytes, const Entry& entry) {
  if (entry.type->decode == nullptr)
    return memory.plain.tensor(bytes, entry.type->dtype, entry.shape);
  if (bytes.empty()) return memory.plain.tensor(bytes, dtypes::f32, entry.shape);
  return entry.type->decode(constant(memory.blocks, bytes, entry.type->bytes))
      .reshape(Shape(entry.shape));
}

}  // namespace

Gguf load_gguf(const std::string& path, const std::string& device) {
  const Called called;
  const InFile in{path};
  const auto file = std::make_shared<const Mapping>(path);
  GgufReader reader(file->bytes(), in);
  reader.read();
  const std::size_t start = std::min(reader.start, file->bytes().size());
  const auto values = file->bytes().subspan(start);
  const Memories memory{Memory(file, device), Memory(file, device, Memory::Assigned::Never)};
  Gguf result{reader.metadata, {}};
  std::size_t taken = 0;
  for (const Entry& each : reader.entries) {
    if (each.offset > values.size() || each.bytes > values.size() - each.offset)
      in.fail(fmt::format("'{}' lies outside of it", each.name));
    // Otherwise a few bytes could stand for any number of copies.
    taken += each.bytes;
    if (taken > values.size()) in.fail("its tensors overlap");
    const Tensor tensor = tensor_of(memory, values.subspan(each.offset, each.bytes), each);
    if (!result.tensors.emplace(each.name, tensor).second)
      in.fail(fmt::format("two tensors are named '{}'", each.name));
  }
  return result;
}

}  // namespace weft
