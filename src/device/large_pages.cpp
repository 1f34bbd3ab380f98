#include "large_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>
#include <new>

namespace weft {

void* LargePages::take_from(std::byte* chunk, Free& free, std::size_t bytes) {
  const auto fits = [&](const auto& block) { return block.second >= bytes; };
  const auto found = std::ranges::find_if(free, fits);
  if (found == free.end()) return nullptr;
  const auto [begin, size] = *found;
  if (size > bytes) free.emplace(begin + bytes, size - bytes);
  free.erase(found);
  return chunk + begin;
}

void* LargePages::take(std::size_t bytes) {
  if (bytes < least_bytes || bytes > most_bytes) return nullptr;
  bytes = in_pages(bytes);
  const std::lock_guard lock(mutex_);
  if (bytes <= bytes_elsewhere_) {
    bytes_elsewhere_ -= bytes;
    return nullptr;
  }
  for (auto& [chunk, free] : chunks_)
    if (void* memory = take_from(chunk, free, bytes)) return memory;
  void* memory = ::operator new(chunk_bytes, std::align_val_t{page}, std::nothrow);
  if (memory == nullptr) return nullptr;
  madvise(memory, chunk_bytes, MADV_HUGEPAGE);
  auto* const chunk = static_cast<std::byte*>(memory);
  try {
    return take_from(chunk, chunks_.emplace(chunk, Free{{0, chunk_bytes}}).first->second, bytes);
  } catch (const std::bad_alloc&) {
    chunks_.erase(chunk);
    ::operator delete(memory, std::align_val_t{page});
    return nullptr;
  }
}

bool LargePages::give_back(void* memory, std::size_t bytes) noexcept try {
  auto* const block = static_cast<std::byte*>(memory);
  const std::lock_guard lock(mutex_);
  auto chunk = chunks_.upper_bound(block);
  if (chunk == chunks_.begin()) return false;
  --chunk;  // the last that begins before it
  if (block >= chunk->first + chunk_bytes) return false;
  Free& free = chunk->second;
  auto now = free.emplace(static_cast<std::size_t>(block - chunk->first), in_pages(bytes)).first;
  const auto join = [&](auto first, auto second) {
    first->second += second->second;
    free.erase(second);
    return first;
  };
  const auto meet = [](auto first, auto second) {
    return first->first + first->second == second->first;
  };
  if (const auto next = std::next(now); next != free.end() && meet(now, next)) join(now, next);
  if (now != free.begin() && meet(std::prev(now), now)) now = join(std::prev(now), now);
  if (free.begin()->second == chunk_bytes) {
    ::operator delete(chunk->first, std::align_val_t{page});
    chunks_.erase(chunk);
    return true;
  }
  const std::size_t first = (now->first + page - 1) / page * page;
  const std::size_t last = (now->first + now->second) / page * page;
  if (first < last) madvise(chunk->first + first, last - first, MADV_DONTNEED);
  return true;
} catch (const std::bad_alloc&) {
  return true;  // lost: there was no room to write down that it is free
}

}  // namespace weft
