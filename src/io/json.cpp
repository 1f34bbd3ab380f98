#include <weft/dev/io/json.h>

#include <charconv>
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <weft/dev/io/utf8.h>

namespace weft {
namespace {

constexpr int most_levels = 64;
constexpr std::pair<char, char> escapes[] = {{'"', '"'},  {'\\', '\\'}, {'/', '/'},  {'b', '\b'},
                                             {'f', '\f'}, {'n', '\n'},  {'r', '\r'}, {'t', '\t'}};

class JsonReader {
 public:
  JsonReader(std::string_view text, const InFile& in) : text_(text), in_(in) {}

  Object read() {
    Object whole = value(0);
    skip_blanks();
    if (at_ != text_.size()) fail("something follows the end");
    return whole;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    in_.fail(fmt::format("its JSON is damaged at byte {}: {}", at_, what));
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  bool take(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  Object value(int level) {
    if (level > most_levels) fail("it is nested too deeply");
    skip_blanks();
    if (peek() == '{') return members(level);
    if (peek() == '[') return elements(level);
    if (peek() == '"') return string();
    if (take("true")) return true;
    if (take("false")) return false;
    if (take("null")) return {};
    return number();
  }

  // What stands between brackets, each read by `one`.
  template <class One>
  void between(char last, const One& one) {
    ++at_;
    skip_blanks();
    while (peek() != last) {
      one();
      skip_blanks();
      if (peek() == last) break;
      if (!take(",")) fail(fmt::format("',' or '{}' is missing", last));
      skip_blanks();
      if (peek() == last) fail("there is a ',' too many");
    }
    ++at_;
  }

  Object members(int level) {
    Object::Dict dict;
    between('}', [&] {
      std::string key = string();
      skip_blanks();
      if (!take(":")) fail("':' is missing");
      dict.emplace_back(std::move(key), value(level + 1));
    });
    return dict;
  }

  Object elements(int level) {
    Object::List list;
    between(']', [&] { list.push_back(value(level + 1)); });
    return list;
  }

  Object number() {
    const char *first = text_.data() + at_, *end = text_.data() + text_.size();
    std::int64_t integer = 0;
    double real = 0;
    const auto as_integer = std::from_chars(first, end, integer);
    const auto as_real = std::from_chars(first, end, real);
    if (as_real.ec != std::errc() || !std::isfinite(real)) fail("there is no value");
    at_ += static_cast<std::size_t>(as_real.ptr - first);
    return as_integer.ec == std::errc() && as_integer.ptr == as_real.ptr ? Object(integer)
                                                                         : Object(real);
  }

  std::string string() {
    if (!take("\"")) fail("a string is missing");
    std::string result;
    for (;;) {
      const std::size_t end = text_.find_first_of("\"\\", at_);
      if (end == text_.npos) fail("a string has no end");
      result += text_.substr(at_, end - at_);
      at_ = end + 1;
      if (text_[end] == '"') break;
      append_escaped(result);
    }
    return result;
  }

  void append_escaped(std::string& to) {
    const char name = peek();
    ++at_;
    if (name == 'u') return append_utf8(to, code_point());
    for (const auto& [escape, meaning] : escapes)
      if (escape == name) {
        to += meaning;
        return;
      }
    fail("there is no such escape");
  }

  // Beyond 16 bits it is two of them, halves that stand for nothing by themselves.
  char32_t code_point() {
    const char32_t first = hex();
    if (first < 0xd800 || first > 0xdfff) return first;
    if (first > 0xdbff || !take("\\u")) fail("half a code point");
    const char32_t second = hex();
    if (second < 0xdc00 || second > 0xdfff) fail("half a code point");
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
  }

  char32_t hex() {
    std::uint32_t code = 0;
    const std::string_view digits = text_.substr(std::min(at_, text_.size()), 4);
    const char *begin = std::to_address(digits.begin()), *end = std::to_address(digits.end());
    if (digits.size() < 4 || std::from_chars(begin, end, code, 16).ptr != end)
      fail("4 hexadecimal digits are missing");
    at_ += 4;
    return code;
  }

  std::string_view text_;
  const InFile& in_;
  std::size_t at_ = 0;
};

}  // namespace

Object parsed_json(std::string_view text, const InFile& in) { return JsonReader(text, in).read(); }

std::string quoted_json(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (result += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      result += fmt::format("\\u{:04x}", c);
    else
      result += c;
  }
  return result + '"';
}

}  // namespace weft
