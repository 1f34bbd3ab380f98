// Wrong calls of attention and of recurrent cells.

#include "table.h"

namespace weft {
namespace {

namespace F = functional;

TEST(TensorErrors, AttentionAndCells) {
  const Tensor q = of({2, 4, 3}), x = of({2, 3}), h = of({2, 4});
  const F::HeadWeights weights{.in_weight = of({9, 3}), .out_weight = of({3, 3})};
  const std::string form =
      " are not (..., queries, width), (..., keys, width) and (..., keys, any)";
  const WrongCall calls[] = {
      {"scaled_dot_product_attention, width",
       [&] { F::scaled_dot_product_attention(q, of({2, 4, 5}), q); },
       "scaled_dot_product_attention: query (2, 4, 3), key (2, 4, 5) and value (2, 4, 3)" + form},
      {"scaled_dot_product_attention, keys",
       [&] { F::scaled_dot_product_attention(q, q, of({2, 5, 3})); },
       "scaled_dot_product_attention: query (2, 4, 3), key (2, 4, 3) and value (2, 5, 3)" + form},
      {"scaled_dot_product_attention, axes",
       [&] { F::scaled_dot_product_attention(of({3}), of({3}), of({3})); },
       "scaled_dot_product_attention: query (3,), key (3,) and value (3,)" + form},
      {"scaled_dot_product_attention, dropout",
       [&] { F::scaled_dot_product_attention(q, q, q, {.dropout_p = 1.5}); },
       "scaled_dot_product_attention: dropout_p 1.5 is not from 0 to 1"},
      {"scaled_dot_product_attention, window",
       [&] { F::scaled_dot_product_attention(q, q, q, {.window = 0}); },
       "scaled_dot_product_attention: a window of 0 sees nothing"},
      {"scaled_dot_product_attention, heads",
       [&] {
         F::scaled_dot_product_attention(q, of({3, 4, 3}), of({3, 4, 3}), {.enable_gqa = true});
       },
       "scaled_dot_product_attention: the heads of shape (3, 4, 3) are not for equally many of "
       "shape "
       "(2, 4, 3)"},
      {"scaled_dot_product_attention, no heads",
       [&] { F::scaled_dot_product_attention(x, x, x, {.enable_gqa = true}); },
       "scaled_dot_product_attention: the heads of shape (2, 3) are not for equally many of shape "
       "(2, "
       "3)"},
      {"scaled_dot_product_attention, mask",
       [&] { F::scaled_dot_product_attention(q, q, q, {.attn_mask = of({5, 4})}); },
       "scaled_dot_product_attention: shapes (2, 4, 4) and (5, 4) do not broadcast: 4 does not "
       "match "
       "5"},
      {"scaled_dot_product_attention, larger mask",
       [&] { F::scaled_dot_product_attention(q, q, q, {.attn_mask = of({3, 1, 4, 4})}); },
       "scaled_dot_product_attention: a mask of shape (3, 1, 4, 4) for scores of shape (2, 4, 4)"},
      {"rotary_embedding, odd width", [&] { F::rotary_embedding(x); },
       "rotary_embedding: shape (2, 3) is not (..., time, an even width)"},
      {"rotary_embedding, base", [&] { F::rotary_embedding(h, {.base = 0}); },
       "rotary_embedding: base 0 is not above 0"},
      {"alibi", [&] { F::alibi(0, 2, 2); },
       "alibi: 0 heads, 2 queries and 2 keys: want at least one head and no negative sizes"},
      {"multi_head_attention, width of heads",
       [&] { F::multi_head_attention(x, x, x, 2, weights); },
       "multi_head_attention: shape (2, 3) is not (..., queries, a width of 2 heads)"},
      {"multi_head_attention, weights", [&] { F::multi_head_attention(h, h, h, 2, weights); },
       "multi_head_attention: weights of shapes (9, 3) and (3, 3) for a width of 4: they are (3 "
       "width, "
       "width) and (width, width)"},
      {"rnn_cell", [&] { F::rnn_cell(x, h, {.input = of({4, 4}), .hidden = of({4, 4})}); },
       "rnn_cell: weights of shapes (4, 4) and (4, 4) for input (2, 3) and state (2, 4): they are "
       "(4, "
       "3) and (4, 4)"},
      {"gru_cell", [&] { F::gru_cell(x, h, {.input = of({12, 3}), .hidden = of({4, 4})}); },
       "gru_cell: weights of shapes (12, 3) and (4, 4) for input (2, 3) and state (2, 4): they are "
       "(12, 3) and (12, 4)"},
      {"lstm_cell, lstm",
       [&] { F::lstm_cell(x, {h, of({2, 3})}, {.input = of({16, 3}), .hidden = of({16, 4})}); },
       "lstm_cell: states of shapes (2, 4) and (2, 3) are not the same"},
      {"rnn_cell, scalar state", [&] { F::rnn_cell(x, of({}), {.input = x, .hidden = x}); },
       "rnn_cell: input (2, 3) and state () are not (..., width)"},
  };
  expect_errors(calls);
}

}  // namespace
}  // namespace weft
