// Object files by hand: code, data that it refers to, and what is to be filled in.
#pragma once

#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

namespace weft {

struct ElfText {
  // Symbols: `kernel` where the code begins, `data` `data_at` bytes into the data, and one that is
  // defined elsewhere.
  enum Symbol : std::uint32_t { Kernel = 1, Data, Outside };

  struct Patch {
    std::uint64_t at;
    std::uint32_t type;
    Symbol symbol;
    std::int64_t addend;
  };

  std::uint16_t machine;
  std::vector<std::uint32_t> code;
  std::vector<Patch> patches = {};
  std::string outside = "cosf";
  std::string data = std::string(0x200, 'd');
  std::uint64_t data_at = 0, data_alignment = 4096;
  std::uint64_t data_flags = SHF_ALLOC;

  std::string file() const {
    const std::string names = std::string("\0kernel\0data\0", 13) + outside + '\0';
    std::vector<Elf64_Sym> symbols{{},
                                   {1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0, 0},
                                   {8, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, 2, data_at, 0},
                                   {13, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), 0, SHN_UNDEF, 0, 0}};
    std::vector<Elf64_Rela> relocations;
    for (const Patch& patch : patches)
      relocations.push_back(
          {patch.at, ELF64_R_INFO(std::uint64_t{patch.symbol}, patch.type), patch.addend});
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_REL;
    header.e_machine = machine;
    header.e_shentsize = sizeof(Elf64_Shdr);
    std::string bytes(sizeof header, '\0');
    std::vector<Elf64_Shdr> sections(1);
    const auto add = [&](std::uint32_t type, std::uint64_t flags, std::string_view contents,
                         std::uint32_t link, std::uint32_t about, std::uint64_t alignment,
                         std::uint64_t entry) {
      sections.push_back(
          {0, type, flags, 0, bytes.size(), contents.size(), link, about, alignment, entry});
      bytes += contents;
    };
    add(SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, raw(code), 0, 0, 16, 0);
    add(SHT_PROGBITS, data_flags, data, 0, 0, data_alignment, 0);
    add(SHT_RELA, 0, raw(relocations), 4, 1, 8, sizeof(Elf64_Rela));
    add(SHT_SYMTAB, 0, raw(symbols), 5, 1, 8, sizeof(Elf64_Sym));
    add(SHT_STRTAB, 0, names, 0, 0, 1, 0);
    header.e_shoff = bytes.size();
    header.e_shnum = static_cast<std::uint16_t>(sections.size());
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes + std::string(raw(sections));
  }

 private:
  template <class T>
  static std::string_view raw(const std::vector<T>& entries) {
    return {reinterpret_cast<const char*>(entries.data()), entries.size() * sizeof(T)};
  }
};

}  // namespace weft
