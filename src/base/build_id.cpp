#include <weft/dev/base/build_id.h>

#include <elf.h>
#include <link.h>

#include <cstring>
#include <string_view>

#include <fmt/format.h>

namespace weft {
namespace {

constexpr std::string_view owner{"GNU\0", 4};

std::size_t whole_words(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

// Of a segment of notes, each a header, who it is of, and what it says.
std::string id_in(const char* notes, std::size_t bytes) {
  for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= bytes;) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes + at, sizeof note);
    at += sizeof note;
    const std::size_t says = at + whole_words(note.n_namesz);
    if (says + note.n_descsz > bytes) break;
    if (note.n_type == NT_GNU_BUILD_ID && std::string_view(notes + at, note.n_namesz) == owner) {
      std::string id;
      for (const char byte : std::string_view(notes + says, note.n_descsz))
        id += fmt::format("{:02x}", static_cast<unsigned char>(byte));
      return id;
    }
    at = says + whole_words(note.n_descsz);
  }
  return {};
}

int look(dl_phdr_info* object, std::size_t, void* found) {
  const auto here = reinterpret_cast<ElfW(Addr)>(&build_id);
  bool is_it = false;
  std::string id;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    const ElfW(Addr) begin = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD)
      is_it = is_it || (here >= begin && here < begin + segment.p_memsz);
    if (segment.p_type == PT_NOTE && id.empty())
      id = id_in(reinterpret_cast<const char*>(begin), segment.p_memsz);
  }
  if (is_it) *static_cast<std::string*>(found) = id;
  return is_it ? 1 : 0;
}

}  // namespace

const std::string& build_id() {
  static const std::string id = [] {
    std::string found;
    dl_iterate_phdr(look, &found);
    return found;
  }();
  return id;
}

}  // namespace weft
