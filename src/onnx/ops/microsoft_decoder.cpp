// com.microsoft: what decoders of grouped heads have.
#include <algorithm>

#include <fmt/format.h>

#include "microsoft_heads.h"

namespace weft::onnx {
namespace {

// --- RotaryEmbedding ----------------------------------------------------------------------------------

// (batch or 1, places): one number is the place of the first.
Tensor positions_of(const Call& call, const Tensor& ids, std::int64_t places) {
  if (ids.ndim() == 2) return ids;
  return (ids.reshape({1, 1}) + Tensor::arange(places, call.options(ids.dtype())))
      .reshape({1, places});
}

Tensor rotary_embedding(const Call& call) {
  const Tensor x = call.tensor(0), cosines = call.tensor(2), sines = call.tensor(3);
  const std::int64_t part = call.attr("rotary_embedding_dim", 0);
  Tensor heads = x;
  if (x.ndim() == 3) {
    const std::int64_t count = part > 0
                                   ? call.attr("num_heads", 0)
                                   : x.size(2) / std::max<std::int64_t>(2 * cosines.size(1), 1);
    heads = to_heads(call, x, count);
  } else if (x.ndim() != 4) {
    call.refuse("its input has three axes or four");
  }
  const Tensor positions = positions_of(call, call.tensor(1), heads.size(2));
  const Tensor y = rotated(heads, cosines.take(positions), sines.take(positions),
                           call.attr("interleaved", 0) != 0);
  return x.ndim() == 3 ? from_heads(y) : y;
}

// --- GroupQueryAttention ------------------------------------------------------------------------------

struct Inputs {
  Tensor query, key, value;  // heads
};

Inputs heads_of(const Call& call) {
  const std::int64_t heads = call.attr<std::int64_t>("num_heads"),
                     key_heads = call.attr<std::int64_t>("kv_num_heads");
  if (heads < 1 || key_heads < 1 || heads % key_heads != 0)
    call.refuse(fmt::format("{} heads of queries, {} of keys", heads, key_heads));
  const Tensor query = call.tensor(0);
  if (call.has(1))
    return {to_heads(call, query, heads), to_heads(call, call.tensor(1), key_heads),
            to_heads(call, call.tensor(2), key_heads)};
  const Tensor all = to_heads(call, query, heads + 2 * key_heads);
  return {all.narrow(1, 0, heads), all.narrow(1, heads, key_heads),
          all.narrow(1, heads + key_heads, key_heads)};
}

// The new places (batch, heads, places, width) put behind what each row has in a buffer of so many places.
Tensor put_behind(const Call& call, const Tensor& past, const Tensor& added, const Tensor& lengths,
                  std::int64_t places) {
  const Tensor place = Tensor::arange(places, call.options(dtypes::i64)).reshape({1, 1, places, 1});
  const Tensor number = place - lengths.reshape({-1, 1, 1, 1});
  const std::int64_t count = added.size(2);
  const Tensor index =
      number.clamp(0, count - 1).expand({added.size(0), added.size(1), places, added.size(3)});
  const Tensor is_new = (number >= 0) & (number < count), found = added.gather(2, index);
  if (past.is_null()) return is_new.where(found, 0);
  return is_new.where(found, past.pad_to({-1, -1, places, -1}));
}

AttendOptions options_of(const Call& call) {
  AttendOptions options;
  if (const double scale = call.attr("scale", 0.0); scale != 0) options.scale = scale;
  options.softcap = call.attr("softcap", 0.0);
  if (call.has(11))
    options.sink = call.tensor(11);
  else if (call.attr("smooth_softmax", 0) == 1)
    options.sink = Tensor::zeros({call.attr<std::int64_t>("num_heads")}, call.options(dtypes::f32));
  return options;
}

Values group_query_attention(const Call& call) {
  auto [query, key, value] = heads_of(call);
  const Tensor past_key = call.tensor_or_null(3), past_value = call.tensor_or_null(4);
  const std::int64_t batch = query.size(0), queries = query.size(2), total = call.integer(6);
  const std::int64_t held = past_key.is_null() ? 0 : past_key.size(2),
                     places = std::max(held, total);
  if (total < queries) call.refuse(fmt::format("{} places in all for {} queries", total, queries));
  // How much each row has from before. The first call has nothing, however long its rows are.
  const Tensor ends = call.tensor(5).reshape({batch}).cast(dtypes::i64) + 1;
  const Tensor lengths = total == queries ? ends.zeros_like() : ends - queries;
  const Tensor positions =
      lengths.unsqueeze(1) + Tensor::arange(queries, call.options(dtypes::i64));
  if (call.attr("do_rotary", 0) != 0) {
    const Tensor ids = call.has(9) ? call.tensor(9) : positions;
    const Tensor cosines = call.tensor(7).take(ids), sines = call.tensor(8).take(ids);
    const bool are_neighbours = call.attr("rotary_interleaved", 0) != 0;
    query = rotated(query, cosines, sines, are_neighbours);
    key = rotated(key, cosines, sines, are_neighbours);
  }
  const Tensor keys = put_behind(call, past_key, key, lengths, places),
               values = put_behind(call, past_value, value, lengths, places);
  const Tensor seen_keys = keys.narrow(2, 0, total), seen_values = values.narrow(2, 0, total);
  // Queries behind the end of a row, which only fill it up, see what the last one does.
  const Tensor place = Tensor::arange(total, call.options(dtypes::i64)),
               last = positions.minimum(ends.unsqueeze(1) - 1).reshape({batch, 1, queries, 1});
  Visible who(call.options(query.dtype()));
  Tensor is_seen = place <= last;
  if (const std::int64_t window = call.attr("local_window_size", -1); window > 0)
    is_seen = is_seen & (place > last - window);
  if (call.has(10)) who.add(call.tensor(10).narrow(-1, 0, total));
  who.allow(is_seen);
  const Tensor y = attend(query, seen_keys, seen_values, who.bias(), options_of(call));
  return {from_heads(y), keys, values};
}

}  // namespace

OpTable microsoft_decoder_ops() {
  static const Op ops[] = {
      {"GroupQueryAttention", 1, group_query_attention},
      {"RotaryEmbedding", 1, rotary_embedding},
  };
  return {microsoft, ops};
}

}  // namespace weft::onnx
