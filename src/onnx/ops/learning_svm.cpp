// ai.onnx.ml: support vector machines.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "scores.h"

namespace weft::onnx {
namespace {

using Ints = std::vector<std::int64_t>;
using Numbers = std::vector<double>;

constexpr std::int64_t most_weights = 1 << 27;

// (rows, vectors): how alike each row and each of the vectors are.
Tensor alike(const Call& call, const Tensor& x, const Tensor& vectors, const std::string& kernel) {
  Numbers params = call.attr("kernel_params", Numbers());
  params.resize(3);
  const double gamma = params[0], offset = params[1], degree = params[2];
  if (kernel == "RBF") {
    const Tensor apart = x.unsqueeze(1) - vectors.unsqueeze(0);
    return (apart.square().sum(-1) * -gamma).exp();
  }
  const Tensor product = x.matmul(vectors.T());
  if (kernel == "LINEAR") return product;
  const Tensor scaled = product * gamma + offset;
  if (kernel == "POLY") return pow(scaled, degree);
  if (kernel == "SIGMOID") return scaled.tanh();
  call.refuse("kernel_type is LINEAR, POLY, RBF or SIGMOID, not " + kernel);
}

// (count, features)
Tensor vectors_of(const Call& call, const Tensor& x, std::int64_t count) {
  const Tensor vectors = floats(call, "support_vectors", x.dtype());
  if (vectors.numel() / std::max<std::int64_t>(x.size(1), 1) != count ||
      vectors.numel() != count * x.size(1))
    call.refuse(fmt::format("{} numbers for {} support vectors of {} features", vectors.numel(),
                            count, x.size(1)));
  return vectors.reshape({count, x.size(1)});
}

double first_rho(const Call& call) {
  const Numbers rho = call.attr<Numbers>("rho");
  if (rho.empty()) call.refuse("rho has no number");
  return rho[0];
}

Tensor svm_regressor(const Call& call) {
  const Tensor x = features_of(call), weights = floats(call, "coefficients", x.dtype());
  const std::int64_t supports = call.attr("n_supports", 0);
  if (supports < 0 || weights.numel() != (supports > 0 ? supports : x.size(1)))
    call.refuse(fmt::format("{} coefficients for {} support vectors", weights.numel(), supports));
  const Tensor kernels = supports > 0 ? alike(call, x, vectors_of(call, x, supports),
                                              call.attr("kernel_type", "LINEAR"))
                                      : x;
  const Tensor score = kernels.matmul(weights.unsqueeze(1)) + first_rho(call);
  if (call.attr("one_class", 0) != 0) return (score > 0).where(1.0, -1.0).cast(dtypes::f32);
  return transformed_scores(call, score).cast(dtypes::f32);
}

// --- Classes, of which each pair was learnt for itself -----------------------------------------------------

struct Pairs {
  Tensor scores;  // (rows, pairs)
  Tensor votes;   // (rows, classes)
};

// What decides between each two classes is a row of weights for all vectors: those of the one class have their
// coefficients for the other one there.
Pairs pairs_of(const Call& call, const Tensor& x, const Ints& per_class) {
  const auto classes = std::ssize(per_class);
  Ints begins(per_class.size() + 1, 0);
  std::partial_sum(per_class.begin(), per_class.end(), begins.begin() + 1);
  const std::int64_t vectors = begins.back(), pairs = classes * (classes - 1) / 2;
  const Numbers coefficients = call.attr<Numbers>("coefficients"), rho = call.attr<Numbers>("rho");
  if (std::ssize(coefficients) != (classes - 1) * vectors || std::ssize(rho) < pairs)
    call.refuse(fmt::format("{} coefficients and {} of rho for {} classes of {} vectors",
                            coefficients.size(), rho.size(), classes, vectors));
  if (pairs * (vectors + classes) > most_weights)
    call.refuse(fmt::format("{} classes of {} vectors are too many", classes, vectors));
  Numbers weights, wins;
  for (std::int64_t i = 0; i < classes; ++i)
    for (std::int64_t j = i + 1; j < classes; ++j) {
      for (std::int64_t vector = 0; vector < vectors; ++vector) {
        const bool of_i = vector >= begins[i] && vector < begins[i + 1],
                   of_j = vector >= begins[j] && vector < begins[j + 1];
        const std::int64_t row = of_i ? j - 1 : i;
        weights.push_back(of_i || of_j ? coefficients[row * vectors + vector] : 0);
      }
      for (std::int64_t k = 0; k < classes; ++k) wins.push_back(k == i ? 1 : k == j ? -1 : 0);
    }
  const Options options = call.options(x.dtype());
  const Tensor kernels =
      alike(call, x, vectors_of(call, x, vectors), call.attr("kernel_type", "LINEAR"));
  const Tensor scores = kernels.matmul(Tensor(weights, options).reshape({pairs, vectors}).T()) +
                        Tensor(Numbers(rho.begin(), rho.begin() + pairs), options);
  // 1 for the class that wins, 0 for the other.
  const Tensor sides = Tensor(wins, options).reshape({pairs, classes}),
               won = (scores > 0).where(1.0, -1.0).cast(x.dtype());
  const Tensor votes = (won.unsqueeze(-1) * sides > 0).sum(1, false, dtypes::i32);
  return {scores, votes};
}

// The probabilities of classes that fit best to those of one class of each two, as LIBSVM finds them: step by step,
// until they hardly change.
Numbers coupled(const Numbers& of_pairs, std::size_t classes) {
  Numbers q(classes * classes, 0), p(classes, 1.0 / static_cast<double>(classes)), qp(classes);
  const auto r = [&](std::size_t i, std::size_t j) { return of_pairs[i * classes + j]; };
  for (std::size_t i = 0; i < classes; ++i)
    for (std::size_t j = 0; j < classes; ++j)
      if (i != j) {
        q[i * classes + i] += r(j, i) * r(j, i);
        q[i * classes + j] = -r(j, i) * r(i, j);
      }
  const double enough = 0.005 / static_cast<double>(classes);
  for (std::size_t step = 0; step < std::max<std::size_t>(100, classes); ++step) {
    double pqp = 0, worst = 0;
    for (std::size_t i = 0; i < classes; ++i) {
      qp[i] = std::inner_product(p.begin(), p.end(),
                                 q.begin() + static_cast<std::ptrdiff_t>(i * classes), 0.0);
      pqp += p[i] * qp[i];
    }
    for (const double each : qp) worst = std::max(worst, std::abs(each - pqp));
    if (worst < enough) break;
    for (std::size_t i = 0; i < classes; ++i) {
      const double own = q[i * classes + i], change = (pqp - qp[i]) / own;
      p[i] += change;
      pqp = (pqp + change * (change * own + 2 * qp[i])) / ((1 + change) * (1 + change));
      for (std::size_t j = 0; j < classes; ++j) {
        qp[j] = (qp[j] + change * q[i * classes + j]) / (1 + change);
        p[j] /= 1 + change;
      }
    }
  }
  return p;
}

Tensor probabilities(const Call& call, const Tensor& scores, std::int64_t classes) {
  const Tensor a = floats(call, "prob_a", scores.dtype()),
               b = floats(call, "prob_b", scores.dtype());
  if (a.numel() != scores.size(1) || b.numel() != scores.size(1))
    call.refuse("prob_a and prob_b have other lengths than rho");
  const Tensor of_first = (-(scores * a + b)).sigmoid().clamp(1e-7, 1 - 1e-7);
  const Numbers given = call.numbers(of_first);
  const auto count = static_cast<std::size_t>(classes), pairs = count * (count - 1) / 2;
  Numbers all;
  for (std::size_t row = 0; row + pairs <= given.size() && pairs > 0; row += pairs) {
    Numbers of_pairs(count * count, 0);
    std::size_t at = row;
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = i + 1; j < count; ++j) {
        of_pairs[i * count + j] = given[at];
        of_pairs[j * count + i] = 1 - given[at++];
      }
    const Numbers one = coupled(of_pairs, count);
    all.insert(all.end(), one.begin(), one.end());
  }
  return Tensor(all, call.options(scores.dtype())).reshape({-1, classes});
}

Values by_vectors(const Call& call, const Labels& labels, const Tensor& x, const Ints& per_class) {
  const auto classes = std::ssize(per_class);
  if (classes < 2 || classes != static_cast<std::int64_t>(labels.size()))
    call.refuse(fmt::format("{} labels for {} classes", labels.size(), classes));
  for (const std::int64_t count : per_class)
    if (count < 0 || count > (1 << 28)) call.refuse(fmt::format("a class of {} vectors", count));
  const auto [scores, votes] = pairs_of(call, x, per_class);
  const Value label = labels.at(votes.argmax(1));
  const bool has_probabilities = !call.attr("prob_a", Numbers()).empty();
  if (has_probabilities)
    return {label,
            transformed_scores(call, probabilities(call, scores, classes)).cast(dtypes::f32)};
  if (classes > 2) return {label, transformed_scores(call, scores).cast(dtypes::f32)};
  const bool is_plain = call.attr("post_transform", "NONE") == "NONE";
  const Second second = is_plain ? Second::Opposite : Second::Complement;
  return {label, two_scores(call, scores, second).cast(dtypes::f32)};
}

Values svm_classifier(const Call& call) {
  const Labels labels(call, "classlabels_ints", "classlabels_strings");
  const Tensor x = features_of(call);
  const Ints per_class = call.attr("vectors_per_class", Ints());
  if (!per_class.empty()) return by_vectors(call, labels, x, per_class);
  const auto classes = static_cast<std::int64_t>(labels.size());
  const Tensor weights = floats(call, "coefficients", x.dtype());
  if (weights.numel() != classes * x.size(1))
    call.refuse(fmt::format("{} coefficients for {} classes", weights.numel(), classes));
  const Tensor scores = x.matmul(weights.reshape({classes, x.size(1)}).T()) + first_rho(call);
  const Tensor place = classes == 1 ? (scores.squeeze(1) > 0).cast(dtypes::i64) : scores.argmax(1);
  return {labels.at(place), transformed_scores(call, scores).cast(dtypes::f32)};
}

}  // namespace

OpTable learning_svm_ops() {
  static const Op ops[] = {{"SVMClassifier", 1, svm_classifier},
                           {"SVMRegressor", 1, svm_regressor}};
  return {"ai.onnx.ml", ops};
}

}  // namespace weft::onnx
