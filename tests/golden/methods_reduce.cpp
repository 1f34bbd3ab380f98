#include "golden.h"

namespace weft::golden {
namespace {

using OverAxes = Tensor (Tensor::*)(const AxisList&, bool) const;
Method over(OverAxes method) {
  return [method](const Case& c) { return one((c[0].*method)(c.axes("axis"), c.flag("keepdim"))); };
}

using WithDType = Tensor (Tensor::*)(const AxisList&, bool, DType) const;
Method over(WithDType method) {
  return [method](const Case& c) {
    return one((c[0].*method)(c.axes("axis"), c.flag("keepdim"), c.dtype("dtype")));
  };
}

using WithCorrection = Tensor (Tensor::*)(const AxisList&, bool, std::int64_t) const;
Method over(WithCorrection method) {
  return [method](const Case& c) {
    return one((c[0].*method)(c.axes("axis"), c.flag("keepdim"), c.integer("correction", 1)));
  };
}

using Place = Tensor (Tensor::*)(std::optional<std::int64_t>, bool) const;
Method place(Place method) {
  return [method](const Case& c) {
    const auto axis = c.has("axis") ? std::optional(c.integer("axis")) : std::nullopt;
    return one((c[0].*method)(axis, c.flag("keepdim")));
  };
}

// clang-format off
const Group group("reduce", {
  {"sum", over(&Tensor::sum)},
  {"prod", over(&Tensor::prod)},
  {"max", over(&Tensor::max)},
  {"amax", over(&Tensor::amax)},
  {"amin", over(&Tensor::amin)},
  {"min", over(&Tensor::min)},
  {"any", over(&Tensor::any)},
  {"all", over(&Tensor::all)},
  {"mean", over(&Tensor::mean)},
  {"var", over(&Tensor::var)},
  {"std", over(&Tensor::std)},
  {"logsumexp", over(&Tensor::logsumexp)},
  {"argmax", place(&Tensor::argmax)},
  {"argmin", place(&Tensor::argmin)},
  {"softmax", [](const Case& c) { return one(c[0].softmax(c.integer("axis", -1))); }},
  {"log_softmax", [](const Case& c) { return one(c[0].log_softmax(c.integer("axis", -1))); }},
  {"cumsum", [](const Case& c) { return one(c[0].cumsum(c.integer("axis", -1))); }},
});
// clang-format on

}  // namespace
}  // namespace weft::golden
