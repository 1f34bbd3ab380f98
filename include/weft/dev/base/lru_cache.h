// Values by key, of which those that were asked for last are kept.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <utility>

namespace weft {

template <class Key, class Value>
class LruCache {
 public:
  explicit LruCache(std::size_t most) : most_(most) {}

  // Null where there is none. Valid until the next insert().
  const Value* find(const Key& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &found->second->second;
  }

  // A value that is there already stays. A new one takes the place of the one that was not asked for
  // the longest, where there are as many as there may be.
  const Value& insert(const Key& key, Value value) {
    if (const Value* found = find(key)) return *found;
    Entries entry;  // apart, until the map has it: either may be out of memory
    entry.emplace_front(key, std::move(value));
    places_.emplace(key, entry.begin());
    entries_.splice(entries_.begin(), entry);
    if (entries_.size() > most_) {
      places_.erase(entries_.back().first);
      entries_.pop_back();
    }
    return entries_.front().second;
  }

  void clear() {
    places_.clear();
    entries_.clear();
  }

 private:
  using Entries = std::list<std::pair<Key, Value>>;  // the last one asked for first

  std::size_t most_;
  Entries entries_;
  std::map<Key, typename Entries::iterator> places_;
};

}  // namespace weft
