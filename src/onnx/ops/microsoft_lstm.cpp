// com.microsoft: DynamicQuantizeLSTM, an LSTM with integers for weights.
#include <fmt/format.h>

#include "microsoft_quantized.h"

namespace weft::onnx {
namespace {

using Strings = std::vector<std::string>;

// What one direction has: (inputs or hidden, 4 hidden) in the order input, output, forget, cell.
struct Cell {
  Tensor input, hidden, bias, peepholes;
  Strings activations;
  double clip;
  bool couples;  // forgets as much as it takes in
};

struct State {
  Tensor h, c;
};

State stepped(const Call& call, const Cell& cell, const Tensor& from_input, const State& before) {
  const Dynamic quantised = dynamically_quantized(before.h);
  Tensor all = from_input + dequantized(quantised.values, quantised.quant).matmul(cell.hidden);
  if (!cell.bias.is_null()) all = all + cell.bias;
  const std::vector<Tensor> gates = all.chunk(4, -1);
  const auto active = [&](std::size_t which, Tensor x) {
    if (cell.clip > 0) x = x.clamp(-cell.clip, cell.clip);
    return activated(call, x, cell.activations[which], {});
  };
  const auto peeped = [&](std::size_t gate, std::int64_t which, const Tensor& c) {
    if (cell.peepholes.is_null()) return gates[gate];
    const std::int64_t width = c.size(-1);
    return gates[gate] + cell.peepholes.narrow(0, which * width, width) * c;
  };
  const Tensor input = active(0, peeped(0, 0, before.c));
  const Tensor forget = cell.couples ? 1 - input : active(0, peeped(2, 2, before.c));
  const Tensor c = forget * before.c + input * active(1, gates[3]);
  const Tensor output = active(0, peeped(1, 1, c));
  return {output * activated(call, c, cell.activations[2], {}), c};
}

// (steps, batch, hidden), and the last state of each row.
struct Course {
  Tensor all;
  State last;
};

Course run(const Call& call, const Cell& cell, const Tensor& x, State state, const Tensor& lengths,
           bool is_reverse) {
  const std::int64_t steps = x.size(0);
  const Dynamic quantised = dynamically_quantized(x);
  const Tensor from_input = dequantized(quantised.values, quantised.quant).matmul(cell.input);
  std::vector<Tensor> all(static_cast<std::size_t>(steps));
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t at = is_reverse ? steps - 1 - i : i;
    State next = stepped(call, cell, from_input.select(0, at), state);
    Tensor seen = next.h;
    if (!lengths.is_null()) {
      const Tensor is_there = (lengths > at).unsqueeze(1);
      seen = is_there.where(next.h, 0);
      next = {is_there.where(next.h, state.h), is_there.where(next.c, state.c)};
    }
    all[static_cast<std::size_t>(at)] = seen;
    state = next;
  }
  return {Tensor::stack(all), state};
}

// Weights of one direction, by one scale or one for each column.
Tensor weights_of(const Call& call, std::size_t input, std::size_t scale, std::int64_t direction) {
  const Tensor weights = call.tensor(input).select(0, direction);
  const auto own = [&](const Tensor& each) {
    if (each.is_null()) return each;
    return each.ndim() == 0 ? each : each.select(0, direction);
  };
  return dequantized(weights, Quant(own(call.tensor(scale)), own(call.tensor_or_null(scale + 1))));
}

Cell cell_of(const Call& call, std::int64_t direction, std::int64_t hidden) {
  const auto one = [&](std::size_t input) {
    return call.has(input) ? call.tensor(input).select(0, direction) : Tensor();
  };
  Strings names = call.attr("activations", Strings());
  const auto first = static_cast<std::size_t>(direction) * 3;
  if (names.size() < first + 3)
    names = {"Sigmoid", "Tanh", "Tanh"};
  else
    names = Strings(names.begin() + static_cast<std::ptrdiff_t>(first),
                    names.begin() + static_cast<std::ptrdiff_t>(first) + 3);
  Cell cell{weights_of(call, 1, 8, direction),
            weights_of(call, 2, 10, direction),
            one(3),
            one(7),
            names,
            call.attr("clip", 0.0),
            call.attr("input_forget", 0) != 0};
  // One for the input, and one for the hidden state.
  if (!cell.bias.is_null())
    cell.bias = cell.bias.narrow(0, 0, 4 * hidden) + cell.bias.narrow(0, 4 * hidden, 4 * hidden);
  return cell;
}

Values dynamic_quantize_lstm(const Call& call) {
  const Tensor x = call.tensor(0), lengths = call.tensor_or_null(4);
  const std::string direction = call.attr("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    call.refuse("direction is forward, reverse or bidirectional, not " + direction);
  const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
  const Tensor recurrent = call.tensor(2);
  if (x.ndim() != 3 || x.size(0) < 1 || recurrent.ndim() != 3 || recurrent.size(0) != directions ||
      recurrent.size(2) != 4 * recurrent.size(1))
    call.refuse("it has steps (steps, batch, inputs), and weights (directions, hidden, 4 hidden)");
  const std::int64_t hidden = recurrent.size(1);
  std::vector<Tensor> all, h, c;
  for (std::int64_t i = 0; i < directions; ++i) {
    const auto initial = [&](std::size_t input) {
      return call.has(input) ? call.tensor(input).select(0, i)
                             : Tensor::zeros({x.size(1), hidden}, call.options(x.dtype()));
    };
    const Course course = run(call, cell_of(call, i, hidden), x, {initial(5), initial(6)}, lengths,
                              direction == "reverse" || i == 1);
    all.push_back(course.all);
    h.push_back(course.last.h);
    c.push_back(course.last.c);
  }
  return {Tensor::stack(all, 1), Tensor::stack(h), Tensor::stack(c)};
}

}  // namespace

OpTable microsoft_lstm_ops() {
  static const Op ops[] = {{"DynamicQuantizeLSTM", 1, dynamic_quantize_lstm}};
  return {microsoft, ops};
}

}  // namespace weft::onnx
