#include "golden.h"

namespace weft::golden {
namespace {

std::vector<Tensor> histogram(const Case& c) {
  const bool density = c.flag("density");
  if (c.inputs().size() == 3) {
    const auto [counts, edges] = c[0].histogram(c[2], c[1], density);
    return {counts, edges};
  }
  std::optional<std::pair<double, double>> bounds;
  if (c.has("low")) bounds.emplace(c.real("low"), c.real("high"));
  const auto [counts, edges] = c[0].histogram(c.integer("bins"), bounds, c[1], density);
  return {counts, edges};
}

std::vector<Tensor> unique(const Case& c) {
  const auto [values, inverse, counts] = c[0].unique();
  return {values, inverse, counts};
}

const Group group(
    "searching",
    {
        {"isin", [](const Case& c) { return one(c[0].isin(c[1], c.flag("invert"))); }},
        {"searchsorted",
         [](const Case& c) { return one(c[0].searchsorted(c[1], c.flag("right"))); }},
        {"bucketize", [](const Case& c) { return one(c[0].bucketize(c[1], c.flag("right"))); }},
        {"bincount",
         [](const Case& c) {
           return one(
               c[0].bincount(c.inputs().size() > 1 ? c[1] : Tensor(), c.integer("minlength", 0)));
         }},
        {"histc",
         [](const Case& c) {
           return one(c[0].histc(c.integer("bins"), c.real("min"), c.real("max")));
         }},
        {"histogram", histogram},
        {"unique", unique},
    });

}  // namespace
}  // namespace weft::golden
