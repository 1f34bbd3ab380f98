#include "golden.h"

namespace weft::golden {
namespace {

std::vector<Tensor> both(const Tensor::Selected& selected) {
  return {selected.values, selected.indices};
}

using Median = Tensor::Selected (Tensor::*)(std::int64_t, bool) const;
using Whole = Tensor (Tensor::*)() const;
Method median(Median along, Whole whole) {
  return [along, whole](const Case& c) {
    if (!c.has("dim")) return one((c[0].*whole)());
    return both((c[0].*along)(c.integer("dim"), c.flag("keepdim")));
  };
}

Tensor::Interpolation interpolation(const Case& c) {
  using enum Tensor::Interpolation;
  const std::map<std::string, Tensor::Interpolation> names{{"linear", Linear},
                                                           {"lower", Lower},
                                                           {"higher", Higher},
                                                           {"nearest", Nearest},
                                                           {"midpoint", Midpoint}};
  return names.at(c.text("interpolation", "linear"));
}

template <class Q>
using Quantile = Tensor (Tensor::*)(Q, std::optional<std::int64_t>, bool,
                                    Tensor::Interpolation) const;
Method quantile(Quantile<double> of_number, Quantile<const Tensor&> of_several) {
  return [of_number, of_several](const Case& c) {
    const auto axis = c.has("dim") ? std::optional(c.integer("dim")) : std::nullopt;
    const bool keepdim = c.flag("keepdim");
    if (c.has("q")) return one((c[0].*of_number)(c.real("q"), axis, keepdim, interpolation(c)));
    return one((c[0].*of_several)(c[1], axis, keepdim, interpolation(c)));
  };
}

std::vector<Tensor> unique_consecutive(const Case& c) {
  const auto [values, inverse, counts] = c[0].unique_consecutive();
  return {values, inverse, counts};
}

const Group group(
    "sorting",
    {
        {"sort",
         [](const Case& c) { return both(c[0].sort(c.integer("dim", -1), c.flag("descending"))); }},
        {"argsort",
         [](const Case& c) {
           return one(c[0].argsort(c.integer("dim", -1), c.flag("descending")));
         }},
        {"msort", [](const Case& c) { return one(c[0].msort()); }},
        {"topk",
         [](const Case& c) {
           return both(c[0].topk(c.integer("k"), c.integer("dim", -1), c.flag("largest", true),
                                 c.flag("sorted", true)));
         }},
        {"kthvalue",
         [](const Case& c) {
           return both(c[0].kthvalue(c.integer("k"), c.integer("dim"), c.flag("keepdim")));
         }},
        {"median", median(&Tensor::median, &Tensor::median)},
        {"nanmedian", median(&Tensor::nanmedian, &Tensor::nanmedian)},
        {"mode",
         [](const Case& c) { return both(c[0].mode(c.integer("dim"), c.flag("keepdim"))); }},
        {"quantile", quantile(&Tensor::quantile, &Tensor::quantile)},
        {"nanquantile", quantile(&Tensor::nanquantile, &Tensor::nanquantile)},
        {"unique_consecutive", unique_consecutive},
    });

}  // namespace
}  // namespace weft::golden
