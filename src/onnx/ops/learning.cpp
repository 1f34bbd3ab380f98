// ai.onnx.ml: features, and what is linear in them.
#include <cmath>

#include <fmt/format.h>

#include "scores.h"

namespace weft::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

// --- Features ---------------------------------------------------------------------------------------

Text extracted(const Call& call, const Text& text, const Ints& places) {
  const std::int64_t width = text.shape.empty() ? 1 : text.shape.back();
  Text found{text.shape, {}};
  if (found.shape.size() < 2) found.shape.insert(found.shape.begin(), 1);
  if (found.shape.size() < 2) found.shape.push_back(1);
  found.shape.back() = static_cast<std::int64_t>(places.size());
  for (std::size_t row = 0; row < text.values.size(); row += static_cast<std::size_t>(width))
    for (const std::int64_t place : places) {
      if (place < 0 || place >= width)
        call.refuse(fmt::format("there is no feature {} of {}", place, width));
      found.values.push_back(text.values[row + static_cast<std::size_t>(place)]);
    }
  return found;
}

Values array_feature_extractor(const Call& call) {
  if (call.value(0).is_text()) return {extracted(call, call.text(0), call.ints(1))};
  const Tensor x = call.tensor(0), found = x.index_select(-1, call.tensor(1).flatten());
  return {x.ndim() < 2 ? found.reshape({1, -1}) : found};
}

Tensor binarizer(const Call& call) {
  const Tensor x = call.tensor(0);
  return (x > call.attr("threshold", 0.0)).cast(x.dtype());
}

Tensor feature_vectorizer(const Call& call) {
  const Ints widths = call.attr("inputdimensions", Ints());
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    Tensor part = call.tensor(i).cast(dtypes::f32);
    if (part.ndim() == 1) part = part.unsqueeze(0);
    if (part.ndim() != 2) call.refuse("its inputs have one axis or two");
    if (i < widths.size()) {
      if (widths[i] < 0) call.refuse(fmt::format("a width of {}", widths[i]));
      part = part.pad({{0, 0}, {0, widths[i] - part.size(1)}});
    }
    parts.push_back(part);
  }
  return Tensor::cat(parts, 1);
}

Tensor imputer(const Call& call) {
  const Tensor x = call.tensor(0);
  if (!x.dtype().is_float()) {
    const Tensor values(call.attr<Ints>("imputed_value_int64s"), call.options(x.dtype()));
    return (x == call.attr("replaced_value_int64", 0)).where(values, x);
  }
  const double replaced = call.attr("replaced_value_float", 0.0);
  const Tensor values = floats(call, "imputed_value_floats", x.dtype());
  return (std::isnan(replaced) ? x.isnan() : x == replaced).where(values, x);
}

Tensor normalizer(const Call& call) {
  const std::string norm = call.attr("norm", "MAX");
  const Tensor x = call.tensor(0).cast(dtypes::f32);
  if (x.ndim() < 1) call.refuse("a number has no norm");
  Tensor divisor;
  if (norm == "MAX")
    divisor = x.max(-1, true);
  else if (norm == "L1")
    divisor = x.abs().sum(-1, true);
  else if (norm == "L2")
    divisor = x.square().sum(-1, true).sqrt();
  else
    call.refuse("norm is MAX, L1 or L2, not " + norm);
  return x / (divisor == 0).where(1.0, divisor);
}

Tensor scaler(const Call& call) {
  const Tensor x = call.tensor(0), exact = x.dtype() == dtypes::f64 ? x : x.cast(dtypes::f32);
  const Tensor offset = floats(call, "offset", exact.dtype()),
               scale = floats(call, "scale", exact.dtype());
  return ((exact - offset) * scale).cast(dtypes::f32);
}

// --- Linear models ------------------------------------------------------------------------------------

// (rows, targets) from coefficients of a row for each target.
Tensor linear_scores(const Call& call, std::int64_t targets) {
  const Tensor x = features_of(call), weights = floats(call, "coefficients", x.dtype());
  if (targets < 1 || weights.numel() != targets * x.size(1))
    call.refuse(fmt::format("{} coefficients for {} targets of {} features", weights.numel(),
                            targets, x.size(1)));
  const Tensor scores = x.matmul(weights.reshape({targets, x.size(1)}).T());
  return call.has("intercepts") ? scores + floats(call, "intercepts", x.dtype()) : scores;
}

Tensor linear_regressor(const Call& call) {
  return transformed_scores(call, linear_scores(call, call.attr("targets", 1))).cast(dtypes::f32);
}

Values linear_classifier(const Call& call) {
  const Labels labels(call, "classlabels_ints", "classlabels_strings");
  const std::int64_t width = features_of(call).size(1);
  const auto weights =
      static_cast<std::int64_t>(call.attr<std::vector<double>>("coefficients").size());
  const Tensor scores = linear_scores(call, width == 0 ? 1 : weights / width);
  if (scores.size(1) > 1) {
    if (scores.size(1) != static_cast<std::int64_t>(labels.size()))
      call.refuse(fmt::format("{} labels for {} classes", labels.size(), scores.size(1)));
    return {labels.at(scores.argmax(1)), transformed_scores(call, scores).cast(dtypes::f32)};
  }
  if (labels.size() > 2) call.refuse(fmt::format("{} labels for one score", labels.size()));
  const Value chosen = labels.at((scores.squeeze(1) > 0).cast(dtypes::i64));
  const Tensor all = labels.size() == 2 ? two_scores(call, scores, Second::Complement)
                                        : transformed_scores(call, scores);
  return {chosen, all.cast(dtypes::f32)};
}

}  // namespace

OpTable learning_ops() {
  static const Op ops[] = {
      {"ArrayFeatureExtractor", 1, array_feature_extractor},
      {"Binarizer", 1, binarizer},
      {"FeatureVectorizer", 1, feature_vectorizer},
      {"Imputer", 1, imputer},
      {"LinearClassifier", 1, linear_classifier},
      {"LinearRegressor", 1, linear_regressor},
      {"Normalizer", 1, normalizer},
      {"Scaler", 1, scaler},
  };
  return {"ai.onnx.ml", ops};
}

}  // namespace weft::onnx
