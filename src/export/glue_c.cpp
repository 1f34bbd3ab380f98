// What calls the kernels, in C99.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "text.h"
#include "weights.h"

namespace weft::exported {
namespace {

class CGlue {
 public:
  explicit CGlue(const Library& library) : library_(library), name_(library.name) {}

  std::string text() const { return parts() + checks() + verify() + run(); }

 private:
  // A call is a block of pointers: to its values, then to its memory.
  std::string parts() const {
    std::string text;
    for (const Function& function : library_.functions)
      if (function.takes_thread)
        text += fmt::format(
            "static void {0}_part(void *call, size_t i) {{\n"
            "  void *const *block = call;\n  {0}(block + 1, block[0], (i64)i);\n}}\n\n",
            function.name);
    if (text.empty()) return text;
    return text +
           fmt::format(
               "static void {0}_each(const {0}_threads *threads, size_t n,\n"
               "                     void (*body)(void *arg, size_t i), void *arg) {{\n"
               "  if (threads != NULL) {{\n"
               "    threads->parallel_for(threads->context, n, body, arg);\n"
               "  }} else {{\n    for (size_t i = 0; i < n; i++) body(arg, i);\n  }}\n}}\n\n",
               name_);
  }

  std::string status(StatusCode code) const {
    return fmt::format("{}_{}", upper(name_), statuses[code].name);
  }
  std::string misaligned(const char* pointer) const {
    return fmt::format("  if ((uintptr_t){} % {} != 0) return {};\n", pointer, alignment,
                       status(Misaligned));
  }

  std::string checks() const {
    std::string text =
        fmt::format("static int {}_check(const void *weights) {{\n", name_) + misaligned("weights");
    text += "  const uint64_t *header = weights;\n";
    for (const HeaderField& field : header_fields(library_))
      text += fmt::format("  if (header[{}] != {:#x}u) return {};\n",
                          field.offset / sizeof field.value, field.value, status(field.otherwise));
    return text + fmt::format("  return {};\n}}\n\n", status(Ok));
  }

  std::string verify() const {
    return fmt::format(
        "int {0}_verify(const void *weights, size_t size) {{\n"
        "  if (size < {1}) return {2};\n"
        "  const int status = {0}_check(weights);\n"
        "  if (status != {3}) return status;\n"
        "  if (size != {4}) return {2};\n"
        "  const uint64_t *words = weights;\n"
        "  uint64_t sum = 0;\n"
        "  for (size_t i = {5}; i < {4} / 8; i++) {{\n"
        "    sum = (sum ^ words[i]) * 0x9e3779b97f4a7c15u;\n"
        "    sum ^= sum >> 29;\n  }}\n"
        "  return sum == words[{6}] ? {3} : {7};\n}}\n\n",
        name_, header_bytes, status(WrongSize), status(Ok), header_bytes + library_.weights.size(),
        header_bytes / 8, checksum_offset / 8, status(Damaged));
  }

  std::string address(const Place& place) const {
    switch (place.in) {
      case Place::In::Nothing: return "NULL";
      case Place::In::Port: {
        const std::string port = fmt::format("io->{}", library_.ports[place.port].name);
        return fmt::format("(char *){} + {}", port, place.offset);
      }
      case Place::In::Weights: return fmt::format("constants + {}", place.offset);
      case Place::In::Workspace: return fmt::format("own + {}", place.offset);
    }
    return {};
  }

  std::string call_text(const Call& call) const {
    if (call.is_copy())
      return fmt::format("  memcpy({}, {}, {});\n", address(call.places[0]),
                         address(call.places[1]), call.bytes);
    std::vector<std::string> words;
    std::string values = "NULL", text = "  {\n";
    if (!call.values.empty()) {
      text +=
          fmt::format("    static const i64 values[] = {{{}}};\n", fmt::join(call.values, ", "));
      values = "(void *)values";
    }
    words.push_back(values);
    for (const Place& place : call.places) words.push_back(address(place));
    const Function& function = library_.functions[call.function];
    text += fmt::format("    void *block[] = {{{}}};\n", fmt::join(words, ", "));
    text += function.takes_thread
                ? fmt::format("    {}_each(threads, {}, {}_part, block);\n", name_,
                              function.threads, function.name)
                : fmt::format("    {}((void *const *)block + 1, block[0]);\n", function.name);
    return text + "  }\n";
  }

  std::string run() const {
    std::string calls;
    for (const Call& call : library_.calls) calls += call_text(call);
    return fmt::format(
        "int {0}_run(const {0}_io *io, const void *weights, void *workspace,\n"
        "            const {0}_threads *threads) {{\n"
        "  const int status = {0}_check(weights);\n"
        "  if (status != {1}) return status;\n"
        "{2}"
        "  char *const constants = (char *)weights + {3}, *const own = workspace;\n"
        "  (void)constants, (void)own, (void)threads;\n"
        "{4}  return {1};\n}}\n",
        name_, status(Ok), misaligned("workspace"), header_bytes, calls);
  }

  const Library& library_;
  const std::string name_;
};

}  // namespace

std::string c_glue(const Library& library) { return CGlue(library).text(); }

}  // namespace weft::exported
