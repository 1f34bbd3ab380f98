// com.microsoft: attention.
#include <fmt/format.h>

#include "microsoft_heads.h"

namespace weft::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

// An attribute that 0 or nothing leaves to its default.
AttendOptions options_of(const Call& call) {
  AttendOptions options;
  if (const double scale = call.attr("scale", 0.0); scale != 0) options.scale = scale;
  options.softcap = call.attr("softcap", 0.0);
  return options;
}

// How much a buffer of keys and values holds that past and present share; nothing where they do not.
std::optional<std::int64_t> shared_length(const Call& call, std::size_t input, const Tensor& past) {
  if (past.is_null() || !call.has(input)) return {};
  const std::int64_t length = call.integer(input);
  if (length < 0 || length > past.size(2))
    call.refuse(fmt::format("{} places of {} are taken", length, past.size(2)));
  return length;
}

constexpr double usual_filter = -10000;

// As mask, bias and unidirectional say.
Visible visible(const Call& call, const Tensor& query, const Tensor& key, const Seen& seen) {
  Visible all(call.options(query.dtype()));
  const std::int64_t queries = query.size(2), keys = key.size(2);
  all.add(seen.bias);
  if (!seen.mask.is_null())
    all.allow(mask_of(call, seen.mask, query.size(0), queries, keys),
              call.attr("mask_filter_value", usual_filter));
  if (call.attr("unidirectional", 0) != 0) all.allow_past(queries, keys);
  return all;
}

// --- Attention ----------------------------------------------------------------------------------------

// Three equal parts of the last axis, or of the sizes of an attribute.
std::vector<Tensor> parts_of(const Call& call, const Tensor& x) {
  Ints sizes = call.attr("qkv_hidden_sizes", Ints());
  const std::int64_t width = x.size(-1);
  if (sizes.empty()) sizes = Ints(3, width / 3);
  if (sizes.size() != 3 || sizes[0] < 0 || sizes[1] < 0 || sizes[2] < 0 ||
      sizes[0] + sizes[1] + sizes[2] != width)
    call.refuse(fmt::format("query, key and value have not the width {} together", width));
  return x.split(sizes, -1);
}

// (batch or 1, places, pairs): what turns the pairs at the places from `first` on.
std::pair<Tensor, Tensor> turns(const Call& call, std::int64_t first, std::int64_t places,
                                std::int64_t pairs) {
  const Options options = call.options(dtypes::f32);
  const Tensor rates =
      pow(10000.0, Tensor::arange(pairs, options) * (-1.0 / static_cast<double>(pairs)));
  const Tensor angles = (Tensor::arange(places, options) + first).unsqueeze(1) * rates;
  return {angles.cos().unsqueeze(0), angles.sin().unsqueeze(0)};
}

}  // namespace

Values attended(const Call& call, const Tensor& projected, const Tensor& past,
                std::optional<std::int64_t> shared, const Seen& seen) {
  if (!past.is_null() && past.ndim() != 5)
    call.refuse("past has the shape (2, batch, heads, places, width)");
  const std::vector<Tensor> parts = parts_of(call, projected);
  const std::int64_t heads = call.attr<std::int64_t>("num_heads");
  Tensor query = to_heads(call, parts[0], heads), key = to_heads(call, parts[1], heads);
  if (call.attr("do_rotary", 0) != 0) {
    std::int64_t width = call.attr("rotary_embedding_dim", 0);
    if (width <= 0 || width > query.size(-1)) width = query.size(-1);
    const std::int64_t first = past.is_null() ? 0 : shared.value_or(past.size(3));
    const auto [cosines, sines] = turns(call, first, query.size(2), width / 2);
    query = rotated(query, cosines, sines, false);
    key = rotated(key, cosines, sines, false);
  }
  const bool has_past = !past.is_null();
  const Cache keys = cached(has_past ? past.select(0, 0) : Tensor(), key, shared),
              values = cached(has_past ? past.select(0, 1) : Tensor(),
                              to_heads(call, parts[2], heads), shared);
  const Visible who = visible(call, query, keys.seen, seen);
  const Tensor y = attend(query, keys.seen, values.seen, who.bias(), options_of(call));
  Values results = {from_heads(y)};
  if (call.outputs() > 1) results.emplace_back(Tensor::stack({keys.present, values.present}));
  return results;
}

namespace {

Values attention(const Call& call) {
  Tensor all = call.tensor(0).matmul(call.tensor(1));
  if (call.has(2)) all = all + call.tensor(2);
  const Tensor past = call.tensor_or_null(4);
  const bool is_shared = call.attr("past_present_share_buffer", 0) != 0 && call.has(6);
  return attended(
      call, all, past,
      is_shared && !past.is_null() ? shared_length(call, 6, past.select(0, 0)) : std::nullopt,
      {call.tensor_or_null(3), call.tensor_or_null(5)});
}

// Rows of all sequences one after the other; each sees its own.
Tensor packed_attention(const Call& call) {
  const Tensor all = call.tensor(0).matmul(call.tensor(1)) + call.tensor(2);
  if (call.has(5)) call.refuse("attention_bias of packed rows is not known here");
  const std::int64_t heads = call.attr<std::int64_t>("num_heads"), rows = all.size(0);
  const std::vector<Tensor> parts = parts_of(call, all.unsqueeze(0));
  const Tensor row = Tensor::arange(rows, call.options(dtypes::i32));
  const Tensor sequence = call.tensor(4).searchsorted(row, true);
  Visible own(call.options(all.dtype()));
  own.allow(sequence.unsqueeze(1) == sequence);
  const Tensor y = attend(to_heads(call, parts[0], heads), to_heads(call, parts[1], heads),
                          to_heads(call, parts[2], heads), own.bias(), options_of(call));
  return from_heads(y).squeeze(0);
}

// --- MultiHeadAttention -------------------------------------------------------------------------------

struct Inputs {
  Tensor query, key, value;  // heads
};

// Each may be by itself, or in one tensor (batch, places, heads, 3 or 2, width), or as heads already.
Inputs heads_of(const Call& call, const Tensor& bias) {
  const std::int64_t heads = call.attr<std::int64_t>("num_heads");
  const Tensor query = call.tensor(0), key = call.tensor_or_null(1), value = call.tensor_or_null(2);
  const auto unpacked = [](const Tensor& packed, std::int64_t which) {
    return packed.select(3, which).permute({0, 2, 1, 3});
  };
  Inputs all;
  if (query.ndim() == 5) {
    all = {unpacked(query, 0), unpacked(query, 1), unpacked(query, 2)};
  } else {
    all.query = to_heads(call, query, heads);
    if (key.is_null()) call.refuse("without keys the query has five axes");
    if (key.ndim() == 5) {
      all.key = unpacked(key, 0);
      all.value = unpacked(key, 1);
    } else {
      if (value.is_null()) call.refuse("its values are missing");
      all.key = key.ndim() == 4 ? key : to_heads(call, key, heads);
      all.value = value.ndim() == 4 ? value : to_heads(call, value, heads);
    }
  }
  if (bias.is_null()) return all;
  // Keys that come as heads have theirs already.
  const bool is_whole = key.is_null() || key.ndim() != 4;
  const std::int64_t width = heads * all.query.size(-1), value_width = heads * all.value.size(-1);
  const auto part = [&](std::int64_t from, std::int64_t size) {
    return bias.narrow(0, from, size).reshape({heads, 1, size / heads});
  };
  all.query = all.query + part(0, width);
  if (is_whole) {
    all.key = all.key + part(width, width);
    all.value = all.value + part(2 * width, value_width);
  }
  return all;
}

Values multi_head(const Call& call, const Tensor& bias, const Seen& seen, std::size_t past,
                  std::size_t length) {
  const auto [query, key, value] = heads_of(call, bias);
  const Tensor past_key = call.tensor_or_null(past), past_value = call.tensor_or_null(past + 1);
  const auto shared = shared_length(call, length, past_key);
  const Cache keys = cached(past_key, key, shared), values = cached(past_value, value, shared);
  const Visible who = visible(call, query, keys.seen, seen);
  const Tensor y = attend(query, keys.seen, values.seen, who.bias(), options_of(call));
  if (call.wants(3)) call.refuse("its scores are no output here");
  return {from_heads(y), keys.present, values.present};
}

Values multi_head_attention(const Call& call) {
  return multi_head(call, call.tensor_or_null(3), {call.tensor_or_null(4), call.tensor_or_null(5)},
                    6, 8);
}

Values decoder_masked_multi_head_attention(const Call& call) {
  if (call.has(9) && call.has(8) && call.integer(8) > 1)
    call.refuse("several beams are not known here");
  return multi_head(call, call.tensor_or_null(10), {call.tensor_or_null(3), call.tensor_or_null(4)},
                    5, 7);
}

}  // namespace

OpTable microsoft_attention_ops() {
  static const Op ops[] = {
      {"Attention", 1, attention},
      {"DecoderMaskedMultiHeadAttention", 1, decoder_masked_multi_head_attention},
      {"MultiHeadAttention", 1, multi_head_attention},
      {"PackedAttention", 1, packed_attention},
  };
  return {microsoft, ops};
}

}  // namespace weft::onnx
