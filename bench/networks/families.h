// The kinds of networks that are drawn. Each begins with inputs and ends with what is the output.
#pragma once

#include "drawn.h"

namespace weft::bench {

// Sizes of an image's convolution or pool; the same in both directions but for the kernel.
struct Window {
  std::int64_t rows = 1, columns = 1, stride = 1, dilation = 1, groups = 1;
  bool keeps_size = true;  // zeros around
};
Value convolution(Drawn& net, const Value& x, std::int64_t channels, const Window& window);
Value pool(Drawn& net, const std::string& op, const Value& x, std::int64_t size,
           std::int64_t stride);
Value normalised(Drawn& net, const Value& x);  // over channels or images, or not at all

Value classifier(Drawn& net);     // stages of blocks: plain, residual, depthwise, inception, dense
Value channels_last(Drawn& net);  // images as rows, columns, channels
Value encoder_decoder(Drawn& net);  // down, up again, with what was there before
Value detector(Drawn& net);         // heads at several sizes, joined
Value attention(Drawn& net);        // blocks of encoders and decoders
Value recurrent(Drawn& net);
Value sound(Drawn& net);   // convolutions along one axis
Value volume(Drawn& net);  // along three
Value table(Drawn& net);   // reductions over any axes, broadcasts, parts of values

}  // namespace weft::bench
