// Blocks that are smaller than a large page of the system's, side by side in large pages: what is read in order over more
// memory than there are addresses at hand for waits for a page each 4096 bytes else.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace weft {

class LargePages {
 public:
  static constexpr std::size_t page = std::size_t{2} << 20;

  // Null for blocks of other sizes, and where there is no room.
  void* take(std::size_t bytes);
  // Whether the block was one of these. Pages of which no block is left go back to the system.
  bool give_back(void* memory, std::size_t bytes) noexcept;

 private:
  static constexpr std::size_t chunk_bytes = 8 * page, least_bytes = std::size_t{256} << 10,
                               small_page = 4096;
  using Free = std::map<std::size_t, std::size_t>;  // bytes by where they begin

  static std::size_t in_pages(std::size_t bytes) {
    return (bytes + small_page - 1) / small_page * small_page;
  }
  static void* take_from(std::byte* chunk, Free& free, std::size_t bytes);

  std::mutex mutex_;
  std::map<std::byte*, Free> chunks_;  // by where they begin
};

}  // namespace weft
