// Recurrent cells from the products of their weights: `in` with the input and `own` with the state, biases
// added, both (..., gates hidden).
#pragma once

#include <weft/functional.h>

namespace weft {

Tensor rnn_of(const Tensor& in, const Tensor& own, functional::Nonlinearity nonlinearity);
Tensor gru_of(const Tensor& in, const Tensor& own, const Tensor& h);
functional::LstmState lstm_of(const Tensor& in, const Tensor& own, const Tensor& c);

}  // namespace weft
