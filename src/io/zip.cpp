// An archive is its members one after the other, each behind a header of its own, then a directory of them all, and
// at the very end where that begins. What is read is what the directory says. Sizes of 4 GiB and more stand in an
// extra field (zip64).

#include "zip.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>
#include <zlib.h>

#include "deflate.h"

namespace weft {
namespace {

constexpr std::uint32_t entry_mark = 0x04034b50, directory_mark = 0x02014b50, end_mark = 0x06054b50,
                        end64_mark = 0x06064b50, locator64_mark = 0x07064b50;
constexpr std::size_t entry_size = 30, directory_size = 46, end_size = 22, end64_size = 56,
                      locator64_size = 20;
constexpr std::uint64_t in_extra = 0xffffffff;  // a size that stands in the extra field
constexpr std::uint16_t zip64_id = 1, format_version = 45, stored = 0, deflated = 8,
                        utf8_names = 1 << 11;
constexpr std::uint16_t first_date = 1 << 5 | 1;  // 1980-01-01: archives do not depend on the time

class Reader {
 public:
  Reader(std::span<const std::byte> archive, const InFile& in) : archive_(archive), in_(in) {}

  std::vector<ZipMember> read() {
    const auto [count, start] = directory();
    std::vector<ZipMember> members;
    std::uint64_t at = start, packed = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (number(at, 4) != directory_mark) in_.fail("its directory is damaged");
      const std::uint64_t name = number(at + 28, 2), extra = number(at + 30, 2);
      const auto text = part(at + directory_size, name);
      ZipMember member = member_at(at, part(at + directory_size + name, extra));
      member.name.assign(reinterpret_cast<const char*>(text.data()), text.size());
      // Otherwise a few bytes could stand for any number of members.
      packed += member.packed.size();
      if (packed > archive_.size()) in_.fail("its members overlap");
      members.push_back(std::move(member));
      at += directory_size + name + extra + number(at + 32, 2);
    }
    return members;
  }

 private:
  std::span<const std::byte> part(std::uint64_t at, std::uint64_t size) const {
    if (at > archive_.size() || size > archive_.size() - at)
      in_.fail("it is cut off, or no archive");
    return archive_.subspan(at, size);
  }

  std::uint64_t number(std::uint64_t at, std::size_t width) const {
    return number_in(part(at, width), 0, width);
  }

  std::uint64_t number_in(std::span<const std::byte> bytes, std::size_t at,
                          std::size_t width) const {
    if (at + width > bytes.size()) in_.fail("its directory is damaged");
    std::uint64_t value = 0;
    std::memcpy(&value, &bytes[at], width);
    return value;
  }

  // How many members it has, and where it begins.
  std::pair<std::uint64_t, std::uint64_t> directory() const {
    if (archive_.size() < end_size) in_.fail("it is no archive");
    std::uint64_t at = archive_.size() - end_size;
    while (number(at, 4) != end_mark)  // a comment may follow
      if (at-- == 0) in_.fail("it is no archive");
    if (at >= locator64_size && number(at - locator64_size, 4) == locator64_mark) {
      const std::uint64_t end64 = number(at - locator64_size + 8, 8);
      if (number(end64, 4) != end64_mark) in_.fail("its directory is damaged");
      return {number(end64 + 32, 8), number(end64 + 48, 8)};
    }
    return {number(at + 10, 2), number(at + 16, 4)};
  }

  ZipMember member_at(std::uint64_t at, std::span<const std::byte> extra) const {
    std::uint64_t size = number(at + 24, 4), packed = number(at + 20, 4),
                  start = number(at + 42, 4);
    read_zip64(extra, {&size, &packed, &start});
    if (number(start, 4) != entry_mark) in_.fail("its directory is damaged");
    const std::uint64_t data = start + entry_size + number(start + 26, 2) + number(start + 28, 2);
    return {"", part(data, packed), number(at + 10, 2), size, number(at + 16, 4)};
  }

  void read_zip64(std::span<const std::byte> extra,
                  std::initializer_list<std::uint64_t*> values) const {
    for (std::size_t at = 0; at + 4 <= extra.size();) {
      const std::uint64_t id = number_in(extra, at, 2), size = number_in(extra, at + 2, 2);
      std::size_t field = at + 4;
      if (id == zip64_id)
        for (std::uint64_t* value : values) {
          if (*value != in_extra) continue;
          *value = number_in(extra, field, 8);
          field += 8;
        }
      at += 4 + size;
    }
  }

  const std::span<const std::byte> archive_;
  const InFile& in_;
};

class Writer {
 public:
  void number(std::uint64_t value, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i)
      bytes.push_back(i < sizeof value ? static_cast<std::byte>(value >> (8 * i)) : std::byte{0});
  }
  void add(std::span<const std::byte> more) { bytes.insert(bytes.end(), more.begin(), more.end()); }
  void add(const std::string& text) { add(std::as_bytes(std::span(text))); }

  std::vector<std::byte> bytes;
};

// What an entry's own header and the directory have in common. Sizes always stand in the extra field, whose
// length the caller knows.
void write_common(Writer& out, const ZipEntry& entry, bool compressed, std::size_t extra) {
  out.number(format_version, 2);
  out.number(utf8_names, 2);
  out.number(compressed ? deflated : stored, 2);
  out.number(0, 2);
  out.number(first_date, 2);
  out.number(crc32_z(0, reinterpret_cast<const Bytef*>(entry.bytes.data()), entry.bytes.size()), 4);
  out.number(in_extra, 4);
  out.number(in_extra, 4);
  out.number(entry.name.size(), 2);
  out.number(extra, 2);
}

void write_end(Writer& out, std::size_t count, std::size_t start) {
  const std::size_t end64 = out.bytes.size();
  out.number(end64_mark, 4);
  out.number(end64_size - 12, 8);
  out.number(format_version, 2);
  out.number(format_version, 2);
  out.number(0, 8);
  out.number(count, 8);
  out.number(count, 8);
  out.number(end64 - start, 8);
  out.number(start, 8);
  out.number(locator64_mark, 4);
  out.number(0, 4);
  out.number(end64, 8);
  out.number(1, 4);
  out.number(end_mark, 4);
  out.number(0, 4);
  const std::size_t short_count = std::min<std::size_t>(count, 0xffff);
  out.number(short_count, 2);
  out.number(short_count, 2);
  out.number(in_extra, 4);
  out.number(in_extra, 4);
  out.number(0, 2);
}

}  // namespace

std::vector<ZipMember> zip_members(std::span<const std::byte> archive, const InFile& in) {
  return Reader(archive, in).read();
}

bool ZipMember::is_stored() const { return method == stored; }

std::vector<std::byte> ZipMember::unpacked(const InFile& in) const {
  if (!is_stored() && method != deflated)
    in.fail(fmt::format("a member is packed by method {}", method));
  std::vector<std::byte> bytes;
  if (is_stored())
    bytes.assign(packed.begin(), packed.end());
  else
    bytes = inflate(packed, size, in);
  const auto found = crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  if (found != sum) in.fail("a member is damaged: its checksum is wrong");
  return bytes;
}

std::vector<std::byte> zipped(const std::vector<ZipEntry>& entries, bool compressed) {
  Writer out, directory;
  for (const ZipEntry& entry : entries) {
    const std::size_t start = out.bytes.size();
    const std::vector<std::byte> data = compressed ? deflate(entry.bytes) : entry.bytes;
    out.number(entry_mark, 4);
    write_common(out, entry, compressed, 20);
    out.add(entry.name);
    out.number(zip64_id, 2);
    out.number(16, 2);
    out.number(entry.bytes.size(), 8);
    out.number(data.size(), 8);
    out.add(data);

    directory.number(directory_mark, 4);
    directory.number(format_version, 2);
    write_common(directory, entry, compressed, 28);
    directory.number(0, 10);  // comment, disk, attributes
    directory.number(in_extra, 4);
    directory.add(entry.name);
    directory.number(zip64_id, 2);
    directory.number(24, 2);
    directory.number(entry.bytes.size(), 8);
    directory.number(data.size(), 8);
    directory.number(start, 8);
  }
  const std::size_t start = out.bytes.size();
  out.add(directory.bytes);
  write_end(out, entries.size(), start);
  return std::move(out.bytes);
}

}  // namespace weft
