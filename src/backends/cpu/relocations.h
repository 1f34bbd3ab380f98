// What an object file leaves for the loader to fill in, by processor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace weft::cpu {

// Which address stands for a symbol: its own; where a call goes, which a stub forwards to what is
// outside the object; or the cell of the stub, which holds the symbol's own.
enum class Means : std::uint8_t { Address, Call, Cell };

// What is filled in of the address (and its addend) and the place: the address, the distance from the
// place, or the distance from its page to the page of the address.
enum class Formula : std::uint8_t { Absolute, Relative, Pages };

struct Relocation {
  // `count` bits of the value, from bit `from` on, go to bit `to` of the place.
  struct Part {
    std::uint8_t from, count, to;
  };

  std::uint32_t type;
  std::string_view name;
  Means means;
  Formula formula;
  int bits;  // that hold the value with its sign
  std::array<Part, 2> parts;

  std::size_t bytes() const { return parts[0].count == 64 ? 8 : 4; }
  // Whether the value fits.
  bool apply(std::byte* place, std::uint64_t address) const;
};

// A stub is a cell of 8 bytes with an address and code that jumps there.
struct Machine {
  static constexpr std::size_t cell_bytes = 8, stub_bytes = 16;

  std::uint16_t number;  // in the header of an object file
  std::string_view name;
  std::array<std::uint8_t, stub_bytes - cell_bytes> jump;
  std::span<const Relocation> relocations;

  bool is_this_one() const;
};

// Null for a processor that nothing is known of.
const Machine* find_machine(std::uint16_t number);

}  // namespace weft::cpu
