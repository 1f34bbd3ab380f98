// Slopes that are learned.

#include <weft/nn/sequential.h>

namespace weft::nn {

PReLU::PReLU(std::int64_t num_parameters, double init, const Options& options) {
  const Called called("PReLU");
  weight = Tensor::full({num_parameters}, init, options).set_requires_grad();
}

}  // namespace weft::nn
