// Recurrent layers and their cells, with torch's layout and names of weights. All of it begins uniform
// within 1 / sqrt(hidden).
//
//   nn::LSTM lstm(8, 16, {.num_layers = 2, .bidirectional = true});
//   auto [y, state] = lstm(x);   // x (time, batch, 8), y (time, batch, 32), states (4, batch, 16)
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <weft/fields.h>
#include <weft/functional.h>

namespace weft::nn {

using functional::LstmState;
using functional::Nonlinearity;

struct CellOptions {
  bool bias = true;
  Nonlinearity nonlinearity = Nonlinearity::Tanh;  // of RNNCell alone
  DType dtype = {};
  std::string device = {};
};

// Of so many gates: (gates hidden, in), (gates hidden, hidden) and biases of as many rows. Where an LSTM
// projects h, (proj, hidden), and then (gates hidden, proj) for the second.
struct GateWeights {
  Tensor weight_ih = {}, weight_hh = {}, bias_ih = {}, bias_hh = {}, weight_hr = {};
  WEFT_FIELDS(weight_ih, weight_hh, bias_ih, bias_hh, weight_hr);
};

// --- One step: x (..., in), the state (..., hidden), by default zeros --------------------------------

struct RNNCell : GateWeights {
  Nonlinearity nonlinearity;
  RNNCell(std::int64_t input_size, std::int64_t hidden_size, const CellOptions& options = {});
  Tensor operator()(const Tensor& x, const Tensor& h = {}) const;
};

struct GRUCell : GateWeights {
  GRUCell(std::int64_t input_size, std::int64_t hidden_size, const CellOptions& options = {});
  Tensor operator()(const Tensor& x, const Tensor& h = {}) const;
};

struct LSTMCell : GateWeights {
  LSTMCell(std::int64_t input_size, std::int64_t hidden_size, const CellOptions& options = {});
  LstmState operator()(const Tensor& x, const LstmState& state = {}) const;
};

// --- All steps ------------------------------------------------------------------------------------

struct RecurrentOptions {
  std::int64_t num_layers = 1;
  bool bias = true;
  bool batch_first = false;  // x and y are (batch, time, ...); states are not
  double dropout = 0;        // of what each layer but the last gives, within a Training
  bool bidirectional = false;
  Nonlinearity nonlinearity = Nonlinearity::Tanh;  // of RNN alone
  std::int64_t proj_size = 0;  // of LSTM alone: how wide h is, 0 for as wide as c
  DType dtype = {};
  std::string device = {};
};

// The weights of all layers and directions, weight_ih_l0 ... bias_hh_l1_reverse.
struct RecurrentWeights {
  std::vector<GateWeights> cells;  // layer by layer, in each the directions
  RecurrentOptions options;

  template <class Visit>
  void visit_fields(Visit&& visit) {
    visit_named(*this, visit);
  }
  template <class Visit>
  void visit_fields(Visit&& visit) const {
    visit_named(*this, visit);
  }

 private:
  template <class Self, class Visit>
  static void visit_named(Self& self, Visit& visit) {
    const std::size_t directions = self.options.bidirectional ? 2 : 1;
    for (std::size_t i = 0; i < self.cells.size(); ++i)
      for_each_member(self.cells[i], [&](std::string_view name, auto& tensor) {
        visit(std::string(name) + "_l" + std::to_string(i / directions) +
                  (i % directions == 1 ? "_reverse" : ""),
              tensor);
      });
  }
};

// x (time, batch, in) or (time, in), states (layers * directions, batch, hidden) or without batch, by default
// zeros. The results: of the last layer all steps, of all layers the last state.
struct RNN : RecurrentWeights {
  RNN(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options = {});
  std::pair<Tensor, Tensor> operator()(const Tensor& x, const Tensor& h = {}) const;
};

struct GRU : RecurrentWeights {
  GRU(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options = {});
  std::pair<Tensor, Tensor> operator()(const Tensor& x, const Tensor& h = {}) const;
};

struct LSTM : RecurrentWeights {
  LSTM(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options = {});
  std::pair<Tensor, LstmState> operator()(const Tensor& x, const LstmState& first = {}) const;
};

}  // namespace weft::nn
