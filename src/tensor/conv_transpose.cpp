// Transposed convolutions: convolutions, whose outputs lie between one another.

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/tensor/sizes.h>
#include <weft/error.h>

#include "conv_args.h"
#include "ops.h"
#include "windows.h"

namespace weft {
namespace {

// The axis with so many zeros behind each of its elements but the last.
Tensor spread(const Tensor& tensor, std::int64_t axis, std::int64_t zeros) {
  const std::int64_t length = (tensor.size(axis) - 1) * (zeros + 1) + 1;
  Tensor::Bounds behind(static_cast<std::size_t>(tensor.ndim() + 1), {0, 0});
  behind[static_cast<std::size_t>(axis + 1)].second = zeros;
  return tensor.unsqueeze(axis + 1)
      .pad(behind)
      .flatten(axis, axis + 1)
      .slice(axis, {.stop = length});
}

// The last axes from the elements `first` on, as many as `sizes` says, with zeros around them.
Tensor cropped(const Tensor& tensor, const std::vector<std::int64_t>& first,
               const std::vector<Dim>& sizes) {
  Tensor::Bounds missing, bounds;
  const std::size_t others = tensor.uop()->dims().size() - first.size();
  for (std::size_t axis = 0; axis < others; ++axis) {
    missing.emplace_back(0, 0);
    bounds.emplace_back(0, tensor.dims()[axis]);
  }
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::int64_t front = std::max<std::int64_t>(0, -first[i]);
    const Dim end = plus(sizes[i], first[i]);
    // What is missing behind is the same for all sizes: both grow by a stride for each element.
    const Dim behind = simplified(minus(end, tensor.dims()[others + i]));
    missing.emplace_back(front, std::max<std::int64_t>(0, most(behind)));
    bounds.emplace_back(front + first[i], simplified(plus(end, front)));
  }
  return tensor.pad(missing).shrink(bounds);
}

// Zeros in front of the weight's elements that make padding whole rows of all phases, which then need not be
// computed: as long as there is no phase more by that, and none sees an element more.
std::int64_t zeros_in_front(const Window& window, std::size_t i) {
  const std::int64_t stride = window.stride[i], reach = window.reach(i);
  const std::int64_t missing = (stride - window.padding[i].first % stride) % stride;
  return reach >= stride && missing <= (stride - reach % stride) % stride ? missing : 0;
}

// Neighbouring phases that see elements of the weight as often: taps from `begin` to `end`.
struct Phases {
  std::int64_t first, count, begin, end;
};

// `zeros` stand in front of the elements, all of which are `size`.
std::vector<Phases> phases_of(std::int64_t zeros, std::int64_t size, std::int64_t phases) {
  std::vector<Phases> parts;
  const auto taps_before = [&](std::int64_t element, std::int64_t phase) {
    return std::max<std::int64_t>(0, (element - phase + phases - 1) / phases);
  };
  for (std::int64_t phase = 0; phase < phases; ++phase) {
    const std::int64_t begin = taps_before(zeros, phase), end = taps_before(size, phase);
    if (parts.empty() || parts.back().begin != begin || parts.back().end != end)
      parts.push_back({phase, 0, begin, end});
    ++parts.back().count;
  }
  return parts;
}

// One axis: its outputs are those of a convolution, `phases` times as many.
struct Axis {
  std::int64_t stride, dilation;
  std::int64_t zeros, phases = 0, taps = 0;
  std::int64_t first = 0;      // of the outputs that are wanted
  Dim size = 0;                // and how many these are
  Padding::Sides around = {};  // with all taps
  std::vector<Phases> parts = {};
};

// `size` inputs and `more` outputs than these have.
Axis axis_of(const Window& window, std::size_t i, const Dim& size, std::int64_t more) {
  const auto [before, after] = window.padding[i];
  const std::int64_t stride = window.stride[i], zeros = zeros_in_front(window, i);
  const std::int64_t elements = stride == 1 ? window.kernel[i] : zeros + window.reach(i);
  Axis axis{.stride = stride, .dilation = stride == 1 ? window.dilation[i] : 1, .zeros = zeros};
  axis.phases = std::min(stride, elements);
  axis.taps = (elements + axis.phases - 1) / axis.phases;
  axis.parts = phases_of(zeros, elements, axis.phases);
  const std::int64_t beyond = window.reach(i) - stride - before - after + more;
  axis.size = simplified(plus(times(size, stride), beyond));
  // The convolution itself can leave out rows that are cut off, as far as they are padding.
  const std::int64_t whole = axis.dilation * (axis.taps - 1), front = before + zeros;
  const auto left_out = [&](std::int64_t rows) { return std::clamp<std::int64_t>(rows, 0, whole); };
  const std::int64_t ahead = left_out(front / stride);
  axis.first = front - ahead * stride;
  const std::int64_t more_rows = floor_div(axis.first + beyond + stride - 1, stride);
  axis.around = {whole - ahead, whole - left_out(whole - ahead - more_rows)};
  return axis;
}

// The weight (in, out / groups, sizes ...) as (out, phases ..., in / groups, taps ...).
Tensor phased(const Tensor& weight, std::int64_t groups, const Window& window,
              const std::vector<Axis>& axes) {
  Tensor w = weight.unflatten(0, {groups, -1});  // and then (groups, in, out, taps, phases ...)
  Axes taps, order{0, 2};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::int64_t>(3 + 2 * i);
    const std::int64_t count = axes[i].taps, phases = axes[i].phases;
    if (axes[i].stride > 1) w = spread(w, axis, window.dilation[i] - 1);
    Tensor::Bounds missing(static_cast<std::size_t>(w.ndim()), {0, 0});
    missing[static_cast<std::size_t>(axis)] = {axes[i].zeros,
                                               count * phases - axes[i].zeros - w.size(axis)};
    w = w.pad(missing).unflatten(axis, {count, phases});
    taps.push_back(axis);
    order.push_back(axis + 1);
  }
  order.push_back(1);
  order.insert(order.end(), taps.begin(), taps.end());
  return w.flip(taps).permute(order).flatten(0, 1);
}

// Some phases of each axis are a convolution. All of them are, with a channel for each of their outputs; those that
// see fewer elements are convolutions of their own, which multiply no zeros.
class InPhases {
 public:
  InPhases(const Tensor& x, const Tensor& weight, const std::vector<Axis>& axes,
           std::int64_t groups)
      : x_(x), weight_(weight), axes_(axes), groups_(groups) {}

  // (batch, out, phases ..., sizes ...)
  Tensor all() {
    if (chosen_.size() == axes_.size()) return part();
    std::vector<Tensor> parts;
    const auto axis = static_cast<std::int64_t>(2 + chosen_.size());
    for (const Phases& phases : axes_[chosen_.size()].parts) {
      chosen_.push_back(phases);
      parts.push_back(all());
      chosen_.pop_back();
    }
    return parts.size() == 1 ? parts[0] : Tensor::cat(parts, axis);
  }

 private:
  Tensor part() const {
    const std::size_t n = axes_.size();
    Tensor::Bounds own(static_cast<std::size_t>(weight_.ndim()), {0, 0}), cut{{0, 0}, {0, 0}};
    std::vector<Dim> apart{Dim(-1)};
    std::vector<std::int64_t> dilation;
    std::vector<Padding::Sides> around;
    own[0] = {0, weight_.dims()[0]};
    own[n + 1] = {0, weight_.dims()[n + 1]};
    for (std::size_t i = 0; i < n; ++i) {
      const Axis& axis = axes_[i];
      const auto& [first, count, begin, end] = chosen_[i];
      own[1 + i] = {first, first + count};
      own[n + 2 + i] = {axis.taps - end, axis.taps - begin};  // turned round
      apart.emplace_back(count);
      dilation.push_back(axis.dilation);
      const std::int64_t before = axis.around.first - (axis.taps - end) * axis.dilation;
      const std::int64_t after = axis.around.second - begin * axis.dilation;
      around.emplace_back(std::max<std::int64_t>(before, 0), std::max<std::int64_t>(after, 0));
      cut.emplace_back(std::min<std::int64_t>(before, 0), std::min<std::int64_t>(after, 0));
    }
    const Tensor w = weight_.shrink(own).flatten(0, static_cast<std::int64_t>(n));
    return x_.pad(cut)
        .conv(w, {}, {.groups = groups_, .dilation = dilation, .padding = around})
        .unflatten(1, Shape(apart));
  }

  const Tensor &x_, &weight_;
  const std::vector<Axis>& axes_;
  std::int64_t groups_;
  std::vector<Phases> chosen_;  // of the first axes
};

}  // namespace

// With a stride of s, every s-th output sees the same elements of the weight: each such phase is a
// convolution of its own, whose outputs lie between those of the others; those that see nothing are zeros.
Tensor Tensor::conv_transpose(const Tensor& weight, const Tensor& bias,
                              const ConvTransposeOptions& options) const {
  const Called called;
  constexpr const char* op = "conv_transpose";
  if (is_single(*this, weight))
    return unsqueeze(0).conv_transpose(weight, bias, options).squeeze(0);
  if (weight.ndim() < 3) want_convolution(op, *this, weight, {}, 1, 0, 0, "in, out / groups");
  const std::int64_t groups = options.groups, in = weight.size(0);
  if (groups <= 0 || in % groups != 0)
    user_error(fmt::format("{}: a weight of shape {} has no {} groups of inputs", op,
                           shape_text(weight.uop()), groups));
  want_convolution(op, *this, weight, bias, groups, in, groups * weight.size(1),
                   "in, out / groups");
  const Window window(op, kernel_of(weight), options.stride, options.dilation, options.padding);
  const std::size_t n = window.kernel.size();
  const std::vector<std::int64_t> more = options.output_padding.of(n, op);
  std::vector<Axis> axes;
  std::vector<std::int64_t> first, phases;
  std::vector<Dim> sizes;
  for (std::size_t i = 0; i < n; ++i) {
    if (more[i] < 0 || more[i] >= std::max(window.stride[i], window.dilation[i]))
      user_error(
          fmt::format("{}: an output padding of {} is not below the stride {} or the dilation {}",
                      op, more[i], window.stride[i], window.dilation[i]));
    axes.push_back(axis_of(window, i, dims()[2 + i], more[i]));
    first.push_back(axes[i].first);
    sizes.push_back(axes[i].size);
    phases.push_back(axes[i].phases);
    if (least(sizes[i]) < 1)
      user_error(
          fmt::format("{}: padding of {} and {} leaves nothing of axis {} for shape {} and a "
                      "weight of shape {}",
                      op, window.padding[i].first, window.padding[i].second, 2 + i,
                      shape_text(uop()), shape_text(weight.uop())));
  }
  const Tensor y = InPhases(*this, phased(weight, groups, window, axes), axes, groups).all();
  const Tensor flat = y.flatten(1, static_cast<std::int64_t>(1 + n));
  return with_bias(cropped(interleaved(flat, phases, window.stride), first, sizes), bias);
}

Tensor Tensor::conv_transpose1d(const Tensor& weight, const Tensor& bias,
                                const ConvTransposeOptions& options) const {
  const Called called;
  want_rank("conv_transpose1d", weight, 1);
  return conv_transpose(weight, bias, options);
}

Tensor Tensor::conv_transpose2d(const Tensor& weight, const Tensor& bias,
                                const ConvTransposeOptions& options) const {
  const Called called;
  want_rank("conv_transpose2d", weight, 2);
  return conv_transpose(weight, bias, options);
}

Tensor Tensor::conv_transpose3d(const Tensor& weight, const Tensor& bias,
                                const ConvTransposeOptions& options) const {
  const Called called;
  want_rank("conv_transpose3d", weight, 3);
  return conv_transpose(weight, bias, options);
}

Tensor Tensor::conv_transpose2d(const Tensor& weight, const Tensor& bias, std::int64_t groups,
                                const PerDim& stride, const PerDim& dilation,
                                const Padding& padding, const PerDim& output_padding) const {
  const Called called;
  return conv_transpose(weight, bias,
                        {.groups = groups,
                         .stride = stride,
                         .dilation = dilation,
                         .padding = padding,
                         .output_padding = output_padding});
}

}  // namespace weft
