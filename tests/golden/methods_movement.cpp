// Movement, indices, and what puts tensors together.

#include <charconv>

#include "golden.h"

namespace weft::golden {
namespace {

Shape sizes(const Case& c, std::string_view key) { return {c.numbers(key)}; }

Tensor::Bounds pairs(const Case& c, std::string_view key) {
  Tensor::Bounds pairs;
  for (const Numbers& pair : c.lists(key)) pairs.emplace_back(pair.at(0), pair.at(1));
  return pairs;
}

std::vector<Tensor> all(const Case& c) { return {c.inputs().begin(), c.inputs().end()}; }

std::optional<std::int64_t> maybe(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

// As Python has it: 3, 1:5, ::-1, None, ...
Index index(std::string_view text) {
  if (text == "None") return newaxis;
  if (text == "...") return ellipsis;
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return *maybe(text);
  const std::string_view rest = text.substr(colon + 1);
  const auto second = rest.find(':');
  const auto step =
      second == std::string_view::npos ? std::nullopt : maybe(rest.substr(second + 1));
  return Slice{maybe(text.substr(0, colon)), maybe(rest.substr(0, second)), step.value_or(1)};
}

Tensor indexed(const Case& c) {
  std::vector<Index> list;
  for (const std::string& each : c.texts("index")) list.push_back(index(each));
  return c[0][Indices(std::move(list))];
}

// clang-format off
const Group group("movement", {
  {"reshape", [](const Case& c) { return one(c[0].reshape(sizes(c, "shape"))); }},
  {"view", [](const Case& c) { return one(c[0].view(sizes(c, "shape"))); }},
  {"expand", [](const Case& c) { return one(c[0].expand(sizes(c, "shape"))); }},
  {"permute", [](const Case& c) { return one(c[0].permute(c.numbers("order"))); }},
  {"flip", [](const Case& c) { return one(c[0].flip(c.numbers("dims"))); }},
  {"transpose", [](const Case& c) { return one(c[0].transpose(c.integer("dim0", 1), c.integer("dim1", 0))); }},
  {"T", [](const Case& c) { return one(c[0].T()); }},
  {"shrink", [](const Case& c) { return one(c[0].shrink(pairs(c, "bounds"))); }},
  {"pad", [](const Case& c) {
    return one(c.has("value") ? c[0].pad(pairs(c, "padding"), c.number("value")) : c[0].pad(pairs(c, "padding")));
  }},
  {"squeeze", [](const Case& c) { return one(c[0].squeeze(c.axes("dim"))); }},
  {"unsqueeze", [](const Case& c) { return one(c[0].unsqueeze(c.integer("dim"))); }},
  {"flatten", [](const Case& c) { return one(c[0].flatten(c.integer("start_dim", 0), c.integer("end_dim", -1))); }},
  {"unflatten", [](const Case& c) { return one(c[0].unflatten(c.integer("dim"), sizes(c, "sizes"))); }},
  {"repeat", [](const Case& c) { return one(c[0].repeat(sizes(c, "repeats"))); }},
  {"roll", [](const Case& c) { return one(c[0].roll(c.integer("shifts"), c.integer("dims"))); }},
  {"diagonal", [](const Case& c) { return one(c[0].diagonal(0, -2, -1)); }},
  {"triu", [](const Case& c) { return one(c[0].triu(c.integer("diagonal", 0))); }},
  {"tril", [](const Case& c) { return one(c[0].tril(c.integer("diagonal", 0))); }},
  {"cat", [](const Case& c) { return one(Tensor::cat(all(c), c.integer("dim"))); }},
  {"stack", [](const Case& c) { return one(Tensor::stack(all(c), c.integer("dim"))); }},
  {"split", [](const Case& c) {
    return c.is_list("sizes") ? c[0].split(c.numbers("sizes"), c.integer("dim"))
                              : c[0].split(c.integer("sizes"), c.integer("dim"));
  }},
  {"chunk", [](const Case& c) { return c[0].chunk(c.integer("chunks"), c.integer("dim")); }},
  {"__getitem__", [](const Case& c) { return one(indexed(c)); }},
  {"gather", [](const Case& c) { return one(c[0].gather(c.integer("dim"), c[1])); }},
  {"one_hot", [](const Case& c) { return one(c[0].one_hot(c.integer("num_classes"))); }},
});
// clang-format on

}  // namespace
}  // namespace weft::golden
