// What distributions are made of.
#pragma once

#include "capture.h"
#include "ops.h"

namespace weft {

// The elements of a shape, whose sizes are numbers.
std::int64_t count_of(std::string_view op, const Shape& shape);
// Random u32: seldom are two equal.
Tensor random_keys(std::string_view op, const Shape& shape, const Options& options);
// From 0 to below 1, with all the digits of the dtype.
Tensor unit(std::string_view op, const Shape& shape, DType dtype, const Options& options);

// Other numbers where a captured function drew some.
void draw_again(const Drawing& drawing);

// One call: its shape and options, and the parameters that it is given.
class Draw {
 public:
  Draw(std::string_view op, const Shape& shape, const Options& options);

  // In the dtype that the steps to the result are computed in. The one never gives 0.
  Tensor unit() const;
  Tensor open() const;
  Tensor normal() const;
  // The same in `times` layers, along a new axis 0.
  Draw layers(std::int64_t times) const;

  // What a parameter may be; of a number that is known at the call, of a tensor never.
  enum class Range { Any, Positive, NotNegative, Probability };
  Tensor parameter(std::string_view name, const Operand& value, Range range) const;
  Tensor done(const Tensor& value) const;  // as it was asked for

 private:
  std::string_view op_;
  Shape shape_;
  Options options_;
  DType within_;
};

// Along axis 0 the first of the values that is accepted, or else the last one.
Tensor first_accepted(const Tensor& values, const Tensor& accepted);

}  // namespace weft
