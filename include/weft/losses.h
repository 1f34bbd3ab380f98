// Losses as torch.nn.functional has them; those that are methods of Tensor take their options here.
//
//   using namespace weft;
//   Tensor loss = functional::cross_entropy(scores, classes, {.ignore_index = 0, .label_smoothing = 0.1});
//
// Targets broadcast against what they are compared with. What is no option is Reduction::Mean by default.
#pragma once

#include <concepts>
#include <cstdint>

#include <weft/tensor.h>

namespace weft {

struct CrossEntropyOptions {
  Tensor weight = {};  // what each class counts
  std::int64_t ignore_index = -100;
  double label_smoothing = 0;  // the share of the target that all classes have equally
  Reduction reduction = Reduction::Mean;
};

namespace functional {

// --- Of classes ---------------------------------------------------------------------------------

// scores (batch, classes, ...) or (classes); target: classes (batch, ...), or probabilities in the
// shape of the scores. The mean is over what the targets weigh.
Tensor cross_entropy(const Tensor& scores, const Tensor& target,
                     const CrossEntropyOptions& options = {});

struct NllOptions {
  Tensor weight = {};
  std::int64_t ignore_index = -100;
  Reduction reduction = Reduction::Mean;
};
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target,
                const NllOptions& options = {});

struct MultiMarginOptions {
  int p = 1;  // or 2
  double margin = 1;
  Tensor weight = {};
  Reduction reduction = Reduction::Mean;
};
// scores (batch, classes) or (classes), target: classes (batch) or ().
Tensor multi_margin_loss(const Tensor& scores, const Tensor& target,
                         const MultiMarginOptions& options = {});
// The target's rows are classes up to the first -1, all of which should be above all others.
Tensor multilabel_margin_loss(const Tensor& scores, const Tensor& target,
                              Reduction reduction = Reduction::Mean);

struct WeightOptions {
  Tensor weight = {};
  Reduction reduction = Reduction::Mean;
};
// target: for each class whether it is one, as 0 or 1. The mean of the classes is always taken.
Tensor multilabel_soft_margin_loss(const Tensor& scores, const Tensor& target,
                                   const WeightOptions& options = {});

struct CtcOptions {
  std::int64_t blank = 0;
  bool zero_infinity = false;  // 0 where the target does not fit in the time there is
  Reduction reduction = Reduction::Mean;
};
// log_probabilities (time, batch, classes), target (batch, length): classes other than the blank, of
// which as many count as target_lengths (batch) says; of the time input_lengths (batch). Without batch
// these are (time, classes), (length) and scalars. The mean is of the losses over their target's
// lengths. Each step of the time is a kernel.
Tensor ctc_loss(const Tensor& log_probabilities, const Tensor& target, const Tensor& input_lengths,
                const Tensor& target_lengths, const CtcOptions& options = {});

// --- Of numbers ---------------------------------------------------------------------------------

Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::Mean);
Tensor l1_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::Mean);
// Squares below beta or delta; beyond, |difference| in the one, delta |difference| in the other.
Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, double beta = 1,
                      Reduction reduction = Reduction::Mean);
Tensor huber_loss(const Tensor& x, const Tensor& target, double delta = 1,
                  Reduction reduction = Reduction::Mean);

struct PoissonOptions {
  bool log_input = true;
  bool full = false;  // with Stirling's approximation of what depends on the target alone
  double eps = 1e-8;
  Reduction reduction = Reduction::Mean;
};
Tensor poisson_nll_loss(const Tensor& x, const Tensor& target, const PoissonOptions& options = {});

struct GaussianOptions {
  bool full = false;
  double eps = 1e-6;  // the least variance
  Reduction reduction = Reduction::Mean;
};
Tensor gaussian_nll_loss(const Tensor& x, const Tensor& target, const Tensor& variance,
                         const GaussianOptions& options = {});

// --- Of probabilities ---------------------------------------------------------------------------

Tensor binary_cross_entropy(const Tensor& probability, const Tensor& target,
                            const WeightOptions& options = {});

struct BinaryLogitsOptions {
  Tensor weight = {}, pos_weight = {};
  Reduction reduction = Reduction::Mean;
};
Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target,
                                        const BinaryLogitsOptions& options = {});

struct KlDivOptions {
  bool log_target = false;
  bool batch_mean = false;  // the sum over the size of axis 0, in place of the reduction
  Reduction reduction = Reduction::Mean;
};
// target * (log(target) - x): x is log probabilities, and so is the target if log_target says so.
Tensor kl_div(const Tensor& x, const Tensor& target, const KlDivOptions& options = {});

struct FocalOptions {
  double alpha = 0.25, gamma = 2;  // a negative alpha weighs nothing
  Reduction reduction = Reduction::None;
};
Tensor sigmoid_focal_loss(const Tensor& x, const Tensor& target, const FocalOptions& options = {});
// 1 - (2 sum(p t) + smooth) / (sum(p) + sum(t) + smooth), over all axes but the first.
Tensor dice_loss(const Tensor& probability, const Tensor& target, double smooth = 1,
                 Reduction reduction = Reduction::Mean);

// --- Of pairs -----------------------------------------------------------------------------------

Tensor hinge_embedding_loss(const Tensor& x, const Tensor& target, double margin = 1,
                            Reduction reduction = Reduction::Mean);
Tensor soft_margin_loss(const Tensor& x, const Tensor& target,
                        Reduction reduction = Reduction::Mean);
Tensor margin_ranking_loss(const Tensor& a, const Tensor& b, const Tensor& target,
                           double margin = 0, Reduction reduction = Reduction::Mean);
Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& target,
                             double margin = 0, Reduction reduction = Reduction::Mean);
Tensor cosine_similarity(const Tensor& a, const Tensor& b, std::int64_t axis = 1,
                         double eps = 1e-8);
Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p = 2, double eps = 1e-6,
                         bool keepdim = false);
struct PairwiseOptions {
  double p = 2, eps = 1e-6;
  bool keepdim = false;
};
template <std::same_as<PairwiseOptions> O = PairwiseOptions>
Tensor pairwise_distance(const Tensor& a, const Tensor& b, const O& o) {
  return pairwise_distance(a, b, o.p, o.eps, o.keepdim);
}

struct TripletOptions {
  double margin = 1, p = 2, eps = 1e-6;
  bool swap = false;  // the smaller of the negative's distances to the anchor and to the positive
  Reduction reduction = Reduction::Mean;
};
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletOptions& options = {});

// Row i of a (batch, width) belongs to row i of b and to no other: the cross-entropy of their cosines
// over the temperature (InfoNCE). Symmetric, it is the mean of both directions, as in CLIP.
struct ContrastiveOptions {
  double temperature = 0.07;
  bool symmetric = false;
  Reduction reduction = Reduction::Mean;
};
Tensor contrastive_loss(const Tensor& a, const Tensor& b, const ContrastiveOptions& options = {});

}  // namespace functional
}  // namespace weft
