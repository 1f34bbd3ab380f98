// Recurrent layers. The products of the input for all steps are one; then each step has that of the state.

#include <algorithm>
#include <cctype>
#include <functional>
#include <span>

#include <fmt/format.h>

#include "tables.h"

namespace weft::onnx {
namespace {

// --- Activations ------------------------------------------------------------------------------------

struct Activation {
  std::string_view name;
  int numbers;  // 1: it has an alpha, 2: a beta as well
  double alpha, beta;
  Tensor (*apply)(const Tensor& x, double alpha, double beta);
};

// clang-format off
const Activation activations[] = {
    {"affine", 2, 1, 0, [](const Tensor& x, double a, double b) { return x * a + b; }},
    {"elu", 1, 1, 0, [](const Tensor& x, double a, double) { return x.elu(a); }},
    {"hardsigmoid", 2, 0.2, 0.5, [](const Tensor& x, double a, double b) { return x.hardsigmoid(a, b); }},
    {"leakyrelu", 1, 0.01, 0, [](const Tensor& x, double a, double) { return x.leaky_relu(a); }},
    {"relu", 0, 0, 0, [](const Tensor& x, double, double) { return x.relu(); }},
    {"scaledtanh", 2, 1, 1, [](const Tensor& x, double a, double b) { return (x * b).tanh() * a; }},
    {"sigmoid", 0, 0, 0, [](const Tensor& x, double, double) { return x.sigmoid(); }},
    {"softplus", 0, 0, 0, [](const Tensor& x, double, double) { return x.softplus(); }},
    {"softsign", 0, 0, 0, [](const Tensor& x, double, double) { return x.softsign(); }},
    {"tanh", 0, 0, 0, [](const Tensor& x, double, double) { return x.tanh(); }},
    {"thresholdedrelu", 1, 1, 0, [](const Tensor& x, double a, double) { return (x >= a).where(x, 0); }},
};
// clang-format on

using Function = std::function<Tensor(const Tensor&)>;

const Activation& activation_named(const Call& call, std::string name) {
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const Activation& activation : activations)
    if (activation.name == name) return activation;
  call.refuse(fmt::format("there is no activation '{}'", name));
}

// The functions of all directions. Each takes the alphas and betas that it has from the front of what is left.
std::vector<Function> functions_of(const Call& call, std::vector<std::string> otherwise,
                                   std::size_t directions) {
  std::vector<std::string> names = call.attr("activations", std::vector<std::string>{});
  if (names.empty())
    for (std::size_t i = 0; i < directions; ++i)
      names.insert(names.end(), otherwise.begin(), otherwise.end());
  const std::size_t wanted = directions * otherwise.size();
  if (names.size() < wanted)
    call.refuse(fmt::format("{} activations: want {}", names.size(), wanted));
  const auto alphas = call.attr("activation_alpha", std::vector<double>{});
  const auto betas = call.attr("activation_beta", std::vector<double>{});
  const double clip = call.attr("clip", 0.0);
  std::size_t alpha = 0, beta = 0;
  std::vector<Function> functions;
  for (std::size_t i = 0; i < wanted; ++i) {
    const Activation& activation = activation_named(call, names[i]);
    const bool has_alpha = activation.numbers > 0 && alpha < alphas.size();
    const bool has_beta = activation.numbers > 1 && beta < betas.size();
    const double a = has_alpha ? alphas[alpha++] : activation.alpha;
    const double b = has_beta ? betas[beta++] : activation.beta;
    functions.emplace_back([apply = activation.apply, a, b, clip](const Tensor& x) {
      return apply(clip > 0 ? x.clamp(-clip, clip) : x, a, b);
    });
  }
  return functions;
}

// --- Steps -------------------------------------------------------------------------------------------

using State = std::vector<Tensor>;  // h, or h and c: (batch, hidden)

// One direction: weights (gates hidden, in) and (gates hidden, hidden), biases of as many rows or null.
struct Cell {
  Tensor input, hidden, input_bias, hidden_bias, peepholes;
  std::span<const Function> functions;
};

// The next state from the products of the input and of h with their biases.
using Step = State (*)(const Call& call, const Cell& cell, const Tensor& in, const Tensor& own,
                       const State& state);

Tensor product(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Tensor y = x.matmul(weight.T());
  return bias.is_null() ? y : y + bias;
}

State rnn_step(const Call&, const Cell& cell, const Tensor& in, const Tensor& own, const State&) {
  return {cell.functions[0](in + own)};
}

// Gates: update, reset, hidden.
State gru_step(const Call& call, const Cell& cell, const Tensor& in, const Tensor& own,
               const State& state) {
  const std::int64_t size = state[0].size(-1);
  const std::vector<Tensor> x = in.split(size, -1), h = own.split(size, -1);
  const Tensor update = cell.functions[0](x[0] + h[0]), reset = cell.functions[0](x[1] + h[1]);
  const auto rows = [&](const Tensor& weight) {
    return weight.is_null() ? weight : weight.slice(0, {.start = 2 * size});
  };
  const bool is_linear_first = call.attr("linear_before_reset", 0) != 0;
  const Tensor from_h = is_linear_first
                            ? reset * h[2]
                            : product(reset * state[0], rows(cell.hidden), rows(cell.hidden_bias));
  const Tensor next = cell.functions[1](x[2] + from_h);
  return {(1 - update) * next + update * state[0]};
}

// Gates: input, output, forget, cell; peepholes: input, output, forget.
State lstm_step(const Call& call, const Cell& cell, const Tensor& in, const Tensor& own,
                const State& state) {
  const std::vector<Tensor> gates = (in + own).split(state[0].size(-1), -1);
  const std::vector<Tensor> seen =
      cell.peepholes.is_null() ? std::vector<Tensor>{} : cell.peepholes.split(state[0].size(-1));
  const auto gate = [&](std::size_t i, const Tensor& c) {
    return cell.functions[0](seen.empty() ? gates[i] : gates[i] + seen[i] * c);
  };
  const Tensor input = gate(0, state[1]);
  const Tensor forget = call.attr("input_forget", 0) != 0 ? 1 - input : gate(2, state[1]);
  const Tensor c = forget * state[1] + input * cell.functions[1](gates[3]);
  return {gate(1, c) * cell.functions[2](c), c};
}

struct Layer {
  std::int64_t gates;
  std::size_t states;
  std::vector<std::string> activations;
  Step step;
};

struct Run {
  std::vector<Tensor> outputs;  // of each step
  State last;
};

// Of each step, whether it is one of a sequence: (batch, 1).
std::vector<Tensor> within(const Tensor& lengths, std::int64_t time) {
  if (lengths.is_null()) return {};
  const Tensor steps = Tensor::arange(time).reshape({time, 1, 1});
  return (lengths.unsqueeze(0) > steps.cast(lengths.dtype())).unbind();
}

// Behind the end of a sequence its state stays, and its outputs are zeros.
Run through(const Call& call, const Layer& layer, const Cell& cell, const Tensor& x, State state,
            const Tensor& lengths, bool is_reverse) {
  const std::vector<Tensor> in = product(x, cell.input, cell.input_bias).unbind();
  Run run{std::vector<Tensor>(in.size()), {}};
  const std::vector<Tensor> is_within = within(lengths, x.size(0));
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::size_t time = is_reverse ? in.size() - 1 - i : i;
    const Tensor own = product(state[0], cell.hidden, cell.hidden_bias);
    State next = layer.step(call, cell, in[time], own, state);
    Tensor& output = run.outputs[time] = next[0];
    if (!lengths.is_null()) {
      output = is_within[time].where(output, 0);
      for (std::size_t k = 0; k < state.size(); ++k)
        next[k] = is_within[time].where(next[k], state[k]);
    }
    state = std::move(next);
  }
  run.last = std::move(state);
  return run;
}

// (batch, 1), or null where all sequences are known to be as long as there is time.
Tensor lengths_of(const Call& call, std::int64_t time) {
  if (!call.has(4)) return {};
  const Value::Known* known = call.value(4).known();
  const auto is_whole = [&](const Dim& length) {
    return !length.is_symbolic() && length.uop()->is_const_int(time);
  };
  if (known != nullptr && std::ranges::all_of(known->elements, is_whole)) return {};
  return call.tensor(4).reshape({-1, 1});
}

std::size_t directions_of(const Call& call, bool& is_reverse) {
  const std::string direction = call.attr("direction", "forward");
  is_reverse = direction == "reverse";
  if (direction == "bidirectional") return 2;
  // The first schema had its default misspelt.
  if (direction != "forward" && direction != "foward" && !is_reverse)
    call.refuse(
        fmt::format("direction is '{}': want forward, reverse or bidirectional", direction));
  return 1;
}

void want_shapes(const Call& call, const Layer& layer, const Tensor& x, std::int64_t directions) {
  const Tensor w = call.tensor(1), r = call.tensor(2);
  const bool fits = x.ndim() == 3 && w.ndim() == 3 && r.ndim() == 3 && w.size(0) == directions &&
                    r.size(0) == directions && r.size(1) == layer.gates * r.size(2) &&
                    w.size(1) == r.size(1) && w.size(2) == x.size(2) && x.size(0) > 0;
  if (!fits)
    call.refuse(fmt::format(
        "an input of {} axes with weights of {} and {} axes: want (time, batch, in), ({}, {} "
        "hidden, in) and ({}, {} hidden, hidden), and at least one step",
        x.ndim(), w.ndim(), r.ndim(), directions, layer.gates, directions, layer.gates));
  const auto hidden = call.attr("hidden_size", r.size(2));
  if (hidden != r.size(2))
    call.refuse(fmt::format("hidden_size is {} for weights of {}", hidden, r.size(2)));
}

Cell cell_of(const Call& call, const Layer& layer, std::int64_t direction) {
  Cell cell{.input = call.tensor(1).select(0, direction),
            .hidden = call.tensor(2).select(0, direction),
            .input_bias = {},
            .hidden_bias = {},
            .peepholes = {},
            .functions = {}};
  if (call.has(3)) {
    const std::vector<Tensor> biases =
        call.tensor(3).select(0, direction).split(cell.input.size(0));
    if (biases.size() != 2) call.refuse("biases are not two for each row of the weights");
    cell.input_bias = biases[0];
    cell.hidden_bias = biases[1];
  }
  if (layer.states == 2 && call.has(7)) cell.peepholes = call.tensor(7).select(0, direction);
  return cell;
}

// The first states, (directions, batch, hidden) each.
State first_states(const Call& call, const Layer& layer, const Tensor& x, std::int64_t directions,
                   bool has_batch_first) {
  State states;
  for (std::size_t i = 0; i < layer.states; ++i) {
    if (call.has(5 + i)) {
      const Tensor given = call.tensor(5 + i);
      states.push_back(has_batch_first ? given.transpose(0, 1) : given);
    } else {
      states.push_back(Tensor::zeros({directions, x.dims()[1], call.tensor(2).size(2)},
                                     call.options(x.dtype())));
    }
  }
  return states;
}

Values recurrent(const Call& call, const Layer& layer) {
  bool is_reverse = false;
  const std::size_t count = directions_of(call, is_reverse);
  const auto directions = static_cast<std::int64_t>(count);
  const bool has_batch_first = call.attr("layout", 0) != 0;
  const Tensor x = has_batch_first ? call.tensor(0).transpose(0, 1) : call.tensor(0);
  want_shapes(call, layer, x, directions);
  const std::vector<Function> functions = functions_of(call, layer.activations, count);
  const Tensor lengths = lengths_of(call, x.size(0));
  const State first = first_states(call, layer, x, directions, has_batch_first);
  std::vector<Tensor> outputs;
  std::vector<std::vector<Tensor>> last(layer.states);
  for (std::size_t i = 0; i < count; ++i) {
    Cell cell = cell_of(call, layer, static_cast<std::int64_t>(i));
    cell.functions = std::span(functions).subspan(i * layer.activations.size());
    State state;
    for (const Tensor& all : first) state.push_back(all.select(0, static_cast<std::int64_t>(i)));
    const Run run = through(call, layer, cell, x, state, lengths, is_reverse || i == 1);
    outputs.push_back(Tensor::stack(run.outputs));
    for (std::size_t k = 0; k < layer.states; ++k) last[k].push_back(run.last[k]);
  }
  const Tensor y = Tensor::stack(outputs, 1);  // (time, directions, batch, hidden)
  Values results{has_batch_first ? y.permute({2, 0, 1, 3}) : y};
  for (const std::vector<Tensor>& states : last)
    results.emplace_back(Tensor::stack(states, has_batch_first ? 1 : 0));
  return results;
}

Values rnn(const Call& call) { return recurrent(call, {1, 1, {"Tanh"}, rnn_step}); }
Values gru(const Call& call) { return recurrent(call, {3, 1, {"Sigmoid", "Tanh"}, gru_step}); }
Values lstm(const Call& call) {
  return recurrent(call, {4, 2, {"Sigmoid", "Tanh", "Tanh"}, lstm_step});
}

}  // namespace

OpTable recurrent_ops() {
  static const Op ops[] = {
      {"GRU", 1, gru},
      {"LSTM", 1, lstm},
      {"RNN", 1, rnn},
  };
  return {"", ops};
}

}  // namespace weft::onnx
