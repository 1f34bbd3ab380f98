// One step of a recurrent network.

#include <fmt/format.h>
#include <weft/dev/tensor/cells.h>
#include <weft/error.h>

#include "ops.h"

namespace weft {

Tensor rnn_of(const Tensor& in, const Tensor& own, functional::Nonlinearity nonlinearity) {
  const Tensor sum = in + own;
  return nonlinearity == functional::Nonlinearity::Tanh ? sum.tanh() : sum.relu();
}

Tensor gru_of(const Tensor& in, const Tensor& own, const Tensor& h) {
  const std::vector<Tensor> of_input = in.chunk(3, -1), of_state = own.chunk(3, -1);
  const Tensor reset = (of_input[0] + of_state[0]).sigmoid();
  const Tensor keep = (of_input[1] + of_state[1]).sigmoid();
  const Tensor next = (of_input[2] + reset * of_state[2]).tanh();
  return (1 - keep) * next + keep * h;
}

functional::LstmState lstm_of(const Tensor& in, const Tensor& own, const Tensor& c) {
  const std::vector<Tensor> gate = (in + own).chunk(4, -1);
  const Tensor next = gate[1].sigmoid() * c + gate[0].sigmoid() * gate[2].tanh();
  return {gate[3].sigmoid() * next.tanh(), next};
}

namespace functional {
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
  return rnn_of(gates(x, weights.input, weights.input_bias),
                gates(h, weights.hidden, weights.hidden_bias), nonlinearity);
}

Tensor gru_cell(const Tensor& x, const Tensor& h, const CellWeights& weights) {
  const Called called;
  want_cell("gru_cell", 3, x, h, weights);
  return gru_of(gates(x, weights.input, weights.input_bias),
                gates(h, weights.hidden, weights.hidden_bias), h);
}

LstmState lstm_cell(const Tensor& x, const LstmState& state, const CellWeights& weights) {
  const Called called;
  want_cell("lstm_cell", 4, x, state.h, weights);
  if (state.c.shape() != state.h.shape())
    user_error(fmt::format("lstm_cell: states of shapes {} and {} are not the same",
                           shape_text(state.h.uop()), shape_text(state.c.uop())));
  return lstm_of(gates(x, weights.input, weights.input_bias),
                 gates(state.h, weights.hidden, weights.hidden_bias), state.c);
}

}  // namespace functional
}  // namespace weft
