#include <sstream>

#include "golden.h"

namespace weft::golden {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

Slice slice_of(const std::string& word) {
  const std::vector<std::string> bounds = split(word, ':');
  const auto bound = [&](std::size_t i) {
    return i < bounds.size() && !bounds[i].empty() ? std::optional<Dim>(std::stoll(bounds[i]))
                                                   : std::nullopt;
  };
  const std::optional<Dim> step = bound(2);
  return {bound(0), bound(1), step ? step->uop()->lo() : 1};
}

// "0,1:3,::-2,...,new,(2 0),t", as groups/indexing.py says.
Indices indices_of(const Case& c, std::size_t next) {
  std::vector<Index> list;
  for (const std::string& word : split(c.text("spec"), ',')) {
    if (word == "t") {
      list.emplace_back(c[next++]);
    } else if (word == "...") {
      list.emplace_back(ellipsis);
    } else if (word == "new") {
      list.emplace_back(newaxis);
    } else if (word[0] == '(') {
      std::vector<std::int64_t> places;
      for (const std::string& place : split(word.substr(1, word.size() - 2), ' '))
        places.push_back(std::stoll(place));
      list.emplace_back(places);
    } else if (word.find(':') != std::string::npos) {
      list.emplace_back(slice_of(word));
    } else {
      list.emplace_back(std::stoll(word));
    }
  }
  return Indices(list);
}

// A copy of the first input with the second one put there.
std::vector<Tensor> set(const Case& c) {
  Tensor x = c[0].contiguous();
  return one(x.set(indices_of(c, 2), c[1]));
}

std::vector<Tensor> scattered(const Case& c) {
  static const std::map<std::string, Tensor::Scatter> ways{{"", Tensor::Scatter::Put},
                                                           {"add", Tensor::Scatter::Add},
                                                           {"multiply", Tensor::Scatter::Multiply}};
  const Tensor::Scatter how = ways.at(c.text("reduce", ""));
  if (c.has("value")) return one(c[0].scatter(c.integer("dim"), c[1], c.real("value"), how));
  return one(c[0].scatter(c.integer("dim"), c[1], c[2], how));
}

std::vector<Tensor> scatter_reduced(const Case& c) {
  using enum Tensor::Reduce;
  static const std::map<std::string, Tensor::Reduce> ways{
      {"sum", Sum}, {"prod", Prod}, {"mean", Mean}, {"amax", Amax}, {"amin", Amin}};
  return one(c[0].scatter_reduce(c.integer("dim"), c[1], c[2], ways.at(c.text("reduce")),
                                 c.flag("include_self")));
}

std::vector<Tensor> selected(const Case& c) {
  if (!c.has("size")) return one(c[0].masked_select(c[1]));
  return one(c[0].masked_select(c[1], c.integer("size"), c.number("fill_value")));
}

std::vector<Tensor> nonzero(const Case& c) {
  if (!c.has("size")) return one(c[0].nonzero());
  return one(c[0].nonzero(c.integer("size"), c.integer("fill_value")));
}

const Group group(
    "indexing",
    {
        {"__getitem__", [](const Case& c) { return one(c[0][indices_of(c, 1)]); }},
        {"__setitem__", set},
        {"index_put",
         [](const Case& c) {
           return one(c[0].index_put(indices_of(c, 2), c[1], c.flag("accumulate")));
         }},
        {"gather", [](const Case& c) { return one(c[0].gather(c.integer("dim"), c[1])); }},
        {"scatter", scattered},
        {"scatter_reduce", scatter_reduced},
        {"index_select",
         [](const Case& c) { return one(c[0].index_select(c.integer("dim"), c[1])); }},
        {"index_add",
         [](const Case& c) {
           return one(c[0].index_add(c.integer("dim"), c[1], c[2],
                                     c.has("alpha") ? c.number("alpha") : 1));
         }},
        {"index_copy",
         [](const Case& c) { return one(c[0].index_copy(c.integer("dim"), c[1], c[2])); }},
        {"index_fill",
         [](const Case& c) {
           return one(c[0].index_fill(c.integer("dim"), c[1], c.real("value")));
         }},
        {"put", [](const Case& c) { return one(c[0].put(c[1], c[2], c.flag("accumulate"))); }},
        {"take_along_axis",
         [](const Case& c) { return one(c[0].take_along_dim(c[1], c.integer("dim"))); }},
        {"put_along_axis",
         [](const Case& c) { return one(c[0].put_along_axis(c[1], c[2], c.integer("axis"))); }},
        {"take", [](const Case& c) { return one(c[0].take(c[1], c.integer("axis"))); }},
        {"one_hot", [](const Case& c) { return one(c[0].one_hot(c.integer("num_classes"))); }},
        {"masked_fill",
         [](const Case& c) { return one(c[0].masked_fill(c[1], c.number("value"))); }},
        {"masked_select", selected},
        {"masked_scatter", [](const Case& c) { return one(c[0].masked_scatter(c[1], c[2])); }},
        {"nonzero", nonzero},
        {"argwhere", [](const Case& c) { return one(c[0].argwhere()); }},
        {"where_places", [](const Case& c) { return c[0].where(); }},
        {"count_nonzero", [](const Case& c) { return one(c[0].count_nonzero(c.axes("dim"))); }},
    });

}  // namespace
}  // namespace weft::golden
