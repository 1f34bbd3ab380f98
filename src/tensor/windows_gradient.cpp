// What windows see, added up where they see it.

#include "ops.h"
#include "windows.h"

namespace weft {
namespace {

// One axis, for gradients: place p of it is seen at kernel element k of output o where p = o*stride + k*dilation.
// Places are `stride` phases of p / stride each, and element k = stride*j + phase is seen `step` places
// later for each j.
struct Phases {
  Phases(const Window& window, std::size_t i, std::int64_t outs, std::int64_t places)
      : phases(window.stride[i]),
        seen((window.kernel[i] + phases - 1) / phases),
        step(phases == 1 ? window.dilation[i] : 1),
        outputs(outs),
        before((seen - 1) * step),
        sum(outputs + before),
        row(sum + before),
        size(places) {}
  std::int64_t phases, seen, step, outputs;
  std::int64_t before;  // outputs that are missing on either side
  std::int64_t sum;     // places of a phase that something sees
  std::int64_t row;     // outputs with those that are missing
  std::int64_t size;
};

// What windows see, added up where they see it: again windows, over the gradient in rows of outputs. Row j' is
// the last but j' of the kernel's elements, so that rows one step longer have place a at a + j'*step of theirs.
Tensor added_up(const Tensor& gradient, const std::vector<Phases>& axes,
                const std::vector<std::int64_t>& kernel) {
  const std::size_t n = axes.size(), b = static_cast<std::size_t>(gradient.ndim()) - 2 * n;
  const std::vector<Dim> sizes = gradient.dims();
  const std::vector<Dim> batch(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(b));
  Tensor::Bounds whole, around(b, {0, 0}), beyond(b, {0, 0}), used, ends(b, {0, 0});
  for (const Dim& size : batch) used.emplace_back(0, size);
  std::vector<Dim> apart = batch, flat = batch, rows = batch, together = batch;
  Axes order, turned, sums;
  const auto at = [&](std::size_t i) { return static_cast<std::int64_t>(i); };
  for (std::size_t i = 0; i < b; ++i) order.push_back(at(i));
  for (std::size_t i = 0; i < b + n; ++i) whole.emplace_back(0, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const Phases& axis = axes[i];
    apart.emplace_back(axis.outputs);
    whole.emplace_back(0, axis.seen * axis.phases - kernel[i]);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const Phases& axis = axes[i];
    apart.insert(apart.end(), {Dim(axis.seen), Dim(axis.phases)});
    turned.push_back(at(b + n + 2 * i));
    order.insert(order.end(), {at(b + n + 2 * i + 1), at(b + n + 2 * i), at(b + i)});
    around.insert(around.end(), {{0, 0}, {0, 0}, {axis.before, axis.before}});
    flat.insert(flat.end(), {Dim(axis.phases), Dim(axis.seen * axis.row)});
    beyond.insert(beyond.end(), {{0, 0}, {0, axis.seen * axis.step}});
    rows.insert(rows.end(), {Dim(axis.phases), Dim(axis.seen), Dim(axis.row + axis.step)});
    used.insert(used.end(), {{0, axis.phases}, {0, axis.seen}, {0, axis.sum}});
    sums.push_back(at(b + 3 * i + 1));
  }
  Axes joined;
  for (std::size_t i = 0; i < b; ++i) joined.push_back(at(i));
  for (std::size_t i = 0; i < n; ++i) {
    const Phases& axis = axes[i];
    joined.insert(joined.end(), {at(b + 2 * i + 1), at(b + 2 * i)});
    together.emplace_back(axis.sum * axis.phases);
    ends.emplace_back(0, axis.size - axis.sum * axis.phases);  // cut off where negative
  }
  return gradient.pad(whole)
      .reshape(Shape(apart))
      .flip(turned)
      .permute(order)
      .pad(around)
      .reshape(Shape(flat))
      .pad(beyond)
      .reshape(Shape(rows))
      .shrink(used)
      .sum(sums)
      .permute(joined)
      .reshape(Shape(together))
      .pad(ends);
}

}  // namespace

Tensor windows_gradient(const Tensor& gradient, const Tensor& tensor, const Window& window) {
  const std::ptrdiff_t n = std::ssize(window.kernel);
  std::vector<Phases> axes;
  for (std::ptrdiff_t i = 0; i < n; ++i)
    axes.emplace_back(window, static_cast<std::size_t>(i), gradient.size(i - 2 * n),
                      tensor.size(i - n));
  return added_up(gradient, axes, window.kernel);
}

}  // namespace weft
