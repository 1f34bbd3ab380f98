// What finds objects: boxes that stand for others, convolutions that look elsewhere, columns as images.

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/functional.h>

#include "axes.h"
#include "sliding.h"
#include "tables.h"

namespace weft::onnx {
namespace {

// --- NonMaxSuppression. Its shape depends on values, so that it runs here --------------------------------

struct Box {
  double top, left, bottom, right;
  double area() const { return (bottom - top) * (right - left); }
};

Box box_of(std::span<const double> numbers, bool is_center) {
  if (is_center) {  // x, y, width, height
    const double x = numbers[0], y = numbers[1], width = numbers[2] / 2, height = numbers[3] / 2;
    return {y - height, x - width, y + height, x + width};
  }
  return {std::min(numbers[0], numbers[2]), std::min(numbers[1], numbers[3]),
          std::max(numbers[0], numbers[2]), std::max(numbers[1], numbers[3])};
}

bool overlap(const Box& a, const Box& b, double threshold) {
  const Box both{std::max(a.top, b.top), std::max(a.left, b.left), std::min(a.bottom, b.bottom),
                 std::min(a.right, b.right)};
  if (both.bottom <= both.top || both.right <= both.left) return false;
  const double area = both.area(), all = a.area() + b.area() - area;
  if (!(area > 0 && a.area() > 0 && b.area() > 0 && all > 0)) return false;
  return static_cast<float>(area / all) > static_cast<float>(threshold);
}

struct Selection {
  std::int64_t most;
  double overlap, score;
  bool has_score;
};

// The boxes from the best score on that overlap with none before them.
std::vector<std::int64_t> selected(std::span<const Box> boxes, std::span<const double> scores,
                                   const Selection& selection) {
  std::vector<std::int64_t> candidates, result;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (!selection.has_score || scores[i] > selection.score)
      candidates.push_back(static_cast<std::int64_t>(i));
  const auto score = [&](std::int64_t i) { return scores[static_cast<std::size_t>(i)]; };
  std::ranges::sort(candidates, [&](std::int64_t a, std::int64_t b) {
    return score(a) > score(b) || (score(a) == score(b) && a < b);
  });
  for (const std::int64_t candidate : candidates) {
    if (std::ssize(result) >= selection.most) break;
    const Box& box = boxes[static_cast<std::size_t>(candidate)];
    const bool is_new = std::ranges::none_of(result, [&](std::int64_t other) {
      return overlap(box, boxes[static_cast<std::size_t>(other)], selection.overlap);
    });
    if (is_new) result.push_back(candidate);
  }
  return result;
}

Tensor non_max_suppression(const Call& call) {
  const std::vector<std::int64_t> sizes = call.tensor(0).shape(),
                                  of_scores = call.tensor(1).shape();
  const bool fits = sizes.size() == 3 && of_scores.size() == 3 && sizes[2] == 4 &&
                    sizes[0] == of_scores[0] && sizes[1] == of_scores[2];
  if (!fits)
    call.refuse(
        fmt::format("boxes of shape ({}), scores of shape ({}): want (batch, boxes, 4), (batch, "
                    "classes, boxes)",
                    fmt::join(sizes, ", "), fmt::join(of_scores, ", ")));
  const Selection selection{.most = call.has(2) ? call.integer(2) : 0,
                            .overlap = call.has(3) ? call.number(3) : 0,
                            .score = call.has(4) ? call.number(4) : 0,
                            .has_score = call.has(4)};
  const std::vector<double> corners = call.numbers(0), scores = call.numbers(1);
  const auto count = static_cast<std::size_t>(sizes[1]);
  const bool is_center = call.attr("center_point_box", 0) != 0;
  std::vector<std::int64_t> found;
  for (std::int64_t sample = 0; sample < sizes[0]; ++sample) {
    const auto first = static_cast<std::size_t>(sample) * count;
    std::vector<Box> boxes;
    for (std::size_t i = 0; i < count; ++i)
      boxes.push_back(box_of(std::span(corners).subspan((first + i) * 4, 4), is_center));
    for (std::int64_t kind = 0; kind < of_scores[1]; ++kind) {
      const auto row = static_cast<std::size_t>(sample * of_scores[1] + kind);
      for (const std::int64_t box :
           selected(boxes, std::span(scores).subspan(row * count, count), selection))
        found.insert(found.end(), {sample, kind, box});
    }
  }
  if (found.empty()) return Tensor::zeros({0, 3}, call.options(dtypes::i64));
  return Tensor(found, call.options(dtypes::i64)).reshape({-1, 3});
}

// --- DeformConv ------------------------------------------------------------------------------------------

struct Deformed {
  Tensor x, weight;
  Sliding window;
  std::vector<std::int64_t> outputs;
  std::int64_t batch, groups, kernel = 1;  // groups of offsets; elements of the kernel

  std::size_t dims() const { return outputs.size(); }
};

Deformed deformed_of(const Call& call) {
  Deformed conv{.x = call.tensor(0),
                .weight = call.tensor(1),
                .window = {},
                .outputs = {},
                .batch = 0,
                .groups = call.attr("offset_group", 1)};
  conv.window = sliding_over(call, conv.x, conv.weight);
  conv.batch = conv.x.size(0);
  const std::vector<std::int64_t> offset = call.tensor(2).shape();
  conv.outputs.assign(offset.begin() + std::min<std::ptrdiff_t>(2, std::ssize(offset)),
                      offset.end());
  for (const std::int64_t size : conv.window.kernel) conv.kernel *= size;
  const auto n = static_cast<std::int64_t>(conv.window.kernel.size());
  const bool fits = std::ssize(offset) == n + 2 && offset[0] == conv.batch && conv.groups >= 1 &&
                    conv.groups <= conv.x.size(1) && conv.x.size(1) % conv.groups == 0 &&
                    offset[1] == conv.groups * conv.kernel * n;
  if (!fits)
    call.refuse(fmt::format("offsets of shape ({}) for {} groups and a kernel of {} elements",
                            fmt::join(offset, ", "), conv.groups, conv.kernel));
  return conv;
}

// Where each element of the kernel looks along an axis: (batch groups, kernel, outputs ...), from -1 to 1.
Tensor places(const Call& call, const Deformed& conv, const Tensor& offset, std::size_t i) {
  const auto n = static_cast<std::int64_t>(conv.dims()), axis = static_cast<std::int64_t>(i);
  const Options options = call.options(offset.dtype());
  std::vector<Dim> kernel{Dim(1)};
  for (const std::int64_t size : conv.window.kernel) kernel.emplace_back(size);
  const Tensor element =
      along(Tensor::arange(conv.window.kernel[i], options) * conv.window.dilation[i], 1 + axis,
            1 + n)
          .expand(Shape(kernel))
          .flatten(1);
  std::vector<Dim> sizes{Dim(1), Dim(conv.kernel)};
  sizes.resize(static_cast<std::size_t>(2 + n), Dim(1));
  const Tensor output = along(
      Tensor::arange(conv.outputs[i], options) * conv.window.stride[i] - conv.window.pads[i].first,
      2 + axis, 2 + n);
  const Tensor place = offset.select(2, axis) + element.reshape(Shape(sizes)) + output;
  const auto count = static_cast<double>(conv.x.size(2 + axis));
  return (place * 2 + (1 - count)) / count;
}

Tensor deform_conv(const Call& call) {
  const Deformed conv = deformed_of(call);
  const std::int64_t n = static_cast<std::int64_t>(conv.dims()), channels = conv.x.size(1);
  const DType within = wide(conv.x.dtype());
  std::vector<Dim> sizes{Dim(conv.batch * conv.groups), Dim(conv.kernel), Dim(n)};
  sizes.insert(sizes.end(), conv.outputs.begin(), conv.outputs.end());
  const Tensor offset = call.tensor(2).cast(within).reshape(Shape(sizes));
  std::vector<Tensor> grid;  // the last axis first
  for (std::size_t i = conv.dims(); i-- > 0;) grid.push_back(places(call, conv, offset, i));
  // The kernel's elements lie beside each other along the first axis of the output.
  const Tensor at = Tensor::stack(grid, -1).flatten(1, 2);
  const Tensor x = conv.x.cast(within).flatten(0, 1);
  std::vector<Dim> grouped = conv.x.dims();
  grouped[0] = Dim(conv.batch * conv.groups);
  grouped[1] = Dim(channels / conv.groups);
  Tensor seen = functional::grid_sample(x.reshape(Shape(grouped)), at)
                    .unflatten(2, {conv.kernel, conv.outputs[0]});
  if (call.has(4)) {
    std::vector<Dim> of_mask{Dim(conv.batch * conv.groups), Dim(1), Dim(conv.kernel)};
    of_mask.insert(of_mask.end(), conv.outputs.begin(), conv.outputs.end());
    seen = seen * call.tensor(4).cast(within).reshape(Shape(of_mask));
  }
  const std::int64_t groups = groups_of(call, conv.x), out = conv.weight.size(0);
  if (out % groups != 0 || conv.weight.size(1) != channels / groups)
    call.refuse(fmt::format("{} channels in {} groups for a weight of ({}, {}, ...)", channels,
                            groups, out, conv.weight.size(1)));
  const Tensor columns = seen.reshape({conv.batch, groups, channels / groups * conv.kernel, -1});
  const Tensor weight = conv.weight.cast(within).reshape({groups, out / groups, -1});
  std::vector<Dim> result{Dim(conv.batch), Dim(out)};
  result.insert(result.end(), conv.outputs.begin(), conv.outputs.end());
  Tensor y = weight.matmul(columns).reshape(Shape(result));
  if (call.has(3)) y = y + along(call.tensor(3), 1, 2 + n);
  return y.cast(conv.x.dtype());
}

// --- Col2Im ------------------------------------------------------------------------------------------------

std::vector<std::int64_t> sizes_in(const Call& call, std::size_t input) {
  std::vector<std::int64_t> sizes = call.ints(input);
  for (const std::int64_t size : sizes)
    if (size < 1 || size > (std::int64_t{1} << 31)) call.refuse(fmt::format("a size of {}", size));
  return sizes;
}

Tensor col2im(const Call& call) {
  const std::vector<std::int64_t> sizes = sizes_in(call, 1), kernel = sizes_in(call, 2);
  const std::size_t n = sizes.size();
  if (kernel.size() != n || n == 0)
    call.refuse(fmt::format("blocks of {} axes for images of {}", kernel.size(), n));
  return functional::fold(call.tensor(0), sizes, kernel,
                          {.dilation = numbers_of(call, "dilations", n, 1, 1),
                           .padding = pads_of(call, n),
                           .stride = numbers_of(call, "strides", n, 1, 1)});
}

}  // namespace

OpTable detection_ops() {
  static const Op ops[] = {
      {"Col2Im", 18, col2im},
      {"DeformConv", 19, deform_conv},
      {"NonMaxSuppression", 10, non_max_suppression},
  };
  return {"", ops};
}

}  // namespace weft::onnx
