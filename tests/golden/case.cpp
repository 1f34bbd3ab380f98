// Reading one line of a group.

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <weft/error.h>

#include "golden.h"

namespace weft::golden {
namespace {

template <class Number>
Number parsed(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    user_error(fmt::format("golden: '{}' is no such number", text));
  return number;
}

// What lies between separators outside of brackets and quotes.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t start = 0, depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == separator && depth == 0 && !quoted)) {
      if (i > start) parts.push_back(text.substr(start, i - start));
      start = i + 1;
      continue;
    }
    quoted ^= text[i] == '"';
    depth += text[i] == '[';
    depth -= text[i] == ']';
  }
  return parts;
}

Numbers numbers_of(const Value& value) {
  if (!value.is_list) return {parsed<std::int64_t>(value.text)};
  Numbers numbers;
  for (const Value& member : value.list) numbers.push_back(parsed<std::int64_t>(member.text));
  return numbers;
}

DType dtype_named(std::string_view name) {
  const auto dtype = parse_dtype(name);
  if (!dtype) user_error(fmt::format("golden: there is no dtype {}", name));
  return *dtype;
}

Tensor moved(const Tensor& x, const Move& move) {
  const Numbers& numbers = move.numbers;
  if (move.op == "permute") return x.permute(numbers);
  if (move.op == "expand") return x.expand(numbers);
  if (move.op == "flip") return x.flip(numbers);
  if (move.op == "shrink") {
    Tensor::Bounds bounds;
    for (std::size_t i = 0; i < numbers.size(); i += 2)
      bounds.emplace_back(numbers[i], numbers[i + 1]);
    return x.shrink(bounds);
  }
  if (move.op != "step") user_error(fmt::format("golden: there is no movement {}", move.op));
  Tensor result = x;
  for (std::size_t axis = 0; axis < numbers.size(); ++axis)
    result = result.slice(static_cast<std::int64_t>(axis), {.step = numbers[axis]});
  return result;
}

}  // namespace

Value::Value(std::string_view written) {
  if (written.starts_with('[')) {
    is_list = true;
    for (std::string_view part : split(written.substr(1, written.size() - 2), ','))
      list.emplace_back(part);
  } else {
    text = written.starts_with('"') ? written.substr(1, written.size() - 2) : written;
  }
}

Stored::Stored(std::string_view written, std::span<const std::byte> file) {
  const auto parts = split(written, '|');
  const auto at = parts[0].find('@'), bracket = parts[0].find('[');
  dtype = dtype_named(parts[0].substr(0, bracket));
  shape = numbers_of(Value(parts[0].substr(bracket, at - bracket)));
  bytes = file.subspan(parsed<std::size_t>(parts[0].substr(at + 1)),
                       static_cast<std::size_t>(numel()) * dtype.bytes());
  for (std::string_view move : std::span(parts).subspan(1)) {
    const auto list = move.find('[');
    moves.push_back({std::string(move.substr(0, list)), numbers_of(Value(move.substr(list)))});
  }
}

std::int64_t Stored::numel() const {
  std::int64_t count = 1;
  for (std::int64_t size : shape) count *= size;
  return count;
}

Tensor Stored::load() const {
  const auto own = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
  return Tensor::from_blob(own->data(), shape, {.dtype = dtype}, own);
}

Case::Case(std::string_view line, std::span<const std::byte> file, const Load& load) {
  std::string_view section;
  const std::vector<std::string_view> words = split(line, ' ');
  for (std::string_view word : std::span(words).subspan(1)) {
    const bool is_section = word == "in" || word == "out" || word == "seed" || word == "grad";
    const auto stored = [&] {
      return word == "-" ? std::nullopt : std::optional<Stored>(std::in_place, word, file);
    };
    if (is_section)
      section = word;
    else if (section.empty()) {
      const auto equals = word.find('=');
      arguments_.emplace(word.substr(0, equals), Value(word.substr(equals + 1)));
    } else if (section == "in")
      add_input(word, file, load);
    else if (section == "out")
      outputs.emplace_back(word, file);
    else
      (section == "seed" ? seeds : gradients).push_back(stored());
  }
  for (const Stored& output : outputs) look_at(output);
}

void Case::add_input(std::string_view word, std::span<const std::byte> file, const Load& load) {
  Tensor base, input;
  if (word != "-") {
    const Stored stored(word, file);
    look_at(stored);
    input = base = load(stored, bases.size());
    for (const Move& move : stored.moves) input = moved(input, move);
  }
  bases.push_back(base);
  inputs_.push_back(input);
}

void Case::look_at(const Stored& stored) {
  largest = std::max(largest, stored.numel());
  is_odd = is_odd || stored.numel() <= 1 || !stored.moves.empty();
}

std::span<const Tensor> Case::inputs(std::size_t first) const {
  return std::span(inputs_).subspan(first);
}

Operand Case::operand(std::size_t i, std::string_view key) const {
  if (i < inputs_.size()) return inputs_[i];
  const Scalar value = number(key);
  return {value.as(value.literal()), {}, false};
}

const Value* Case::find(std::string_view key) const {
  const auto found = arguments_.find(key);
  return found == arguments_.end() ? nullptr : &found->second;
}

const Value& Case::get(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) user_error(fmt::format("golden: the case has no argument {}", key));
  return *value;
}

std::int64_t Case::integer(std::string_view key, std::optional<std::int64_t> fallback) const {
  return fallback && !has(key) ? *fallback : parsed<std::int64_t>(get(key).text);
}

double Case::real(std::string_view key, std::optional<double> fallback) const {
  return fallback && !has(key) ? *fallback : parsed<double>(get(key).text);
}

bool Case::flag(std::string_view key, bool fallback) const {
  return has(key) ? get(key).text == "true" : fallback;
}

std::string Case::text(std::string_view key, std::optional<std::string> fallback) const {
  return fallback && !has(key) ? *fallback : get(key).text;
}

DType Case::dtype(std::string_view key) const {
  return has(key) ? dtype_named(get(key).text) : DType();
}

Scalar Case::number(std::string_view key) const {
  const std::string& text = get(key).text;
  if (text == "true" || text == "false") return text == "true";
  if (text.find_first_of(".en") == std::string::npos) return parsed<std::int64_t>(text);
  return parsed<double>(text);
}

Numbers Case::numbers(std::string_view key) const { return numbers_of(get(key)); }

Numbers Case::numbers(std::string_view key, Numbers fallback) const {
  return has(key) ? numbers(key) : std::move(fallback);
}

std::vector<Numbers> Case::lists(std::string_view key) const {
  std::vector<Numbers> lists;
  for (const Value& member : get(key).list) lists.push_back(numbers_of(member));
  return lists;
}

std::vector<std::string> Case::texts(std::string_view key) const {
  std::vector<std::string> texts;
  for (const Value& member : get(key).list) texts.push_back(member.text);
  return texts;
}

std::vector<double> Case::reals(std::string_view key) const {
  std::vector<double> reals;
  if (has(key))
    for (const Value& member : get(key).list) reals.push_back(parsed<double>(member.text));
  return reals;
}

AxisList Case::axes(std::string_view key) const {
  return has(key) ? AxisList(numbers(key)) : AxisList();
}

}  // namespace weft::golden
