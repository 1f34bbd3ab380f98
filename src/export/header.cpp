#include <algorithm>
#include <cctype>
#include <set>

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

// Of all entry points, as one may begin with the name of another.
void want_names_apart(const Library& library) {
  std::set<std::string> names;
  const auto add = [&](const Entry& entry, const std::string& name, std::string_view suffix) {
    const std::string macro = fmt::format("{}_{}_{}", upper(entry.prefix), upper(name), suffix);
    if (!names.insert(macro).second)
      user_error(fmt::format("export: two things of entry points would be called {} in C", macro));
  };
  for (const Entry& entry : library.entries) {
    for (const Port& port : entry.ports) add(entry, port.name, "SHAPE");
    for (const Size& size : entry.sizes) add(entry, size.name, "MOST");
  }
}

std::string shapes(const Entry& entry) {
  std::string text;
  for (const Port& port : entry.ports) {
    const std::string name = fmt::format("{}_{}", upper(entry.prefix), upper(port.name));
    text += fmt::format("#define {}_RANK {}\n", name, port.shape.size());
    if (!port.shape.empty())
      text += fmt::format("#define {}_SHAPE {{{}}}\n", name, fmt::join(port.shape, ", "));
    text += fmt::format("#define {}_ELEMENTS {}\n", name, port.elements());
  }
  for (const Size& size : entry.sizes)
    text += fmt::format("#define {0}_{1}_LEAST {2}\n#define {0}_{1}_MOST {3}\n",
                        upper(entry.prefix), upper(size.name), size.least, size.most);
  return text;
}

std::string codes(const Library& library) {
  std::string text;
  for (std::size_t code = 0; code < std::size(statuses); ++code)
    text += fmt::format("  {}_{} = {}{} /* {} */\n", upper(library.name), statuses[code].name, code,
                        code + 1 < std::size(statuses) ? "," : "", statuses[code].meaning);
  return text;
}

std::string members(const Library& library, const Entry& entry) {
  std::string text;
  for (const Port& port : entry.ports)
    text +=
        fmt::format("  {}{} *{}; /* {}: {}[{}]{} */\n", port.is_output ? "" : "const ",
                    type_of(port.dtype), port.name, port.is_output ? "output" : "input",
                    port.dtype.str(), fmt::join(port.shape, ", "), port.is_open ? " at most" : "");
  if (!entry.sizes.empty()) text += fmt::format("  const {}_sizes *sizes;\n", entry.prefix);
  if (library.state.bytes > 0) text += "  void *state;\n";
  return text;
}

// Templates: {n} is the library's name, {e} what names of the entry point begin with, {N} and {E} the same in capitals.

constexpr const char* sizes_text = R"(/* Sizes that every call says. */
typedef struct {e}_sizes {{
{members}}} {e}_sizes;

/* The shapes of all inputs and outputs, one after the other, as these sizes make them: {E}_SHAPES numbers. */
#define {E}_SHAPES {ranks}
int {e}_shapes(const {e}_sizes *sizes, int64_t *shapes);

)";

std::string sizes(const Entry& entry) {
  if (entry.sizes.empty()) return "";
  std::string members;
  for (const Size& size : entry.sizes)
    members += fmt::format("  int64_t {}; /* {} to {} */\n", size.name, size.least, size.most);
  using fmt::arg;
  return fmt::format(fmt::runtime(sizes_text), arg("e", entry.prefix),
                     arg("E", upper(entry.prefix)), arg("members", members),
                     arg("ranks", entry.ranks()));
}

constexpr const char* entry_text = R"({shapes}
{sizes}/* Elements in row-major order; bools are 0 or 1 in a byte, floats that C does not have are given by their bits. Outputs
 * overlap neither inputs nor each other. */
typedef struct {e}_io {{
{members}}} {e}_io;

/* All of the above for programs that are written for any library. */
extern const weft_library_description {e}_description;

/* Computes the outputs. The workspace has {N}_WORKSPACE_BYTES, of any values, which begin at a multiple of
 * {N}_ALIGNMENT. Without threads (NULL) all is done by the one that calls. */
int {e}_run(const {e}_io *io, const void *weights, void *workspace, const {n}_threads *threads);

)";

std::string entry_part(const Library& library, const Entry& entry) {
  using fmt::arg;
  return fmt::format(fmt::runtime(entry_text), arg("n", library.name),
                     arg("N", upper(library.name)), arg("e", entry.prefix),
                     arg("shapes", shapes(entry)), arg("sizes", sizes(entry)),
                     arg("members", members(library, entry)));
}

constexpr const char* state_text =
    R"(/* What lasts from call to call: {N}_STATE_BYTES at a multiple of {N}_ALIGNMENT, for one call at a time. Member `state` of
 * what is passed points there. It begins as this makes it, and may be copied. */
#define {N}_STATE_BYTES {bytes}
{parts}int {n}_start(const void *weights, void *state);

)";

std::string state(const Library& library) {
  if (library.state.bytes == 0) return "";
  std::string parts;
  for (const StatePart& part : library.state.parts)
    if (!part.name.empty())
      parts +=
          fmt::format("#define {}_STATE_{} {} /* where it begins: {}[{}] */\n", upper(library.name),
                      upper(part.name), part.offset, part.dtype.str(), fmt::join(part.shape, ", "));
  using fmt::arg;
  return fmt::format(fmt::runtime(state_text), arg("n", library.name),
                     arg("N", upper(library.name)), arg("bytes", library.state.bytes),
                     arg("parts", parts));
}

constexpr const char* library_text = R"(/* {n}, for the target {target}: written by weft {version}.
 *
 * A program maps or reads the file {n}.weights to where addresses are multiples of {N}_ALIGNMENT, checks it
 * once by {n}_verify(), and calls {run}() as often as it likes: from several threads at once, if each has a
 * workspace of its own. Nothing is allocated, and the library keeps nothing between calls. */
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

/* What the functions return. */
enum {{
{codes}}};

typedef weft_library_threads {n}_threads;

/* Whether these are the weights of this library, undamaged. It reads all of them. */
int {n}_verify(const void *weights, size_t size);

{state}{entries}#ifdef __cplusplus
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

namespace {

// Of ports, sizes and parts of the state, names may be put together to the same.
void want_each_once(const std::string& text) {
  constexpr std::string_view define = "#define ";
  std::set<std::string_view> names;
  for (std::size_t at = text.find(define); at != text.npos; at = text.find(define, at)) {
    at += define.size();
    const std::string_view name = std::string_view(text).substr(at, text.find(' ', at) - at);
    if (!names.insert(name).second)
      user_error(
          fmt::format("export: the header would have two numbers {}: name one of what they "
                      "are of otherwise",
                      name));
  }
}

}  // namespace

std::string header_text(const Library& library) {
  want_names_apart(library);
  std::string entries;
  for (const Entry& entry : library.entries) entries += entry_part(library, entry);
  const std::string own_state = state(library);
  want_each_once(own_state + entries);
  using fmt::arg;
  return fmt::format(fmt::runtime(library_text), arg("n", library.name),
                     arg("N", upper(library.name)), arg("target", library.target),
                     arg("version", version()), arg("run", library.entries[0].prefix + "_run"),
                     arg("alignment", alignment),
                     arg("weights", header_bytes + library.weights.size()),
                     arg("workspace", library.workspace_bytes()), arg("threads", library.threads()),
                     arg("codes", codes(library)), arg("state", own_state), arg("entries", entries),
                     arg("description", library_header));
}

}  // namespace weft::exported
