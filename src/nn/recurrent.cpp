// Recurrent layers: the input's products of all steps are one, then each step has that of the state.

#include <weft/nn/recurrent.h>

#include <algorithm>
#include <functional>

#include <weft/dev/tensor/cells.h>

#include "gates.h"

namespace weft::nn {
namespace {

using State = std::vector<Tensor>;  // h, or h and c
// The next state, from the products of the input and of h, and the state.
using Step = std::function<State(const Tensor& in, const Tensor& own, const State& state)>;

constexpr std::int64_t lstm_gates = 4;

struct Steps {
  Tensor y;
  State last;
};

void want_options(const RecurrentOptions& options, std::int64_t gates, std::int64_t hidden_size) {
  want_sizes({options.num_layers});
  want_dropout(options.dropout);
  if (options.proj_size != 0 && gates != lstm_gates) user_error("proj_size is for LSTM alone");
  if (options.proj_size < 0 || (options.proj_size > 0 && options.proj_size >= hidden_size))
    user_error(fmt::format("a proj_size of {} is not below the hidden size of {}",
                           options.proj_size, hidden_size));
}

void begin(RecurrentWeights& net, std::int64_t gates, std::int64_t input_size,
           std::int64_t hidden_size, const RecurrentOptions& options) {
  net.options = options;
  want_options(options, gates, hidden_size);
  const std::int64_t directions = options.bidirectional ? 2 : 1;
  const std::int64_t width = options.proj_size > 0 ? options.proj_size : hidden_size;
  for (std::int64_t i = 0; i < options.num_layers * directions; ++i)
    net.cells.push_back(gate_weights(gates, i < directions ? input_size : directions * width,
                                     hidden_size, options.bias, learned(options),
                                     options.proj_size));
}

// One layer in one direction; x (time, batch, in).
Steps through(const Tensor& x, const GateWeights& cell, State state, bool is_reverse,
              const Step& step) {
  std::vector<Tensor> in = plus(x.matmul(cell.weight_ih.T()), cell.bias_ih).unbind();
  if (is_reverse) std::ranges::reverse(in);
  std::vector<Tensor> outputs;
  for (const Tensor& now : in) {
    const Tensor own = plus(state[0].matmul(cell.weight_hh.T()), cell.bias_hh);
    state = step(now, own, state);
    if (!cell.weight_hr.is_null()) state[0] = state[0].matmul(cell.weight_hr.T());
    outputs.push_back(state[0]);
  }
  if (is_reverse) std::ranges::reverse(outputs);
  return {Tensor::stack(outputs), state};
}

void want_input(const Tensor& x, const RecurrentWeights& net) {
  const std::int64_t width = net.cells[0].weight_ih.size(1), axes = x.ndim();
  if ((axes != 2 && axes != 3) || x.size(-1) != width ||
      x.size(axes == 3 && net.options.batch_first ? 1 : 0) == 0)
    user_error(fmt::format("shape ({}) is not ({}, {}) or (time, {}) with a time",
                           fmt::join(x.max_shape(), ", "),
                           net.options.batch_first ? "batch, time" : "time, batch", width, width));
}

// The first states (layers * directions, batch, hidden) of as many kinds as `first` has.
State all_states(const RecurrentWeights& net, const Tensor& x, const State& first, bool has_batch) {
  const GateWeights& cell = net.cells[0];
  std::vector<std::int64_t> wanted{std::ssize(net.cells), x.size(1), cell.weight_hh.size(1)};
  State states;
  for (const Tensor& given : first) {
    if (!states.empty() && !cell.weight_hr.is_null()) wanted[2] = cell.weight_hr.size(1);  // c
    const Options options{.dtype = cell.weight_hh.dtype(), .device = x.device()};
    states.push_back(given.is_null() ? Tensor::zeros(wanted, options)
                     : has_batch     ? given
                                     : given.unsqueeze(1));
    if (states.back().shape() != wanted)
      user_error(fmt::format("a state of shape ({}): want ({})", fmt::join(given.shape(), ", "),
                             fmt::join(wanted, ", ")));
  }
  return states;
}

Steps run(const RecurrentWeights& net, const Tensor& input, const State& first, const Step& step) {
  want_input(input, net);
  const bool has_batch = input.ndim() == 3, turns = has_batch && net.options.batch_first;
  Tensor x = turns ? input.transpose(0, 1) : has_batch ? input : input.unsqueeze(1);
  const State states = all_states(net, x, first, has_batch);
  const std::size_t directions = net.options.bidirectional ? 2 : 1;
  std::vector<State> last(first.size());
  for (std::size_t i = 0; i < net.cells.size(); i += directions) {
    if (i > 0) x = x.dropout(net.options.dropout);
    std::vector<Tensor> ways;
    for (std::size_t way = 0; way < directions; ++way) {
      State state;
      for (const Tensor& all : states)
        state.push_back(all.select(0, static_cast<std::int64_t>(i + way)));
      const Steps steps = through(x, net.cells[i + way], state, way == 1, step);
      ways.push_back(steps.y);
      for (std::size_t kind = 0; kind < last.size(); ++kind) last[kind].push_back(steps.last[kind]);
    }
    x = directions == 1 ? ways[0] : Tensor::cat(ways, -1);
  }
  Steps result{turns ? x.transpose(0, 1) : has_batch ? x : x.squeeze(1), {}};
  for (const State& kind : last)
    result.last.push_back(has_batch ? Tensor::stack(kind) : Tensor::stack(kind).squeeze(1));
  return result;
}

}  // namespace

RNN::RNN(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options) {
  const Called called("RNN");
  begin(*this, 1, input_size, hidden_size, options);
}

std::pair<Tensor, Tensor> RNN::operator()(const Tensor& x, const Tensor& h) const {
  const Called called("RNN");
  const auto [y, last] = run(*this, x, {h}, [&](const Tensor& in, const Tensor& own, const State&) {
    return State{rnn_of(in, own, options.nonlinearity)};
  });
  return {y, last[0]};
}

GRU::GRU(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options) {
  const Called called("GRU");
  begin(*this, 3, input_size, hidden_size, options);
}

std::pair<Tensor, Tensor> GRU::operator()(const Tensor& x, const Tensor& h) const {
  const Called called("GRU");
  const auto [y, last] =
      run(*this, x, {h}, [](const Tensor& in, const Tensor& own, const State& state) {
        return State{gru_of(in, own, state[0])};
      });
  return {y, last[0]};
}

LSTM::LSTM(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options) {
  const Called called("LSTM");
  begin(*this, lstm_gates, input_size, hidden_size, options);
}

std::pair<Tensor, LstmState> LSTM::operator()(const Tensor& x, const LstmState& first) const {
  const Called called("LSTM");
  const auto [y, last] = run(*this, x, {first.h, first.c},
                             [](const Tensor& in, const Tensor& own, const State& state) {
                               const LstmState next = lstm_of(in, own, state[1]);
                               return State{next.h, next.c};
                             });
  return {y, {last[0], last[1]}};
}

}  // namespace weft::nn
