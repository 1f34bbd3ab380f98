#include "conv_args.h"

#include <fmt/format.h>
#include <weft/error.h>

#include "ops.h"

namespace weft {

void want_convolution(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                      std::int64_t groups, std::int64_t in, std::int64_t out,
                      const char* weight_axes) {
  if (weight.ndim() < 3 || x.ndim() != weight.ndim())
    user_error(
        fmt::format("{}: shape {} does not fit a weight of shape {}: one is (batch, channels, "
                    "sizes ...), the other ({}, sizes ...)",
                    op, shape_text(x.uop()), shape_text(weight.uop()), weight_axes));
  if (x.size(1) != in)
    user_error(fmt::format("{}: {} channels do not fit a weight of shape {} in {} groups", op,
                           x.size(1), shape_text(weight.uop()), groups));
  if (!bias.is_null() && bias.shape() != std::vector<std::int64_t>{out})
    user_error(
        fmt::format("{}: a bias of shape {} for {} channels", op, shape_text(bias.uop()), out));
}

Tensor with_bias(const Tensor& sum, const Tensor& bias) {
  if (bias.is_null()) return sum;
  std::vector<Dim> channels(sum.uop()->dims().size(), Dim(1));
  channels[1] = Dim(-1);
  return sum + bias.reshape(Shape(channels));
}

bool is_single(const Tensor& x, const Tensor& weight) {
  return x.ndim() >= 2 && x.ndim() == weight.ndim() - 1;
}

void want_rank(const char* op, const Tensor& weight, std::int64_t spatial) {
  if (weight.ndim() != spatial + 2)
    user_error(fmt::format("{}: a weight of shape {} has not {} axes", op, shape_text(weight.uop()),
                           spatial + 2));
}

std::vector<std::int64_t> kernel_of(const Tensor& weight) {
  const std::vector<std::int64_t> shape = weight.shape();
  return {shape.begin() + 2, shape.end()};
}

}  // namespace weft
