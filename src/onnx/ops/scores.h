// What the classifiers and regressors of ai.onnx.ml have in common: their inputs, their labels, and what becomes of
// scores.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tables.h"

namespace weft::onnx {

// (rows, features) of f32, or of f64 where the input is: a single row may come without its axis.
Tensor features_of(const Call& call);
// An attribute of floats, on the model's device.
Tensor floats(const Call& call, std::string_view attribute, DType dtype);

// The labels of a classifier: integers or strings.
class Labels {
 public:
  Labels(const Call& call, std::string_view ints, std::string_view strings);
  std::size_t size() const { return ints_.size() + strings_.size(); }
  // Those at these places (rows). Where a classifier has one label, that is place 1, and place 0 what stands for
  // its opposite.
  Value at(const Tensor& places) const;

 private:
  const Call& call_;
  std::vector<std::int64_t> ints_;
  std::vector<std::string> strings_;
};

// NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT, along the last axis.
Tensor transformed_scores(const Call& call, const Tensor& scores, const std::string& how);
// What post_transform says.
Tensor transformed_scores(const Call& call, const Tensor& scores);

// The scores (rows, 2) of two classes from one (rows, 1). They are no logits: SOFTMAX leaves them as they are.
enum class Second { Complement, Opposite };  // 1 - s and s, or -s and s
Tensor two_scores(const Call& call, const Tensor& score, Second second);

}  // namespace weft::onnx
