// Attention, and the embeddings that tell it where things are.

#include <limits>

#include <fmt/format.h>

#include "axes.h"
#include "heads.h"
#include "tables.h"

namespace weft::onnx {
namespace {

constexpr double nowhere = -std::numeric_limits<double>::infinity();

// (batch, time, heads width) as (batch, heads, time, width).
Tensor with_heads(const Call& call, const Tensor& x, std::string_view attribute) {
  const auto heads = call.attr<std::int64_t>(attribute);
  if (heads < 1 || x.size(2) % heads != 0)
    call.refuse(fmt::format("{} is {} for a width of {}", attribute, heads, x.size(2)));
  return x.unflatten(2, {heads, -1}).transpose(1, 2);
}

// Who sees whom: what is added to scores, and where they count at all. Either may be null.
struct Mask {
  Tensor added, seen;

  void allow(const Tensor& more) { seen = seen.is_null() ? more : seen & more; }
};

// Where the first query stands among the keys: a number, or (batch, 1, 1, 1) of them.
Tensor first_place(const Call& call, const Tensor& query, std::int64_t past) {
  const Options options = call.options(dtypes::i64);
  if (past > 0 || !call.has(6)) return Tensor::full({1}, past, options);
  return call.tensor(6).reshape({-1, 1, 1, 1}) - query.size(2);
}

// The bounds that follow from places: causality, windows, and how many keys of each sample are none.
void bound_places(const Call& call, Mask& mask, const Tensor& query, std::int64_t keys,
                  std::int64_t past) {
  const Options options = call.options(dtypes::i64);
  const Tensor key = Tensor::arange(keys, options);
  const std::int64_t left = call.attr("left_window_size", -1);
  const std::int64_t right = call.attr("right_window_size", -1);
  if (left < -1 || right < -1)
    call.refuse(fmt::format("windows of {} and {} to the sides: want -1 or more", left, right));
  const bool is_causal = call.attr("is_causal", 0) != 0;
  if (is_causal || left >= 0 || right >= 0) {
    const Tensor place =
        Tensor::arange(query.size(2), options).unsqueeze(-1) + first_place(call, query, past);
    if (is_causal) mask.allow(key <= place);
    if (left >= 0) mask.allow(key >= place - left);
    if (right >= 0) mask.allow(key <= place + right);
  }
  if (call.has(6)) mask.allow(key < call.tensor(6).reshape({-1, 1, 1, 1}));
}

// A mask may end before the keys do: nobody sees those behind it.
Mask mask_of(const Call& call, const Tensor& query, std::int64_t keys, std::int64_t past,
             DType within) {
  Mask mask;
  if (call.has(3)) {
    Tensor given = call.tensor(3);
    const std::int64_t missing = given.ndim() == 0 ? 0 : keys - given.size(-1);
    if (missing > 0 && given.size(-1) != 1) {
      Tensor::Bounds behind(static_cast<std::size_t>(given.ndim()), {0, 0});
      behind.back().second = missing;
      given = given.dtype().is_bool() ? given.pad(behind) : given.pad(behind, nowhere);
    }
    if (given.dtype().is_bool())
      mask.allow(given);
    else
      mask.added = given.cast(within);
  }
  bound_places(call, mask, query, keys, past);
  return mask;
}

// Softmax over the last axis; of nothing but minus infinity, zeros.
Tensor shares(const Tensor& scores) {
  const Tensor most = scores.max(-1, true);
  const Tensor e = (scores - (most == nowhere).where(0, most)).exp();
  const Tensor sum = e.sum(-1, true);
  return e * (sum == 0).where(1, sum).reciprocal();
}

Tensor soft_capped(const Call& call, const Tensor& scores) {
  const double cap = call.attr("softcap", 0.0);
  return cap > 0 ? (scores / cap).tanh() * cap : scores;
}

Tensor joined(const Call& call, std::size_t past, const Tensor& x) {
  return call.has(past) ? Tensor::cat({call.tensor(past), x}, 2) : x;
}

Values attention(const Call& call) {
  Tensor query = call.tensor(0), key = call.tensor(1), value = call.tensor(2);
  want_ranks(call, {query, key, value}, 3);
  if (call.has(4) != call.has(5)) call.refuse("past keys go with past values");
  if (call.has(4) && call.has(6)) call.refuse("past keys do not go with nonpad_kv_seqlen");
  const bool has_heads = query.ndim() == 4;
  if (!has_heads) {
    query = with_heads(call, query, "q_num_heads");
    key = with_heads(call, key, "kv_num_heads");
    value = with_heads(call, value, "kv_num_heads");
  }
  const std::int64_t past = call.has(4) ? call.tensor(4).size(2) : 0;
  key = joined(call, 4, key);
  value = joined(call, 5, value);
  const DType dtype = query.dtype(), precise = wide(dtype), within = softmax_dtype(call, precise);
  const std::int64_t heads = query.size(1);
  const Tensor raw = scores_of(call, query, for_heads(call, key, heads), precise);
  const Tensor capped = soft_capped(call, raw);
  const Mask mask = mask_of(call, query, key.size(2), past, precise);
  Tensor scores = mask.added.is_null() ? capped : capped + mask.added;
  if (!mask.seen.is_null()) scores = mask.seen.where(scores, nowhere);
  const bool may_see_none = !mask.added.is_null() || !mask.seen.is_null();
  const Tensor weights =
      may_see_none ? shares(scores.cast(within)) : scores.cast(within).softmax(-1);
  Tensor y = weights.cast(precise).matmul(for_heads(call, value, heads).cast(precise)).cast(dtype);
  if (!has_heads) y = y.transpose(1, 2).flatten(2);
  const std::int64_t shown = call.attr("qk_matmul_output_mode", 0);
  if (shown < 0 || shown > 3) call.refuse(fmt::format("qk_matmul_output_mode is {}", shown));
  const Tensor stages[] = {raw, capped, scores, weights};
  return {y, key, value, stages[shown].cast(dtype)};
}

// --- Rotary embeddings -------------------------------------------------------------------------------

// The rows of a cache for (batch, time): those of the positions, or its own; with an axis for heads.
Tensor rows_of(const Call& call, std::size_t cache) {
  const Tensor rows = call.tensor(cache);
  return (call.has(3) ? rows.take(call.tensor(3), 0) : rows).unsqueeze(2);
}

// Of a pair (a, b) the one becomes a cos - b sin, the other a sin + b cos.
Tensor rotary_embedding(const Call& call) {
  const Tensor given = call.tensor(0);
  if (given.ndim() != 3 && given.ndim() != 4)
    call.refuse(fmt::format("an input of {} axes: want 3 or 4", given.ndim()));
  const bool has_heads = given.ndim() == 4;
  const Tensor x =
      has_heads ? given.transpose(1, 2) : with_heads(call, given, "num_heads").transpose(1, 2);
  const std::int64_t width = x.size(3), stated = call.attr("rotary_embedding_dim", 0);
  const std::int64_t turned = stated == 0 ? width : stated;
  if (turned < 0 || turned > width || turned % 2 != 0)
    call.refuse(fmt::format("{} elements of a width of {} cannot be turned", turned, width));
  const bool are_neighbours = call.attr("interleaved", 0) != 0;
  const Tensor pairs =
      x.narrow(3, 0, turned)
          .unflatten(3, are_neighbours ? Shape{turned / 2, 2} : Shape{2, turned / 2});
  const std::int64_t axis = are_neighbours ? 4 : 3;
  const Tensor a = pairs.select(axis, 0), b = pairs.select(axis, 1);
  const Tensor cos = rows_of(call, 1), sin = rows_of(call, 2);
  Tensor y = Tensor::stack({a * cos - b * sin, a * sin + b * cos}, axis).flatten(3);
  if (turned < width) y = Tensor::cat({y, x.narrow(3, turned, width - turned)}, 3);
  return (has_heads ? y.transpose(1, 2) : y.flatten(2)).cast(given.dtype());
}

}  // namespace

OpTable attention_ops() {
  static const Op ops[] = {
      {"Attention", 23, attention},
      {"RotaryEmbedding", 23, rotary_embedding},
  };
  return {"", ops};
}

}  // namespace weft::onnx
