#include "scores.h"

#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>

namespace weft::onnx {
namespace {

// What is nearly 0 stays so; the others are those of a softmax.
Tensor softmax_zero(const Tensor& scores) {
  const Tensor most = scores.max(-1, true), is_zero = scores.abs() <= 1e-7;
  const Tensor powers = is_zero.where(scores * (-most).exp(), (scores - most).exp());
  const Tensor sum = powers.sum(-1, true);
  return (sum == 0).where(0.5, powers / sum);
}

// sqrt(2) erfinv(2p - 1), by Winitzki's approximation, which models were trained and tested with.
Tensor probit(const Tensor& probability) {
  constexpr double a = 0.147;
  const Tensor x = probability * 2 - 1;
  const Tensor log = ((1 - x) * (1 + x)).log();
  const Tensor half = log * 0.5 + 2 / (std::numbers::pi * a);
  const Tensor root = ((half * half - log / a).sqrt() - half).sqrt();
  return (x < 0).where(-root, root) * std::numbers::sqrt2;
}

}  // namespace

Tensor features_of(const Call& call) {
  const Tensor x = call.tensor(0);
  if (x.ndim() != 1 && x.ndim() != 2)
    call.refuse(fmt::format("its input has one axis or two, not {}", x.ndim()));
  const Tensor rows = x.ndim() == 1 ? x.unsqueeze(0) : x;
  return x.dtype() == dtypes::f64 ? rows : rows.cast(dtypes::f32);
}

Tensor floats(const Call& call, std::string_view attribute, DType dtype) {
  return Tensor(call.attr<std::vector<double>>(attribute), call.options(dtype));
}

Labels::Labels(const Call& call, std::string_view ints, std::string_view strings)
    : call_(call),
      ints_(call.attr(ints, std::vector<std::int64_t>())),
      strings_(call.attr(strings, std::vector<std::string>())) {
  if (ints_.empty() == strings_.empty())
    call.refuse(fmt::format("it has labels as {} or as {}", ints, strings));
}

Value Labels::at(const Tensor& places) const {
  if (!ints_.empty()) {
    const std::vector<std::int64_t> known =
        ints_.size() == 1 ? std::vector<std::int64_t>{0, ints_[0]} : ints_;
    return Tensor(known, call_.options(dtypes::i64)).take(places);
  }
  const std::vector<std::string> known =
      strings_.size() == 1 ? std::vector<std::string>{"", strings_[0]} : strings_;
  Text text{places.shape(), {}};
  for (const std::int64_t place : call_.ints(places))
    text.values.push_back(known[static_cast<std::size_t>(place)]);
  return text;
}

Tensor transformed_scores(const Call& call, const Tensor& scores, const std::string& how) {
  if (how == "NONE") return scores;
  if (how == "SOFTMAX") return scores.softmax(-1);
  if (how == "LOGISTIC") return scores.sigmoid();
  if (how == "SOFTMAX_ZERO") return softmax_zero(scores);
  if (how == "PROBIT") return probit(scores);
  call.refuse("post_transform is NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT, not " + how);
}

Tensor transformed_scores(const Call& call, const Tensor& scores) {
  return transformed_scores(call, scores, call.attr("post_transform", "NONE"));
}

Tensor two_scores(const Call& call, const Tensor& score, Second second) {
  const std::string how = call.attr("post_transform", "NONE");
  if (how == "PROBIT") return transformed_scores(call, score);
  const bool is_opposite = how == "LOGISTIC" || second == Second::Opposite;
  const Tensor both = Tensor::cat({is_opposite ? -score : 1 - score, score}, 1);
  return how == "LOGISTIC" ? both.sigmoid() : both;
}

}  // namespace weft::onnx
