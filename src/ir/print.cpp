#include <charconv>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>

#include "text_forms.h"

namespace weft {
namespace {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + "\"";
}

// The shortest decimal that reads back as the same bits; the bits themselves where none does.
std::string float_text(Bits bits, DType dtype) {
  const double value = double_from_bits(bits, dtype);
  const auto reads_back = [&](const std::string& text) {
    double read = 0;
    std::from_chars(text.data(), text.data() + text.size(), read);
    return bits_from_double(read, dtype) == bits;
  };
  if (dtype.kind() == Kind::F32)
    if (const auto text = fmt::format("{}", static_cast<float>(value)); reads_back(text))
      return text;
  if (const auto text = fmt::format("{}", value); reads_back(text)) return text;
  return fmt::format("bits({:#x})", bits);
}

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  std::string graph(std::string_view name, NodeList roots) {
    fmt::format_to(back(), "graph {} {{\n", is_name(name) ? std::string(name) : in_quotes(name));
    std::uint32_t count = 0;
    for (const Node* node : toposort(roots)) {
      numbers_.set(node, count++);
      line(node);
    }
    out_ += "  return";
    for (std::size_t i = 0; i < roots.size(); ++i) reference(i, roots[i]);
    return out_ + "\n}\n";
  }

 private:
  std::back_insert_iterator<std::string> back() { return std::back_inserter(out_); }

  void line(const Node* node) {
    op_ = node->op();
    fmt::format_to(back(), "  %{} = {}", *numbers_.find(node), info(node->op()).name);
    if (node->is_const()) fmt::format_to(back(), " {}", const_text(node));
    for (std::size_t i = 0; i < node->size(); ++i) reference(i, node->src(i));
    if (!node->is_const()) fields(node);
    if (!node->dtype().is_void()) fmt::format_to(back(), " : {}", node->dtype().str());
    out_ += "\n";
  }

  void reference(std::size_t position, const Node* node) {
    fmt::format_to(back(), "{} %{}", position == 0 ? "" : ",", *numbers_.find(node));
  }

  void fields(const Node* node) {
    with_arg_type(info(node->op()).arg, [&](auto sample) {
      using Arg = decltype(sample);
      if constexpr (!std::is_same_v<Arg, NoArg>) {
        std::string_view before = " {";
        for_each_field(node->arg<Arg>(), [&](std::string_view name, const auto& value) {
          fmt::format_to(back(), "{}{} = {}", before, name, text(value));
          before = ", ";
        });
        out_ += "}";
      }
    });
  }

  std::string text(UniqueId id) {
    if (!options_.renumber) return fmt::format("{}", id.value);
    return fmt::format("{}", ids_.emplace(std::pair(op_, id.value), ids_.size()).first->second);
  }
  std::string text(Symbol value) { return in_quotes(value.get()); }
  std::string text(IntList list) { return fmt::format("[{}]", fmt::join(list.get(), ", ")); }
  std::string text(Op op) { return std::string(info(op).name); }
  template <class T>
  std::string text(T value) {
    if constexpr (std::is_enum_v<T>)
      return std::string(enum_names(value)[static_cast<std::size_t>(value)]);
    else
      return fmt::format("{}", value);
  }

  PrintOptions options_;
  NodeMap<std::uint32_t> numbers_;
  std::map<std::pair<Op, std::uint64_t>, std::uint64_t> ids_;  // those of an op are its own
  Op op_{};                                                    // of the line being written
  std::string out_;
};

}  // namespace

std::string const_text(const Node* node) {
  const Bits bits = node->arg<ConstArg>().bits;
  const DType dtype = node->dtype().scalar();
  if (dtype.is_bool()) return bits != 0 ? "true" : "false";
  if (dtype.is_float()) return float_text(bits, dtype);
  if (dtype.is_unsigned()) return fmt::format("{}", bits);
  return fmt::format("{}", static_cast<std::int64_t>(bits));
}

std::string print_graph(std::string_view name, NodeList roots, const PrintOptions& options) {
  return Printer(options).graph(name, roots);
}

std::string print_graph(const Graph& graph, const PrintOptions& options) {
  return print_graph(graph.name, nodes_of(graph.roots), options);
}

}  // namespace weft
