// Pad: what is put around a tensor, or taken away.

#include <fmt/format.h>

#include "arguments.h"
#include "elements.h"
#include "tables.h"

namespace weft::onnx {
namespace {

PadMode mode_of(const Call& call) {
  const std::string mode = call.attr("mode", "constant");
  if (mode == "constant") return PadMode::Constant;
  if (mode == "reflect") return PadMode::Reflect;
  if (mode == "edge") return PadMode::Replicate;
  if (mode == "wrap") return PadMode::Circular;
  call.refuse(fmt::format("mode {}: want constant, reflect, edge or wrap", mode));
}

// All that comes before the axes, then all that comes after them.
Tensor::Bounds bounds_of(const Call& call, const std::vector<Dim>& pads,
                         const std::vector<std::int64_t>& axes, std::int64_t rank) {
  const std::size_t count = axes.size();
  if (pads.size() != 2 * count)
    call.refuse(fmt::format("{} widths for {} axes: want two for each", pads.size(), count));
  Tensor::Bounds bounds(static_cast<std::size_t>(rank), {0, 0});
  for (std::size_t i = 0; i < count; ++i)
    bounds[static_cast<std::size_t>(axes[i])] = {pads[i], pads[count + i]};
  return bounds;
}

// What is taken away is no part of any reflection.
Tensor padded(const Tensor& x, Tensor::Bounds bounds, PadMode mode, Scalar fill) {
  if (mode == PadMode::Constant) return x.pad(bounds, fill);
  Tensor::Bounds taken(bounds.size(), {0, 0});
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (bounds[i].first.uop()->hi() < 0) std::swap(bounds[i].first, taken[i].first);
    if (bounds[i].second.uop()->hi() < 0) std::swap(bounds[i].second, taken[i].second);
  }
  return x.pad(taken).pad(bounds, mode);
}

std::vector<std::int64_t> all_axes(std::int64_t rank) {
  std::vector<std::int64_t> axes(static_cast<std::size_t>(rank));
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
  return axes;
}

Tensor pad_by_attributes(const Call& call, std::string_view widths) {
  const Tensor x = call.tensor(0);
  const auto pads = call.attr<std::vector<std::int64_t>>(widths);
  const Tensor::Bounds bounds =
      bounds_of(call, {pads.begin(), pads.end()}, all_axes(x.ndim()), x.ndim());
  return padded(x, bounds, mode_of(call), call.attr("value", 0.0));
}

Tensor pad_by_paddings(const Call& call) { return pad_by_attributes(call, "paddings"); }
Tensor pad_by_pads(const Call& call) { return pad_by_attributes(call, "pads"); }

// A fill that nothing knows is computed now.
Scalar fill_of(const Call& call, const Elements& elements) {
  if (!call.has(2)) return 0;
  if (call.value(2).is_text()) return elements[1].item<std::int64_t>();
  if (elements[1].dtype().is_float()) return call.number(2);
  return call.integer(2);
}

Values pad(const Call& call) {
  const Elements elements(call, {0, 2});
  const Tensor& x = elements[0];
  const auto axes = call.has(3) ? axes_of(call, call.ints(3), x.ndim()) : all_axes(x.ndim());
  const Tensor::Bounds bounds = bounds_of(call, call.dims(1), axes, x.ndim());
  return {elements.value(padded(x, bounds, mode_of(call), fill_of(call, elements)))};
}

}  // namespace

OpTable padding_ops() {
  static const Op ops[] = {
      {"Pad", 1, pad_by_paddings},
      {"Pad", 2, pad_by_pads},
      {"Pad", 11, pad},
  };
  return {"", ops};
}

}  // namespace weft::onnx
