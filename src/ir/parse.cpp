#include <charconv>

#include <fmt/format.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>

#include "text_forms.h"

namespace weft {
namespace {

// Characters in, tokens out, and where they are.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // Where the token last read begins.
  std::size_t token() const { return start_; }

  [[noreturn]] void fail(const std::string& what) const { fail(start_, what); }
  [[noreturn]] void fail(std::size_t at, const std::string& what) const {
    std::size_t line = 1, column = 1;
    for (char c : text_.substr(0, at)) {
      column = c == '\n' ? 1 : column + 1;
      line += c == '\n';
    }
    user_error(fmt::format("{}:{}: {}", line, column, what));
  }

  bool at_end() {
    skip_space();
    return position_ == text_.size();
  }
  bool accept(std::string_view token) {
    skip_space();
    const std::string_view rest = text_.substr(position_);
    if (!rest.starts_with(token)) return false;
    const bool goes_on = rest.size() > token.size() && is_name_char(rest[token.size()]);
    if (goes_on && is_name_char(token.back())) return false;  // the beginning of a longer word
    position_ += token.size();
    return true;
  }
  // Whether "%3 =" comes next: after an op without sources, no source but the next node.
  bool at_definition() const {
    Scanner ahead = *this;
    return ahead.accept("%") && !ahead.digits().empty() && ahead.accept("=");
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail(fmt::format("expected '{}'", token));
  }

  template <class Predicate>
  std::string_view take(Predicate belongs) {
    skip_space();
    while (position_ < text_.size() && belongs(text_[position_])) ++position_;
    return text_.substr(start_, position_ - start_);
  }
  std::string_view word() {
    const auto word = take(is_name_char);
    if (word.empty()) fail("expected a name");
    return word;
  }
  std::string_view digits() {
    return take([](char c) { return c >= '0' && c <= '9'; });
  }
  std::string_view number() {
    const auto number = take([](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '+' || c == '.' ||
             c == 'x' || c == 'N' || c == 'I';
    });
    if (number.empty()) fail("expected a number");
    return number;
  }

  bool at_string() const {
    Scanner ahead = *this;
    return ahead.accept("\"");
  }

  template <class T>
  T integer() {
    const std::string_view text = number();
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      fail(fmt::format("'{}' is not an integer of the wanted size", text));
    return value;
  }

  std::string string() {
    expect("\"");
    std::string out;
    while (position_ < text_.size() && text_[position_] != '"') out += character();
    if (position_ == text_.size()) fail("the string does not end");
    ++position_;
    return out;
  }

 private:
  void skip_space() {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
        ++position_;
      else if (text_.substr(position_).starts_with("//"))
        position_ = std::min(text_.find('\n', position_), text_.size());
      else
        break;
    }
    start_ = position_;
  }

  char character() {
    const char c = text_[position_++];
    if (c != '\\' || position_ == text_.size()) return c;
    const char escape = text_[position_++];
    if (escape == 'n') return '\n';
    if (escape != 'x') return escape;
    unsigned value = 0;
    const char* first = text_.data() + position_;
    const char* last = text_.data() + std::min(position_ + 2, text_.size());
    if (std::from_chars(first, last, value, 16).ptr != last || last - first != 2)
      fail("\\x wants two hexadecimal digits");
    position_ += 2;
    return static_cast<char>(value);
  }

  std::string_view text_;
  std::size_t position_ = 0;  // of the next character
  std::size_t start_ = 0;     // of the token being read
};

class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text) {}

  std::vector<Graph> graphs() {
    std::vector<Graph> result;
    while (!in_.at_end()) result.push_back(graph());
    return result;
  }

 private:
  Graph graph() {
    in_.expect("graph");
    Graph graph{in_.at_string() ? in_.string() : std::string(in_.word()), {}};
    in_.expect("{");
    nodes_.clear();
    while (!in_.accept("return")) node();
    do graph.roots.push_back(reference());
    while (in_.accept(","));
    in_.expect("}");
    return graph;
  }

  UOp reference() {
    in_.expect("%");
    return numbered();
  }
  UOp numbered() {
    const auto number = in_.integer<std::uint32_t>();
    if (number >= nodes_.size()) in_.fail(fmt::format("%{} is not defined yet", number));
    return nodes_[number];
  }

  void node() {
    in_.expect("%");
    if (in_.integer<std::uint32_t>() != nodes_.size())
      in_.fail(fmt::format("expected the definition of %{}", nodes_.size()));
    in_.expect("=");
    const std::string_view name = in_.word();
    const std::size_t at = in_.token();
    const auto op = parse_op(name);
    if (!op) in_.fail(fmt::format("there is no op '{}'", name));
    if (*op == Op::Const) {
      nodes_.push_back(constant());
      return;
    }
    std::vector<UOp> src;
    if (!in_.at_definition() && in_.accept("%")) {
      src.push_back(numbered());
      while (in_.accept(",")) src.push_back(reference());
    }
    with_arg_type(info(*op).arg, [&](auto arg) {
      fields(arg);
      finish(at, *op, src, arg);
    });
  }

  // `at` is where errors about the node as a whole are reported.
  template <class Arg>
  void finish(std::size_t at, Op op, const std::vector<UOp>& src, const Arg& arg) {
    const bool is_stated = in_.accept(":");
    const DType stated = is_stated ? dtype() : dtypes::void_;
    UOp made;
    try {
      made = make(op, src, stated, arg);
    } catch (const Error& error) {
      in_.fail(at, error.what());
    }
    if (made->dtype() != stated)
      in_.fail(is_stated ? in_.token() : at,
               fmt::format("the dtype is {}, not {}", made->dtype().str(), stated.str()));
    nodes_.push_back(std::move(made));
  }

  DType dtype() {
    bool in_name = false;  // of a fragment, which may hold almost anything
    const auto text = in_.take([&in_name](char c) {
      if (c == '<' || c == '>') in_name = c == '<';
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '<' || c == '>' ||
             (in_name && c > ' ');
    });
    const auto parsed = parse_dtype(text);
    if (!parsed) in_.fail(fmt::format("'{}' is not a dtype", text));
    return *parsed;
  }

  // The value is read before its dtype is known.
  UOp constant() {
    if (in_.accept("bits(")) {
      const std::string_view text = in_.number();
      const std::size_t at = in_.token();
      in_.expect(")");
      in_.expect(":");
      const DType type = dtype();
      const auto bits = float_bits(text, type);
      if (!bits) in_.fail(at, fmt::format("bits({}) is not a value of {}", text, type.str()));
      return const_bits(type, *bits);
    }
    const std::string_view text = in_.number();
    const std::size_t at = in_.token();
    in_.expect(":");
    const DType type = dtype();
    const auto bits = literal(text, type.scalar());
    if (!bits) in_.fail(at, fmt::format("'{}' is not a value of {}", text, type.str()));
    return const_bits(type, *bits);
  }

  // All of the text, or nothing.
  template <class T, class... Format>
  static std::optional<T> read_number(std::string_view text, Format... format) {
    T value{};
    const char* last = text.data() + text.size();
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): `last` is the end
    const auto [end, error] = std::from_chars(text.data(), last, value, format...);
    return error == std::errc() && end == last ? std::optional(value) : std::nullopt;
  }

  static std::optional<Bits> float_bits(std::string_view text, DType type) {
    if (!text.starts_with("0x") || !type.is_float()) return std::nullopt;
    const auto bits = read_number<Bits>(text.substr(2), 16);
    return bits && (type.bits() == 64 || *bits >> type.bits() == 0) ? bits : std::nullopt;
  }

  static std::optional<Bits> literal(std::string_view text, DType type) {
    if (type.is_bool()) {
      if (text == "true" || text == "false") return text == "true";
      return std::nullopt;
    }
    if (type.is_float()) {
      const auto value = read_number<double>(text);
      return value ? std::optional(bits_from_double(*value, type)) : std::nullopt;
    }
    if (!type.is_int()) return std::nullopt;
    if (type.kind() == Kind::U64) return read_number<std::uint64_t>(text);
    const auto value = read_number<std::int64_t>(text);
    if (!value) return std::nullopt;
    const Bits bits = bits_from_int(*value, type);
    return static_cast<std::int64_t>(bits) == *value ? std::optional(bits) : std::nullopt;
  }

  template <class Arg>
  void fields(Arg& arg) {
    if constexpr (!std::is_same_v<Arg, NoArg>) {
      std::string_view before = "{";
      for_each_field(arg, [&](std::string_view name, auto& value) {
        in_.expect(before);
        in_.expect(name);
        in_.expect("=");
        read(value);
        before = ",";
      });
      in_.expect("}");
    }
  }

  void read(UniqueId& id) {
    id.value = in_.integer<std::uint64_t>();
    reserve_id(id);
  }
  void read(Symbol& symbol) { symbol = Symbol(in_.string()); }
  void read(bool& value) {
    value = in_.accept("true");
    if (!value) in_.expect("false");
  }
  void read(IntList& list) {
    std::vector<std::int64_t> values;
    in_.expect("[");
    if (!in_.accept("]")) {
      do values.push_back(in_.integer<std::int64_t>());
      while (in_.accept(","));
      in_.expect("]");
    }
    list = IntList(std::move(values));
  }
  void read(Op& op) {
    const std::string_view name = in_.word();
    const auto parsed = parse_op(name);
    if (!parsed) in_.fail(fmt::format("there is no op '{}'", name));
    op = *parsed;
  }
  template <class T>
  void read(T& value) {
    if constexpr (std::is_enum_v<T>) {
      const std::string_view name = in_.word();
      const auto names = enum_names(value);
      for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == name) {
          value = static_cast<T>(i);
          return;
        }
      in_.fail(fmt::format("'{}' is none of {}", name, fmt::join(names, ", ")));
    } else {
      value = in_.integer<T>();
    }
  }

  Scanner in_;
  std::vector<UOp> nodes_;
};

}  // namespace

std::vector<Graph> parse_graphs(std::string_view text) { return Parser(text).graphs(); }

UOp parse_node(std::string_view text) {
  const auto graphs = parse_graphs(text);
  if (graphs.size() != 1 || graphs[0].roots.size() != 1)
    user_error("expected one graph with one root");
  return graphs[0].roots[0];
}

}  // namespace weft
