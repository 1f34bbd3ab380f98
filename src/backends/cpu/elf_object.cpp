#include "elf_object.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <weft/error.h>

#include "relocations.h"

namespace weft::cpu {
namespace {

constexpr std::uint64_t page_bytes = 4096;  // pages may be larger

[[noreturn]] void refuse(std::string_view why) {
  internal_error(fmt::format("CPU: this is no code that can be loaded: {}", why));
}

// The tables of a file, which may say anything.
class ElfFile {
 public:
  explicit ElfFile(std::string_view bytes) : bytes_(bytes) {
    std::memcpy(&header_, part(0, sizeof header_).data(), sizeof header_);
    const auto* ident = header_.e_ident;
    if (std::memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_CLASS] != ELFCLASS64 ||
        ident[EI_DATA] != ELFDATA2LSB || header_.e_type != ET_REL)
      refuse("it is not an object file in the format ELF64");
    sections_ = table<Elf64_Shdr>(
        header_.e_shoff, std::uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr), header_.e_shentsize);
    const auto list = std::ranges::find(sections_, Elf64_Word{SHT_SYMTAB}, &Elf64_Shdr::sh_type);
    if (list == sections_.end()) refuse("it has no symbols");
    symbols_ = table<Elf64_Sym>(*list);
    names_ = contents(section(list->sh_link));
  }

  std::uint16_t machine() const { return header_.e_machine; }
  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  const std::vector<Elf64_Sym>& symbols() const { return symbols_; }

  const Elf64_Shdr& section(std::uint64_t number) const {
    if (number >= sections_.size()) refuse(fmt::format("it has no section {}", number));
    return sections_[number];
  }
  const Elf64_Sym& symbol(std::uint64_t number) const {
    if (number >= symbols_.size()) refuse(fmt::format("it has no symbol {}", number));
    return symbols_[number];
  }
  std::string name(const Elf64_Sym& symbol) const {
    const std::size_t end = names_.find('\0', symbol.st_name);
    if (end == std::string_view::npos) refuse("a name does not end");
    return std::string(names_.substr(symbol.st_name, end - symbol.st_name));
  }

  std::string_view contents(const Elf64_Shdr& section) const {
    return part(section.sh_offset, section.sh_size);
  }
  template <class T>
  std::vector<T> table(const Elf64_Shdr& section) const {
    return table<T>(section.sh_offset, section.sh_size, section.sh_entsize);
  }

 private:
  std::string_view part(std::uint64_t offset, std::uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) refuse("it ends too early");
    return bytes_.substr(offset, size);
  }
  template <class T>
  std::vector<T> table(std::uint64_t offset, std::uint64_t size, std::uint64_t entry_size) const {
    if (entry_size != sizeof(T)) refuse("a table has entries of another size");
    const std::string_view bytes = part(offset, size);
    std::vector<T> entries(size / sizeof(T));
    for (std::size_t i = 0; i < entries.size(); ++i)
      std::memcpy(&entries[i], &bytes[i * sizeof(T)], sizeof(T));
    return entries;
  }

  std::string_view bytes_, names_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Sym> symbols_;
};

// A program need not be linked with libm.
void* find_in_process(const std::string& name) {
  static void* const libm = dlopen("libm.so.6", RTLD_NOW);
  void* const found = dlsym(RTLD_DEFAULT, name.c_str());
  return found != nullptr ? found : dlsym(libm, name.c_str());
}

// Where everything of a file goes in memory: sections, then a stub for each symbol.
class Linker {
 public:
  explicit Linker(const ElfFile& file) : file_(file), machine_(find_machine(file.machine())) {
    if (machine_ == nullptr) refuse(fmt::format("processor {} is not known", file.machine()));
    for (const Elf64_Shdr& section : file.sections()) offsets_.push_back(offset_for(section));
    stubs_ = reserve(file.symbols().size() * Machine::stub_bytes, Machine::stub_bytes);
  }

  const Machine& machine() const { return *machine_; }
  std::size_t bytes() const { return bytes_; }

  void link(std::byte* memory) {
    memory_ = memory;
    for (std::size_t i = 0; i < offsets_.size(); ++i) {
      const auto offset = offsets_[i];
      if (!offset) continue;
      const std::string_view contents = file_.contents(file_.section(i));
      std::ranges::copy(std::as_bytes(std::span(contents)), memory + *offset);
    }
    for (const Elf64_Shdr& section : file_.sections())
      if (section.sh_type == SHT_RELA || section.sh_type == SHT_REL) relocate(section);
  }

  ElfSymbols symbols() const {
    ElfSymbols result;
    for (const Elf64_Sym& symbol : file_.symbols())
      if (ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL && symbol.st_shndx != SHN_UNDEF)
        result.emplace(file_.name(symbol), std::span(address_in_object(symbol),
                                                     static_cast<std::size_t>(symbol.st_size)));
    return result;
  }

 private:
  std::uint64_t reserve(std::uint64_t size, std::uint64_t alignment) {
    const std::uint64_t offset = (bytes_ + alignment - 1) & ~(alignment - 1);
    bytes_ = offset + size;
    return offset;
  }

  // Null for what is not for the memory, such as names.
  std::optional<std::uint64_t> offset_for(const Elf64_Shdr& section) {
    const std::size_t size = file_.contents(section).size();
    const std::uint64_t alignment = std::max<std::uint64_t>(section.sh_addralign, 1);
    if ((section.sh_flags & SHF_ALLOC) == 0 || size == 0) return std::nullopt;
    if ((section.sh_flags & SHF_WRITE) != 0) refuse("it has data to be written");
    if (!std::has_single_bit(alignment) || alignment > page_bytes)
      refuse(fmt::format("a section has to be aligned to {}", alignment));
    return reserve(size, alignment);
  }

  std::byte* address_in_object(const Elf64_Sym& symbol) const {
    const Elf64_Shdr& section = file_.section(symbol.st_shndx);
    const auto offset = offsets_[symbol.st_shndx];
    if (!offset || symbol.st_value > section.sh_size ||
        symbol.st_size > section.sh_size - symbol.st_value)
      refuse(fmt::format("{} is not in its memory", file_.name(symbol)));
    return memory_ + *offset + symbol.st_value;
  }

  std::byte* address_of(const Elf64_Sym& symbol) const {
    if (symbol.st_shndx != SHN_UNDEF) return address_in_object(symbol);
    const std::string name = file_.name(symbol);
    void* const found = find_in_process(name);
    if (found == nullptr)
      internal_error(fmt::format("CPU: code needs {}, which is not defined", name));
    return static_cast<std::byte*>(found);
  }

  std::byte* stub_of(std::uint64_t number, const std::byte* address) {
    std::byte* const stub = memory_ + stubs_ + number * Machine::stub_bytes;
    std::memcpy(stub, &address, Machine::cell_bytes);
    std::ranges::copy(std::as_bytes(std::span(machine_->jump)), stub + Machine::cell_bytes);
    return stub;
  }

  void relocate(const Elf64_Shdr& list) {
    const Elf64_Shdr& target = file_.section(list.sh_info);
    const auto offset = offsets_[list.sh_info];
    if (!offset) return;
    if (list.sh_type == SHT_REL) refuse("its relocations have no addends");
    std::byte* const begin = memory_ + *offset;
    for (const auto& entry : file_.table<Elf64_Rela>(list)) {
      const Relocation& relocation = relocation_of(entry);
      const std::size_t bytes = relocation.bytes();
      if (target.sh_size < bytes || entry.r_offset > target.sh_size - bytes)
        refuse("a relocation is outside of its section");
      apply(relocation, entry, begin + entry.r_offset);
    }
  }

  const Relocation& relocation_of(const Elf64_Rela& entry) const {
    const std::uint64_t type = ELF64_R_TYPE(entry.r_info);
    const auto known = machine_->relocations;
    const auto found = std::ranges::find(known, type, &Relocation::type);
    if (found == known.end())
      internal_error(fmt::format("CPU: no relocation {} of {} is known", type, machine_->name));
    return *found;
  }

  void apply(const Relocation& relocation, const Elf64_Rela& entry, std::byte* place) {
    const std::uint64_t number = ELF64_R_SYM(entry.r_info);
    const Elf64_Sym& symbol = file_.symbol(number);
    const bool is_outside = symbol.st_shndx == SHN_UNDEF;
    std::byte* address = address_of(symbol);
    if (relocation.means == Means::Cell) address = stub_of(number, address);
    if (relocation.means == Means::Call && is_outside)
      address = stub_of(number, address) + Machine::cell_bytes;
    const auto value =
        reinterpret_cast<std::uintptr_t>(address) + static_cast<std::uint64_t>(entry.r_addend);
    if (!relocation.apply(place, value))
      internal_error(fmt::format("CPU: {} does not reach {}", relocation.name, file_.name(symbol)));
  }

  const ElfFile& file_;
  const Machine* machine_;
  std::vector<std::optional<std::uint64_t>> offsets_;  // by section
  std::uint64_t bytes_ = 0, stubs_ = 0;
  std::byte* memory_ = nullptr;
};

void check(bool success, std::string_view what) {
  if (!success) internal_error(fmt::format("CPU: {}: {}", what, std::strerror(errno)));
}

}  // namespace

void ElfObject::Unmap::operator()(std::byte* memory) const { munmap(memory, bytes); }

// Pages are written, then run: never both at once.
ElfObject::ElfObject(std::string_view file) {
  const ElfFile parsed(file);
  Linker linker(parsed);
  const std::size_t size = linker.bytes();
  void* const memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(memory != MAP_FAILED, "there is no memory for code");
  memory_ = {static_cast<std::byte*>(memory), Unmap{size}};
  linker.link(memory_.get());
  check(mprotect(memory, size, PROT_READ | PROT_EXEC) == 0, "memory cannot be made executable");
  __builtin___clear_cache(static_cast<char*>(memory), static_cast<char*>(memory) + size);
  symbols_ = linker.symbols();
  runs_here_ = linker.machine().is_this_one();
}

std::span<std::byte> ElfObject::contents(std::string_view symbol) const {
  const auto found = symbols_.find(symbol);
  if (found == symbols_.end()) refuse(fmt::format("it does not define {}", symbol));
  return found->second;
}

}  // namespace weft::cpu
