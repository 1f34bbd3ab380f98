#include "golden.h"

namespace weft::golden {
namespace {

namespace F = functional;

Reduction reduction(const Case& c, Reduction otherwise = Reduction::Mean) {
  if (!c.has("reduction")) return otherwise;
  const std::string name = c.text("reduction");
  return name == "none" ? Reduction::None : name == "sum" ? Reduction::Sum : Reduction::Mean;
}

Tensor multi_margin(const Case& c) {
  return F::multi_margin_loss(c[0], c[1],
                              {.p = static_cast<int>(c.integer("p", 1)),
                               .margin = c.real("margin", 1),
                               .weight = c[2],
                               .reduction = reduction(c)});
}

Tensor triplet(const Case& c) {
  return F::triplet_margin_loss(c[0], c[1], c[2],
                                {.margin = c.real("margin", 1),
                                 .p = c.real("p", 2),
                                 .swap = c.flag("swap"),
                                 .reduction = reduction(c)});
}

Tensor ctc(const Case& c) {
  return F::ctc_loss(c[0].log_softmax(-1), c[1], c[2], c[3],
                     {.blank = c.integer("blank", 0),
                      .zero_infinity = c.flag("zero_infinity"),
                      .reduction = reduction(c)});
}

// clang-format off
const Group group("loss", {
  {"cross_entropy", [](const Case& c) { return one(F::cross_entropy(c[0], c[1], {.weight = c[2], .ignore_index = c.integer("ignore_index", -100), .label_smoothing = c.real("label_smoothing", 0), .reduction = reduction(c)})); }},
  {"nll_loss", [](const Case& c) { return one(F::nll_loss(c[0], c[1], {.weight = c[2], .reduction = reduction(c)})); }},
  {"multi_margin_loss", [](const Case& c) { return one(multi_margin(c)); }},
  {"multilabel_margin_loss", [](const Case& c) { return one(F::multilabel_margin_loss(c[0], c[1], reduction(c))); }},
  {"multilabel_soft_margin_loss", [](const Case& c) { return one(F::multilabel_soft_margin_loss(c[0], c[1], {.weight = c[2], .reduction = reduction(c)})); }},
  {"ctc_loss", [](const Case& c) { return one(ctc(c)); }},
  {"mse_loss", [](const Case& c) { return one(F::mse_loss(c[0], c[1], reduction(c))); }},
  {"l1_loss", [](const Case& c) { return one(F::l1_loss(c[0], c[1], reduction(c))); }},
  {"smooth_l1_loss", [](const Case& c) { return one(F::smooth_l1_loss(c[0], c[1], c.real("beta", 1), reduction(c))); }},
  {"huber_loss", [](const Case& c) { return one(F::huber_loss(c[0], c[1], c.real("delta", 1), reduction(c))); }},
  {"poisson_nll_loss", [](const Case& c) { return one(F::poisson_nll_loss(c[0], c[1], {.log_input = c.flag("log_input", true), .full = c.flag("full"), .reduction = reduction(c)})); }},
  {"gaussian_nll_loss", [](const Case& c) { return one(F::gaussian_nll_loss(c[0], c[1], c[2], {.full = c.flag("full"), .eps = c.real("eps", 1e-6), .reduction = reduction(c)})); }},
  {"binary_cross_entropy", [](const Case& c) { return one(F::binary_cross_entropy(c[0], c[1], {.weight = c[2], .reduction = reduction(c)})); }},
  {"binary_cross_entropy_with_logits", [](const Case& c) { return one(F::binary_cross_entropy_with_logits(c[0], c[1], {.weight = c[2], .pos_weight = c[3], .reduction = reduction(c)})); }},
  {"kl_div", [](const Case& c) { return one(F::kl_div(c[0], c[1], {.log_target = c.flag("log_target"), .batch_mean = c.flag("batch_mean"), .reduction = reduction(c)})); }},
  {"sigmoid_focal_loss", [](const Case& c) { return one(F::sigmoid_focal_loss(c[0], c[1], {.alpha = c.real("alpha", 0.25), .gamma = c.real("gamma", 2), .reduction = reduction(c, Reduction::None)})); }},
  {"dice_loss", [](const Case& c) { return one(F::dice_loss(c[0], c[1], c.real("smooth", 1), reduction(c))); }},
  {"hinge_embedding_loss", [](const Case& c) { return one(F::hinge_embedding_loss(c[0], c[1], c.real("margin", 1), reduction(c))); }},
  {"soft_margin_loss", [](const Case& c) { return one(F::soft_margin_loss(c[0], c[1], reduction(c))); }},
  {"margin_ranking_loss", [](const Case& c) { return one(F::margin_ranking_loss(c[0], c[1], c[2], c.real("margin", 0), reduction(c))); }},
  {"cosine_embedding_loss", [](const Case& c) { return one(F::cosine_embedding_loss(c[0], c[1], c[2], c.real("margin", 0), reduction(c))); }},
  {"cosine_similarity", [](const Case& c) { return one(F::cosine_similarity(c[0], c[1], c.integer("dim", 1), c.real("eps", 1e-8))); }},
  {"pairwise_distance", [](const Case& c) { return one(F::pairwise_distance(c[0], c[1], c.real("p", 2), c.real("eps", 1e-6), c.flag("keepdim"))); }},
  {"triplet_margin_loss", [](const Case& c) { return one(triplet(c)); }},
  {"contrastive_loss", [](const Case& c) { return one(F::contrastive_loss(c[0], c[1], {.temperature = c.real("temperature", 0.07), .symmetric = c.flag("symmetric"), .reduction = reduction(c)})); }},
});
// clang-format on

}  // namespace
}  // namespace weft::golden
