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

// By rank, with the options in order.
Tensor conv2d(const Case& c) {
  const ConvOptions options = conv_options(c);
  return c[0].conv2d(c[1], c[2], options.groups, options.stride, options.dilation, options.padding,
                     options.dtype);
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
  {"conv2d", [](const Case& c) { return one(conv2d(c)); }},
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
