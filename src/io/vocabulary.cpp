// The files that vocabularies of byte pairs come in.

#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <weft/data.h>
#include <weft/dev/io/utf8.h>
#include <weft/error.h>
#include <weft/tokenizer.h>

#include <weft/dev/io/file.h>
#include <weft/dev/io/json.h>

namespace weft {
namespace {

std::string unpacked_base64(std::string_view text, const InFile& in) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;
  while (text.ends_with('=')) text.remove_suffix(1);
  for (const char c : text) {
    const std::size_t digit = digits.find(c);
    if (digit == digits.npos) in.fail(fmt::format("'{}' is no base64", text));
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xff);
  }
  return bytes;
}

// Bytes that print stand for themselves, the others for code points from 256 on: so vocab.bpe is text without blanks.
class PrintedBytes {
 public:
  PrintedBytes() {
    const auto prints = [](int byte) {
      return (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte != 0xad);
    };
    byte_of_.fill(-1);
    for (int byte = 0; byte < 256; ++byte)
      if (prints(byte)) put(byte, static_cast<std::size_t>(byte));
    std::size_t next = 256;
    for (int byte = 0; byte < 256; ++byte)
      if (!prints(byte)) put(byte, next++);
  }

  // In the order of GPT-2's vocabulary.
  const std::string& order() const { return order_; }
  const std::string& name_of(char byte) const { return names_[static_cast<unsigned char>(byte)]; }

  std::optional<std::string> bytes_of(std::string_view printed) const {
    std::string bytes;
    while (!printed.empty()) {
      const CodePoint point = first_code_point(printed);
      if (point.value >= byte_of_.size() || byte_of_[point.value] < 0) return {};
      bytes += static_cast<char>(byte_of_[point.value]);
      printed.remove_prefix(point.bytes);
    }
    return bytes;
  }

 private:
  void put(int byte, std::size_t point) {
    byte_of_[point] = byte;
    append_utf8(names_[static_cast<std::size_t>(byte)], static_cast<char32_t>(point));
    order_ += static_cast<char>(byte);
  }

  std::string order_;
  std::array<int, 512> byte_of_{};
  std::array<std::string, 256> names_;
};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::pair<std::string_view, std::string_view> halves(std::string_view line, const InFile& in) {
  const std::size_t blank = line.find(' ');
  if (blank == line.npos || line.find(' ', blank + 1) != line.npos)
    in.fail(fmt::format("'{}' is no pair", line));
  return {line.substr(0, blank), line.substr(blank + 1)};
}

// The tokens of encoder.json, by how they are spelled.
std::map<std::string, std::int32_t> numbers_in(const std::string& path) {
  const InFile in{path};
  const Object json = parsed_json(load_text(path), in);
  if (!json.is<Object::Dict>()) in.fail("it is no dictionary");
  std::map<std::string, std::int32_t> numbers;
  for (const auto& [name, number] : json.as<Object::Dict>()) {
    constexpr auto most = std::numeric_limits<std::int32_t>::max();
    if (!number.is<std::int64_t>() || number.as<std::int64_t>() < 0 ||
        number.as<std::int64_t>() > most)
      in.fail(fmt::format("the number of '{}' is none of a token", name));
    numbers[name] = static_cast<std::int32_t>(number.as<std::int64_t>());
  }
  return numbers;
}

}  // namespace

void BytePairTokenizer::want_all_bytes(const std::string& path) const {
  for (int byte = 0; byte < 256; ++byte)
    if (!tokens_.contains(std::string(1, static_cast<char>(byte))))
      InFile{path}.fail(fmt::format("it has no token for the byte 0x{:02x}", byte));
}

BytePairTokenizer BytePairTokenizer::from_ranks(const std::string& path, const Special& special) {
  const Called called;
  const InFile in{path};
  const std::string text = load_text(path);
  BytePairTokenizer tokenizer;
  for (const std::string_view line : lines_of(text)) {
    const auto [bytes, digits] = halves(line, in);
    std::int32_t rank = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
    if (error != std::errc() || end != digits.data() + digits.size() || rank < 0)
      in.fail(fmt::format("'{}' is no number of a token", digits));
    tokenizer.add(unpacked_base64(bytes, in), {rank, rank});
  }
  tokenizer.want_all_bytes(path);
  tokenizer.add_special(special);
  return tokenizer;
}

BytePairTokenizer BytePairTokenizer::from_merges(const std::string& merges,
                                                 const std::string& numbers,
                                                 const Special& special) {
  const Called called;
  static const PrintedBytes printed;
  const bool is_numbered = !numbers.empty();
  std::map<std::string, std::int32_t> known;
  if (is_numbered) known = numbers_in(numbers);
  const InFile in{merges};
  const std::string text = load_text(merges);
  BytePairTokenizer tokenizer;
  std::int32_t rank = 0;
  const auto add = [&](const std::string& bytes, const std::string& name) {
    std::int32_t number = rank;
    if (is_numbered) {
      const auto found = known.find(name);
      if (found == known.end()) in.fail(fmt::format("'{}' is not in '{}'", name, numbers));
      number = found->second;
      known.erase(found);
    }
    tokenizer.add(bytes, {rank++, number});
  };
  for (const char byte : printed.order()) add(std::string(1, byte), printed.name_of(byte));
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with("#version")) continue;
    const auto [first, second] = halves(line, in);
    const std::string name = std::string(first) + std::string(second);
    const auto bytes = printed.bytes_of(name);
    if (!bytes) in.fail(fmt::format("'{}' is not spelled as vocab.bpe spells bytes", line));
    add(*bytes, name);
  }
  tokenizer.add_special(known);  // what is left is spelled by no bytes
  tokenizer.add_special(special);
  return tokenizer;
}

}  // namespace weft
