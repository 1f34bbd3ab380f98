// Neural networks: layers, how they learn, and at what rate. Layers are plain structs that are called; what
// they hold is found through their fields (fields.h).
//
//   struct Mlp {
//     nn::Linear hidden{2, 8}, out{8, 1};
//     Tensor operator()(const Tensor& x) const { return out(hidden(x).tanh()); }
//     WEFT_FIELDS(hidden, out);
//   };
//   Mlp mlp;
//   nn::AdamW optimizer(mlp, {.lr = 0.01});
//   for (int epoch = 0; epoch < 100; ++epoch) {
//     const Training training;
//     optimizer.zero_grad();
//     mlp(x).mse_loss(y).backward();
//     optimizer.step();
//   }
#pragma once

#include <weft/init.h>
#include <weft/nn/conv.h>
#include <weft/nn/copies.h>
#include <weft/nn/linear.h>
#include <weft/nn/norm.h>
#include <weft/nn/optim.h>
#include <weft/nn/recurrent.h>
#include <weft/nn/schedule.h>
#include <weft/nn/sequential.h>
#include <weft/nn/training.h>
#include <weft/nn/transformer.h>

namespace weft::nn {

namespace init = weft::init;

}  // namespace weft::nn
