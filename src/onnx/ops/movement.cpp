// Reshaping, joining, cutting and repeating. Strings move as numbers do.

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "arguments.h"
#include "elements.h"
#include "tables.h"

namespace weft::onnx {
namespace {

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }

// --- Other shapes --------------------------------------------------------------------------------------

// 0 is the size that is there, unless it may be a size itself.
Tensor reshaped(const Call& call, const Tensor& x, std::vector<Dim> sizes) {
  const bool is_zero_a_size = call.attr("allowzero", 0) != 0;
  const std::vector<Dim> own = x.dims();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (is_zero_a_size || !sizes[i].uop()->is_const_int(0)) continue;
    if (i >= own.size())
      call.refuse(
          fmt::format("size {} of the shape is 0, but the input has {} axes", i, own.size()));
    sizes[i] = own[i];
  }
  return x.reshape(sizes);
}

Tensor reshape_by_attribute(const Call& call, const Tensor& x) {
  const auto sizes = call.attr<std::vector<std::int64_t>>("shape");
  return reshaped(call, x, {sizes.begin(), sizes.end()});
}
Tensor reshape(const Call& call, const Tensor& x) { return reshaped(call, x, call.dims(1)); }

Tensor flatten(const Call& call, const Tensor& x) {
  const std::int64_t rank = x.ndim(), axis = call.attr("axis", 1);
  if (axis < -rank || axis > rank)
    call.refuse(fmt::format("axis {} is no place between {} axes", axis, rank));
  const std::int64_t from = axis < 0 ? axis + rank : axis;
  if (from == 0) return x.flatten().unsqueeze(0);
  if (from == rank) return x.flatten().unsqueeze(1);
  return x.flatten(from).flatten(0, from - 1);
}

Tensor squeeze(const Call& call, const Tensor& x) {
  const auto given = ints_of(call, "axes", 1);
  if (!given) return x.squeeze();
  const auto axes = axes_of(call, *given, x.ndim());
  const std::vector<Dim> sizes = x.dims();
  for (const std::int64_t axis : axes)
    if (const Dim& size = sizes[at(axis)]; !size.is_symbolic() && !size.uop()->is_const_int(1))
      call.refuse(fmt::format("axis {} has size {}: want 1", axis, size.uop()->lo()));
  return axes.empty() ? x : x.squeeze(axes);
}

Tensor unsqueeze(const Call& call, const Tensor& x) {
  const auto given = ints_of(call, "axes", 1);
  if (!given) call.refuse("it says no axes");
  const auto rank = x.ndim() + static_cast<std::int64_t>(given->size());
  auto axes = axes_of(call, *given, rank);
  std::ranges::sort(axes);
  if (std::ranges::adjacent_find(axes) != axes.end()) call.refuse("an axis is named twice");
  Tensor result = x;
  for (const std::int64_t axis : axes) result = result.unsqueeze(axis);
  return result;
}

Tensor transpose(const Call& call, const Tensor& x) {
  if (!call.has("perm")) return x.T();
  return x.permute(axes_of(call, call.attr<std::vector<std::int64_t>>("perm"), x.ndim()));
}

// Both broadcast: where the shape says 1 the size stays.
Tensor expand(const Call& call, const Tensor& x) {
  std::vector<Dim> sizes = call.dims(1);
  const std::vector<Dim> own = x.dims();
  if (sizes.size() < own.size()) sizes.insert(sizes.begin(), own.size() - sizes.size(), 1);
  const std::size_t more = sizes.size() - own.size();
  for (std::size_t i = 0; i < own.size(); ++i)
    if (sizes[more + i].uop()->is_const_int(1)) sizes[more + i] = own[i];
  return x.expand(sizes);
}

Values identity(const Call& call) { return {call.value(0)}; }

// --- Sizes as values --------------------------------------------------------------------------------------

std::vector<Dim> sizes_of(const Call& call) {
  if (!call.value(0).is_text()) return call.tensor(0).dims();
  const std::vector<std::int64_t>& shape = call.text(0).shape;
  return {shape.begin(), shape.end()};
}

Values shape(const Call& call) {
  const std::vector<Dim> sizes = sizes_of(call);
  const auto rank = static_cast<std::int64_t>(sizes.size());
  const auto place = [&](std::int64_t axis) {
    return std::clamp<std::int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  const std::int64_t start = place(call.attr("start", 0)), end = place(call.attr("end", rank));
  return {Value::known({sizes.begin() + start, sizes.begin() + std::max(start, end)})};
}

Values size(const Call& call) {
  std::int64_t known = 1;
  UOp unknown;
  for (const Dim& size : sizes_of(call)) {
    if (size.is_symbolic())
      unknown = unknown.is_null() ? size.uop() : unknown * size.uop();
    else if (__builtin_mul_overflow(known, size.uop()->lo(), &known))
      call.refuse("the number of elements has more than 63 bits");
  }
  return {Value::known({unknown.is_null() ? Dim(known) : Dim(unknown * const_int(known))}, true)};
}

// --- Joining and cutting ------------------------------------------------------------------------------------

Values concat(const Call& call) {
  std::vector<std::size_t> inputs(call.inputs());
  std::iota(inputs.begin(), inputs.end(), std::size_t{0});
  const Elements elements(call, inputs);
  std::vector<Tensor> parts;
  for (const std::size_t input : inputs)
    if (!elements[input].is_null()) parts.push_back(elements[input]);
  if (parts.empty()) call.refuse("it wants an input at least");
  const std::int64_t axis = axis_of(call, call.attr("axis", 1), parts[0].ndim());
  return {elements.value(Tensor::cat(parts, axis))};
}

std::vector<std::int64_t> even_parts(const Call& call, std::int64_t size) {
  const std::int64_t count = call.attr("num_outputs", static_cast<std::int64_t>(call.outputs()));
  if (count < 1 || count > static_cast<std::int64_t>(call.outputs()))
    call.refuse(fmt::format("{} parts for {} outputs", count, call.outputs()));
  if (call.opset() < 18 && size % count != 0)
    call.refuse(fmt::format("{} elements do not make {} parts of one size", size, count));
  const std::int64_t part = size / count + (size % count != 0 ? 1 : 0);
  std::vector<std::int64_t> sizes;
  for (std::int64_t left = size; std::ssize(sizes) < count; left -= sizes.back())
    sizes.push_back(std::min(part, left));
  return sizes;
}

Values split(const Call& call) {
  const Elements elements(call, {0});
  const Tensor& x = elements[0];
  const std::int64_t axis = axis_of(call, call.attr("axis", 0), x.ndim());
  const auto given = ints_of(call, "split", 1);
  Values parts;
  for (const Tensor& part : x.split(given ? *given : even_parts(call, x.size(axis)), axis))
    parts.push_back(elements.value(part));
  return parts;
}

// One part of an axis as Python's slices have it; with a step below 0 the least stop means the beginning.
Slice part_of(const Dim& start, const Dim& stop, std::int64_t step) {
  constexpr std::int64_t far = std::int64_t{1} << 62;
  const auto near = [&](const Dim& bound) {
    return bound.is_symbolic() ? bound : Dim(std::clamp(bound.uop()->lo(), -far, far));
  };
  return {near(start), near(stop), std::clamp(step, -far, far)};
}

// Of an axis whose size is symbolic, places counted from its end, or beyond it, are said by that size.
Dim placed(const Dim& bound, const Dim& size) {
  if (bound.is_symbolic() || !size.is_symbolic()) return bound;
  const std::int64_t at = bound.uop()->lo(), most = size.uop()->hi();
  if (at < 0) return at <= -most ? Dim(0) : Dim(size.uop() + const_int(at));
  return at >= most ? size : bound;
}

// Where a part begins is never before the axis, whose first element a step below 0 gives then.
Dim begin_of(const Dim& start, const Dim& size, std::int64_t step) {
  const bool are_numbers = !start.is_symbolic() && !size.is_symbolic();
  if (step > 0 || !are_numbers) return placed(start, size);
  return std::max(start.uop()->lo(), -size.uop()->lo());
}

struct Cut {
  std::vector<Dim> starts, stops;
  std::optional<std::vector<std::int64_t>> axes, steps;
};

Tensor cut(const Call& call, Tensor x, const Cut& by) {
  const std::size_t count = by.starts.size();
  if (by.stops.size() != count || (by.axes && by.axes->size() != count) ||
      (by.steps && by.steps->size() != count))
    call.refuse("starts, ends, axes and steps are not as many");
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t axis =
        axis_of(call, by.axes ? (*by.axes)[i] : static_cast<std::int64_t>(i), x.ndim());
    const std::int64_t step = by.steps ? (*by.steps)[i] : 1;
    if (step == 0) call.refuse("a step is 0");
    const Dim size = x.dims()[at(axis)];
    x = x.slice(axis, part_of(begin_of(by.starts[i], size, step), placed(by.stops[i], size), step));
  }
  return x;
}

Tensor slice_by_attributes(const Call& call, const Tensor& x) {
  const auto starts = call.attr<std::vector<std::int64_t>>("starts");
  const auto stops = call.attr<std::vector<std::int64_t>>("ends");
  return cut(
      call, x,
      {{starts.begin(), starts.end()}, {stops.begin(), stops.end()}, ints_of(call, "axes", 1), {}});
}

Tensor slice(const Call& call, const Tensor& x) {
  return cut(call, x,
             {call.dims(1), call.dims(2), ints_of(call, "axes", 3), ints_of(call, "steps", 4)});
}

// --- Repeating and turning --------------------------------------------------------------------------------

Tensor tile_one_axis(const Call& call, const Tensor& x) {
  std::vector<std::int64_t> times(at(x.ndim()), 1);
  times[at(axis_of(call, call.integer(2), x.ndim()))] = call.integer(1);
  return x.repeat(times);
}

Tensor tile(const Call& call, const Tensor& x) {
  const std::vector<Dim> times = call.dims(1);
  if (std::ssize(times) != x.ndim())
    call.refuse(fmt::format("{} numbers of repeats for {} axes", times.size(), x.ndim()));
  return x.repeat(times);
}

bool is_depth_first(const Call& call) {
  const std::string mode = call.attr("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") call.refuse(fmt::format("mode {}: want DCR or CRD", mode));
  return mode == "DCR";
}

std::int64_t block_of(const Call& call, const Tensor& x) {
  const auto block = call.attr<std::int64_t>("blocksize");
  if (x.ndim() != 4) call.refuse(fmt::format("an input of {} axes: want 4", x.ndim()));
  if (block < 1 || block > std::int64_t{1} << 30)
    call.refuse(fmt::format("blocks of {} elements along each axis", block));
  return block;
}

Tensor depth_to_space(const Call& call, const Tensor& x) {
  const std::int64_t block = block_of(call, x);
  const Tensor blocks = is_depth_first(call)
                            ? x.unflatten(1, {block, block, -1}).permute({0, 3, 4, 1, 5, 2})
                            : x.unflatten(1, {-1, block, block}).permute({0, 1, 4, 2, 5, 3});
  return blocks.flatten(4, 5).flatten(2, 3);
}

Tensor space_to_depth(const Call& call, const Tensor& x) {
  const std::int64_t block = block_of(call, x);
  const Tensor blocks = x.unflatten(3, {-1, block}).unflatten(2, {-1, block});
  const Tensor turned = is_depth_first(call) ? blocks.permute({0, 3, 5, 1, 2, 4})
                                             : blocks.permute({0, 1, 3, 5, 2, 4});
  return turned.flatten(1, 3);
}

Tensor trilu(const Call& call, const Tensor& x) {
  constexpr std::int64_t beyond = std::int64_t{1} << 48;
  const std::int64_t k = call.has(1) ? std::clamp(call.integer(1), -beyond, beyond) : 0;
  return call.attr("upper", 1) != 0 ? x.triu(k) : x.tril(k);
}

}  // namespace

OpTable movement_ops() {
  static const Op ops[] = {
      {"Concat", 1, concat},
      {"DepthToSpace", 1, moved<depth_to_space>},
      {"Expand", 8, moved<expand>},
      {"Flatten", 1, moved<flatten>},
      {"Identity", 1, identity},
      {"Reshape", 1, moved<reshape_by_attribute>},
      {"Reshape", 5, moved<reshape>},
      {"Shape", 1, shape},
      {"Size", 1, size},
      {"Slice", 1, moved<slice_by_attributes>},
      {"Slice", 10, moved<slice>},
      {"SpaceToDepth", 1, moved<space_to_depth>},
      {"Split", 1, split},
      {"Squeeze", 1, moved<squeeze>},
      {"Tile", 1, moved<tile_one_axis>},
      {"Tile", 6, moved<tile>},
      {"Transpose", 1, moved<transpose>},
      {"Trilu", 14, moved<trilu>},
      {"Unsqueeze", 1, moved<unsqueeze>},
  };
  return {"", ops};
}

}  // namespace weft::onnx
