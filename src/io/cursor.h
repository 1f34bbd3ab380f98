// Bytes read one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include <weft/dev/io/file.h>

namespace weft {

// What would be read beyond the end is refused before anything is allocated for it.
class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, const InFile& in) : bytes_(bytes), in_(in) {}

  const InFile& in() const { return in_; }
  std::size_t size() const { return bytes_.size(); }
  std::size_t at() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }
  // So many may follow, of at least that many bytes each.
  void want(std::uint64_t count, std::size_t each = 1) const {
    if (count > left() / each) in_.fail("it is cut off, or damaged");
  }

  std::span<const std::byte> take(std::uint64_t count) {
    want(count);
    at_ += count;
    return bytes_.subspan(at_ - count, count);
  }
  std::string_view text(std::uint64_t count) {
    const auto bytes = take(count);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::string_view line() {  // without its end
    const auto rest = std::string_view(reinterpret_cast<const char*>(bytes_.data()) + at_, left());
    const std::size_t end = rest.find('\n');
    if (end == rest.npos) in_.fail("it is cut off");
    at_ += end + 1;
    return rest.substr(0, end);
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

 private:
  const std::span<const std::byte> bytes_;
  const InFile& in_;
  std::size_t at_ = 0;
};

}  // namespace weft
