// More names of axes, parts, repetition, padding, diagonals, patterns.

#include "golden.h"
#include "pad_args.h"

namespace weft::golden {
namespace {

Shape sizes(const Case& c, std::string_view key) { return {c.numbers(key)}; }
std::vector<Tensor> all(const Case& c) { return {c.inputs().begin(), c.inputs().end()}; }

std::optional<std::int64_t> maybe(const Case& c, std::string_view key) {
  return c.has(key) ? std::optional(c.integer(key)) : std::nullopt;
}

Cuts cuts(const Case& c) {
  return c.is_list("cuts") ? Cuts(c.numbers("cuts")) : Cuts(c.integer("cuts"));
}

Tensor interleaved(const Case& c) {
  if (c.inputs().size() == 1) return c[0].repeat_interleave(c.integer("repeats"), maybe(c, "dim"));
  return c[0].repeat_interleave(c[1], maybe(c, "dim"), maybe(c, "output_size"));
}

Tensor rolled(const Case& c) {
  if (!c.has("dims")) return c[0].roll(c.integer("shifts"));
  return c[0].roll(c.numbers("shifts"), c.numbers("dims"));
}

Tensor::AxisSizes named(const Case& c) {
  Tensor::AxisSizes named;
  const Numbers numbers = c.numbers("sizes");
  for (const std::string& name : c.texts("names")) named.emplace_back(name, numbers[named.size()]);
  return named;
}

Tensor reduced(const Case& c) {
  using enum Tensor::Reduce;
  const std::map<std::string, Tensor::Reduce> ways{
      {"sum", Sum}, {"prod", Prod}, {"mean", Mean}, {"amax", Amax}, {"amin", Amin}};
  return c[0].reduce(c.text("formula"), ways.at(c.text("how")), named(c));
}

// clang-format off
const Group group("shapes", {
  {"const", [](const Case& c) { return one(Tensor::constant(c.number("value"))); }},
  {"const_like", [](const Case& c) { return one(c[0].const_like(c.number("fill_value"))); }},
  {"swapaxes", [](const Case& c) { return one(c[0].swapaxes(c.integer("axis0"), c.integer("axis1"))); }},
  {"movedim", [](const Case& c) { return one(c[0].movedim(c.axes("source"), c.axes("destination"))); }},
  {"mT", [](const Case& c) { return one(c[0].mT()); }},
  {"atleast_1d", [](const Case& c) { return one(c[0].atleast_1d()); }},
  {"atleast_2d", [](const Case& c) { return one(c[0].atleast_2d()); }},
  {"atleast_3d", [](const Case& c) { return one(c[0].atleast_3d()); }},
  {"broadcast_tensors", [](const Case& c) { return Tensor::broadcast_tensors(all(c)); }},
  {"fliplr", [](const Case& c) { return one(c[0].fliplr()); }},
  {"flipud", [](const Case& c) { return one(c[0].flipud()); }},
  {"rot90", [](const Case& c) { return one(c[0].rot90(c.integer("k", 1), c.numbers("dims", {0, 1}))); }},
  {"narrow", [](const Case& c) { return one(c[0].narrow(c.integer("dim"), c.integer("start"), c.integer("length"))); }},
  {"select", [](const Case& c) { return one(c[0].select(c.integer("dim"), c.integer("index"))); }},
  {"unbind", [](const Case& c) { return c[0].unbind(c.integer("dim")); }},
  {"tensor_split", [](const Case& c) { return c[0].tensor_split(cuts(c), c.integer("dim")); }},
  {"hsplit", [](const Case& c) { return c[0].hsplit(cuts(c)); }},
  {"vsplit", [](const Case& c) { return c[0].vsplit(cuts(c)); }},
  {"dsplit", [](const Case& c) { return c[0].dsplit(cuts(c)); }},
  {"hstack", [](const Case& c) { return one(Tensor::hstack(all(c))); }},
  {"vstack", [](const Case& c) { return one(Tensor::vstack(all(c))); }},
  {"dstack", [](const Case& c) { return one(Tensor::dstack(all(c))); }},
  {"column_stack", [](const Case& c) { return one(Tensor::column_stack(all(c))); }},
  {"block_diag", [](const Case& c) { return one(Tensor::block_diag(all(c))); }},
  {"tile", [](const Case& c) { return one(c[0].tile(sizes(c, "dims"))); }},
  {"repeat_interleave", [](const Case& c) { return one(interleaved(c)); }},
  {"roll", [](const Case& c) { return one(rolled(c)); }},
  {"unfold", [](const Case& c) { return one(c[0].unfold(c.integer("dimension"), c.integer("size"), c.integer("step"))); }},
  {"meshgrid", [](const Case& c) {
    return Tensor::meshgrid(all(c), c.text("indexing") == "xy" ? Tensor::Meshgrid::Xy : Tensor::Meshgrid::Ij);
  }},
  {"cartesian_prod", [](const Case& c) { return one(Tensor::cartesian_prod(all(c))); }},
  {"combinations", [](const Case& c) { return one(c[0].combinations(c.integer("r"), c.flag("with_replacement"))); }},
  {"pad", [](const Case& c) { return one(padded(c)); }},
  {"pad_to", [](const Case& c) { return one(c[0].pad_to(sizes(c, "shape"), c.has("value") ? c.number("value") : Scalar(0))); }},
  {"shrink_to", [](const Case& c) { return one(c[0].shrink_to(sizes(c, "shape"))); }},
  {"diagonal", [](const Case& c) { return one(c[0].diagonal(c.integer("offset", 0), c.integer("dim1", 0), c.integer("dim2", 1))); }},
  {"diag", [](const Case& c) { return one(c[0].diag(c.integer("diagonal", 0))); }},
  {"diag_embed", [](const Case& c) { return one(c[0].diag_embed(c.integer("offset", 0), c.integer("dim1", -2), c.integer("dim2", -1))); }},
  {"diagflat", [](const Case& c) { return one(c[0].diagflat(c.integer("offset", 0))); }},
  {"tril_indices", [](const Case& c) { return one(Tensor::tril_indices(c.integer("row"), c.integer("col"), c.integer("offset"))); }},
  {"triu_indices", [](const Case& c) { return one(Tensor::triu_indices(c.integer("row"), c.integer("col"), c.integer("offset"))); }},
  {"vander", [](const Case& c) { return one(c[0].vander(maybe(c, "N"), c.flag("increasing"))); }},
  {"rearrange", [](const Case& c) { return one(c[0].rearrange(c.text("formula"), named(c))); }},
  {"reduce", [](const Case& c) { return one(reduced(c)); }},
  {"repeat_pattern", [](const Case& c) { return one(c[0].repeat(c.text("formula"), named(c))); }},
});
// clang-format on

}  // namespace
}  // namespace weft::golden
