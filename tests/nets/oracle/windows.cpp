#include "windows.h"

#include <algorithm>

#include "contraction.h"
#include "movement.h"

namespace nets {
namespace {

// Windows slide over the last axes; places before 0 and behind the end are padding.
struct Window {
  Numbers kernel, sizes, out;
  std::int64_t stride, dilation, padding;

  Window(const Numbers& sizes_of, const Numbers& kernel_of, std::int64_t stride_of,
         std::int64_t dilation_of, std::int64_t padding_of)
      : kernel(kernel_of),
        sizes(sizes_of),
        stride(stride_of),
        dilation(dilation_of),
        padding(padding_of) {
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      const std::int64_t room = sizes[i] + 2 * padding - dilation * (kernel[i] - 1) - 1;
      want(room >= 0 && kernel[i] > 0, "a kernel larger than what it slides over");
      out.push_back(room / stride + 1);
    }
  }
  // Nothing where it is padding.
  std::optional<Numbers> place(const Numbers& output, const Numbers& inside) const {
    Numbers result(kernel.size());
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      result[i] = output[i] * stride + inside[i] * dilation - padding;
      if (result[i] < 0 || result[i] >= sizes[i]) return {};
    }
    return result;
  }
};

Numbers joined(Numbers first, const Numbers& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Numbers part(const Numbers& numbers, std::size_t from, std::size_t to) {
  return {numbers.begin() + static_cast<std::ptrdiff_t>(from),
          numbers.begin() + static_cast<std::ptrdiff_t>(to)};
}

}  // namespace

Array matmul(const Array& x, const Array& y) {
  want(x.rank() > 0 && y.rank() > 0, "a scalar has no rows");
  const bool is_row = x.rank() == 1, is_column = y.rank() == 1;
  const Contraction with(x.type, y.type);
  Array a = with.ready(is_row ? unsqueeze(x, 0) : x),
        b = with.ready(is_column ? unsqueeze(y, 1) : y);
  const std::int64_t rows = a.shape[at(a.rank() - 2)], inner = a.shape.back(),
                     columns = b.shape.back();
  want(inner == b.shape[at(b.rank() - 2)], "inner sizes that differ");
  const Numbers batch =
      broadcast_shape(part(a.shape, 0, a.shape.size() - 2), part(b.shape, 0, b.shape.size() - 2));
  a = expanded(a, joined(batch, {rows, inner})), b = expanded(b, joined(batch, {inner, columns}));
  Array result = fresh(with.within, joined(batch, {rows, columns}));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Numbers place = coordinates_of(i, result.shape);
    const Numbers own = part(place, 0, batch.size());
    std::vector<std::pair<Cell, Cell>> factors;
    for (std::int64_t k = 0; k < inner; ++k)
      factors.emplace_back(a[position(joined(own, {place[batch.size()], k}), a.shape)],
                           b[position(joined(own, {k, place[batch.size() + 1]}), b.shape)]);
    result[i] = with.sum(factors);
  }
  if (is_row) result = squeeze(result, result.rank() - 2);
  if (is_column) {
    Numbers shape = result.shape;
    shape.pop_back();
    result = reshape(result, shape);
  }
  return with.result(result);
}

void open_for_winograd(Array& result, const std::vector<double>& sizes, const Numbers& kernel) {
  const auto is_its = [](std::int64_t size) { return size == 3 || size == 5; };
  if (result.type != Type::F32 || std::ranges::none_of(kernel, is_its)) return;
  double largest = 0;
  for (const double size : sizes) largest = size > largest || std::isnan(size) ? size : largest;
  const double error = std::isfinite(largest) ? 256 * half_ulp(Type::F32) * largest : unknown;
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i].error = std::max(result[i].error, error);
}

double size_of(const std::vector<std::pair<Cell, Cell>>& factors) {
  double size = 0;
  for (const auto& [a, b] : factors) size += std::abs(a.real * b.real);
  return size;
}

Array conv(const Array& x, const Array& weight, std::int64_t groups, std::int64_t stride,
           std::int64_t dilation, std::int64_t padding) {
  want(weight.rank() >= 3 && x.rank() == weight.rank(), "an image of other axes");
  const std::int64_t out = weight.shape[0], in = weight.shape[1];
  want(groups > 0 && out % groups == 0 && x.shape[1] == in * groups, "other channels");
  const Window window(part(x.shape, 2, x.shape.size()), part(weight.shape, 2, weight.shape.size()),
                      stride, dilation, padding);
  const Contraction with(x.type, weight.type);
  const Array image = with.ready(x), factors_of = with.ready(weight);
  Array result = fresh(with.within, joined({x.shape[0], out}, window.out));
  std::vector<double> sizes(result.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Numbers place = coordinates_of(i, result.shape);
    const std::int64_t group = place[1] / (out / groups);
    std::vector<std::pair<Cell, Cell>> factors;
    for (std::size_t k = 0; k < at(in * count_of(window.kernel)); ++k) {
      const Numbers inside = coordinates_of(k, joined({in}, window.kernel));
      const auto from = window.place(part(place, 2, place.size()), part(inside, 1, inside.size()));
      const Cell& factor = factors_of[position(joined({place[1]}, inside), weight.shape)];
      // Padding times infinity is open: it is a zero, or it is left out.
      if (!from && (!is_float(with.within) || std::isfinite(factor.real))) continue;
      factors.emplace_back(
          from ? image[position(joined({place[0], group * in + inside[0]}, *from), image.shape)]
               : Cell::of_real(0, unknown),
          factor);
    }
    result[i] = with.sum(factors);
    sizes[i] = size_of(factors);
  }
  open_for_winograd(result, sizes, window.kernel);
  return with.result(result);
}

namespace {

template <class Each>
Array pooled(const Array& x, const Numbers& kernel, std::int64_t stride, std::int64_t padding,
             Type type, Each each) {
  want(x.shape.size() >= kernel.size(), "too few axes");
  want(std::ranges::all_of(kernel, [&](std::int64_t size) { return 2 * padding <= size; }),
       "padding beyond half of the kernel");
  const std::size_t before = x.shape.size() - kernel.size();
  const Window window(part(x.shape, before, x.shape.size()), kernel, stride, 1, padding);
  Array result = fresh(type, joined(part(x.shape, 0, before), window.out));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Numbers place = coordinates_of(i, result.shape);
    std::vector<Cell> seen;
    for (std::size_t k = 0; k < at(count_of(kernel)); ++k) {
      const auto from = window.place(part(place, before, place.size()), coordinates_of(k, kernel));
      if (from) seen.push_back(x[position(joined(part(place, 0, before), *from), x.shape)]);
    }
    result[i] = each(seen);
  }
  return result;
}

}  // namespace

Array max_pool(const Array& x, const Numbers& kernel, std::int64_t stride, std::int64_t padding) {
  return pooled(x, kernel, stride, padding, x.type, [&](const std::vector<Cell>& seen) {
    want(!seen.empty(), "a window of padding");
    Cell result = seen[0];
    for (const Cell& cell : seen) result = combined("maximum", result, cell, x.type);
    return result;
  });
}

Array avg_pool(const Array& x, const Numbers& kernel, std::int64_t stride, std::int64_t padding) {
  const Type own = float_like(x.type), wide = promoted(own, Type::F32);
  const double count = static_cast<double>(count_of(kernel));
  const Array result =
      pooled(cast(x, wide), kernel, stride, padding, wide, [&](const std::vector<Cell>& seen) {
        return combined("div", sum_of(seen, wide), Cell::of_real(count), wide);
      });
  return cast(result, own);
}

}  // namespace nets
