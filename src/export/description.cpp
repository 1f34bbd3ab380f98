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

std::uint64_t bytes_of(const Port& port) {
  return static_cast<std::uint64_t>(port.elements()) * port.dtype.bytes();
}

std::size_t count_of_inputs(const Library& library) {
  return static_cast<std::size_t>(
      std::ranges::count(library.ports, false, [](const Port& port) { return port.is_output; }));
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

}  // namespace

std::string c_description(const Library& library) {
  const std::string& name = library.name;
  std::string text = "\n", ports;
  std::vector<std::string> pointers;
  for (std::size_t i = 0; i < library.ports.size(); ++i) {
    const Port& port = library.ports[i];
    std::string shape = "NULL";
    if (!port.shape.empty()) {
      shape = fmt::format("{}_shape{}", name, i);
      text +=
          fmt::format("static const int64_t {}[] = {{{}}};\n", shape, fmt::join(port.shape, ", "));
    }
    ports += fmt::format("  {{{}, {}, {}, {}, {}}},\n", in_c(port.title), shape, bytes_of(port),
                         port.shape.size(), type_of(port).name);
    pointers.push_back(fmt::format("ports[{}]", i));
  }
  text += fmt::format(
      "static const weft_library_port {0}_ports[] = {{\n{1}}};\n\n"
      "static int {0}_call(void *const *ports, const void *weights, void *workspace,\n"
      "                    const weft_library_threads *threads) {{\n"
      "  {0}_io io;\n",
      name, ports);
  for (std::size_t i = 0; i < library.ports.size(); ++i)
    text += fmt::format("  io.{} = ports[{}];\n", library.ports[i].name, i);
  const std::size_t inputs = count_of_inputs(library);
  return text +
         fmt::format(
             "  return {0}_run(&io, weights, workspace, threads);\n}}\n\n"
             "const weft_library_description {0}_description = {{\n"
             "  WEFT_LIBRARY_VERSION, sizeof(weft_library_description), {1}, {2},\n"
             "  {0}_ports, {3}, {4}, {5}, {6}, {7}, {8},\n  {{{9}}},\n  {0}_verify, {0}_call}};\n",
             name, in_c(name), in_c(library.target), inputs, library.ports.size() - inputs,
             library.threads(), alignment, library.workspace_bytes,
             header_bytes + library.weights.size(),
             header_words(library, [](std::uint64_t word) { return fmt::format("{:#x}u", word); }));
}

std::string llvm_description(const Library& library) {
  std::string text, ports;
  for (std::size_t i = 0; i < library.ports.size(); ++i) {
    const Port& port = library.ports[i];
    text += fmt::format("@title{} = private constant {}\n", i, in_llvm(port.title));
    const bool is_scalar = port.shape.empty();
    if (!is_scalar)
      text += fmt::format("@shape{} = private constant [{} x i64] [i64 {}]\n", i, port.shape.size(),
                          fmt::join(port.shape, ", i64 "));
    ports += fmt::format("{}  %port {{ ptr @title{}, ptr {}, i64 {}, i32 {}, i32 {} }}",
                         i == 0 ? "" : ",\n", i, is_scalar ? "null" : fmt::format("@shape{}", i),
                         bytes_of(port), port.shape.size(), static_cast<int>(type_of(port).number));
  }
  const std::size_t inputs = count_of_inputs(library);
  return text +
         fmt::format(
             "%port = type {{ ptr, ptr, i64, i32, i32 }}\n"
             "%description = type {{ i32, i32, ptr, ptr, ptr, i32, i32, i32, i32, i64, i64, [4 x "
             "i64], ptr, ptr }}\n"
             "@ports = private constant [{2} x %port] [\n{1}\n]\n"
             "@name = private constant {3}\n@target = private constant {4}\n"
             "@{0}_description = constant %description {{ i32 {5}, i32 {6}, ptr @name, ptr "
             "@target, ptr @ports,\n"
             "  i32 {7}, i32 {8}, i32 {9}, i32 {10}, i64 {11}, i64 {12}, [4 x i64] [{13}],\n"
             "  ptr @{0}_verify, ptr @{0}_run }}\n",
             library.name, ports, library.ports.size(), in_llvm(library.name),
             in_llvm(library.target), WEFT_LIBRARY_VERSION, sizeof(weft_library_description),
             inputs, library.ports.size() - inputs, library.threads(), alignment,
             library.workspace_bytes, header_bytes + library.weights.size(),
             header_words(library, [](std::uint64_t word) {
               return fmt::format("i64 {}", static_cast<std::int64_t>(word));
             }));
}

}  // namespace weft::exported
