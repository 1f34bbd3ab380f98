// Functions of neural networks beyond the methods of Tensor, as torch.nn.functional has them:
//
//   using namespace weft;
//   Tensor y = functional::adaptive_avg_pool2d(x, {7, 7});
#pragma once

#include <concepts>
#include <cstdint>
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
Tensor lp_pool1d(const Tensor& x, double p, const PerDim& kernel, const PerDim& stride = {},
                 bool ceil_mode = false);
Tensor lp_pool2d(const Tensor& x, double p, const PerDim& kernel, const PerDim& stride = {},
                 bool ceil_mode = false);
Tensor lp_pool3d(const Tensor& x, double p, const PerDim& kernel, const PerDim& stride = {},
                 bool ceil_mode = false);
// Over all axes behind the channels, which stay with size 1.
Tensor global_avg_pool(const Tensor& x);
Tensor global_max_pool(const Tensor& x);
// As Tensor::max_unpool2d, over as many axes as the kernel has numbers.
Tensor max_unpool(const Tensor& x, const Tensor& indices, const PerDim& kernel,
                  const PerDim& stride = {}, const PerDim& padding = 0,
                  const std::vector<std::int64_t>& output_size = {});
Tensor max_unpool1d(const Tensor& x, const Tensor& indices, const PerDim& kernel,
                    const MaxUnpoolOptions& options = {});
Tensor max_unpool2d(const Tensor& x, const Tensor& indices, const PerDim& kernel,
                    const MaxUnpoolOptions& options = {});
Tensor max_unpool3d(const Tensor& x, const Tensor& indices, const PerDim& kernel,
                    const MaxUnpoolOptions& options = {});

// --- Resampling ---------------------------------------------------------------------------------

// (..., channels * factor^2, h, w) to (..., channels, h * factor, w * factor), and back.
Tensor pixel_shuffle(const Tensor& x, std::int64_t factor);
Tensor pixel_unshuffle(const Tensor& x, std::int64_t factor);
// Channel c of group g becomes channel g of group c.
Tensor channel_shuffle(const Tensor& x, std::int64_t groups);

enum class Outside : std::uint8_t { Zeros, Border, Reflection };
struct GridSampleOptions {
  Resampling mode = Resampling::Linear;  // or Nearest, or Cubic
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

// --- Activations --------------------------------------------------------------------------------

Tensor hardshrink(const Tensor& x, double lambda = 0.5);
Tensor softshrink(const Tensor& x, double lambda = 0.5);
Tensor tanhshrink(const Tensor& x);
Tensor threshold(const Tensor& x, double least, double value);
Tensor prelu(const Tensor& x, const Tensor& weight);  // one slope, or one for each channel
// Within a Training each negative element gets a slope of its own, otherwise their mean.
Tensor rrelu(const Tensor& x, double lower = 1.0 / 8, double upper = 1.0 / 3);
Tensor glu(const Tensor& x, std::int64_t axis = -1);
Tensor log_sigmoid(const Tensor& x);
// A random choice, more or less sharp; of `hard` ones the result is one-hot, the gradient that of soft ones.
Tensor gumbel_softmax(const Tensor& logits, double temperature = 1, bool hard = false,
                      std::int64_t axis = -1);
struct GumbelOptions {
  double temperature = 1;
  bool hard = false;
  std::int64_t axis = -1;
};
template <std::same_as<GumbelOptions> O = GumbelOptions>
Tensor gumbel_softmax(const Tensor& logits, const O& o) {
  return gumbel_softmax(logits, o.temperature, o.hard, o.axis);
}

// --- Normalisation. Weights and biases are along the channels, axis 1; null is none -------------------

struct BatchNormOptions {
  std::optional<bool> training = {};  // by default whether there is a Training
  double momentum = 0.1, eps = 1e-5;
  Tensor batches =
      {};  // how many there were, with this one: the running ones are means of all, without momentum
};
// In training by the statistics of the batch, with which running_mean and running_var are assigned
// means, unless null; otherwise by the running ones.
Tensor batch_norm(const Tensor& x, Tensor running_mean, Tensor running_var,
                  const Tensor& weight = {}, const Tensor& bias = {},
                  const BatchNormOptions& options = {});
Tensor group_norm(const Tensor& x, std::int64_t groups, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);
Tensor instance_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {},
                     double eps = 1e-5);
Tensor local_response_norm(const Tensor& x, std::int64_t size, double alpha = 1e-4,
                           double beta = 0.75, double k = 1);
struct LocalResponseOptions {
  double alpha = 1e-4, beta = 0.75, k = 1;
};
template <std::same_as<LocalResponseOptions> O = LocalResponseOptions>
Tensor local_response_norm(const Tensor& x, std::int64_t size, const O& o) {
  return local_response_norm(x, size, o.alpha, o.beta, o.k);
}
// The direction of `direction`, by default along all axes but the first, in the length `length`.
Tensor weight_norm(const Tensor& direction, const Tensor& length, std::int64_t axis = 0);

// --- Dropout. Acts only within a Training -------------------------------------------------------------

Tensor dropout(const Tensor& x, double p = 0.5);
Tensor feature_dropout(const Tensor& x,
                       double p = 0.5);  // whole channels: axes 0 and 1 are decided
Tensor alpha_dropout(const Tensor& x,
                     double p = 0.5);  // keeps mean and variance of what selu() gives
Tensor feature_alpha_dropout(const Tensor& x, double p = 0.5);

// --- Embeddings -------------------------------------------------------------------------------------

// The rows of weight that the index says; the row padding_idx gets no gradient.
Tensor embedding(const Tensor& index, const Tensor& weight,
                 std::optional<std::int64_t> padding_idx = {});

enum class Bag : std::uint8_t { Sum, Mean, Max };
struct EmbeddingBagOptions {
  Bag mode = Bag::Mean;
  Tensor offsets = {};  // where each bag begins, of an index of one axis
  Tensor per_sample_weights = {};
  std::optional<std::int64_t> padding_idx = {};  // counts in no bag
  bool include_last_offset = false;              // the last offset is the end
};
// Rows as embedding() gives, the bags of them reduced: (bags, width). Bag::Max by offsets compares every
// row with every bag.
Tensor embedding_bag(const Tensor& index, const Tensor& weight,
                     const EmbeddingBagOptions& options = {});

// --- Attention and recurrence -------------------------------------------------------------------

struct AttentionOptions {
  Tensor attn_mask = {};  // bool: who is seen; any other is added to the scores
  double dropout_p = 0;   // always acts, as torch's: give 0 outside of training
  bool is_causal = false;
  std::optional<double> scale = {};  // 1 / sqrt(width) by default
  bool enable_gqa = false;  // key and value have fewer heads, axis -3: each is for several queries
  std::optional<std::int64_t> window = {};  // who is less than so many places away is seen
};

// query (..., queries, width), key and value (..., keys, width). A query that sees no key gets zeros.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options = {});
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, double dropout_p,
                                    bool is_causal = false);
template <std::derived_from<Tensor> T>
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const T& attn_mask) {
  return scaled_dot_product_attention(query, key, value, attn_mask, 0.0);
}
template <std::same_as<bool> B>  // dropout_p stands before is_causal
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, B dropout_p) = delete;

struct RotaryOptions {
  double base = 10000;
  Dim offset = 0;            // the place of the first of the sequence
  Tensor positions = {};     // (time) or (..., time): the places themselves
  bool interleaved = false;  // pairs are neighbours; otherwise one is of each half
};
// x (..., time, width) with its pairs of elements turned by what belongs to their places.
Tensor rotary_embedding(const Tensor& x, const RotaryOptions& options = {});

// (heads, queries, keys): what ALiBi adds to scores, less the further away a key is. The last query is
// at the place of the last key.
Tensor alibi(std::int64_t heads, std::int64_t queries, std::int64_t keys,
             const Options& options = {});

// In torch's layout: in_weight (3 width, width) for query, key and value, out_weight (width, width).
struct HeadWeights {
  Tensor in_weight = {}, in_bias = {};
  Tensor out_weight = {}, out_bias = {};
};
// query (..., queries, width), key and value (..., keys, width); the mask is of (..., heads, queries,
// keys) or what broadcasts to it.
Tensor multi_head_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                            std::int64_t heads, const HeadWeights& weights,
                            const AttentionOptions& options = {});

// In torch's layout: input (gates hidden, in), hidden (gates hidden, hidden), and biases of as many rows.
struct CellWeights {
  Tensor input = {}, hidden = {};
  Tensor input_bias = {}, hidden_bias = {};
};
enum class Nonlinearity { Tanh, Relu };
// One step: x (..., in) and the state h (..., hidden) give the next state.
Tensor rnn_cell(const Tensor& x, const Tensor& h, const CellWeights& weights,
                Nonlinearity nonlinearity = Nonlinearity::Tanh);
Tensor gru_cell(const Tensor& x, const Tensor& h, const CellWeights& weights);
struct LstmState {
  Tensor h = {}, c = {};
};
LstmState lstm_cell(const Tensor& x, const LstmState& state, const CellWeights& weights);

}  // namespace weft::functional
