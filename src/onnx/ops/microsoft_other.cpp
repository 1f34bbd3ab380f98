// com.microsoft: what the standard has too, mostly since then, and what belongs nowhere else.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <weft/fft.h>
#include <weft/functional.h>

#include "microsoft.h"

namespace weft::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

// --- Shapes and places --------------------------------------------------------------------------------

Tensor expand_dims(const Call& call) {
  const Tensor x = call.tensor(0);
  const std::int64_t axis = call.integer(1), rank = x.ndim();
  if (axis < -rank - 1 || axis > rank) call.refuse(fmt::format("there is no place {}", axis));
  return x.unsqueeze(axis);
}

Tensor pad(const Call& call) {
  const Tensor x = call.tensor(0);
  const Ints widths = call.ints(1);
  const auto rank = static_cast<std::size_t>(x.ndim());
  if (widths.size() != 2 * rank)
    call.refuse(fmt::format("there are {} widths for {} axes", widths.size(), rank));
  Tensor::Bounds bounds;
  for (std::size_t i = 0; i < rank; ++i) bounds.emplace_back(widths[i], widths[i + rank]);
  const std::string mode = call.attr("mode", "constant");
  if (mode == "reflect") return x.pad(bounds, PadMode::Reflect);
  if (mode == "edge") return x.pad(bounds, PadMode::Replicate);
  if (mode != "constant") call.refuse("mode is constant, reflect or edge, not " + mode);
  if (!call.has(2)) return x.pad(bounds);
  const Tensor is_inside = x.full_like(true, {.dtype = dtypes::bool_}).pad(bounds);
  return is_inside.where(x.pad(bounds), call.tensor(2).reshape({}));
}

// By rows of indices of the first axes.
Tensor gather_nd(const Call& call) {
  const Tensor x = call.tensor(0), index = call.tensor(1).cast(dtypes::i64);
  const std::int64_t depth = index.ndim() == 0 ? 0 : index.size(-1);
  if (depth < 1 || depth > x.ndim())
    call.refuse(fmt::format("rows of {} indices for {} axes", depth, x.ndim()));
  Tensor place;
  for (std::int64_t i = 0; i < depth; ++i) {
    const Tensor given = index.select(-1, i);
    const Tensor at = (given < 0).where(given + x.size(i), given);
    place = i == 0 ? at : place * x.size(i) + at;
  }
  return x.flatten(0, depth - 1).take(place);
}

Tensor trilu(const Call& call) {
  const std::int64_t diagonal = call.has(1) ? call.integer(1) : 0;
  const Tensor x = call.tensor(0);
  if (x.ndim() < 2) call.refuse("its input has two axes at least");
  return call.attr("upper", 1) != 0 ? x.triu(diagonal) : x.tril(diagonal);
}

Tensor range(const Call& call) {
  const Options options = call.options(call.tensor(0).dtype());
  const double start = call.number(0), limit = call.number(1),
               step = call.has(2) ? call.number(2) : 1;
  const double count = std::ceil((limit - start) / step);
  if (step == 0 || !(count < 1e15))
    call.refuse(fmt::format("from {} to {} by {}", start, limit, step));
  const auto elements = static_cast<std::int64_t>(std::max(count, 0.0));
  const Tensor places = Tensor::arange(elements, options), first = call.tensor(0).reshape({});
  return call.has(2) ? places * call.tensor(2).reshape({}) + first : places + first;
}

// In the order in which they first occur: the elements, which of them each is, and how many there are of each.
Values unique(const Call& call) {
  const Tensor x = call.tensor(0).flatten();
  const Options ints = call.options(dtypes::i64);
  const std::int64_t all = x.numel();
  if (all == 0) return {x, x.cast(dtypes::i64), x.cast(dtypes::i64)};
  const auto [sorted, from] = x.sort();
  const Tensor is_new = Tensor::cat({Tensor::full({1}, true, call.options(dtypes::bool_)),
                                     sorted.narrow(0, 1, all - 1) != sorted.narrow(0, 0, all - 1)});
  const std::int64_t count = call.ints(is_new.sum({}, false, dtypes::i64)).at(0);
  const Tensor group = is_new.cast(dtypes::i64).cumsum() - 1;
  const Tensor order = from.masked_select(is_new, count).argsort();
  const Tensor number = order.argsort().cast(dtypes::i64).take(group);
  const Tensor zeros = Tensor::zeros({all}, ints);
  return {sorted.masked_select(is_new, count).take(order), zeros.scatter(0, from, number),
          Tensor::zeros({count}, ints).scatter_add(0, number, zeros + 1)};
}

// --- Images ---------------------------------------------------------------------------------------------

// (boxes, places): where the places of a crop lie along an axis of so many elements.
Tensor places_along(const Call& call, const Tensor& from, const Tensor& to, std::int64_t places,
                    std::int64_t size) {
  const auto last = static_cast<double>(size - 1);
  if (places == 1) return ((from + to) * (0.5 * last)).unsqueeze(1);
  const Tensor step = (to - from) * (last / static_cast<double>(places - 1));
  const Tensor place = Tensor::arange(places, call.options(from.dtype()));
  return (from * last).unsqueeze(1) + step.unsqueeze(1) * place;
}

Tensor crop_and_resize(const Call& call) {
  const Tensor x = call.tensor(0), boxes = call.tensor(1);
  const Ints sizes = call.ints(3);
  if (x.ndim() != 4 || boxes.ndim() != 2 || boxes.size(1) != 4 || sizes.size() != 2 ||
      sizes[0] < 1 || sizes[1] < 1)
    call.refuse("it crops boxes (boxes, 4) out of (batch, channels, height, width)");
  const std::int64_t height = x.size(2), width = x.size(3), count = boxes.size(0);
  const std::string mode = call.attr("mode", "bilinear");
  if (mode != "bilinear" && mode != "nearest")
    call.refuse("mode is bilinear or nearest, not " + mode);
  const Tensor
      y = places_along(call, boxes.select(1, 0), boxes.select(1, 2), sizes[0], height).unsqueeze(2),
      across =
          places_along(call, boxes.select(1, 1), boxes.select(1, 3), sizes[1], width).unsqueeze(1);
  const Tensor images = x.take(call.tensor(2)).flatten(2);  // (boxes, channels, height * width)
  const auto element = [&](const Tensor& row, const Tensor& column) {
    const Tensor place = row.clamp(0, height - 1) * width + column.clamp(0, width - 1);
    const Tensor index = place.cast(dtypes::i64).reshape({count, 1, sizes[0] * sizes[1]});
    return images.gather(2, index.expand({count, x.size(1), sizes[0] * sizes[1]}))
        .unflatten(2, {sizes[0], sizes[1]});
  };
  Tensor found;
  if (mode == "nearest") {
    found = element((y + 0.5).floor(), (across + 0.5).floor());
  } else {
    const Tensor top = y.floor(), left = across.floor();
    const Tensor down = (y - top).unsqueeze(1), right = (across - left).unsqueeze(1);
    const Tensor upper = element(top, left).lerp(element(top, left + 1), right),
                 lower = element(top + 1, left).lerp(element(top + 1, left + 1), right);
    found = upper.lerp(lower, down);
  }
  const Tensor is_inside = (y >= 0) & (y <= height - 1) & (across >= 0) & (across <= width - 1);
  return is_inside.unsqueeze(1).where(found, call.attr("extrapolation_value", 0.0));
}

Tensor grid_sample(const Call& call) {
  const std::string mode = call.attr("mode", "bilinear"),
                    outside = call.attr("padding_mode", "zeros");
  functional::GridSampleOptions options{.align_corners = call.attr("align_corners", 0) != 0};
  if (mode == "nearest")
    options.mode = Resampling::Nearest;
  else if (mode == "bicubic")
    options.mode = Resampling::Cubic;
  else if (mode != "bilinear")
    call.refuse("mode is bilinear, nearest or bicubic, not " + mode);
  if (outside == "border")
    options.padding = functional::Outside::Border;
  else if (outside == "reflection")
    options.padding = functional::Outside::Reflection;
  else if (outside != "zeros")
    call.refuse("padding_mode is zeros, border or reflection, not " + outside);
  return functional::grid_sample(call.tensor(0), call.tensor(1), options);
}

// --- Hashes ---------------------------------------------------------------------------------------------

// MurmurHash3 of 32 bits, of numbers and of tensors of them alike.
template <class T>
T turned(const T& x, int bits) {
  return (x << bits) | (x >> (32 - bits));
}
template <class T>
T scrambled(const T& block) {
  return turned<T>(block * 0xcc9e2d51U, 15) * 0x1b873593U;
}
template <class T>
T with_block(const T& hash, const T& block) {
  return turned<T>(hash ^ scrambled<T>(block), 13) * 5U + 0xe6546b64U;
}
template <class T>
T finished(const T& hash, std::uint32_t length) {
  T x = hash ^ length;
  x = (x ^ (x >> 16)) * 0x85ebca6bU;
  x = (x ^ (x >> 13)) * 0xc2b2ae35U;
  return x ^ (x >> 16);
}

std::uint32_t hash_of(std::string_view text, std::uint32_t seed) {
  const auto bytes = [&](std::size_t from, std::size_t count) {
    std::uint32_t block = 0;
    for (std::size_t i = 0; i < count; ++i)
      block |= std::uint32_t{static_cast<unsigned char>(text[from + i])} << (8 * i);
    return block;
  };
  std::uint32_t hash = seed;
  std::size_t at = 0;
  for (; at + 4 <= text.size(); at += 4) hash = with_block(hash, bytes(at, 4));
  if (at < text.size()) hash ^= scrambled(bytes(at, text.size() - at));
  return finished(hash, static_cast<std::uint32_t>(text.size()));
}

Tensor murmur_hash_3(const Call& call) {
  const auto seed = static_cast<std::uint32_t>(call.attr("seed", 0));
  Tensor hash;
  if (call.value(0).is_text()) {
    std::vector<std::uint32_t> hashes;
    for (const std::string& each : call.text(0).values) hashes.push_back(hash_of(each, seed));
    hash = Tensor(hashes, call.options(dtypes::u32)).reshape(call.text(0).shape);
  } else {
    const Tensor x = call.tensor(0);
    hash = Tensor::full(Shape(x.dims()), seed, call.options(dtypes::u32));
    if (x.element_size() == 4) {
      hash = finished(with_block(hash, x.bitcast(dtypes::u32)), 4);
    } else if (x.element_size() == 8) {
      const Tensor bits = x.bitcast(dtypes::u64);
      const Tensor low = (bits & 0xffffffffU).cast(dtypes::u32),
                   high = (bits >> 32).cast(dtypes::u32);
      hash = finished(with_block(with_block(hash, low), high), 8);
    } else {
      call.refuse("it takes strings, and numbers of 4 or 8 bytes");
    }
  }
  return call.attr("positive", 1) != 0 ? hash : hash.bitcast(dtypes::i32);
}

// --- Others -----------------------------------------------------------------------------------------------

Tensor cdist(const Call& call) {
  const std::string metric = call.attr("metric", "sqeuclidean");
  const Tensor distance = call.tensor(0).cdist(call.tensor(1));
  return metric == "sqeuclidean" ? distance.square() : distance;
}

Tensor unfold_tensor(const Call& call) {
  const Tensor x = call.tensor(0);
  const std::int64_t rank = x.ndim(), axis = call.attr("dim", -1), step = call.attr("step", 1),
                     size = call.attr<std::int64_t>("size");
  if (axis < -rank || axis >= rank) call.refuse(fmt::format("it has no axis {}", axis));
  if (step < 1 || size < 1 || size > x.size(axis))
    call.refuse(fmt::format("slices of {} each {}, of {}", size, step, x.size(axis)));
  return x.unfold(axis, size, step);
}

// Of complex numbers, their parts along the last axis.
Tensor complex_product(const Call& call, double sign) {
  const Tensor a = call.tensor(0), b = call.tensor(1);
  if (a.ndim() < 1 || b.ndim() < 1 || a.size(-1) != 2 || b.size(-1) != 2)
    call.refuse("complex numbers have a last axis of size 2");
  const Tensor x = a.select(-1, 0), y = a.select(-1, 1), u = b.select(-1, 0),
               v = b.select(-1, 1) * sign;
  return Tensor::stack({x * u - y * v, x * v + y * u}, -1);
}
Tensor complex_mul(const Call& call) { return complex_product(call, 1); }
Tensor complex_mul_conj(const Call& call) { return complex_product(call, -1); }

Tensor is_all_finite(const Call& call) {
  const bool is_about_nan = call.attr("isnan_only", 0) != 0,
             is_about_infinity = call.attr("isinf_only", 0) != 0;
  Tensor all = Tensor::full({}, true, call.options(dtypes::bool_));
  for (const Tensor& x : call.tensors()) {
    const Tensor is_well =
        is_about_nan ? !x.isnan() : (is_about_infinity ? !x.isinf() : x.isfinite());
    all = all & is_well.all();
  }
  return all;
}

// Over the last axes, as many as signal_ndim says.
fft::Several axes_of(const Call& call) {
  const std::int64_t count = call.attr<std::int64_t>("signal_ndim");
  if (count < 1 || count > 3) call.refuse(fmt::format("signal_ndim is 1 to 3, not {}", count));
  fft::Several axes;
  for (std::int64_t i = -count; i < 0; ++i) axes.dim.push_back(i);
  if (call.attr("normalized", 0) != 0) axes.norm = fft::Norm::Ortho;
  return axes;
}

Tensor rfft(const Call& call) { return fft::rfftn(call.tensor(0), axes_of(call)); }
Tensor irfft(const Call& call) { return fft::irfftn(call.tensor(0), axes_of(call)); }
Tensor inverse(const Call& call) { return call.tensor(0).inverse(); }
Tensor same(const Call& call) { return call.tensor(0); }

}  // namespace

OpTable microsoft_other_ops() {
  static const Op ops[] = {
      {"CDist", 1, cdist},
      {"ComplexMul", 1, complex_mul},
      {"ComplexMulConj", 1, complex_mul_conj},
      {"CropAndResize", 1, crop_and_resize},
      {"ExpandDims", 1, expand_dims},
      {"GatherND", 1, gather_nd},
      {"GridSample", 1, grid_sample},
      {"Inverse", 1, inverse},
      {"Irfft", 1, irfft},
      {"IsAllFinite", 1, is_all_finite},
      {"MurmurHash3", 1, murmur_hash_3},
      {"Pad", 1, pad},
      {"Range", 1, range},
      {"Rfft", 1, rfft},
      {"SampleOp", 1, same},
      {"Trilu", 1, trilu},
      {"UnfoldTensor", 1, unfold_tensor},
      {"Unique", 1, unique},
  };
  return {microsoft, ops};
}

}  // namespace weft::onnx
