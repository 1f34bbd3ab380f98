// Wrong calls of layers, optimisers and schedules.

#include "../tensor/errors/table.h"

namespace weft {
namespace {

TEST(NnErrors, Layers) {
  const nn::Linear linear(3, 2);
  const nn::Conv2d conv(3, 2, 3);
  const nn::LayerNorm norm({2, 3});
  const nn::MultiheadAttention attention(4, 2);
  const Tensor x = of({4, 5}), image = of({1, 4, 5, 5}), flat = of({2}), three = of({3, 2, 4});
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
      {"MultiheadAttention, widths", [] { nn::MultiheadAttention(4, 2, {.kdim = 0}); },
       "MultiheadAttention: sizes 0, 4 are not all at least 1"},
      {"MultiheadAttention, dropout", [] { nn::MultiheadAttention(4, 2, {.dropout = 3}); },
       "MultiheadAttention: a dropout of 3 is not from 0 to 1"},
      {"MultiheadAttention, batches", [&] { attention(three, of({3, 1, 4}), of({3, 1, 4})); },
       "MultiheadAttention: query (3, 2, 4), key (3, 1, 4) and value (3, 1, 4) are not of one "
       "batch, or there are not as many keys as values"},
      {"MultiheadAttention, mask of integers",
       [&] { attention(three, three, three, {.attn_mask = of({3, 3}, {.dtype = dtypes::i32})}); },
       "MultiheadAttention: attn_mask is of i32: want bools, or floats that are added"},
      {"MultiheadAttention, mask of heads",
       [&] { attention(three, three, three, {.attn_mask = of({2, 3, 3})}); },
       "MultiheadAttention: attn_mask has shape (2, 3, 3): want (3, 3)"},
      {"MultiheadAttention, padding",
       [&] { attention(three, three, three, {.key_padding_mask = of({3, 2})}); },
       "MultiheadAttention: key_padding_mask has shape (3, 2): want (2, 3)"},
      {"TransformerEncoderLayer",
       [] { nn::TransformerEncoderLayer(2, 1, {.activation = nullptr}); },
       "TransformerEncoderLayer: the activation is no function"},
      {"GRU, projection", [] { nn::GRU(2, 3, {.proj_size = 1}); },
       "GRU: proj_size is for LSTM alone"},
      {"LSTM, projection", [] { nn::LSTM(2, 3, {.proj_size = 3}); },
       "LSTM: a proj_size of 3 is not below the hidden size of 3"},
      {"Conv2d, no kernel", [] { nn::Conv2d(3, 4, 0); },
       "Conv2d: sizes 0, 0 are not all at least 1"},
      {"LayerNorm, no axes", [] { nn::LayerNorm(std::vector<std::int64_t>{}); },
       "LayerNorm: there are no axes to normalise along"},
      {"PReLU", [] { nn::PReLU(0); }, "PReLU: sizes 0 are not all at least 1"},
      {"cast", [&] { nn::cast(linear, dtypes::i32); }, "cast: parameters are not of i32"},
      {"EMA", [&] { nn::EMA(linear, 2); }, "EMA: a decay of 2 is not from 0 to 1"},
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
       "ReduceLROnPlateau: the factor is 1, not from 0 to below 1"},
      {"OptimizerGroup", [&] { nn::OptimizerGroup{nn::SGD(w), nn::Adam(w)}; },
       "OptimizerGroup: a parameter of shape (2) belongs to two of the optimizers"},
      {"GradScaler, factors", [] { nn::GradScaler({.backoff_factor = 2}); },
       "GradScaler: the scale grows by 2 and goes back by 2: want above 1 and below it"},
      {"step, twice",
       [&] {
         nn::SGD twice(w);
         scaler.step(twice);
         scaler.step(twice);
       },
       "step: the optimizer has made its step: update() comes before the next"},
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

TEST(NnErrors, Schedules) {
  const Tensor w = of({2}).set_requires_grad();
  const nn::SGD optimizer(w);
  const auto with = [&](nn::Schedule schedule) { nn::Scheduler(optimizer, std::move(schedule)); };
  const WrongCall calls[] = {
      {"Scheduler, StepLR", [&] { with(nn::StepLR{0}); },
       "Scheduler: sizes 0 are not all at least 1"},
      {"CosineAnnealingLR", [] { nn::CosineAnnealingLR{0}(1, 1); },
       "CosineAnnealingLR: sizes 0 are not all at least 1"},
      {"CosineAnnealingWarmRestarts", [] { nn::CosineAnnealingWarmRestarts{2, 0}(1, 5); },
       "CosineAnnealingWarmRestarts: sizes 2, 0 are not all at least 1"},
      {"LinearLR", [] { nn::LinearLR{.total_iters = 0}(1, 1); },
       "LinearLR: sizes 0 are not all at least 1"},
      {"PolynomialLR", [] { nn::PolynomialLR{0}(1, 1); },
       "PolynomialLR: sizes 0 are not all at least 1"},
      {"LambdaLR", [] { nn::LambdaLR{}(1, 1); }, "LambdaLR: there is no function of the step"},
      {"OneCycleLR, steps", [] { nn::OneCycleLR{.max_lr = 1, .total_steps = 0}(1, 1); },
       "OneCycleLR: sizes 0 are not all at least 1"},
      {"OneCycleLR, share",
       [] { nn::OneCycleLR{.max_lr = 1, .total_steps = 9, .pct_start = 2}(1, 1); },
       "OneCycleLR: pct_start is 2, not from 0 to 1"},
      {"OneCycleLR, division",
       [] { nn::OneCycleLR{.max_lr = 1, .total_steps = 9, .div_factor = 0}(1, 1); },
       "OneCycleLR: the rate is divided by 0, not above 0"},
      {"Scheduler, momentum",
       [&] { nn::Scheduler(optimizer, nn::OneCycleLR{.max_lr = 1, .total_steps = 9}); },
       "Scheduler: the optimizer has no momentum to cycle: set cycle_momentum = false"},
      {"SequentialLR, order",
       [] { nn::SequentialLR{{nn::StepLR{1}, nn::StepLR{1}, nn::StepLR{1}}, {5, 2}}(1, 1); },
       "SequentialLR: milestones 5, 2 are not in order"},
      {"SequentialLR, function", [] { nn::SequentialLR{{nn::Schedule()}, {}}(1, 1); },
       "SequentialLR: one of the schedules is no function"},
      {"Scheduler, function", [&] { with({}); }, "Scheduler: the schedule is no function"},
      {"Scheduler, nothing", [] { nn::Scheduler(nn::Optimizer(), nn::StepLR{1}); },
       "Scheduler: the optimizer has no parameters"},
  };
  expect_errors(calls);
  EXPECT_EQ((nn::OneCycleLR{.max_lr = 3, .total_steps = 10, .pct_start = 0.1}(1, 0)), 3);
}

}  // namespace
}  // namespace weft
