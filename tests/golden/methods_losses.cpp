#include "golden.h"

namespace weft::golden {
namespace {

Reduction reduction(const Case& c) {
  const std::string name = c.text("reduction", "mean");
  return name == "none" ? Reduction::None : name == "sum" ? Reduction::Sum : Reduction::Mean;
}

using Loss = Tensor (Tensor::*)(const Tensor&, Reduction) const;
Method loss(Loss method) {
  return [method](const Case& c) { return one((c[0].*method)(c[1], reduction(c))); };
}

Tensor nll_loss(const Case& c) {
  const auto ignored =
      c.has("ignore_index") ? std::optional(c.integer("ignore_index")) : std::nullopt;
  return c[0].nll_loss(c[1], c[2], ignored, reduction(c));
}

Tensor sparse(const Case& c) {
  return c[0].sparse_categorical_crossentropy(c[1], c.integer("ignore_index", -1),
                                              c.real("label_smoothing", 0), reduction(c));
}

// clang-format off
const Group group("losses", {
  {"mse_loss", loss(&Tensor::mse_loss)},
  {"binary_crossentropy", loss(&Tensor::binary_crossentropy)},
  {"binary_crossentropy_logits", [](const Case& c) { return one(c[0].binary_crossentropy_logits(c[1], reduction(c))); }},
  {"nll_loss", [](const Case& c) { return one(nll_loss(c)); }},
  {"sparse_categorical_crossentropy", [](const Case& c) { return one(sparse(c)); }},
  {"cross_entropy", [](const Case& c) { return one(c[0].cross_entropy(c[1], reduction(c), c.real("label_smoothing", 0))); }},
});
// clang-format on

}  // namespace
}  // namespace weft::golden
