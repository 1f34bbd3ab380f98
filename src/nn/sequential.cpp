// Slopes that are learned.

#include <weft/nn/sequential.h>

#include "parameters.h"

namespace weft::nn {

PReLU::PReLU(std::int64_t num_parameters, double init, const Options& options) {
  const Called called("PReLU");
  want_sizes({num_parameters});
  weight = Tensor::full({num_parameters}, init, options).set_requires_grad();
}

}  // namespace weft::nn
