// One step of a recurrent network.

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/functional.h>

#include "ops.h"

namespace weft::functional {
namespace {

Tensor gates(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Tensor product = x.matmul(weight.T());
  return bias.is_null() ? product : product + bias;
}

void want_cell(const char* op, std::int64_t count, const Tensor& x, const Tensor& h,
               const CellWeights& weights) {
  if (x.ndim() == 0 || h.ndim() == 0)
    user_error(fmt::format("{}: input {} and state {} are not (..., width)", op,
                           shape_text(x.uop()), shape_text(h.uop())));
  const std::int64_t rows = count * h.size(-1);
  const std::vector<std::int64_t> input{rows, x.size(-1)}, hidden{rows, h.size(-1)};
  if (weights.input.shape() != input || weights.hidden.shape() != hidden)
    user_error(
        fmt::format("{}: weights of shapes {} and {} for input {} and state {}: they are {} "
                    "and {}",
                    op, shape_text(weights.input.uop()), shape_text(weights.hidden.uop()),
                    shape_text(x.uop()), shape_text(h.uop()), sizes_text(constant_sizes(input)),
                    sizes_text(constant_sizes(hidden))));
}

}  // namespace

Tensor rnn_cell(const Tensor& x, const Tensor& h, const CellWeights& weights,
                Nonlinearity nonlinearity) {
  const Called called;
  want_cell("rnn_cell", 1, x, h, weights);
  const Tensor sum =
      gates(x, weights.input, weights.input_bias) + gates(h, weights.hidden, weights.hidden_bias);
  return nonlinearity == Nonlinearity::Tanh ? sum.tanh() : sum.relu();
}

Tensor gru_cell(const Tensor& x, const Tensor& h, const CellWeights& weights) {
  const Called called;
  want_cell("gru_cell", 3, x, h, weights);
  const std::vector<Tensor> in = gates(x, weights.input, weights.input_bias).chunk(3, -1);
  const std::vector<Tensor> own = gates(h, weights.hidden, weights.hidden_bias).chunk(3, -1);
  const Tensor reset = (in[0] + own[0]).sigmoid(), keep = (in[1] + own[1]).sigmoid();
  const Tensor next = (in[2] + reset * own[2]).tanh();
  return (1 - keep) * next + keep * h;
}

LstmState lstm_cell(const Tensor& x, const LstmState& state, const CellWeights& weights) {
  const Called called;
  want_cell("lstm_cell", 4, x, state.h, weights);
  if (state.c.shape() != state.h.shape())
    user_error(fmt::format("lstm_cell: states of shapes {} and {} are not the same",
                           shape_text(state.h.uop()), shape_text(state.c.uop())));
  const Tensor sum = gates(x, weights.input, weights.input_bias) +
                     gates(state.h, weights.hidden, weights.hidden_bias);
  const std::vector<Tensor> gate = sum.chunk(4, -1);
  const Tensor c = gate[1].sigmoid() * state.c + gate[0].sigmoid() * gate[2].tanh();
  return {gate[3].sigmoid() * c.tanh(), c};
}

}  // namespace weft::functional
