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

  std::string text() const {
    std::string text = parts() + checks() + verify();
    if (library_.state.bytes > 0) text += start();
    for (const Entry& entry : library_.entries) {
      if (!entry.sizes.empty()) text += sizes(entry) + shapes(entry);
      text += run(entry);
    }
    return text;
  }

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
  std::string missing(const std::vector<std::string>& pointers) const {
    std::string text;
    for (const std::string& pointer : pointers)
      text += fmt::format("  if ({} == NULL) return {};\n", pointer, status(Missing));
    return text;
  }
  std::string missing_or_misaligned(const std::string& pointer) const {
    return missing({pointer}) + fmt::format("  if ((uintptr_t){} % {} != 0) return {};\n", pointer,
                                            alignment, status(Misaligned));
  }

  std::string checks() const {
    std::string text = fmt::format("static int {}_check(const void *weights) {{\n", name_) +
                       missing_or_misaligned("weights");
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

  std::string start() const {
    const State& state = library_.state;
    return fmt::format(
        "int {0}_start(const void *weights, void *state) {{\n"
        "  const int status = {0}_check(weights);\n"
        "  if (status != {1}) return status;\n{2}"
        "  memcpy(state, (const char *)weights + {3}, {4});\n"
        "  memset((char *)state + {4}, 0, {5});\n"
        "  return {1};\n}}\n\n",
        name_, status(Ok), missing_or_misaligned("state"), header_bytes + state.kept_at,
        state.kept_bytes, state.bytes - state.kept_bytes);
  }

  std::string sizes(const Entry& entry) const {
    std::string text =
        fmt::format("static int {0}_in_range(const {0}_sizes *sizes) {{\n", entry.prefix) +
        missing({"sizes"});
    for (const Size& size : entry.sizes)
      text += fmt::format("  if (sizes->{0} < {1} || sizes->{0} > {2}) return {3};\n", size.name,
                          size.least, size.most, status(OutOfRange));
    return text + fmt::format("  return {};\n}}\n\n", status(Ok));
  }

  std::string shapes(const Entry& entry) const {
    std::string calls;
    for (const Call& call : entry.shapes.calls)
      calls += call_text(entry, call, {"shapes"}, "NULL", "sizes");
    return fmt::format(
        "int {0}_shapes(const {0}_sizes *sizes, int64_t *shapes) {{\n"
        "  const int status = {0}_in_range(sizes);\n"
        "  if (status != {1}) return status;\n{2}{3}  return {1};\n}}\n\n",
        entry.prefix, status(Ok), missing({"shapes"}), calls);
  }

  std::string address(const Place& place, const std::vector<std::string>& ports) const {
    switch (place.in) {
      case Place::In::Nothing: return "NULL";
      case Place::In::Port: return fmt::format("(char *){} + {}", ports[place.port], place.offset);
      case Place::In::Weights: return fmt::format("constants + {}", place.offset);
      case Place::In::Workspace: return fmt::format("own + {}", place.offset);
      case Place::In::State: return fmt::format("state + {}", place.offset);
    }
    return {};
  }

  // Of what has open sizes as many as this call has.
  static std::string bytes_text(const Entry& entry, const Call& call) {
    const Place* open = entry.open_port(call);
    if (open == nullptr) return fmt::to_string(call.bytes);
    const Port& port = entry.ports[open->port];
    std::string text = fmt::format("{}", port.dtype.bytes());
    const std::size_t first = entry.ranks_before(open->port);
    for (std::size_t i = 0; i < port.shape.size(); ++i)
      text += fmt::format(" * (size_t)shapes[{}]", first + i);
    return text;
  }

  static std::string values_text(const Entry& entry, const Call& call, const char* sizes) {
    std::vector<std::string> values;
    for (const Number& value : call.values)
      values.push_back(value.size ? fmt::format("{}->{}", sizes, entry.sizes[*value.size].name)
                                  : fmt::to_string(value.value));
    return fmt::format("    {} i64 values[] = {{{}}};\n",
                       call.has_sizes() ? "const" : "static const", fmt::join(values, ", "));
  }

  std::string call_text(const Entry& entry, const Call& call, const std::vector<std::string>& ports,
                        const char* threads, const char* sizes) const {
    if (call.is_copy())
      return fmt::format("  memcpy({}, {}, {});\n", address(call.places[0], ports),
                         address(call.places[1], ports), bytes_text(entry, call));
    std::string text = "  {\n";
    if (!call.values.empty()) text += values_text(entry, call, sizes);
    std::vector<std::string> words{call.values.empty() ? "NULL" : "(void *)values"};
    for (const Place& place : call.places) words.push_back(address(place, ports));
    const Function& function = library_.functions[call.function];
    text += fmt::format("    void *block[] = {{{}}};\n", fmt::join(words, ", "));
    text += function.takes_thread
                ? fmt::format("    {}_each({}, {}, {}_part, block);\n", name_, threads,
                              function.threads, function.name)
                : fmt::format("    {}((void *const *)block + 1, block[0]);\n", function.name);
    return text + "  }\n";
  }

  std::string workspace_check() const {
    return library_.workspace_bytes() > 0 ? missing_or_misaligned("workspace") : "";
  }
  static std::vector<std::string> wanted(const Entry& entry) {
    std::vector<std::string> pointers{"io"};
    for (const Port& port : entry.ports)
      if (!port.may_be_empty) pointers.push_back("io->" + port.name);
    return pointers;
  }

  // What stands in front of the calls.
  std::string run_checks(const Entry& entry) const {
    const std::string failed = fmt::format("  if (status != {}) return status;\n", status(Ok));
    std::string text = fmt::format("  int status = {}_check(weights);\n", name_) + failed +
                       workspace_check() + missing(wanted(entry));
    if (!entry.sizes.empty())
      text += fmt::format("  status = {}_in_range(io->sizes);\n", entry.prefix) + failed;
    if (library_.state.bytes > 0)
      text +=
          missing_or_misaligned("io->state") + "  char *const state = io->state;\n  (void)state;\n";
    if (entry.copies_open())
      text += fmt::format("  int64_t shapes[{}];\n  status = {}_shapes(io->sizes, shapes);\n",
                          entry.ranks(), entry.prefix) +
              failed;
    return text;
  }

  std::string run(const Entry& entry) const {
    std::vector<std::string> ports;
    for (const Port& port : entry.ports) ports.push_back("io->" + port.name);
    std::string calls;
    for (const Call& call : entry.run.calls)
      calls += call_text(entry, call, ports, "threads", "io->sizes");
    return fmt::format(
        "int {0}_run(const {0}_io *io, const void *weights, void *workspace,\n"
        "            const {1}_threads *threads) {{\n{2}"
        "  char *const constants = (char *)weights + {3}, *const own = workspace;\n"
        "  (void)constants, (void)own, (void)threads;\n"
        "{4}  return {5};\n}}\n\n",
        entry.prefix, name_, run_checks(entry), header_bytes, calls, status(Ok));
  }

  const Library& library_;
  const std::string name_;
};

}  // namespace

std::string c_glue(const Library& library) { return CGlue(library).text(); }

}  // namespace weft::exported
