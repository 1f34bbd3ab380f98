#include "microsoft_heads.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <weft/functional.h>

namespace weft::onnx {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// With a column for what is no key, which takes its part of the weights.
Tensor weights_beside(const Tensor& scores, const Tensor& sink) {
  const Tensor column = sink.reshape({1, -1, 1, 1})
                            .cast(scores.dtype())
                            .expand({scores.size(0), scores.size(1), scores.size(2), 1});
  return Tensor::cat({scores, column}, -1).softmax(-1).narrow(-1, 0, scores.size(-1));
}

}  // namespace

Tensor to_heads(const Call& call, const Tensor& x, std::int64_t heads) {
  if (x.ndim() != 3 || heads < 1 || x.size(2) % heads != 0)
    call.refuse(fmt::format("{} heads need three axes, and a last one that they divide", heads));
  return x.reshape({x.size(0), x.size(1), heads, x.size(2) / heads}).permute({0, 2, 1, 3});
}

Tensor from_heads(const Tensor& x) { return x.permute({0, 2, 1, 3}).flatten(2); }

void Visible::add(const Tensor& bias) {
  if (bias.is_null()) return;
  bias_ = bias_.is_null() ? bias.cast(options_.dtype) : bias_ + bias;
}

void Visible::allow(const Tensor& mask, std::optional<double> otherwise) {
  const Tensor nothing = Tensor::zeros({}, options_);
  add(mask.where(nothing, nothing + otherwise.value_or(-infinity)));
}

void Visible::allow_past(std::int64_t queries, std::int64_t keys) {
  const Options ints{.dtype = dtypes::i64, .device = options_.device};
  const Tensor query = Tensor::arange(keys - queries, keys, 1, ints).unsqueeze(1);
  allow(Tensor::arange(keys, ints) <= query);
}

Tensor attend(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias,
              const AttendOptions& options) {
  if (options.softcap == 0 && options.sink.is_null())
    return functional::scaled_dot_product_attention(
        query, key, value,
        {.attn_mask = bias, .scale = options.scale, .enable_gqa = query.size(1) != key.size(1)});
  const std::int64_t times = query.size(1) / key.size(1);
  const Tensor keys = key.repeat_interleave(times, 1), values = value.repeat_interleave(times, 1);
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  Tensor scores = query.matmul(keys.mT()) * scale;
  if (options.softcap != 0) scores = (scores / options.softcap).tanh() * options.softcap;
  if (!bias.is_null()) scores = scores + bias;
  const Tensor weights =
      options.sink.is_null() ? scores.softmax(-1) : weights_beside(scores, options.sink);
  return weights.matmul(values);
}

Tensor mask_of(const Call& call, const Tensor& mask, std::int64_t batch, std::int64_t queries,
               std::int64_t keys) {
  if (mask.ndim() == 1) {
    const std::int64_t size = mask.size(0);
    if (size != batch && size != 2 * batch && size != 3 * batch + 2)
      call.refuse(fmt::format("a mask of {} elements for {} rows", size, batch));
    const Tensor key = Tensor::arange(keys, call.options(dtypes::i64)).reshape({1, 1, 1, keys});
    const auto each = [&](std::int64_t from) {
      return mask.narrow(0, from, batch).reshape({batch, 1, 1, 1});
    };
    const Tensor is_before_end = key < each(0);
    return size == 2 * batch ? is_before_end & (key >= each(batch)) : is_before_end;
  }
  const Tensor is_seen = mask != 0;
  if (mask.ndim() == 2) return is_seen.unsqueeze(1).unsqueeze(1);
  if (mask.ndim() == 3) return is_seen.unsqueeze(1);
  if (mask.ndim() != 4) call.refuse("its mask has one to four axes");
  return is_seen.narrow(2, keys - queries, queries).narrow(3, 0, keys);
}

Tensor rotated(const Tensor& x, const Tensor& cosines, const Tensor& sines, bool are_neighbours) {
  const std::int64_t pairs = cosines.size(-1), width = x.size(-1);
  const Tensor turned = x.narrow(-1, 0, 2 * pairs),
               rest = x.narrow(-1, 2 * pairs, width - 2 * pairs);
  const Tensor cosine = cosines.unsqueeze(1), sine = sines.unsqueeze(1);
  const auto part = [&](std::int64_t which) {
    return are_neighbours ? turned.unflatten(-1, {pairs, 2}).select(-1, which)
                          : turned.narrow(-1, which * pairs, pairs);
  };
  const Tensor first = part(0) * cosine - part(1) * sine,
               second = part(0) * sine + part(1) * cosine;
  const Tensor all = are_neighbours ? Tensor::stack({first, second}, -1).flatten(-2)
                                    : Tensor::cat({first, second}, -1);
  return (width == 2 * pairs ? all : Tensor::cat({all, rest}, -1)).cast(x.dtype());
}

Cache cached(const Tensor& past, const Tensor& added, std::optional<std::int64_t> shared_length) {
  if (past.is_null()) return {added, added};
  if (!shared_length) {
    const Tensor all = Tensor::cat({past, added}, 2);
    return {all, all};
  }
  const Tensor seen = Tensor::cat({past.narrow(2, 0, *shared_length), added}, 2);
  const std::int64_t after = past.size(2) - seen.size(2);
  if (after <= 0) return {seen, seen};
  return {seen, Tensor::cat({seen, past.narrow(2, seen.size(2), after)}, 2)};
}

}  // namespace weft::onnx
