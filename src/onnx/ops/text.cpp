// Operators of the standard on strings.
#include <algorithm>
#include <clocale>
#include <cwctype>
#include <memory>
#include <set>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <weft/dev/io/utf8.h>

#include "regex.h"
#include "tables.h"

namespace weft::onnx {
namespace {

// Few strings make many, where they are broadcast or filled up.
constexpr std::size_t most_strings = std::size_t{1} << 28;

std::size_t count_of(const Call& call, const std::vector<std::int64_t>& shape) {
  std::size_t count = 1;
  for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
  if (count > most_strings) call.refuse(fmt::format("it would have {} strings", count));
  return count;
}

// --- StringConcat -----------------------------------------------------------------------------------

std::vector<std::int64_t> broadcast(const Call& call, const Text& a, const Text& b) {
  const std::size_t rank = std::max(a.shape.size(), b.shape.size());
  std::vector<std::int64_t> shape(rank, 1);
  for (const Text* each : {&a, &b})
    for (std::size_t i = 0; i < each->shape.size(); ++i) {
      std::int64_t& size = shape[rank - each->shape.size() + i];
      if (each->shape[i] == size || each->shape[i] == 1) continue;
      if (size != 1) call.refuse(fmt::format("sizes {} and {} do not fit", size, each->shape[i]));
      size = each->shape[i];
    }
  return shape;
}

// Where the element of a result at this place lies in a tensor that broadcasts to it.
std::size_t place_in(const Text& text, const std::vector<std::int64_t>& shape, std::size_t place) {
  std::size_t at = 0, stride = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto size = static_cast<std::size_t>(shape[shape.size() - 1 - i]);
    if (i < text.shape.size()) {
      const auto own = static_cast<std::size_t>(text.shape[text.shape.size() - 1 - i]);
      if (own != 1) at += place % size * stride;
      stride *= own;
    }
    place /= size;
  }
  return at;
}

Values string_concat(const Call& call) {
  const Text &a = call.text(0), &b = call.text(1);
  Text joined{broadcast(call, a, b), {}};
  const std::size_t count = count_of(call, joined.shape);
  for (std::size_t i = 0; i < count; ++i)
    joined.values.push_back(a.values[place_in(a, joined.shape, i)] +
                            b.values[place_in(b, joined.shape, i)]);
  return {joined};
}

// --- StringSplit ------------------------------------------------------------------------------------

constexpr std::string_view blanks = " \t\n\v\f\r";

// At runs of blanks, which begin and end nothing, or at each delimiter; after so many cuts the rest stays.
std::vector<std::string> split(std::string_view text, std::string_view delimiter,
                               std::int64_t most_cuts) {
  const bool at_blanks = delimiter.empty();
  std::vector<std::string> parts;
  const auto skip_blanks = [&] {
    if (at_blanks) text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  };
  skip_blanks();
  if (at_blanks && text.empty()) return parts;
  for (std::int64_t cuts = 0;; ++cuts) {
    const std::size_t end = at_blanks ? text.find_first_of(blanks) : text.find(delimiter);
    if (end == std::string_view::npos || cuts == most_cuts) break;
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + (at_blanks ? 1 : delimiter.size()));
    skip_blanks();
    if (at_blanks && text.empty()) return parts;
  }
  if (at_blanks) text = text.substr(0, text.find_last_not_of(blanks) + 1);
  parts.emplace_back(text);
  return parts;
}

Values string_split(const Call& call) {
  const Text& text = call.text(0);
  const std::string delimiter = call.attr("delimiter", "");
  const std::int64_t most_cuts = call.attr("maxsplit", -1);
  std::vector<std::vector<std::string>> parts;
  std::vector<std::int64_t> counts;
  std::size_t most = 0;
  for (const std::string& each : text.values) {
    parts.push_back(split(each, delimiter, most_cuts));
    counts.push_back(static_cast<std::int64_t>(parts.back().size()));
    most = std::max(most, parts.back().size());
  }
  Text all{text.shape, {}};
  all.shape.push_back(static_cast<std::int64_t>(most));
  count_of(call, all.shape);
  for (std::vector<std::string>& each : parts) {
    each.resize(most);
    std::ranges::move(each, std::back_inserter(all.values));
  }
  return {all, Tensor(counts, call.options(dtypes::i64)).reshape(text.shape)};
}

// --- StringNormalizer -------------------------------------------------------------------------------

using Locale = std::unique_ptr<std::remove_pointer_t<locale_t>, void (*)(locale_t)>;

// The named one where the system has it; what is capital depends little on the language.
Locale locale_named(const std::string& name) {
  locale_t found = newlocale(LC_CTYPE_MASK, (name + ".UTF-8").c_str(), nullptr);
  if (found == nullptr) found = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return {found, [](locale_t locale) {
            if (locale != nullptr) freelocale(locale);
          }};
}

enum class Case { Lower, Upper, None };

std::string in_case(std::string_view text, Case wanted, locale_t locale) {
  if (wanted == Case::None) return std::string(text);
  std::string changed;
  while (!text.empty()) {
    const CodePoint first = first_code_point(text);
    const auto point = static_cast<std::wint_t>(first.value);
    std::wint_t other = point;
    if (locale != nullptr)
      other = wanted == Case::Lower ? towlower_l(point, locale) : towupper_l(point, locale);
    if (other == point)
      changed += text.substr(0, first.bytes);
    else
      append_utf8(changed, static_cast<char32_t>(other));
    text.remove_prefix(first.bytes);
  }
  return changed;
}

Case case_named(const Call& call, const std::string& name) {
  if (name == "LOWER") return Case::Lower;
  if (name == "UPPER") return Case::Upper;
  if (name != "NONE") call.refuse("case_change_action is LOWER, UPPER or NONE, not " + name);
  return Case::None;
}

Values string_normalizer(const Call& call) {
  const Text& text = call.text(0);
  const bool is_row = text.shape.size() == 2 && text.shape[0] == 1;
  if (text.shape.size() != 1 && !is_row) call.refuse("its input has the shape (n) or (1, n)");
  const Case wanted = case_named(call, call.attr("case_change_action", "NONE"));
  const bool is_exact = call.attr("is_case_sensitive", 0) != 0;
  const Locale locale = locale_named(call.attr("locale", "en_US"));
  // Words that differ in case alone are the same in either case.
  const auto key = [&](const std::string& word) {
    return in_case(word, is_exact ? Case::None : Case::Lower, locale.get());
  };
  std::set<std::string> stops;
  for (const std::string& word : call.attr("stopwords", std::vector<std::string>()))
    stops.insert(key(word));
  Text kept;
  for (const std::string& word : text.values)
    if (stops.empty() || !stops.contains(key(word)))
      kept.values.push_back(in_case(word, wanted, locale.get()));
  if (kept.values.empty()) kept.values.emplace_back();
  if (is_row) kept.shape.push_back(1);
  kept.shape.push_back(static_cast<std::int64_t>(kept.values.size()));
  return {kept};
}

Tensor regex_full_match(const Call& call) {
  const Regex pattern(call.attr<std::string>("pattern"));
  const Text& text = call.text(0);
  std::vector<bool> found;
  for (const std::string& each : text.values) found.push_back(pattern.matches(each));
  return Tensor(found, call.options(dtypes::bool_)).reshape(text.shape);
}

}  // namespace

OpTable text_ops() {
  static const Op ops[] = {
      {"RegexFullMatch", 20, regex_full_match},
      {"StringConcat", 20, string_concat},
      {"StringNormalizer", 10, string_normalizer},
      {"StringSplit", 20, string_split},
  };
  return {"", ops};
}

}  // namespace weft::onnx
