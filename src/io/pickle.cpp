// The machine and its instructions.

#include "pickle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace weft {

Pickle::Ref Pickle::top() const {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() <= floor) fail("its pickle takes from an empty stack");
  return stack_.back();
}

Pickle::Ref Pickle::pop() {
  const Ref node = top();
  stack_.pop_back();
  return node;
}

Pickle::Refs Pickle::pop_to_mark() {
  if (marks_.empty()) fail("its pickle has no mark where one is needed");
  Refs items(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
  stack_.resize(marks_.back());
  marks_.pop_back();
  return items;
}

void Pickle::push_kept(std::uint64_t place) {
  const auto found = kept_.find(place);
  if (found == kept_.end()) fail("its pickle asks for what it has not kept");
  push(found->second);
}

void Pickle::fill(Ref container, const Refs& items) {
  if (auto* list = find<Sequence>(container)) {
    list->items.insert(list->items.end(), items.begin(), items.end());
  } else if (auto* dict = find<Table>(container); dict != nullptr && items.size() % 2 == 0) {
    for (std::size_t i = 0; i < items.size(); i += 2)
      dict->entries.emplace_back(items[i], items[i + 1]);
  } else {
    fail("its pickle fills what is no container");
  }
}

// One function for each instruction, by the byte that stands for it.
struct Opcodes {
  struct Opcode {
    unsigned char code;
    void (*run)(Pickle&);
  };

  // Two's complement of any length, little-endian: a double where it is too long for 64 bits.
  static Object integer_of(std::span<const std::byte> bytes) {
    const bool is_negative = !bytes.empty() && (bytes.back() & std::byte{0x80}) != std::byte{0};
    std::uint64_t low = is_negative ? ~std::uint64_t{0} : 0;
    double real = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
      low = low << 8 | std::to_integer<std::uint64_t>(bytes[i]);
      real = real * 256 + std::to_integer<int>(bytes[i]);
    }
    if (bytes.size() <= sizeof low) return static_cast<std::int64_t>(low);
    return is_negative ? real - std::pow(256.0, static_cast<double>(bytes.size())) : real;
  }

  template <class T>
  static void integer(Pickle& p) {
    p.make(Object(static_cast<std::int64_t>(p.from_.number<T>())));
  }
  template <class Size>
  static void long_integer(Pickle& p) {
    p.make(integer_of(p.from_.take(static_cast<std::uint64_t>(p.from_.number<Size>()))));
  }
  template <class Size>
  static void text(Pickle& p) {
    p.make(Object(std::string(p.from_.text(static_cast<std::uint64_t>(p.from_.number<Size>())))));
  }
  template <class Index>
  static void get(Pickle& p) {
    p.push_kept(p.from_.number<Index>());
  }
  template <class Index>
  static void put(Pickle& p) {
    p.keep(p.from_.number<Index>(), p.top());
  }
  template <std::size_t count>
  static void tuple(Pickle& p) {
    Pickle::Refs items(count);
    for (std::size_t i = count; i-- > 0;) items[i] = p.pop();
    p.make(Pickle::Sequence{items});
  }
  static void real(Pickle& p) {  // the only number with its first byte first
    const auto bits = p.from_.number<std::uint64_t>();
    p.make(Object(std::bit_cast<double>(__builtin_bswap64(bits))));
  }
  static void sequence(Pickle& p) { p.make(Pickle::Sequence{p.pop_to_mark()}); }
  static void dictionary(Pickle& p) {
    const Pickle::Refs items = p.pop_to_mark();
    const Pickle::Ref dict = p.add(Pickle::Table{});
    p.fill(dict, items);
    p.push(dict);
  }
  static void append(Pickle& p) {
    const Pickle::Ref item = p.pop();
    p.fill(p.top(), {item});
  }
  static void append_all(Pickle& p) {
    const Pickle::Refs items = p.pop_to_mark();
    p.fill(p.top(), items);
  }
  static void set_item(Pickle& p) {
    const Pickle::Ref value = p.pop(), key = p.pop();
    p.fill(p.top(), {key, value});
  }
  static void global(Pickle& p) {
    const std::string module(p.from_.line());
    p.find_global(fmt::format("{}.{}", module, p.from_.line()));
  }
  static void stacked_global(Pickle& p) {
    const std::string name = p.text(p.pop());
    p.find_global(fmt::format("{}.{}", p.text(p.pop()), name));
  }
  static void pop(Pickle& p) {
    if (!p.marks_.empty() && p.marks_.back() == p.stack_.size())
      p.marks_.pop_back();
    else
      p.pop();
  }
  static void version(Pickle& p) {
    if (const int found = p.from_.number<std::uint8_t>(); found > 5)
      p.fail(fmt::format("its pickle is of protocol {} where 5 is the last that is known", found));
  }

  static const Opcode all[];
};

// clang-format off
const Opcodes::Opcode Opcodes::all[] = {
    {0x80, version},
    {0x95, [](Pickle& p) { p.from_.number<std::uint64_t>(); }},  // how long a frame is
    {'(', [](Pickle& p) { p.marks_.push_back(p.stack_.size()); }},
    {'0', pop},
    {'1', [](Pickle& p) { p.pop_to_mark(); }},
    {'2', [](Pickle& p) { p.push(p.top()); }},

    {'N', [](Pickle& p) { p.make(Object()); }},
    {0x88, [](Pickle& p) { p.make(Object(true)); }},
    {0x89, [](Pickle& p) { p.make(Object(false)); }},
    {'J', integer<std::int32_t>}, {'K', integer<std::uint8_t>}, {'M', integer<std::uint16_t>},
    {0x8a, long_integer<std::uint8_t>}, {0x8b, long_integer<std::uint32_t>},
    {'G', real},
    {'U', text<std::uint8_t>}, {'T', text<std::uint32_t>},                                // bytes of Python 2
    {0x8c, text<std::uint8_t>}, {'X', text<std::uint32_t>}, {0x8d, text<std::uint64_t>},  // text
    {'C', text<std::uint8_t>}, {'B', text<std::uint32_t>}, {0x8e, text<std::uint64_t>},   // bytes
    {0x96, text<std::uint64_t>},

    {']', [](Pickle& p) { p.make(Pickle::Sequence{}); }},
    {')', [](Pickle& p) { p.make(Pickle::Sequence{}); }},
    {0x8f, [](Pickle& p) { p.make(Pickle::Sequence{}); }},  // a set
    {'}', [](Pickle& p) { p.make(Pickle::Table{}); }},
    {0x85, tuple<1>}, {0x86, tuple<2>}, {0x87, tuple<3>},
    {'t', sequence}, {'l', sequence}, {0x91, sequence},
    {'d', dictionary},
    {'a', append}, {'e', append_all}, {0x90, append_all}, {'s', set_item}, {'u', append_all},

    {'h', get<std::uint8_t>}, {'j', get<std::uint32_t>},
    {'q', put<std::uint8_t>}, {'r', put<std::uint32_t>},
    {0x94, [](Pickle& p) { p.keep(p.kept_.size(), p.top()); }},

    {'c', global},
    {0x93, stacked_global},
    {'R', [](Pickle& p) { p.call(); }},
    {0x81, [](Pickle& p) { p.call(); }},
    {'b', [](Pickle& p) { p.build(); }},
    {'Q', [](Pickle& p) { p.make_storage(); }},
};
// clang-format on

Pickle::Pickle(Cursor& from) : from_(from) {
  constexpr unsigned char stop = '.';
  static const auto by_code = [] {
    std::array<void (*)(Pickle&), 256> table{};
    for (const auto& each : Opcodes::all) table[each.code] = each.run;
    return table;
  }();
  for (;;) {
    const auto code = from.number<unsigned char>();
    if (code == stop) break;
    if (by_code[code] == nullptr)
      fail(
          fmt::format("its pickle has the instruction 0x{:02x}, which is none of those that build "
                      "tensors",
                      code));
    by_code[code](*this);
  }
  result_ = pop();
}

}  // namespace weft
