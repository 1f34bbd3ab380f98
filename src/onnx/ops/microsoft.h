// What the operators of com.microsoft share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tables.h"

namespace weft::onnx {

inline constexpr std::string_view microsoft = "com.microsoft";

// The activation of this name, none if it is empty.
Tensor activated(const Call& call, const Tensor& x, const std::string& name,
                 const std::vector<double>& params);

// Over the last axis. The mean is null where none is taken.
struct Normalized {
  Tensor y, mean, inverse;
};
Normalized layer_normalized(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                            double epsilon);
Normalized rms_normalized(const Tensor& x, const Tensor& gamma, double epsilon);

}  // namespace weft::onnx
