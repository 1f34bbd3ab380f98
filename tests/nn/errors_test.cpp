// Wrong calls of layers, optimisers and schedules.

#include "../tensor/errors/table.h"

namespace weft {
namespace {

TEST(NnErrors, Layers) {
  const nn::Linear linear(3, 2);
  const nn::Conv2d conv(3, 2, 3);
  const nn::LayerNorm norm({2, 3});
  const Tensor x = of({4, 5}), image = of({1, 4, 5, 5}), flat = of({2});
  const WrongCall calls[] = {
      {"Linear, sizes", [] { nn::Linear(0, 2); }, "Linear: sizes 0, 2 are not all at least 1"},
      {"Linear", [&] { linear(x); }, "Linear: shapes (4, 5) and (3, 2): 5 does not match 3"},
      {"Linear, null", [&] { linear({}); }, "Linear" + is_null},
      {"Embedding, padding", [] { nn::Embedding(3, 2, {.padding_idx = 3}); },
       "Embedding: there is no row 3 for padding among 3"},
      {"Conv2d, groups", [] { nn::Conv2d(3, 4, 3, {.groups = 2}); },
       "Conv2d: 3 channels in and 4 out are not in 2 groups"},
      {"Conv2d, kernel", [] { nn::Conv2d(3, 4, {1, 2, 3}); },
       "Conv2d: 3 numbers for 2 spatial dimensions"},
      {"Conv2d, axes", [&] { conv(x); }, "Conv2d: an input of 2 axes: want 4, or 3 without batch"},
      {"Conv2d, channels", [&] { conv(image); },
       "Conv2d: 4 channels do not fit a weight of shape (2, 3, 3, 3) in 1 groups"},
      {"LayerNorm, shape", [&] { norm(x); }, "LayerNorm: shape (4, 5) does not end in (2, 3)"},
      {"GroupNorm", [] { nn::GroupNorm(2, 3); }, "GroupNorm: 3 channels are not in 2 groups"},
      {"RMSNorm", [&] { nn::RMSNorm(3)(x); },
       "RMSNorm: a weight or bias of shape (3,) for axes of sizes (5,)"},
      {"GRU, layers", [] { nn::GRU(2, 2, {.num_layers = 0}); },
       "GRU: sizes 0 are not all at least 1"},
      {"RNN, dropout", [] { nn::RNN(2, 2, {.dropout = 2}); },
       "RNN: a dropout of 2 is not from 0 to 1"},
      {"LSTM, input", [&] { nn::LSTM(2, 2)(x); },
       "LSTM: shape (4, 5) is not (time, batch, 2) or (time, 2) with a time"},
      {"GRU, state", [&] { nn::GRU(5, 2)(x, flat); }, "GRU: a state of shape (2): want (1, 1, 2)"},
      {"GRUCell", [&] { nn::GRUCell(3, 2)(x); },
       "GRUCell: weights of shapes (6, 3) and (6, 2) for input (4, 5) and state (4, 2): they are "
       "(6, 5) and (6, 2)"},
      {"MultiheadAttention, heads", [] { nn::MultiheadAttention(5, 2); },
       "MultiheadAttention: a width of 5 is not in 2 heads"},
      {"MultiheadAttention, inputs", [&] { nn::MultiheadAttention(4, 2)(x, x, x); },
       "MultiheadAttention: query (4, 5), key (4, 5) and value (4, 5): want (..., 4), (..., 4) and "
       "(..., 4) of 2 or 3 axes"},
      {"TransformerEncoder", [] { nn::TransformerEncoder(nn::TransformerEncoderLayer(2, 1), 0); },
       "TransformerEncoder: sizes 0 are not all at least 1"},
  };
  expect_errors(calls);
}

TEST(NnErrors, Optimizers) {
  const Tensor w = of({2}).set_requires_grad(), constant = of({2});
  const nn::SGD optimizer(w);
  const std::vector<Tensor> two{w, of({3}).set_requires_grad()};
  nn::GradScaler scaler;
  const WrongCall calls[] = {
      {"SGD, nothing", [&] { nn::SGD{constant}; }, "SGD: none of the tensors requires a gradient"},
      {"SGD, rate", [&] { nn::SGD(w, {.lr = -1}); }, "SGD: the rate is -1, below 0"},
      {"SGD, momentum", [&] { nn::SGD(w, {.momentum = -1}); }, "SGD: momentum is -1, below 0"},
      {"SGD, nesterov", [&] { nn::SGD(w, {.nesterov = true}); },
       "SGD: nesterov needs momentum, and no dampening"},
      {"Adam", [&] { nn::Adam(w, {.beta2 = 1}); }, "Adam: beta2 is 1, not from 0 to below 1"},
      {"AdamW", [&] { nn::AdamW(w, {.weight_decay = -1}); }, "AdamW: weight_decay is -1, below 0"},
      {"Muon", [&] { nn::Muon{w}; }, "Muon: a parameter of shape (2) is no matrix"},
      {"Scheduler", [&] { nn::Scheduler(optimizer, nn::SequentialLR{{nn::StepLR{2}}, {1, 2}}); },
       "Scheduler: 1 schedules with 2 milestones between them"},
      {"ReduceLROnPlateau", [&] { nn::ReduceLROnPlateau(optimizer, {.factor = 1}); },
       "ReduceLROnPlateau: the factor is 1, not below 1"},
      {"GradScaler", [] { nn::GradScaler({.init_scale = 0}); },
       "GradScaler: the scale is 0, not above 0"},
      {"update", [&] { scaler.update(); }, "update: no gradients were unscaled since the last one"},
      {"update, averages",
       [&] {
         nn::EMA ema(std::vector<Tensor>{w});
         ema.update(two);
       },
       "update: a model of 2 tensors for averages of 1"},
  };
  expect_errors(calls);
}

}  // namespace
}  // namespace weft
