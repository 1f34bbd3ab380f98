#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>
#include <weft/version.h>

#include "library_header.h"
#include "text.h"
#include "weights.h"

namespace weft::exported {
namespace {

// What C has no type for is given by its bits.
std::string_view type_of(DType dtype) {
  if (dtype == dtypes::f32) return "float";
  if (dtype == dtypes::f64) return "double";
  const bool is_signed = dtype.is_int() && !dtype.is_unsigned();
  switch (dtype.bytes()) {
    case 1: return is_signed ? "int8_t" : "uint8_t";
    case 2: return is_signed ? "int16_t" : "uint16_t";
    case 4: return is_signed ? "int32_t" : "uint32_t";
    case 8: return is_signed ? "int64_t" : "uint64_t";
    default: internal_error(fmt::format("export: {} has no type in C", dtype.str()));
  }
}

std::string shapes(const Library& library) {
  std::string text;
  for (const Port& port : library.ports) {
    const std::string name = fmt::format("{}_{}", upper(library.name), upper(port.name));
    text += fmt::format("#define {}_RANK {}\n", name, port.shape.size());
    if (!port.shape.empty())
      text += fmt::format("#define {}_SHAPE {{{}}}\n", name, fmt::join(port.shape, ", "));
    text += fmt::format("#define {}_ELEMENTS {}\n", name, port.elements());
  }
  return text;
}

std::string codes(const Library& library) {
  std::string text;
  for (std::size_t code = 0; code < std::size(statuses); ++code)
    text += fmt::format("  {}_{} = {}{} /* {} */\n", upper(library.name), statuses[code].name, code,
                        code + 1 < std::size(statuses) ? "," : "", statuses[code].meaning);
  return text;
}

std::string members(const Library& library) {
  std::string text;
  for (const Port& port : library.ports)
    text += fmt::format("  {}{} *{}; /* {}: {}[{}] */\n", port.is_output ? "" : "const ",
                        type_of(port.dtype), port.name, port.is_output ? "output" : "input",
                        port.dtype.str(), fmt::join(port.shape, ", "));
  return text;
}

// {n} is the library's name, {N} the same in capitals.
constexpr const char* text = R"(/* {n}, for the target {target}: written by weft {version}.
 *
 * A program maps or reads the file {n}.weights to where addresses are multiples of {N}_ALIGNMENT, checks it
 * once by {n}_verify(), and calls {n}_run() as often as it likes: from several threads at once, if each has a
 * workspace of its own. Nothing is allocated, and nothing is kept between calls. */
#ifndef {N}_H
#define {N}_H

{description}
#ifdef __cplusplus
extern "C" {{
#endif

#define {N}_ALIGNMENT {alignment}
#define {N}_WEIGHTS_BYTES {weights}
#define {N}_WORKSPACE_BYTES {workspace}
#define {N}_THREADS {threads} /* that can share in a call, at most */

{shapes}
/* What the functions return. */
enum {{
{codes}}};

/* Elements in row-major order; bools are 0 or 1 in a byte, floats that C does not have are given by their bits. Outputs
 * overlap neither inputs nor each other. */
typedef struct {n}_io {{
{members}}} {n}_io;

typedef weft_library_threads {n}_threads;

/* All of the above for programs that are written for any library. */
extern const weft_library_description {n}_description;

/* Whether these are the weights of this library, undamaged. It reads all of them. */
int {n}_verify(const void *weights, size_t size);

/* Computes the outputs. The workspace has {N}_WORKSPACE_BYTES, of any values, which begin at a multiple of
 * {N}_ALIGNMENT. Without threads (NULL) all is done by the one that calls. */
int {n}_run(const {n}_io *io, const void *weights, void *workspace, const {n}_threads *threads);

#ifdef __cplusplus
}}
#endif

#endif
)";

}  // namespace

std::string upper(std::string_view name) {
  std::string result(name);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

std::string header_text(const Library& library) {
  using fmt::arg;
  return fmt::format(fmt::runtime(text), arg("n", library.name), arg("N", upper(library.name)),
                     arg("target", library.target), arg("version", version()),
                     arg("alignment", alignment),
                     arg("weights", header_bytes + library.weights.size()),
                     arg("workspace", library.workspace_bytes), arg("threads", library.threads()),
                     arg("shapes", shapes(library)), arg("codes", codes(library)),
                     arg("members", members(library)), arg("description", library_header));
}

}  // namespace weft::exported
