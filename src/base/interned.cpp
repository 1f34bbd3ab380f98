#include <weft/dev/base/interned.h>

#include <deque>
#include <mutex>
#include <unordered_map>

#include <weft/dev/base/hash.h>

namespace weft {
namespace {

std::uint64_t hash_value(const std::string& text) { return hash_text(text); }

std::uint64_t hash_value(const std::vector<std::int64_t>& list) {
  std::uint64_t state = list.size();
  for (std::int64_t value : list) state = hash_mix(state, static_cast<std::uint64_t>(value));
  return state;
}

}  // namespace

template <class T>
const typename Interned<T>::Entry* Interned<T>::intern(T value) {
  // Leaked on purpose: handles may be used by destructors of other static objects.
  static std::mutex& mutex = *new std::mutex;
  static auto& entries = *new std::deque<Entry>;
  static auto& by_hash = *new std::unordered_multimap<std::uint64_t, const Entry*>;

  const std::uint64_t hash = hash_value(value);
  const std::lock_guard lock(mutex);
  const auto [first, last] = by_hash.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if (it->second->value == value) return it->second;
  const Entry* entry = &entries.emplace_back(Entry{hash, std::move(value)});
  by_hash.emplace(hash, entry);
  return entry;
}

template <class T>
Interned<T>::Interned() {
  static const Entry* const empty = intern(T{});
  entry_ = empty;
}

template <class T>
Interned<T>::Interned(T value) : entry_(intern(std::move(value))) {}

template class Interned<std::string>;
template class Interned<std::vector<std::int64_t>>;

}  // namespace weft
