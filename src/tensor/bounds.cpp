// Less and more of each axis: shrink, and pad in its modes.

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/ir/node.h>
#include <weft/dev/tensor/sizes.h>
#include <weft/error.h>

#include "ops.h"
#include "slices.h"
#include "state.h"

namespace weft {
namespace {

void want_bounds(std::string_view op, const Tensor& tensor, const Tensor::Bounds& bounds) {
  if (std::ssize(bounds) != tensor.ndim())
    user_error(fmt::format("{}: bounds for {} axes of a tensor of shape {}", op, bounds.size(),
                           shape_text(tensor.uop())));
}

UOp difference(const UOp& a, const UOp& b) {
  if (a->is_const() && b->is_const()) return const_int(a->lo() - b->lo());
  return simplified(minus(Dim(a), Dim(b))).uop();
}

bool is_negative(const UOp& size) { return size->bounds().hi < 0; }

}  // namespace

Tensor Tensor::shrink(const Bounds& start_stop) const {
  const Called called;
  want_bounds("shrink", *this, start_stop);
  const Sizes own = sizes_of(uop());
  Sizes start, sizes;
  for (std::size_t i = 0; i < start_stop.size(); ++i) {
    const UOp& stop = start_stop[i].second.uop();
    start.push_back(start_stop[i].first.uop());
    sizes.push_back(difference(stop, start.back()));
    const bool is_beyond = stop->is_const() && own[i]->is_const() && stop->lo() > own[i]->lo();
    if (is_negative(start[i]) || is_negative(sizes[i]) || is_beyond)
      user_error(fmt::format("shrink: from {} to {} is no part of axis {} of shape {}",
                             size_text(start[i]), size_text(stop), i, shape_text(uop())));
  }
  return viewed(weft::shrink(uop(), start, sizes));
}

Tensor Tensor::shrink_to(const Shape& shape) const {
  const Called called;
  const std::vector<Dim> own = dims();
  if (shape.dims().size() != own.size())
    user_error(fmt::format("shrink_to: {} sizes for a tensor of shape {}", shape.dims().size(),
                           shape_text(uop())));
  Bounds bounds;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const Dim& size = shape.dims()[i];
    const Dim& stop = size.uop()->is_const_int(-1) ? own[i] : size;
    if (is_negative(stop.uop()) || is_negative(difference(own[i].uop(), stop.uop())))
      user_error(fmt::format("shrink_to: axis {} of shape {} has not {} elements", i,
                             shape_text(uop()), size_text(stop.uop())));
    bounds.emplace_back(0, stop);
  }
  return shrink(bounds);
}

namespace {

// Without what negative widths take away; they become 0.
Tensor cropped(const Tensor& tensor, Tensor::Bounds& widths) {
  want_bounds("pad", tensor, widths);
  Tensor::Bounds bounds = whole(tensor);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    auto& [front, back] = widths[i];
    auto& [start, stop] = bounds[i];
    if (is_negative(front.uop())) start = Dim(difference(const_int(0), front.uop())), front = 0;
    if (is_negative(back.uop()))
      stop = Dim(difference(stop.uop(), difference(const_int(0), back.uop()))), back = 0;
    if (is_negative(difference(stop.uop(), start.uop())))
      user_error(fmt::format("pad: from {} to {} is no part of axis {} of shape {}",
                             size_text(start.uop()), size_text(stop.uop()), i,
                             shape_text(tensor.uop())));
  }
  return tensor.shrink(bounds);
}

}  // namespace

Tensor Tensor::pad(const Bounds& before_after, Scalar value) const {
  const Called called;
  Bounds widths = before_after;
  const Operand x(cropped(*this, widths));
  Sizes before, after;
  for (const auto& [front, back] : widths) {
    before.push_back(front.uop());
    after.push_back(back.uop());
  }
  const UOp padded = weft::pad(x.uop(), before, after);
  const UOp filling = value.as(x.uop()->dtype());
  if (filling->arg<ConstArg>().bits == 0) return result("pad", padded, {&x});
  const UOp inside =
      weft::pad(weft::expand(weft::reshape(const_bool(true), Sizes(before.size(), const_int(1))),
                             sizes_of(x.uop())),
                before, after);
  return result("pad", weft::where(inside, padded, filling), {&x});
}

namespace {

struct Extended {
  Tensor x;
  std::int64_t axis, front, back;

  Tensor part(std::int64_t start, std::int64_t stop) const { return shrunk(x, axis, start, stop); }

  // The parts that there are, side by side.
  Tensor joined(const Tensor& before, const Tensor& after) const {
    std::vector<Tensor> parts;
    if (front > 0) parts.push_back(before);
    parts.push_back(x);
    if (back > 0) parts.push_back(after);
    return Tensor::cat(parts, axis);
  }
};

void want_enough(std::string_view mode, const Extended& e, std::int64_t least) {
  if (e.x.size(e.axis) < least)
    user_error(fmt::format("pad: axis {} of shape {} is too short for {} padding of {} and {}",
                           e.axis, shape_text(e.x.uop()), mode, e.front, e.back));
}

Tensor reflected(const Extended& e) {
  want_enough("reflect", e, std::max(e.front, e.back) + 1);
  const std::int64_t last = e.x.size(e.axis) - 1;
  return e.joined(e.part(std::min<std::int64_t>(1, last), e.front + 1).flip(e.axis),
                  e.part(last - e.back, last).flip(e.axis));
}

Tensor replicated(const Extended& e) {
  want_enough("replicate", e, 1);
  const std::int64_t last = e.x.size(e.axis) - 1;
  const auto several = [&](std::int64_t place, std::int64_t times) {
    std::vector<Dim> sizes = e.x.dims();
    sizes[static_cast<std::size_t>(e.axis)] = Dim(times);
    return e.part(place, place + 1).expand(Shape(sizes));
  };
  return e.joined(several(0, e.front), several(last, e.back));
}

// Movement alone: a part of the axis repeated.
Tensor encircled(const Extended& e) {
  want_enough("circular", e, 1);
  const std::int64_t size = e.x.size(e.axis), start = floor_mod(-e.front, size);
  const std::int64_t stop = start + e.front + size + e.back;
  std::vector<Dim> times(static_cast<std::size_t>(e.x.ndim()), Dim(1));
  times[static_cast<std::size_t>(e.axis)] = Dim((stop + size - 1) / size);
  return shrunk(e.x.repeat(Shape(times)), e.axis, start, stop);
}

}  // namespace

// What is taken away does not come back in what is added, other than by a reflection.
Tensor Tensor::pad(const Bounds& before_after, PadMode mode, Scalar value) const {
  const Called called;
  if (mode == PadMode::Constant) return pad(before_after, value);
  constexpr Tensor (*extensions[])(const Extended&) = {nullptr, reflected, replicated, encircled};
  Bounds widths = before_after, late(widths.size(), {0, 0});
  if (mode == PadMode::Reflect)
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (is_negative(widths[i].first.uop())) std::swap(widths[i].first, late[i].first);
      if (is_negative(widths[i].second.uop())) std::swap(widths[i].second, late[i].second);
    }
  Tensor x = cropped(*this, widths);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::int64_t front = constant_size("pad", widths[i].first.uop()),
                       back = constant_size("pad", widths[i].second.uop());
    if (front > 0 || back > 0)
      x = extensions[static_cast<std::size_t>(mode)](
          {x, static_cast<std::int64_t>(i), front, back});
  }
  x = cropped(x, late);
  return from(x);  // no view, also where nothing is added
}

Tensor::Bounds Tensor::bounds_of(std::span<const std::int64_t> widths) const {
  if (widths.size() % 2 != 0 || static_cast<std::int64_t>(widths.size()) > 2 * ndim())
    user_error(fmt::format("pad: {} widths for shape {}: expected two for each of the last axes",
                           widths.size(), shape_text(uop())));
  Bounds bounds(static_cast<std::size_t>(ndim()), {0, 0});
  for (std::size_t i = 0; i < widths.size(); i += 2)
    bounds[bounds.size() - 1 - i / 2] = {widths[i], widths[i + 1]};
  return bounds;
}

Tensor Tensor::pad_to(const Shape& shape, Scalar value) const {
  const Called called;
  const std::vector<Dim> own = dims();
  if (shape.dims().size() != own.size())
    user_error(fmt::format("pad_to: {} sizes for a tensor of shape {}", shape.dims().size(),
                           shape_text(uop())));
  Bounds bounds;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const Dim& size = shape.dims()[i];
    const UOp more =
        size.uop()->is_const_int(-1) ? const_int(0) : difference(size.uop(), own[i].uop());
    if (is_negative(more))
      user_error(fmt::format("pad_to: axis {} of shape {} is longer than {}", i, shape_text(uop()),
                             size_text(size.uop())));
    bounds.emplace_back(0, Dim(more));
  }
  return pad(bounds, value);
}

}  // namespace weft
