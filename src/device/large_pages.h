// Blocks that stay, side by side in large pages of the system's: what is read in order over more memory than there are
// addresses at hand for waits each 4096 bytes else. The first of them are left to others: of so few all addresses are at
// hand, and the last large page is seldom full.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace weft {

class LargePages {
 public:
  static constexpr std::size_t page = std::size_t{2} << 20;

  explicit LargePages(std::size_t bytes_elsewhere) : bytes_elsewhere_(bytes_elsewhere) {}

  // Null for blocks of other sizes, for the first, and where there is no room.
  void* take(std::size_t bytes);
  // Whether the block was one of these. Pages in which no block is left go back to the system.
  bool give_back(void* memory, std::size_t bytes) noexcept;

 private:
  static constexpr std::size_t chunk_bytes = 8 * page, least_bytes = std::size_t{16} << 10,
                               most_bytes = chunk_bytes / 4, small_page = 4096;
  using Free = std::map<std::size_t, std::size_t>;  // bytes by where they begin

  static std::size_t in_pages(std::size_t bytes) {
    return (bytes + small_page - 1) / small_page * small_page;
  }
  static void* take_from(std::byte* chunk, Free& free, std::size_t bytes);

  std::mutex mutex_;
  std::size_t bytes_elsewhere_;        // that are still to be there
  std::map<std::byte*, Free> chunks_;  // by where they begin
};

}  // namespace weft
