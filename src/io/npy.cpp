// The format: a magic string, a version, the length of a header, and the header: a Python dictionary of
// descr (byte order, kind and width), fortran_order and shape. Then the values.

#include "npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>
#include <weft/io.h>

#include <weft/dev/io/file.h>
#include <weft/dev/io/shape.h>

namespace weft {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t alignment = 64;

// As in the descr, without the byte order.
struct Named {
  std::string_view name;
  DType dtype;
};
constexpr Named named[] = {
    {"b1", dtypes::bool_}, {"i1", dtypes::i8},  {"i2", dtypes::i16}, {"i4", dtypes::i32},
    {"i8", dtypes::i64},   {"u1", dtypes::u8},  {"u2", dtypes::u16}, {"u4", dtypes::u32},
    {"u8", dtypes::u64},   {"f2", dtypes::f16}, {"f4", dtypes::f32}, {"f8", dtypes::f64},
};

struct Header : NumpyLayout {
  std::size_t end = 0;  // where the values begin
};

class HeaderReader {
 public:
  HeaderReader(std::span<const std::byte> bytes, const std::string& name)
      : name_(name), text_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}

  Header read() {
    if (!text_.starts_with(magic) || text_.size() < magic.size() + 4) fail("it is no .npy file");
    const bool is_long = text_[magic.size()] >= 2;
    const std::size_t start = magic.size() + (is_long ? 6 : 4);
    if (text_.size() < start) fail("its header is cut off");
    std::size_t length = 0;
    for (std::size_t i = start; i-- > magic.size() + 2;)
      length = length << 8 | static_cast<unsigned char>(text_[i]);
    if (length > text_.size() - start) fail("its header is cut off");
    Header header;
    header.end = start + length;
    text_ = text_.substr(start, length);
    read_dtype(quoted("descr"), header);
    header.column_major = after("fortran_order").starts_with("True");
    read_shape(after("shape"), header);
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    user_error(fmt::format("load_npy: '{}': {}", name_, what));
  }

  // What stands behind a key.
  std::string_view after(std::string_view key) const {
    const std::string quoted_key = fmt::format("'{}':", key);
    const std::size_t at = text_.find(quoted_key);
    if (at == text_.npos) fail(fmt::format("its header has no {}", key));
    std::string_view rest = text_.substr(at + quoted_key.size());
    return rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
  }

  std::string_view quoted(std::string_view key) const {
    const std::string_view value = after(key);
    const std::size_t end = value.find('\'', 1);
    if (!value.starts_with('\'') || end == value.npos)
      fail(fmt::format("values of {} are no numbers of one dtype", value.substr(0, 40)));
    return value.substr(1, end - 1);
  }

  void read_dtype(std::string_view descr, Header& header) const {
    const auto found = numpy_dtype(descr.substr(std::min<std::size_t>(1, descr.size())));
    if (!found) fail(fmt::format("there is no dtype for {}", descr));
    header.dtype = *found;
    header.swapped = descr.starts_with('>');
  }

  void read_shape(std::string_view value, Header& header) const {
    if (!value.starts_with('(')) fail("its shape is no tuple");
    const char* at = value.data() + 1;
    const char* end = value.data() + value.size();
    for (;;) {
      while (at != end && (*at == ' ' || *at == ',')) ++at;
      if (at == end) fail("its shape is cut off");
      if (*at == ')') return;
      std::int64_t size = 0;
      const auto [next, error] = std::from_chars(at, end, size);
      if (error != std::errc() || size < 0) fail("its shape is not made of sizes");
      header.shape.push_back(size);
      at = next;
    }
  }

  const std::string& name_;
  std::string_view text_;
};

void swap_bytes(std::span<std::byte> bytes, std::size_t width) {
  for (std::size_t i = 0; i < bytes.size(); i += width)
    std::ranges::reverse(bytes.subspan(i, width));
}

}  // namespace

std::optional<DType> numpy_dtype(std::string_view name) {
  const auto* found = std::ranges::find(named, name, &Named::name);
  return found == std::end(named) ? std::nullopt : std::optional(found->dtype);
}

Tensor numpy_tensor(NumpyLayout layout, std::span<const std::byte> bytes, const std::string& name,
                    const Options& options) {
  const InFile in{name};
  const auto count = checked_bytes(layout.dtype, layout.shape);
  if (!count) in.fail(fmt::format("no tensor has the shape ({})", fmt::join(layout.shape, ", ")));
  if (bytes.size() < *count)
    in.fail(fmt::format("{} bytes of values where the shape asks for {}", bytes.size(), *count));
  std::vector<std::byte> values(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(*count));
  if (layout.swapped) swap_bytes(values, layout.dtype.bytes());
  if (layout.column_major) std::ranges::reverse(layout.shape);
  Tensor tensor = Tensor::from_bytes(values, Shape(layout.shape),
                                     {.dtype = layout.dtype, .device = options.device});
  if (layout.column_major) tensor = tensor.T().contiguous();
  if (!options.dtype.is_void()) tensor = tensor.cast(options.dtype);
  return options.requires_grad ? tensor.set_requires_grad() : tensor;
}

Tensor decoded_npy(std::span<const std::byte> bytes, const std::string& name,
                   const Options& options) {
  const Header header = HeaderReader(bytes, name).read();
  return numpy_tensor(header, bytes.subspan(header.end), name, options);
}

std::vector<std::byte> encoded_npy(const Tensor& tensor, const std::string& name) {
  const auto* found = std::ranges::find(named, tensor.dtype(), &Named::dtype);
  if (found == std::end(named))
    user_error(fmt::format("save_npy: '{}': NumPy has no {}: cast the tensor first", name,
                           tensor.dtype().str()));
  const std::vector<std::int64_t> shape = tensor.shape();
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   tensor.dtype().bytes() == 1 ? '|' : '<', found->name,
                                   fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  const std::size_t before = magic.size() + 4;
  header.append(alignment - 1 - (before + header.size()) % alignment, ' ');
  header += '\n';
  std::string text(magic);
  text +=
      {'\1', '\0', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  text += header;
  std::vector<std::byte> bytes(text.size() + tensor.nbytes());
  std::memcpy(bytes.data(), text.data(), text.size());
  tensor.to_bytes(std::span(bytes).subspan(text.size()));
  return bytes;
}

Tensor load_npy(const std::string& path, const Options& options) {
  return Called(), decoded_npy(read_file(path), path, options);
}

void save_npy(const std::string& path, const Tensor& tensor) {
  const Called called;
  write_file(path, encoded_npy(tensor, path));
}

}  // namespace weft
