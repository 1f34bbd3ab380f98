// The only source that includes <zlib.h>, but for zip.cpp's checksums.

#include "deflate.h"

#include <algorithm>
#include <limits>

#include <weft/error.h>
#include <zlib.h>

namespace weft {
namespace {

constexpr std::size_t best_ratio = 1100;  // deflate packs to a thousandth at best
constexpr int gzip_too = 32;              // added to the bits of the window

// A stream of zlib, and how far it is in what it reads and writes: its own numbers have 32 bits.
class Stream {
 public:
  Stream(std::span<const std::byte> from, int (*end)(z_stream*)) : from_(from), end_(end) {}
  ~Stream() { end_(&state); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  std::size_t left() const { return from_.size() - read_; }
  std::size_t written() const { return written_; }

  int step(int (*work)(z_stream*, int), int at_end, std::span<std::byte> to) {
    constexpr auto most = std::size_t{std::numeric_limits<uInt>::max()};
    state.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from_.data() + read_));
    state.avail_in = static_cast<uInt>(std::min(most, left()));
    state.next_out = reinterpret_cast<Bytef*>(to.data() + written_);
    state.avail_out = static_cast<uInt>(std::min(most, to.size() - written_));
    const std::size_t in = state.avail_in, out = state.avail_out;
    const int result = work(&state, in == left() ? at_end : Z_NO_FLUSH);
    read_ += in - state.avail_in;
    written_ += out - state.avail_out;
    return result;
  }

  z_stream state{};

 private:
  const std::span<const std::byte> from_;
  int (*const end_)(z_stream*);
  std::size_t read_ = 0, written_ = 0;
};

void want_ready(int state) {
  if (state != Z_OK) internal_error("zlib cannot begin");
}

}  // namespace

std::vector<std::byte> deflate(std::span<const std::byte> bytes) {
  Stream stream(bytes, deflateEnd);
  want_ready(deflateInit2(&stream.state, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8,
                          Z_DEFAULT_STRATEGY));
  std::vector<std::byte> result(deflateBound(&stream.state, bytes.size()));
  while (stream.step(::deflate, Z_FINISH, result) == Z_OK) {
  }
  result.resize(stream.written());
  return result;
}

std::vector<std::byte> inflate(std::span<const std::byte> packed, std::uint64_t size,
                               const InFile& in) {
  // No damaged size asks for more memory than can be meant.
  if (size / best_ratio > packed.size() + 1) in.fail("a member is damaged: its size is wrong");
  std::vector<std::byte> bytes(size);
  Stream stream(packed, inflateEnd);
  want_ready(inflateInit2(&stream.state, -MAX_WBITS));
  int state = Z_OK;
  while (state == Z_OK) state = stream.step(::inflate, Z_NO_FLUSH, bytes);
  if (state != Z_STREAM_END || stream.written() != size) in.fail("a member is damaged");
  return bytes;
}

bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

std::vector<std::byte> gunzipped(std::span<const std::byte> file, const InFile& in) {
  Stream stream(file, inflateEnd);
  want_ready(inflateInit2(&stream.state, MAX_WBITS + gzip_too));
  std::vector<std::byte> bytes(std::max<std::size_t>(4096, file.size()));
  for (;;) {
    const int state = stream.step(::inflate, Z_NO_FLUSH, bytes);
    if (state == Z_STREAM_END && stream.left() == 0) break;
    const bool is_full = stream.written() == bytes.size();
    if (state == Z_STREAM_END)
      want_ready(inflateReset(&stream.state));
    else if (state == Z_BUF_ERROR ? !is_full : state != Z_OK)
      in.fail("it is cut off, or no gzip");
    if (is_full) bytes.resize(2 * bytes.size());
  }
  bytes.resize(stream.written());
  return bytes;
}

}  // namespace weft
