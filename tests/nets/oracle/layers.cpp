#include "layers.h"

#include <algorithm>

#include "contraction.h"
#include "estimate.h"
#include "movement.h"
#include "rearrange.h"

namespace nets {
namespace {

Numbers cut(const Numbers& numbers, std::size_t from, std::size_t to) {
  return {numbers.begin() + static_cast<std::ptrdiff_t>(from),
          numbers.begin() + static_cast<std::ptrdiff_t>(to)};
}

Numbers chained(Numbers first, const Numbers& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Array constant(Type type, double value) {
  return scalar(type, Cell::of_real(rounded(value, type)));
}

}  // namespace

Array rmsnorm(const Array& x, std::int64_t axis, double eps) {
  const Type own = float_like(x.type), wide = promoted(own, Type::F32);
  const Array from = cast(x, wide);
  const Array far = as_inner(reduced("mean", unary("square", from), {axis}, true));
  return cast(binary("mul", from, unary("rsqrt", binary("add", far, constant(wide, eps)))), own);
}

Array group_norm(const Array& x, std::int64_t groups, double eps) {
  want(x.rank() >= 2 && x.shape[1] % groups == 0, "other channels");
  const Array grouped = unflatten(x, 1, {groups, x.shape[1] / groups});
  Numbers axes;
  for (std::int64_t axis = 2; axis < grouped.rank(); ++axis) axes.push_back(axis);
  return reshape(copied(layernorm(grouped, axes, eps)), x.shape);
}

Array batchnorm(const Array& x, const Array& weight, const Array& bias, const Array& mean,
                const Array& invstd) {
  Array result = fresh(x.type, x.shape);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t channel = at(coordinates_of(i, x.shape)[1]);
    const auto of = [&](const Array& each) { return Estimate(x.type, each[channel]); };
    result[i] = ((Estimate(x.type, x[i]) - of(mean)) * of(invstd) * of(weight) + of(bias)).cell();
  }
  return result;
}

namespace {

struct Pool {
  const PoolForm& form;
  Numbers sizes, out;

  Pool(const PoolForm& pool, const Numbers& shape) : form(pool) {
    sizes = cut(shape, shape.size() - form.kernel.size(), shape.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::int64_t span = form.dilation * (form.kernel[i] - 1) + 1;
      const std::int64_t room = sizes[i] + 2 * form.padding - span;
      want(room >= 0 && 2 * form.padding <= span, "a kernel that does not fit");
      std::int64_t count = room / form.stride + 1;
      // One that begins within the axis or the padding before it may end beyond.
      if (form.rounds_up && room % form.stride != 0 &&
          count * form.stride < sizes[i] + form.padding)
        ++count;
      out.push_back(count);
    }
  }
  // How many places count along an axis: those within the padding, or the axis.
  std::int64_t counted(std::size_t axis, std::int64_t output) const {
    const std::int64_t begin = output * form.stride - form.padding;
    std::int64_t count = 0;
    for (std::int64_t k = 0; k < form.kernel[axis]; ++k) {
      const std::int64_t place = begin + k * form.dilation;
      const std::int64_t beside = form.counts_padding ? form.padding : 0;
      count += place >= -beside && place < sizes[axis] + beside;
    }
    return count;
  }
  std::optional<Numbers> place(const Numbers& output, const Numbers& inside) const {
    Numbers result(sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      result[i] = output[i] * form.stride + inside[i] * form.dilation - form.padding;
      if (result[i] < 0 || result[i] >= sizes[i]) return {};
    }
    return result;
  }
};

template <class Each>
Array pooled(const Array& x, const PoolForm& form, Each each) {
  want(x.shape.size() >= form.kernel.size(), "too few axes");
  const Pool pool(form, x.shape);
  const std::size_t before = x.shape.size() - form.kernel.size();
  Array result = fresh(x.type, chained(cut(x.shape, 0, before), pool.out));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Numbers place = coordinates_of(i, result.shape),
                  output = cut(place, before, place.size());
    std::vector<Cell> seen;
    for (std::size_t k = 0; k < at(count_of(form.kernel)); ++k)
      if (const auto from = pool.place(output, coordinates_of(k, form.kernel)))
        seen.push_back(x[position(chained(cut(place, 0, before), *from), x.shape)]);
    want(!seen.empty(), "a window of padding");
    std::int64_t count = 1;
    for (std::size_t axis = 0; axis < output.size(); ++axis)
      count *= pool.counted(axis, output[axis]);
    result[i] = each(seen, count);
  }
  return result;
}

}  // namespace

Array max_pool(const Array& x, const PoolForm& form) {
  return pooled(x, form, [&](const std::vector<Cell>& seen, std::int64_t) {
    Cell result = seen[0];
    for (const Cell& cell : seen) result = combined("maximum", result, cell, x.type);
    return result;
  });
}

// A quotient by a product, or by one after the other.
Array avg_pool(const Array& x, const PoolForm& form) {
  const Type own = float_like(x.type), wide = promoted(own, Type::F32);
  const Array result =
      pooled(cast(x, wide), form, [&](const std::vector<Cell>& seen, std::int64_t count) {
        const Estimate sum(wide, sum_of(seen, wide));
        return (sum / Estimate(wide, static_cast<double>(count))).cell();
      });
  return cast(result, own);
}

Array conv_transpose(const Array& x, const Array& weight, const TransposeForm& form) {
  want(x.rank() == weight.rank() && x.rank() >= 3, "an image of other axes");
  const std::size_t dims = x.shape.size() - 2;
  const std::int64_t in = x.shape[1], of_group = in / form.groups, out = weight.shape[1];
  want(in == weight.shape[0] && in % form.groups == 0, "other channels");
  const Contraction with(x.type, weight.type);
  const Array image = with.ready(x), factors = with.ready(weight);
  // Infinity times a zero between the elements is open: it is there, or it is left out.
  bool is_finite = true;
  for (const Array* each : {&image, &factors})
    for (std::size_t i = 0; i < each->size() && is_float(with.within); ++i)
      is_finite &= std::isfinite((*each)[i].real);
  const Numbers kernel = cut(weight.shape, 2, weight.shape.size());
  Numbers shape{x.shape[0], out * form.groups};
  for (std::size_t i = 0; i < dims; ++i)
    shape.push_back((x.shape[i + 2] - 1) * form.stride - 2 * form.padding + kernel[i] +
                    form.output_padding);
  want(std::ranges::all_of(shape, [](std::int64_t size) { return size > 0; }), "nothing is left");
  want(form.output_padding < form.stride || form.output_padding == 0, "more than a step");
  std::vector<std::vector<std::pair<Cell, Cell>>> terms(at(count_of(shape)));
  for (std::size_t i = 0; i < image.size(); ++i) {
    const Numbers from = coordinates_of(i, x.shape);
    const std::int64_t group = from[1] / of_group;
    for (std::size_t k = 0; k < at(out * count_of(kernel)); ++k) {
      const Numbers inside = coordinates_of(k, chained({out}, kernel));
      Numbers to{from[0], group * out + inside[0]};
      bool is_inside = true;
      for (std::size_t d = 0; d < dims; ++d) {
        to.push_back(from[d + 2] * form.stride + inside[d + 1] - form.padding);
        is_inside &= to.back() >= 0 && to.back() < shape[d + 2];
      }
      if (is_inside)
        terms[position(to, shape)].emplace_back(
            image[i], factors[position(chained({from[1]}, inside), weight.shape)]);
    }
  }
  Array result = fresh(with.within, shape);
  std::vector<double> sizes;
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = with.sum(terms[i]);
    sizes.push_back(size_of(terms[i]));
    if (!is_finite) result[i].error = unknown;
  }
  Numbers windows;  // of the elements that lie a stride apart
  for (const std::int64_t size : kernel)
    windows.insert(windows.end(), {size / form.stride, (size - 1) / form.stride + 1});
  open_for_winograd(result, sizes, windows);
  return with.result(result);
}

namespace {

// One of the last axes after the other.
template <class Each>
Array resized(const Array& x, const Numbers& sizes, Each each) {
  want(x.shape.size() >= sizes.size() && x.size() > 0, "too few axes");
  Array result = x;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    result = each(result, x.shape.size() - sizes.size() + i, sizes[i]);
  return result;
}

Numbers with_size(Numbers shape, std::size_t axis, std::int64_t size) {
  shape[axis] = size;
  return shape;
}

}  // namespace

// Places are computed in f32, as PyTorch does.
Array interpolate_nearest(const Array& x, const Numbers& sizes) {
  return resized(x, sizes, [](const Array& from, std::size_t axis, std::int64_t size) {
    const float scale = static_cast<float>(from.shape[axis]) / static_cast<float>(size);
    Array result = fresh(from.type, with_size(from.shape, axis, size));
    for (std::size_t i = 0; i < result.size(); ++i) {
      Numbers place = coordinates_of(i, result.shape);
      const float exact = static_cast<float>(place[axis]) * scale;
      place[axis] = std::min(static_cast<std::int64_t>(exact), from.shape[axis] - 1);
      result[i] = from[position(place, from.shape)];
    }
    return result;
  });
}

Array interpolate_linear(const Array& x, const Numbers& sizes, bool aligns_corners) {
  const Type own = float_like(x.type), wide = promoted(own, Type::F32);
  const auto each = [&](const Array& from, std::size_t axis, std::int64_t size) {
    const double count = static_cast<double>(from.shape[axis]), next = static_cast<double>(size);
    const double scale = !aligns_corners ? count / next : size > 1 ? (count - 1) / (next - 1) : 0;
    // Of few digits, as are the places that it leads to.
    const auto is_exact = [](double constant) {
      return std::nearbyint(std::ldexp(constant, 10)) == std::ldexp(constant, 10);
    };
    Array result = fresh(wide, with_size(from.shape, axis, size));
    for (std::size_t i = 0; i < result.size(); ++i) {
      Numbers place = coordinates_of(i, result.shape);
      const double at_new = static_cast<double>(place[axis]);
      const double middle = std::clamp(
          aligns_corners ? at_new * scale : (at_new + 0.5) * scale - 0.5, 0.0, count - 1);
      const double low = std::floor(middle), rest = middle - low;
      place[axis] = static_cast<std::int64_t>(low);
      const Cell first = from[position(place, from.shape)];
      place[axis] = std::min(place[axis] + 1, from.shape[axis] - 1);
      const Cell second = from[position(place, from.shape)];
      const double off = is_exact(scale) ? 0 : 4 * half_ulp(wide) * count;
      const Estimate weight(wide, Cell::of_real(rest, off));
      const Estimate a(wide, first), b(wide, second), one(wide, 1.0);
      result[i] = (a * (one - weight) + b * weight).cell();
      // Rounded, the place may lie in the gap beside.
      double largest = 0;  // NaN where one is
      for (std::int64_t k = -1; k <= 2; ++k) {
        place[axis] =
            std::clamp<std::int64_t>(static_cast<std::int64_t>(low) + k, 0, from.shape[axis] - 1);
        const double size = std::abs(from[position(place, from.shape)].real);
        largest = size > largest || std::isnan(size) ? size : largest;
      }
      if (off > 0 && (rest < 4 * off || rest > 1 - 4 * off)) result[i].error += 8 * off * largest;
      if (!std::isfinite(largest)) result[i].error = unknown;
    }
    return result;
  };
  return cast(resized(cast(x, wide), sizes, each), own);
}

Array reduced_loss(const Array& loss, Reduction reduction) {
  if (reduction == Reduction::None) return loss;
  Numbers axes;
  for (std::int64_t axis = 0; axis < loss.rank(); ++axis) axes.push_back(axis);
  return reduced(reduction == Reduction::Mean ? "mean" : "sum", loss, axes, false);
}

namespace {

Estimate loss_of(std::string_view name, const Estimate& x, const Estimate& target, Type type) {
  const auto constant = [&](double value) { return Estimate(type, value); };
  if (name == "logits") {
    const double size = std::abs(x.value());
    const Estimate beyond =
        x.apply([](double v) { return std::log1p(std::exp(-std::abs(v))); }, 48 + 8 * size);
    // What is 1 + exp is rounded at 1.
    const Estimate open(type, Cell::of_real(0, 4 * half_ulp(type)));
    const Estimate above = x.value() > 0 ? x : constant(0);
    return above - target * x + beyond + open;
  }
  const Estimate off = x - target;
  const Estimate size = off.value() < 0 ? constant(0) - off : off;
  if (name == "l1") return size;
  if (name == "mse") return off * off;
  if (size.value() < 1) return off * off * constant(0.5);
  return size - constant(0.5);
}

}  // namespace

Array pair_loss(std::string_view name, const Array& x, const Array& target, Reduction reduction) {
  want(x.type == target.type && x.shape == target.shape, "other targets");
  Array loss = fresh(x.type, x.shape);
  for (std::size_t i = 0; i < x.size(); ++i) {
    loss[i] = loss_of(name, Estimate(x.type, x[i]), Estimate(x.type, target[i]), x.type).cell();
    if (!std::isfinite(x[i].real) || !std::isfinite(target[i].real)) loss[i].error = unknown;
  }
  return reduced_loss(loss, reduction);
}

Array class_loss(const Array& log_probabilities, const Array& target, double smoothing,
                 Reduction reduction) {
  const Type type = log_probabilities.type;
  const Array rows = movedim(log_probabilities, log_probabilities.rank() == 1 ? 0 : 1, -1);
  want(cut(rows.shape, 0, rows.shape.size() - 1) == target.shape, "other targets");
  const std::size_t classes = at(rows.shape.back());
  Array loss = fresh(type, target.shape);
  for (std::size_t i = 0; i < loss.size(); ++i) {
    if (target[i].error > 0 || target[i].whole < 0 || at(target[i].whole) >= classes) {
      loss[i].error = unknown;
      continue;
    }
    std::vector<Cell> terms;
    for (std::size_t k = 0; k < classes; ++k) {
      const bool is_own = k == at(target[i].whole);
      const double share = (is_own ? 1 - smoothing : 0) + smoothing / static_cast<double>(classes);
      if (share == 0) continue;
      Cell factor = Cell::of_real(share);
      if (share != 1) factor.error = 2 * half_ulp(type) * share;
      terms.push_back(combined("mul", rows[i * classes + k], factor, type));
    }
    loss[i] = sum_of(terms, type);
    loss[i].real = -loss[i].real;
  }
  return reduced_loss(loss, reduction);
}

}  // namespace nets
