// Wrong calls of losses.

#include "table.h"

namespace weft {
namespace {

namespace F = functional;

Tensor places(const Shape& shape) { return of(shape, {.dtype = dtypes::i32}); }

TEST(TensorErrors, Losses) {
  const Tensor x = of({2, 3}), y = places({2});
  const std::string pairs =
      ": shapes (4, 1) and (4,) would broadcast to (4, 4), which compares each number with "
      "several: reshape one";
  const WrongCall calls[] = {
      {"mse_loss", [&] { of({4, 1}).mse_loss(of({4})); }, "mse_loss" + pairs},
      {"l1_loss", [&] { F::l1_loss(of({4}), of({4, 1})); },
       "l1_loss: shapes (4,) and (4, 1) would broadcast to (4, 4), which compares each number with "
       "several: reshape one"},
      {"smooth_l1_loss", [&] { F::smooth_l1_loss(of({4, 1}), of({4})); }, "smooth_l1_loss" + pairs},
      {"huber_loss", [&] { F::huber_loss(of({4, 1}), of({4})); }, "huber_loss" + pairs},
      {"binary_cross_entropy", [&] { F::binary_cross_entropy(of({4, 1}), of({4})); },
       "binary_cross_entropy" + pairs},
      {"binary_crossentropy_logits", [&] { of({4, 1}).binary_crossentropy_logits(of({4})); },
       "binary_crossentropy_logits" + pairs},
      {"poisson_nll_loss", [&] { F::poisson_nll_loss(of({4, 1}), of({4})); },
       "poisson_nll_loss" + pairs},
      {"cross_entropy, shape", [&] { x.cross_entropy(places({3})); },
       "cross_entropy: targets of i32 and shape (3,) are not a class for each score of shape (2, "
       "3)"},
      {"cross_entropy, probabilities", [&] { x.cross_entropy(of({2})); },
       "cross_entropy: probabilities of shape (2,) for scores of shape (2, 3)"},
      {"cross_entropy, scalar", [&] { of({}).cross_entropy(y); },
       "cross_entropy: a scalar has no classes"},
      {"cross_entropy, weight", [&] { F::cross_entropy(x, y, {.weight = of({2})}); },
       "cross_entropy: a weight of shape (2,) for 3 classes"},
      {"cross_entropy, smoothing", [&] { F::cross_entropy(x, y, {.label_smoothing = 1.5}); },
       "cross_entropy: label_smoothing 1.5 is not from 0 to 1"},
      {"sparse_categorical_crossentropy, smoothing",
       [&] { x.sparse_categorical_crossentropy(y, -1, -0.5); },
       "sparse_categorical_crossentropy: label_smoothing -0.5 is not from 0 to 1"},
      {"nll_loss, dtype", [&] { x.nll_loss(of({2})); },
       "nll_loss: targets of f32 and shape (2,) are not a class for each score of shape (2, 3)"},
      {"nll_loss, weight", [&] { x.nll_loss(y, of({3, 1})); },
       "nll_loss: a weight of shape (3, 1) for 3 classes"},
      {"nll_loss, scalar", [&] { of({}).nll_loss(places({})); },
       "nll_loss: a scalar has no classes"},
      {"multi_margin_loss, p", [&] { F::multi_margin_loss(x, y, {.p = 3}); },
       "multi_margin_loss: p is 1 or 2, not 3"},
      {"multi_margin_loss, shape", [&] { F::multi_margin_loss(of({1, 2, 3}), y); },
       "multi_margin_loss: scores of shape (1, 2, 3) are not (batch, classes)"},
      {"multilabel_margin_loss", [&] { F::multilabel_margin_loss(x, y); },
       "multilabel_margin_loss: targets of i32 and shape (2,) are not the classes of scores of "
       "shape "
       "(2, 3), (batch, classes)"},
      {"multilabel_soft_margin_loss",
       [&] { F::multilabel_soft_margin_loss(x, x, {.weight = of({2})}); },
       "multilabel_soft_margin_loss: a weight of shape (2,) for 3 classes"},
      {"smooth_l1_loss, beta", [&] { F::smooth_l1_loss(x, x, -1); },
       "smooth_l1_loss: beta -1 is not at least 0"},
      {"huber_loss, delta", [&] { F::huber_loss(x, x, 0); }, "huber_loss: delta 0 is not above 0"},
      {"sigmoid_focal_loss, gamma", [&] { F::sigmoid_focal_loss(x, x, {.gamma = -1}); },
       "sigmoid_focal_loss: gamma -1 is not at least 0"},
      {"dice_loss", [&] { F::dice_loss(x, of({2, 4})); },
       "dice_loss: shapes (2, 3) and (2, 4) are not the same (batch, ...)"},
      {"kl_div, batch mean", [&] { F::kl_div(of({}), of({}), {.batch_mean = true}); },
       "kl_div: a scalar has no batch to take the mean of"},
      {"pairwise_distance", [&] { F::pairwise_distance(of({}), x); },
       "pairwise_distance: shapes () and (2, 3): a scalar is no vector"},
      {"pairwise_distance", [&] { F::pairwise_distance(x, x, 0); },
       "pairwise_distance: p 0 is not above 0"},
      {"cosine_similarity, axis", [&] { F::cosine_similarity(x, x, 2); },
       "cosine_similarity: there is no axis 2 in a tensor of 2 axes"},
      {"cosine_similarity, shape", [&] { F::cosine_similarity(x, of({2, 4})); },
       "cosine_similarity: shapes (2, 3) and (2, 4) do not broadcast: 3 does not match 4"},
      {"triplet_margin_loss", [&] { F::triplet_margin_loss(x, x, x, {.margin = 0}); },
       "triplet_margin_loss: margin 0 is not above 0"},
      {"contrastive_loss", [&] { F::contrastive_loss(x, of({3, 3})); },
       "contrastive_loss: shapes (2, 3) and (3, 3) are not the same (batch, width)"},
      {"contrastive_loss, temperature", [&] { F::contrastive_loss(x, x, {.temperature = 0}); },
       "contrastive_loss: temperature 0 is not above 0"},
      {"ctc_loss, scores", [&] { F::ctc_loss(of({4}), y, y, y); },
       "ctc_loss: log probabilities of shape (4,) are not (time, batch, classes)"},
      {"ctc_loss, target", [&] { F::ctc_loss(of({4, 2, 3}), places({3, 2}), y, y); },
       "ctc_loss: a target of i32 and shape (3, 2) for log probabilities of shape (4, 2, 3): "
       "integers "
       "(batch, length)"},
      {"ctc_loss, lengths", [&] { F::ctc_loss(of({4, 2, 3}), places({2, 2}), y, of({2})); },
       "ctc_loss: target_lengths of f32 and shape (2,) for log probabilities of shape (4, 2, 3): "
       "integers (batch)"},
      {"ctc_loss, blank", [&] { F::ctc_loss(of({4, 2, 3}), places({2, 2}), y, y, {.blank = 3}); },
       "ctc_loss: the blank 3 is none of 3 classes"},
  };
  expect_errors(calls);
}

}  // namespace
}  // namespace weft
