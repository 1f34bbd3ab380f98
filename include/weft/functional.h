// Functions of neural networks beyond the methods of Tensor, as torch.nn.functional has them:
//
//   using namespace weft;
//   Tensor y = functional::adaptive_avg_pool2d(x, {7, 7});
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <weft/tensor.h>

namespace weft::functional {

// --- Windows and pools. Those with a number in their name are over as many last axes -----------------

struct UnfoldOptions {
  PerDim dilation = 1;
  Padding padding = 0;
  PerDim stride = 1;
};
// What convolutions multiply with: (batch, channels, sizes ...) to (batch, channels * kernel, places).
Tensor unfold(const Tensor& x, const PerDim& kernel, const UnfoldOptions& options = {});
// Back, to these sizes: what several windows see is the sum of what each has.
Tensor fold(const Tensor& x, const std::vector<std::int64_t>& sizes, const PerDim& kernel,
            const UnfoldOptions& options = {});

// Over the last axes, as many as there are sizes; -1 keeps the size that is there. Window i of n begins
// at i / n of the axis and ends at (i + 1) / n, both ends rounded outwards.
Tensor adaptive_avg_pool(const Tensor& x, const std::vector<std::int64_t>& sizes);
Tensor adaptive_avg_pool1d(const Tensor& x, const PerDim& sizes);
Tensor adaptive_avg_pool2d(const Tensor& x, const PerDim& sizes);
Tensor adaptive_avg_pool3d(const Tensor& x, const PerDim& sizes);
Tensor adaptive_max_pool(const Tensor& x, const std::vector<std::int64_t>& sizes);
Tensor adaptive_max_pool1d(const Tensor& x, const PerDim& sizes);
Tensor adaptive_max_pool2d(const Tensor& x, const PerDim& sizes);
Tensor adaptive_max_pool3d(const Tensor& x, const PerDim& sizes);
std::pair<Tensor, Tensor> adaptive_max_pool_with_indices(const Tensor& x,
                                                         const std::vector<std::int64_t>& sizes);
// The p-norm of what a window sees, without absolute values; a stride of {} is the kernel.
Tensor lp_pool(const Tensor& x, double p, const PerDim& kernel, const PerDim& stride = {},
               bool ceil_mode = false);
// Over all axes behind the channels, which stay with size 1.
Tensor global_avg_pool(const Tensor& x);
Tensor global_max_pool(const Tensor& x);
// As Tensor::max_unpool2d, over as many axes as the kernel has numbers.
Tensor max_unpool(const Tensor& x, const Tensor& indices, const PerDim& kernel,
                  const PerDim& stride = {}, const PerDim& padding = 0,
                  const std::vector<std::int64_t>& output_size = {});

// --- Resampling ---------------------------------------------------------------------------------

// (..., channels * factor^2, h, w) to (..., channels, h * factor, w * factor), and back.
Tensor pixel_shuffle(const Tensor& x, std::int64_t factor);
Tensor pixel_unshuffle(const Tensor& x, std::int64_t factor);
// Channel c of group g becomes channel g of group c.
Tensor channel_shuffle(const Tensor& x, std::int64_t groups);

enum class Outside : std::uint8_t { Zeros, Border, Reflection };
struct GridSampleOptions {
  Resampling mode = Resampling::Linear;  // or Nearest, or of images Cubic
  Outside padding = Outside::Zeros;
  bool align_corners = false;
};
// x (batch, channels, sizes ...) at the places of grid (batch, new sizes ..., dimensions), from -1 to 1
// along each axis, the last axis first.
Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options = {});
// The grid that theta (batch, dimensions, dimensions + 1) takes places of an output to; sizes are all
// of the output's: (batch, channels, sizes ...).
Tensor affine_grid(const Tensor& theta, const std::vector<std::int64_t>& sizes,
                   bool align_corners = false);

}  // namespace weft::functional
