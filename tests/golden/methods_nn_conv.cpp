// Convolutions and their windows.

#include "nn_args.h"

namespace weft::golden {
namespace {

ConvOptions conv_options(const Case& c) {
  return {.groups = c.integer("groups", 1),
          .stride = per_dim(c, "stride", 1),
          .dilation = per_dim(c, "dilation", 1),
          .padding = padding(c),
          .dtype = c.dtype("dtype")};
}

using Conv = Tensor (Tensor::*)(const Tensor&, const Tensor&, const ConvOptions&) const;
Method conv(Conv method) {
  return [method](const Case& c) { return one((c[0].*method)(c[1], c[2], conv_options(c))); };
}

// With the options in order.
using InOrder = Tensor (Tensor::*)(const Tensor&, const Tensor&, std::int64_t, const PerDim&,
                                   const PerDim&, const Padding&, DType) const;
Method conv2d(InOrder method) {
  return [method](const Case& c) {
    const ConvOptions options = conv_options(c);
    return one((c[0].*method)(c[1], c[2], options.groups, options.stride, options.dilation,
                              options.padding, options.dtype));
  };
}

using ConvTranspose = Tensor (Tensor::*)(const Tensor&, const Tensor&,
                                         const ConvTransposeOptions&) const;
Method conv_transpose(ConvTranspose method) {
  return [method](const Case& c) {
    return one((c[0].*method)(c[1], c[2],
                              {.groups = c.integer("groups", 1),
                               .stride = per_dim(c, "stride", 1),
                               .dilation = per_dim(c, "dilation", 1),
                               .padding = padding(c),
                               .output_padding = per_dim(c, "output_padding", 0)}));
  };
}

functional::UnfoldOptions unfold_options(const Case& c) {
  return {.dilation = per_dim(c, "dilation", 1),
          .padding = padding(c),
          .stride = per_dim(c, "stride", 1)};
}

// clang-format off
const Group group("nn_conv", {
  {"conv1d", conv(&Tensor::conv1d)},
  {"conv2d", conv2d(&Tensor::conv2d)},
  {"image_conv2d", conv2d(&Tensor::image_conv2d)},
  {"conv3d", conv(&Tensor::conv3d)},
  {"conv_transpose1d", conv_transpose(&Tensor::conv_transpose1d)},
  {"conv_transpose2d", conv_transpose(&Tensor::conv_transpose2d)},
  {"conv_transpose3d", conv_transpose(&Tensor::conv_transpose3d)},
  {"functional.unfold", [](const Case& c) {
    return one(functional::unfold(c[0], c.numbers("kernel"), unfold_options(c)));
  }},
  {"functional.fold", [](const Case& c) {
    return one(functional::fold(c[0], c.numbers("sizes"), c.numbers("kernel"), unfold_options(c)));
  }},
});
// clang-format on

}  // namespace
}  // namespace weft::golden
