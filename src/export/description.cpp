// What a library says of itself, as weft_library.h lays it out.

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>
#include <weft/weft_library.h>

#include "text.h"
#include "weights.h"

namespace weft::exported {
namespace {

struct TypeName {
  Kind kind;
  weft_dtype number;
  const char* name;
};
// clang-format off
constexpr TypeName types[] = {
    {Kind::Bool,   WEFT_BOOL,   "WEFT_BOOL"},
    {Kind::I8,     WEFT_I8,     "WEFT_I8"},
    {Kind::I16,    WEFT_I16,    "WEFT_I16"},
    {Kind::I32,    WEFT_I32,    "WEFT_I32"},
    {Kind::I64,    WEFT_I64,    "WEFT_I64"},
    {Kind::U8,     WEFT_U8,     "WEFT_U8"},
    {Kind::U16,    WEFT_U16,    "WEFT_U16"},
    {Kind::U32,    WEFT_U32,    "WEFT_U32"},
    {Kind::U64,    WEFT_U64,    "WEFT_U64"},
    {Kind::F8E4M3, WEFT_F8E4M3, "WEFT_F8E4M3"},
    {Kind::F8E5M2, WEFT_F8E5M2, "WEFT_F8E5M2"},
    {Kind::F16,    WEFT_F16,    "WEFT_F16"},
    {Kind::BF16,   WEFT_BF16,   "WEFT_BF16"},
    {Kind::F32,    WEFT_F32,    "WEFT_F32"},
    {Kind::F64,    WEFT_F64,    "WEFT_F64"},
};
// clang-format on

const TypeName& type_of(const Port& port) {
  for (const TypeName& type : types)
    if (DType(type.kind) == port.dtype) return type;
  internal_error(fmt::format("export: {} has no number", port.dtype.str()));
}

// Letters and digits stand as they are, the rest by numbers: three octal digits in C, two hexadecimal ones in LLVM.
template <class Number>
std::string quoted(std::string_view text, Number number) {
  std::string result;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-' || c == ' ';
    result += is_plain ? std::string(1, c) : number(static_cast<unsigned char>(c));
  }
  return result;
}
std::string in_c(std::string_view text) {
  return fmt::format("\"{}\"",
                     quoted(text, [](unsigned char c) { return fmt::format("\\{:03o}", c); }));
}
std::string in_llvm(std::string_view text) {
  return fmt::format("[{} x i8] c\"{}\\00\"", text.size() + 1,
                     quoted(text, [](unsigned char c) { return fmt::format("\\{:02X}", c); }));
}

template <class Format>
std::string header_words(const Library& library, Format format) {
  std::vector<std::string> words;
  for (const HeaderField& field : header_fields(library)) words.push_back(format(field.value));
  return fmt::format("{}", fmt::join(words, ", "));
}

// What the next entry point is described by; empty behind the last.
std::string next_of(const Library& library, const Entry& entry) {
  const std::size_t number = static_cast<std::size_t>(&entry - library.entries.data()) + 1;
  if (number == library.entries.size()) return "";
  return library.entries[number].prefix + "_description";
}

// What programs of before there were sizes and state cannot call says so.
int version_of(const Library& library, const Entry& entry) {
  const bool wants_more = !entry.sizes.empty() || library.state.bytes > 0;
  return wants_more ? WEFT_LIBRARY_VERSION : WEFT_LIBRARY_PLAIN;
}

std::string c_ports(const Entry& entry) {
  std::string shapes, ports;
  for (std::size_t i = 0; i < entry.ports.size(); ++i) {
    const Port& port = entry.ports[i];
    std::string shape = "NULL";
    if (!port.shape.empty()) {
      shape = fmt::format("{}_shape{}", entry.prefix, i);
      shapes +=
          fmt::format("static const int64_t {}[] = {{{}}};\n", shape, fmt::join(port.shape, ", "));
    }
    ports += fmt::format("  {{{}, {}, {}, {}, {}}},\n", in_c(port.title), shape, port.bytes(),
                         port.shape.size(), type_of(port).name);
  }
  if (ports.empty()) ports = "  {NULL, NULL, 0, 0, WEFT_BOOL}\n";  // C has no empty arrays
  return fmt::format("\n{}static const weft_library_port {}_ports[] = {{\n{}}};\n\n", shapes,
                     entry.prefix, ports);
}

// By a pointer for each, and sizes as an array.
std::string c_calls(const Library& library, const Entry& entry) {
  std::string text, members;
  std::vector<std::string> names;
  for (const Port& port : entry.ports) names.push_back(port.name);
  if (!entry.sizes.empty()) {
    names.emplace_back("sizes");
    std::string sizes;
    for (const Size& size : entry.sizes)
      sizes += fmt::format("  {{{}, {}, {}}},\n", in_c(size.title), size.least, size.most);
    text += fmt::format(
        "static const weft_library_size {0}_open[] = {{\n{1}}};\n\n"
        "static int {0}_shapes_of(const int64_t *sizes, int64_t *shapes) {{\n"
        "  return {0}_shapes((const void *)sizes, shapes);\n}}\n\n",
        entry.prefix, sizes);
  }
  if (library.state.bytes > 0) names.emplace_back("state");
  for (std::size_t i = 0; i < names.size(); ++i)
    members += fmt::format("  io.{} = ports[{}];\n", names[i], i);
  return text +
         fmt::format(
             "static int {0}_call(void *const *ports, const void *weights, void *workspace,\n"
             "                    const weft_library_threads *threads) {{\n"
             "  {0}_io io;\n{1}"
             "  return {0}_run(&io, weights, workspace, threads);\n}}\n\n",
             entry.prefix, members);
}

std::string c_entry(const Library& library, const Entry& entry) {
  const std::string next = next_of(library, entry);
  const bool is_open = !entry.sizes.empty(), has_state = library.state.bytes > 0;
  const std::string words =
      header_words(library, [](std::uint64_t word) { return fmt::format("{:#x}u", word); });
  return c_ports(entry) + c_calls(library, entry) +
         fmt::format(
             "const weft_library_description {0}_description = {{\n"
             "  {11}, sizeof(weft_library_description), {1}, {2},\n"
             "  {0}_ports, {3}, {4}, {5}, {6}, {7}, {8},\n  {{{9}}},\n  {10}_verify, {0}_call,\n",
             entry.prefix, in_c(library.name), in_c(library.target), entry.inputs(),
             entry.ports.size() - entry.inputs(), library.threads(), alignment,
             library.workspace_bytes(), header_bytes + library.weights.size(), words, library.name,
             version_of(library, entry)) +
         fmt::format("  {}, {}, {}, {}, {}, {}, {}, {}}};\n", in_c(entry.name),
                     is_open ? entry.prefix + "_open" : "NULL", entry.sizes.size(),
                     is_open ? entry.ranks() : 0, is_open ? entry.prefix + "_shapes_of" : "NULL",
                     library.state.bytes, has_state ? library.name + "_start" : "NULL",
                     next.empty() ? "NULL" : "&" + next);
}

std::string llvm_ports(const Entry& entry) {
  const std::string& own = entry.prefix;
  std::string text, ports;
  for (std::size_t i = 0; i < entry.ports.size(); ++i) {
    const Port& port = entry.ports[i];
    text += fmt::format("@{}_title{} = private constant {}\n", own, i, in_llvm(port.title));
    const bool is_scalar = port.shape.empty();
    if (!is_scalar)
      text += fmt::format("@{}_shape{} = private constant [{} x i64] [i64 {}]\n", own, i,
                          port.shape.size(), fmt::join(port.shape, ", i64 "));
    ports += fmt::format("{}  %port {{ ptr @{}_title{}, ptr {}, i64 {}, i32 {}, i32 {} }}",
                         i == 0 ? "" : ",\n", own, i,
                         is_scalar ? "null" : fmt::format("@{}_shape{}", own, i), port.bytes(),
                         port.shape.size(), static_cast<int>(type_of(port).number));
  }
  return text + fmt::format("@{}_ports = private constant [{} x %port] [\n{}\n]\n", own,
                            entry.ports.size(), ports);
}

std::string llvm_sizes(const Entry& entry) {
  std::string text;
  std::vector<std::string> sizes;
  for (std::size_t i = 0; i < entry.sizes.size(); ++i) {
    const Size& size = entry.sizes[i];
    text += fmt::format("@{}_size{} = private constant {}\n", entry.prefix, i, in_llvm(size.title));
    sizes.push_back(fmt::format("%size {{ ptr @{}_size{}, i64 {}, i64 {} }}", entry.prefix, i,
                                size.least, size.most));
  }
  return text + fmt::format("@{}_open = private constant [{} x %size] [{}]\n", entry.prefix,
                            sizes.size(), fmt::join(sizes, ", "));
}

std::string llvm_entry(const Library& library, const Entry& entry) {
  const std::string next = next_of(library, entry);
  const bool is_open = !entry.sizes.empty(), has_state = library.state.bytes > 0;
  const std::string words = header_words(library, [](std::uint64_t word) {
    return fmt::format("i64 {}", static_cast<std::int64_t>(word));
  });
  const auto pointer = [](bool is_there, const std::string& name) {
    return is_there ? "ptr @" + name : std::string("ptr null");
  };
  return llvm_ports(entry) + llvm_sizes(entry) +
         fmt::format(
             "@{0}_entry = private constant {1}\n"
             "@{0}_description = constant %description {{ i32 {2}, i32 {3}, ptr @name, ptr "
             "@target, ptr @{0}_ports,\n  i32 {4}, i32 {5}, i32 {6}, i32 {7}, i64 {8}, i64 {9}, "
             "[4 x i64] [{10}],\n  ptr @{11}_verify, ptr @{0}_run,\n",
             entry.prefix, in_llvm(entry.name), version_of(library, entry),
             sizeof(weft_library_description), entry.inputs(), entry.ports.size() - entry.inputs(),
             library.threads(), alignment, library.workspace_bytes(),
             header_bytes + library.weights.size(), words, library.name) +
         fmt::format("  ptr @{}_entry, {}, i32 {}, i32 {}, {}, i64 {}, {}, {} }}\n", entry.prefix,
                     pointer(is_open, entry.prefix + "_open"), entry.sizes.size(),
                     is_open ? entry.ranks() : 0, pointer(is_open, entry.prefix + "_shapes"),
                     library.state.bytes, pointer(has_state, library.name + "_start"),
                     pointer(!next.empty(), next));
}

}  // namespace

std::string c_description(const Library& library) {
  std::string text;
  for (const Entry& entry : library.entries) text += c_entry(library, entry);
  return text;
}

std::string llvm_description(const Library& library) {
  std::string text = fmt::format(
      "%port = type {{ ptr, ptr, i64, i32, i32 }}\n%size = type {{ ptr, i64, i64 }}\n"
      "%description = type {{ i32, i32, ptr, ptr, ptr, i32, i32, i32, i32, i64, i64, [4 x i64], "
      "ptr, ptr,\n  ptr, ptr, i32, i32, ptr, i64, ptr, ptr }}\n"
      "@name = private constant {}\n@target = private constant {}\n",
      in_llvm(library.name), in_llvm(library.target));
  for (const Entry& entry : library.entries) text += llvm_entry(library, entry);
  return text;
}

}  // namespace weft::exported
