// ai.onnx.ml: categories and maps.
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "tables.h"

namespace weft::onnx {
namespace {

using Ints = std::vector<std::int64_t>;
using Strings = std::vector<std::string>;

Text text_of(const Strings& strings) {
  return {{static_cast<std::int64_t>(strings.size())}, strings};
}

// --- Categories -----------------------------------------------------------------------------------------

// Which of the keys each element of the input is, of equal ones the last, counted from 1; 0 is none.
Tensor places_among(const Call& call, const Value& keys) {
  if (keys.is_text() != call.value(0).is_text())
    call.refuse("either its input or its keys are strings, not both");
  if (keys.is_text()) {
    std::map<std::string, std::int64_t> known;
    std::int64_t number = 0;
    for (const std::string& key : keys.text().values) known[key] = ++number;
    Ints places;
    const Text& text = call.text(0);
    for (const std::string& each : text.values) {
      const auto found = known.find(each);
      places.push_back(found == known.end() ? 0 : found->second);
    }
    return Tensor(places, call.options(dtypes::i64)).reshape(text.shape);
  }
  const Tensor among = keys.tensor(), given = call.tensor(0);
  const bool are_counted = given.dtype().is_float() && !among.dtype().is_float();
  const Tensor x = (are_counted ? given.cast(among.dtype()) : given).unsqueeze(-1);
  Tensor is_equal = x == among;
  if (x.dtype().is_float()) is_equal = is_equal | (x.isnan() & among.isnan());
  const Tensor numbers = Tensor::arange(1, among.numel() + 1, 1, call.options(dtypes::i64));
  return is_equal.where(numbers, 0).max(-1);
}

// The values there; of place 0 the default.
Value values_at(const Call& call, const Tensor& places, const Value& values,
                const Value& otherwise) {
  if (!values.is_text())
    return Tensor::cat({otherwise.tensor().reshape({1}), values.tensor()}).take(places);
  Text text{places.shape(), {}};
  for (const std::int64_t place : call.ints(places))
    text.values.push_back(place == 0 ? otherwise.text().values.at(0)
                                     : values.text().values[static_cast<std::size_t>(place) - 1]);
  return text;
}

std::size_t count_of(const Value& list) {
  return list.is_text() ? list.text().values.size()
                        : static_cast<std::size_t>(list.tensor().numel());
}

Value mapped(const Call& call, const Value& keys, const Value& values, const Value& otherwise) {
  if (count_of(keys) != count_of(values))
    call.refuse(fmt::format("{} keys for {} values", count_of(keys), count_of(values)));
  return values_at(call, places_among(call, keys), values, otherwise);
}

Value default_string(const Call& call) { return text_of({call.attr("default_string", "_Unused")}); }
Value default_int(const Call& call) {
  return Tensor::full({1}, call.attr("default_int64", -1), call.options(dtypes::i64));
}
Value counted(const Call& call, std::size_t size) {
  return Tensor::arange(static_cast<std::int64_t>(size), call.options(dtypes::i64));
}

Values label_encoder_1(const Call& call) {
  const Strings classes = call.attr<Strings>("classes_strings");
  const Value names = text_of(classes), numbers = counted(call, classes.size());
  return {call.value(0).is_text() ? mapped(call, names, numbers, default_int(call))
                                  : mapped(call, numbers, names, default_string(call))};
}

Values category_mapper(const Call& call) {
  const Value names = text_of(call.attr<Strings>("cats_strings"));
  const Value numbers = Tensor(call.attr<Ints>("cats_int64s"), call.options(dtypes::i64));
  return {call.value(0).is_text() ? mapped(call, names, numbers, default_int(call))
                                  : mapped(call, numbers, names, default_string(call))};
}

// keys_int64s, keys_floats, keys_strings or keys_tensor, whichever is there.
Value list_named(const Call& call, const std::string& name) {
  if (call.has(name + "_tensor")) return call.attr<Value>(name + "_tensor");
  if (call.has(name + "_strings")) return text_of(call.attr<Strings>(name + "_strings"));
  if (call.has(name + "_int64s"))
    return Tensor(call.attr<Ints>(name + "_int64s"), call.options(dtypes::i64));
  return Tensor(call.attr<std::vector<double>>(name + "_floats"), call.options(dtypes::f32));
}

Values label_encoder(const Call& call) {
  const Value values = list_named(call, "values");
  Value otherwise;
  if (call.has("default_tensor"))
    otherwise = call.attr<Value>("default_tensor");
  else if (values.is_text())
    otherwise = default_string(call);
  else if (values.tensor().dtype().is_float())
    otherwise =
        Tensor::full({1}, call.attr("default_float", -0.0), call.options(values.tensor().dtype()));
  else
    otherwise = default_int(call).tensor().cast(values.tensor().dtype());
  return {mapped(call, list_named(call, "keys"), values, otherwise)};
}

Tensor one_hot_encoder(const Call& call) {
  const bool is_text = call.value(0).is_text();
  const Value categories =
      is_text ? text_of(call.attr<Strings>("cats_strings"))
              : Value(Tensor(call.attr<Ints>("cats_int64s"), call.options(dtypes::i64)));
  const Tensor places = places_among(call, categories);
  if (call.attr("zeros", 1) == 0)
    for (const std::int64_t place : call.ints(places))
      if (place == 0) call.refuse("a value is none of the categories");
  const auto count = static_cast<std::int64_t>(count_of(categories));
  const Tensor numbers = Tensor::arange(1, count + 1, 1, call.options(dtypes::i64));
  return (places.unsqueeze(-1) == numbers).cast(dtypes::f32);
}

// --- Maps -------------------------------------------------------------------------------------------------

// A number or a string of a map, as a tensor of one element or as text.
std::string as_string(const Call& call, const Value& value) {
  if (value.is_text()) return value.text().values.at(0);
  const double number = call.numbers(value.tensor()).at(0);
  return fmt::format("{}", static_cast<float>(number));
}

Tensor as_number(const Call& call, const Value& value, DType dtype) {
  if (!value.is_text()) return value.tensor().reshape({1}).cast(dtype);
  const std::string& text = value.text().values.at(0);
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0') call.refuse("\"" + text + "\" is no number");
  return Tensor::full({1}, number, call.options(dtypes::f64)).cast(dtype);
}

// The values in order of the keys; in the sparse form each at the place that its key says.
Values cast_map(const Call& call) {
  const std::string wanted = call.attr("cast_to", "TO_FLOAT");
  const bool is_sparse = call.attr("map_form", "DENSE") == "SPARSE",
             is_text = wanted == "TO_STRING";
  if (!is_text && wanted != "TO_FLOAT" && wanted != "TO_INT64")
    call.refuse("cast_to is TO_FLOAT, TO_INT64 or TO_STRING, not " + wanted);
  const DType dtype = wanted == "TO_FLOAT" ? dtypes::f32 : dtypes::i64;
  const Map& map = call.value(0).map();
  const std::int64_t width = is_sparse ? call.attr("max_map", 1) : std::ssize(map);
  constexpr std::int64_t most = 1 << 28;
  if (width < 0 || width > most) call.refuse(fmt::format("a length of {}", width));
  Strings strings(is_text ? static_cast<std::size_t>(width) : 0);
  std::vector<Tensor> numbers;
  std::int64_t place = 0;
  const auto fill_to = [&](std::int64_t end) {
    if (end > place && !is_text)
      numbers.push_back(Tensor::zeros({end - place}, call.options(dtype)));
    place = end;
  };
  for (const auto& [key, value] : map) {
    const auto* number = std::get_if<std::int64_t>(&key);
    if (is_sparse) {
      if (number == nullptr || *number < 0 || *number >= width)
        call.refuse(fmt::format("a key is not from 0 to {}", width - 1));
      fill_to(*number);
    }
    if (is_text)
      strings[static_cast<std::size_t>(place)] = as_string(call, value);
    else
      numbers.push_back(as_number(call, value, dtype));
    ++place;
  }
  fill_to(width);
  if (is_text) return {Text{{1, width}, strings}};
  return {numbers.empty() ? Tensor::zeros({1, 0}, call.options(dtype))
                          : Tensor::cat(numbers).unsqueeze(0)};
}

Values dict_vectorizer(const Call& call) {
  std::vector<std::variant<std::int64_t, std::string>> words;
  for (const std::string& word : call.attr("string_vocabulary", Strings()))
    words.emplace_back(word);
  if (words.empty())
    for (const std::int64_t word : call.attr("int64_vocabulary", Ints())) words.emplace_back(word);
  const Map& map = call.value(0).map();
  const bool is_text = !map.empty() && map.begin()->second.is_text();
  const DType dtype = map.empty() || is_text ? dtypes::f32 : map.begin()->second.tensor().dtype();
  Strings strings;
  std::vector<Tensor> numbers;
  for (const auto& word : words) {
    const auto found = map.find(word);
    if (is_text)
      strings.push_back(found == map.end() ? "" : as_string(call, found->second));
    else
      numbers.push_back(found == map.end() ? Tensor::zeros({1}, call.options(dtype))
                                           : as_number(call, found->second, dtype));
  }
  const std::int64_t width = std::ssize(words);
  if (is_text) return {Text{{1, width}, strings}};
  return {numbers.empty() ? Tensor::zeros({1, 0}, call.options(dtype))
                          : Tensor::cat(numbers).unsqueeze(0)};
}

Values zip_map(const Call& call) {
  std::vector<std::variant<std::int64_t, std::string>> keys;
  for (const std::string& key : call.attr("classlabels_strings", Strings())) keys.emplace_back(key);
  if (keys.empty())
    for (const std::int64_t key : call.attr("classlabels_int64s", Ints())) keys.emplace_back(key);
  const std::vector<double> values = call.numbers(0);
  const Tensor x = call.tensor(0);
  if (keys.empty() || x.ndim() < 1 || x.size(-1) != std::ssize(keys))
    call.refuse(fmt::format("there are {} keys for the columns", keys.size()));
  Sequence rows;
  for (std::size_t row = 0; row < values.size(); row += keys.size()) {
    Map map;
    for (std::size_t i = 0; i < keys.size(); ++i)
      map[keys[i]] = Tensor::full({}, values[row + i], call.options(dtypes::f32));
    rows.emplace_back(std::move(map));
  }
  return {Value(std::move(rows))};
}

}  // namespace

OpTable learning_maps_ops() {
  static const Op ops[] = {
      {"CastMap", 1, cast_map},
      {"CategoryMapper", 1, category_mapper},
      {"DictVectorizer", 1, dict_vectorizer},
      {"LabelEncoder", 1, label_encoder_1},
      {"LabelEncoder", 2, label_encoder},
      {"OneHotEncoder", 1, one_hot_encoder},
      {"ZipMap", 1, zip_map},
  };
  return {"ai.onnx.ml", ops};
}

}  // namespace weft::onnx
