// Immutable values kept once for the life of the process: names, and short lists of integers.
//
// A handle is one pointer, so it can live in a node's arg and compares in one instruction. Use it
// for values of which a program has few distinct ones: nothing is ever freed, the code of a CUSTOM
// node (a whole kernel's source, say) as little as a name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

template <class T>
class Interned {
 public:
  Interned();  // the empty value
  explicit Interned(T value);

  const T& get() const { return entry_->value; }
  std::uint64_t hash() const { return entry_->hash; }  // of the value, not of the address
  bool empty() const { return get().empty(); }
  friend bool operator==(Interned, Interned) = default;

 private:
  struct Entry {
    std::uint64_t hash;
    T value;
  };
  static const Entry* intern(T value);
  const Entry* entry_;
};

using Symbol = Interned<std::string>;
using IntList = Interned<std::vector<std::int64_t>>;

extern template class Interned<std::string>;
extern template class Interned<std::vector<std::int64_t>>;

}  // namespace weft
