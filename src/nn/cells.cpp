// One step of a recurrent network.

#include <weft/nn/recurrent.h>

#include "gates.h"

namespace weft::nn {
namespace {

functional::CellWeights weights_of(const GateWeights& cell) {
  return {.input = cell.weight_ih,
          .hidden = cell.weight_hh,
          .input_bias = cell.bias_ih,
          .hidden_bias = cell.bias_hh};
}

// Of the batch that x has.
Tensor or_zeros(const Tensor& state, const Tensor& x, const GateWeights& cell) {
  if (!state.is_null()) return state;
  std::vector<Dim> sizes = x.dims();
  if (sizes.empty()) user_error("the input has no features");
  sizes.back() = cell.weight_hh.size(1);
  return Tensor::zeros(sizes, {.dtype = cell.weight_hh.dtype(), .device = x.device()});
}

}  // namespace

GateWeights gate_weights(std::int64_t gates, std::int64_t input_size, std::int64_t hidden_size,
                         bool has_bias, const Options& options, std::int64_t proj_size) {
  want_sizes({input_size, hidden_size});
  const std::int64_t rows = gates * hidden_size;
  const auto drawn = [&](const Shape& shape) {
    return uniform_of_fan(shape, hidden_size, options);
  };
  const std::int64_t width = proj_size > 0 ? proj_size : hidden_size;
  GateWeights cell{.weight_ih = drawn({rows, input_size}), .weight_hh = drawn({rows, width})};
  if (has_bias) cell.bias_ih = drawn({rows}), cell.bias_hh = drawn({rows});
  if (proj_size > 0) cell.weight_hr = drawn({proj_size, hidden_size});
  return cell;
}

RNNCell::RNNCell(std::int64_t input_size, std::int64_t hidden_size, const CellOptions& options)
    : nonlinearity(options.nonlinearity) {
  const Called called("RNNCell");
  GateWeights::operator=(gate_weights(1, input_size, hidden_size, options.bias, learned(options)));
}

Tensor RNNCell::operator()(const Tensor& x, const Tensor& h) const {
  const Called called("RNNCell");
  return functional::rnn_cell(x, or_zeros(h, x, *this), weights_of(*this), nonlinearity);
}

GRUCell::GRUCell(std::int64_t input_size, std::int64_t hidden_size, const CellOptions& options) {
  const Called called("GRUCell");
  GateWeights::operator=(gate_weights(3, input_size, hidden_size, options.bias, learned(options)));
}

Tensor GRUCell::operator()(const Tensor& x, const Tensor& h) const {
  const Called called("GRUCell");
  return functional::gru_cell(x, or_zeros(h, x, *this), weights_of(*this));
}

LSTMCell::LSTMCell(std::int64_t input_size, std::int64_t hidden_size, const CellOptions& options) {
  const Called called("LSTMCell");
  GateWeights::operator=(gate_weights(4, input_size, hidden_size, options.bias, learned(options)));
}

LstmState LSTMCell::operator()(const Tensor& x, const LstmState& state) const {
  const Called called("LSTMCell");
  return functional::lstm_cell(x, {or_zeros(state.h, x, *this), or_zeros(state.c, x, *this)},
                               weights_of(*this));
}

}  // namespace weft::nn
