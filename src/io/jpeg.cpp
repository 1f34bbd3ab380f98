#include "jpeg.h"

namespace weft {
namespace {

constexpr int fill = 0xff, first_restart = 0xd0, start_of_image = 0xd8, end_of_image = 0xd9,
              start_of_scan = 0xda, huffman_tables = 0xc4;
constexpr int lengths = 16, most_codes = 256;

// Behind the end there are zeros, as for stb.
class JpegBytes {
 public:
  explicit JpegBytes(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool is_at_end() const { return at_ >= bytes_.size(); }
  int next() { return is_at_end() ? 0 : std::to_integer<int>(bytes_[at_++]); }
  int next_two() {
    const int high = next();
    return high << 8 | next();
  }
  void skip(int count) {
    for (; count > 0; --count) next();
  }
  // Of what follows the next byte that announces one; 0 where there is none.
  int next_marker() {
    while (!is_at_end() && next() != fill) {
    }
    int marker = fill;
    while (!is_at_end() && marker == fill) marker = next();
    return marker == fill ? 0 : marker;
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

bool is_sound(JpegBytes& bytes, int left) {
  while (left > 0) {
    int codes = 0;
    bytes.skip(1);
    for (int i = 0; i < lengths; ++i) codes += bytes.next();
    if (codes > most_codes) return false;
    bytes.skip(codes);
    left -= 1 + lengths + codes;
  }
  return true;
}

// Compressed data hold zeros behind what would announce a marker, and marks to restart at.
bool is_within_data(int marker) {
  return marker == 0 || (marker >= first_restart && marker < start_of_image);
}

}  // namespace

bool has_sound_tables(std::span<const std::byte> file) {
  if (file.empty() || std::to_integer<int>(file[0]) != fill) return true;
  JpegBytes bytes(file);
  for (int marker = bytes.next_marker(); !bytes.is_at_end() && marker != end_of_image;) {
    if (marker == start_of_image) {
      marker = bytes.next_marker();
      continue;
    }
    const int left = bytes.next_two() - 2;
    if (marker == huffman_tables) {
      if (!is_sound(bytes, left)) return false;
    } else {
      bytes.skip(left);
    }
    const bool has_data = marker == start_of_scan;
    marker = bytes.next_marker();
    while (has_data && is_within_data(marker) && !bytes.is_at_end()) marker = bytes.next_marker();
  }
  return true;
}

}  // namespace weft
