#include "golden.h"

namespace weft::golden {
namespace {

using Along = Tensor (Tensor::*)(std::int64_t) const;
Method along(Along method) {
  return [method](const Case& c) { return one((c[0].*method)(c.integer("axis", 0))); };
}

using Extremes = std::pair<Tensor, Tensor> (Tensor::*)(std::int64_t) const;
Method extremes(Extremes method) {
  return [method](const Case& c) -> std::vector<Tensor> {
    const auto [values, indices] = (c[0].*method)(c.integer("axis", 0));
    return {values, indices};
  };
}

std::vector<Tensor> diff(const Case& c) {
  const Tensor prepend = c.inputs().size() > 1 ? c[1] : Tensor();
  const Tensor append = c.inputs().size() > 2 ? c[2] : Tensor();
  return one(c[0].diff(c.integer("n", 1), c.integer("axis", -1), prepend, append));
}

// clang-format off
const Group group("scan", {
  {"cumsum", [](const Case& c) { return one(c[0].cumsum(c.integer("axis", 0))); }},
  {"cumprod", [](const Case& c) { return one(c[0].cumprod(c.integer("axis", 0))); }},
  {"logcumsumexp", along(&Tensor::logcumsumexp)},
  {"cummax", extremes(&Tensor::cummax)},
  {"cummin", extremes(&Tensor::cummin)},
  {"diff", diff},
});
// clang-format on

}  // namespace
}  // namespace weft::golden
