#include "relocations.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace weft::cpu {
namespace {

#if defined(__x86_64__)
constexpr std::uint16_t this_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t this_machine = EM_AARCH64;
#else
constexpr std::uint16_t this_machine = EM_NONE;
#endif

constexpr std::uint64_t page_bytes = 4096;  // as ADRP counts them

#define TYPE(name) name, #name

// clang-format off
constexpr Relocation x86_64[] = {
    // type                                   means           formula            bits  parts
    {TYPE(R_X86_64_64),                       Means::Address, Formula::Absolute, 64, {{{0, 64, 0}}}},
    {TYPE(R_X86_64_PC64),                     Means::Address, Formula::Relative, 64, {{{0, 64, 0}}}},
    {TYPE(R_X86_64_PC32),                     Means::Address, Formula::Relative, 32, {{{0, 32, 0}}}},
    {TYPE(R_X86_64_PLT32),                    Means::Call,    Formula::Relative, 32, {{{0, 32, 0}}}},
    {TYPE(R_X86_64_GOTPCREL),                 Means::Cell,    Formula::Relative, 32, {{{0, 32, 0}}}},
    {TYPE(R_X86_64_GOTPCRELX),                Means::Cell,    Formula::Relative, 32, {{{0, 32, 0}}}},
    {TYPE(R_X86_64_REX_GOTPCRELX),            Means::Cell,    Formula::Relative, 32, {{{0, 32, 0}}}},
};

constexpr Relocation aarch64[] = {
    {TYPE(R_AARCH64_ABS64),                   Means::Address, Formula::Absolute, 64, {{{0, 64, 0}}}},
    {TYPE(R_AARCH64_PREL64),                  Means::Address, Formula::Relative, 64, {{{0, 64, 0}}}},
    {TYPE(R_AARCH64_PREL32),                  Means::Address, Formula::Relative, 32, {{{0, 32, 0}}}},
    {TYPE(R_AARCH64_CALL26),                  Means::Call,    Formula::Relative, 28, {{{2, 26, 0}}}},
    {TYPE(R_AARCH64_JUMP26),                  Means::Call,    Formula::Relative, 28, {{{2, 26, 0}}}},
    {TYPE(R_AARCH64_ADR_PREL_PG_HI21),        Means::Address, Formula::Pages,    33, {{{12, 2, 29}, {14, 19, 5}}}},
    {TYPE(R_AARCH64_ADD_ABS_LO12_NC),         Means::Address, Formula::Absolute, 64, {{{0, 12, 10}}}},
    {TYPE(R_AARCH64_LDST8_ABS_LO12_NC),       Means::Address, Formula::Absolute, 64, {{{0, 12, 10}}}},
    {TYPE(R_AARCH64_LDST16_ABS_LO12_NC),      Means::Address, Formula::Absolute, 64, {{{1, 11, 10}}}},
    {TYPE(R_AARCH64_LDST32_ABS_LO12_NC),      Means::Address, Formula::Absolute, 64, {{{2, 10, 10}}}},
    {TYPE(R_AARCH64_LDST64_ABS_LO12_NC),      Means::Address, Formula::Absolute, 64, {{{3, 9, 10}}}},
    {TYPE(R_AARCH64_LDST128_ABS_LO12_NC),     Means::Address, Formula::Absolute, 64, {{{4, 8, 10}}}},
    {TYPE(R_AARCH64_ADR_GOT_PAGE),            Means::Cell,    Formula::Pages,    33, {{{12, 2, 29}, {14, 19, 5}}}},
    {TYPE(R_AARCH64_LD64_GOT_LO12_NC),        Means::Cell,    Formula::Absolute, 64, {{{3, 9, 10}}}},
};

constexpr Machine machines[] = {
    // jmp [rip - 14]
    {EM_X86_64,  "x86-64",  {0xff, 0x25, 0xf2, 0xff, 0xff, 0xff, 0xcc, 0xcc}, x86_64},
    // ldr x16, . - 8; br x16
    {EM_AARCH64, "AArch64", {0xd0, 0xff, 0xff, 0x58, 0x00, 0x02, 0x1f, 0xd6}, aarch64},
};
// clang-format on

#undef TYPE

constexpr std::uint64_t low_bits(int count) {
  return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

std::uint64_t value_of(Formula formula, std::uint64_t address, std::uint64_t place) {
  switch (formula) {
    case Formula::Absolute: return address;
    case Formula::Relative: return address - place;
    case Formula::Pages: return address / page_bytes * page_bytes - place / page_bytes * page_bytes;
  }
  return 0;
}

}  // namespace

bool Relocation::apply(std::byte* place, std::uint64_t address) const {
  const std::uint64_t value = value_of(formula, address, reinterpret_cast<std::uintptr_t>(place));
  const std::uint64_t half = std::uint64_t{1} << (bits - 1);
  if (((value + half) & ~low_bits(bits)) != 0) return false;
  if ((value & low_bits(parts[0].from)) != 0) return false;
  std::uint64_t word = 0;
  std::memcpy(&word, place, bytes());
  for (const Part& part : parts) {
    const std::uint64_t mask = low_bits(part.count);
    word = (word & ~(mask << part.to)) | (((value >> part.from) & mask) << part.to);
  }
  std::memcpy(place, &word, bytes());
  return true;
}

bool Machine::is_this_one() const { return number == this_machine; }

const Machine* find_machine(std::uint16_t number) {
  const auto found = std::ranges::find(machines, number, &Machine::number);
  return found == std::end(machines) ? nullptr : found;
}

}  // namespace weft::cpu
