// The same elements at other places. What only looks at its tensor shares the memory.

#include <algorithm>
#include <iterator>
#include <numeric>

#include <fmt/format.h>
#include <weft/error.h>

#include "counts.h"
#include "ops.h"
#include "state.h"

namespace weft {
namespace {

bool is_minus_one(const UOp& size) { return size->is_const_int(-1); }

// A product of sizes: the numbers multiplied, what is symbolic listed.
struct Elements {
  Elements(std::string_view op, std::span<const UOp> sizes) {
    for (const UOp& size : sizes) {
      if (is_minus_one(size)) continue;
      if (!size->is_const())
        symbols.push_back(size.node());
      else
        numbers = elements_of(op, numbers, size->lo());
    }
  }

  // In the order of the sizes and the number last: shapes that come about in several ways are the same.
  UOp product() const {
    UOp product;
    for (const Node* symbol : symbols) {
      const UOp size = weft::cast(UOp(symbol), dtypes::index);
      product = product.is_null() ? size : product * size;
    }
    if (product.is_null()) return const_int(numbers);
    return numbers == 1 ? product : product * numbers;
  }

  std::int64_t numbers = 1;
  std::vector<const Node*> symbols;
};

bool has_same_symbols(const Elements& a, const Elements& b) {
  return std::ranges::is_permutation(a.symbols, b.symbols);
}

// The sizes, with what -1 stands for. Where symbolic sizes change, whether they fit is left open.
Sizes reshaped_sizes(const UOp& tensor, const Shape& shape) {
  Sizes sizes;
  for (const Dim& dim : shape.dims()) sizes.push_back(dim.uop());
  const auto wrong = [&](const std::string& what) {
    user_error(
        fmt::format("reshape: shape {} to {}: {}", shape_text(tensor), sizes_text(sizes), what));
  };
  for (const UOp& size : sizes)
    if (!is_minus_one(size) && size->bounds().hi < 0) wrong("a size is negative");
  Elements left("reshape", sizes_of(tensor));
  const Elements to("reshape", sizes);
  const auto open = std::ranges::find_if(sizes, is_minus_one);
  if (open == sizes.end()) {
    if (has_same_symbols(left, to) && left.numbers != to.numbers)
      wrong(fmt::format("{} elements are not {}", left.numbers, to.numbers));
    return sizes;
  }
  if (std::ranges::count_if(sizes, is_minus_one) > 1) wrong("only one size can be -1");
  for (const Node* symbol : to.symbols) {
    const auto same = std::ranges::find(left.symbols, symbol);
    if (same == left.symbols.end()) wrong("-1 cannot stand for what is symbolic");
    left.symbols.erase(same);
  }
  if (to.numbers == 0 || left.numbers % to.numbers != 0)
    wrong(fmt::format("{} elements are no multiple of {}", left.numbers, to.numbers));
  left.numbers /= to.numbers;
  *open = left.product();
  return sizes;
}

}  // namespace

Tensor Tensor::reshape(const Shape& shape) const {
  const Called called;
  const UOp graph = uop();
  return viewed(reshaped(graph, reshaped_sizes(graph, shape)));
}

Tensor Tensor::flatten(std::int64_t first, std::int64_t last) const {
  const Called called;
  if (ndim() == 0) return reshape({1});
  first = axis_of("flatten", first, ndim());
  last = axis_of("flatten", last, ndim());
  if (first > last) user_error(fmt::format("flatten: axis {} comes after axis {}", first, last));
  const std::vector<Dim> sizes = dims();
  std::vector<Dim> result(sizes.begin(), sizes.begin() + first);
  std::vector<UOp> joined;
  for (auto i = static_cast<std::size_t>(first); i <= static_cast<std::size_t>(last); ++i)
    joined.push_back(sizes[i].uop());
  result.emplace_back(Elements("flatten", joined).product());
  result.insert(result.end(), sizes.begin() + last + 1, sizes.end());
  return reshape(Shape(result));
}

namespace {

void want_product(std::string_view op, const Dim& whole, const std::vector<Dim>& parts) {
  std::int64_t product = 1;
  for (const Dim& part : parts) {
    if (!part.uop()->is_const() || !whole.uop()->is_const()) return;  // reshape compares symbols
    product = elements_of(op, product, part.uop()->lo());
  }
  if (product != whole.uop()->lo())
    user_error(fmt::format("{}: an axis of {} is not one of {}", op, whole.uop()->lo(), product));
}

}  // namespace

Tensor Tensor::unflatten(std::int64_t axis, const Shape& sizes) const {
  const Called called;
  axis = axis_of("unflatten", axis, ndim());
  std::vector<Dim> result = dims();
  const auto at = result.begin() + axis;
  std::vector<Dim> parts = sizes.dims();
  const auto open = std::ranges::find_if(parts, is_minus_one, &Dim::uop);
  if (open == parts.end()) {
    want_product("unflatten", *at, parts);
  } else {
    if (std::ranges::count_if(parts, is_minus_one, &Dim::uop) > 1)
      user_error("unflatten: -1 stands for one size alone");
    std::int64_t rest = 1;
    for (const Dim& part : parts)
      if (!is_minus_one(part.uop()))
        rest = elements_of("unflatten", rest, constant_size("unflatten", part.uop()));
    const std::int64_t whole = constant_size("unflatten", at->uop());
    if (rest <= 0 || whole % rest != 0)
      user_error(
          fmt::format("unflatten: axis {} of size {} is no multiple of {}", axis, whole, rest));
    *open = Dim(whole / rest);
  }
  result.insert(result.erase(at), parts.begin(), parts.end());
  return reshape(Shape(result));
}

Tensor Tensor::squeeze(const AxisList& axes) const {
  const Called called;
  const Axes chosen = axes_of("squeeze", axes, ndim());
  std::vector<Dim> result;
  const std::vector<Dim> sizes = dims();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool drop = std::ranges::find(chosen, static_cast<std::int64_t>(i)) != chosen.end();
    if (!drop || !sizes[i].uop()->is_const_int(1)) result.push_back(sizes[i]);
  }
  return reshape(Shape(result));
}

Tensor Tensor::unsqueeze(std::int64_t axis) const {
  const Called called;
  std::vector<Dim> sizes = dims();
  sizes.insert(sizes.begin() + axis_of("unsqueeze", axis, ndim() + 1), Dim(1));
  return reshape(Shape(sizes));
}

Tensor Tensor::permute(const AxisList& order) const {
  const Called called;
  const Axes axes = axes_of("permute", order, ndim());
  if (std::ssize(axes) != ndim())
    user_error(
        fmt::format("permute: {} axes for a tensor of shape {}", axes.size(), shape_text(uop())));
  return viewed(weft::permute(uop(), axes));
}

Tensor Tensor::transpose(std::int64_t axis0, std::int64_t axis1) const {
  const Called called;
  Axes order(static_cast<std::size_t>(ndim()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(axis_of("transpose", axis0, ndim()))],
            order[static_cast<std::size_t>(axis_of("transpose", axis1, ndim()))]);
  return permute(order);
}

Tensor Tensor::swapaxes(std::int64_t axis0, std::int64_t axis1) const {
  const Called called;
  return transpose(axis_of("swapaxes", axis0, ndim()), axis_of("swapaxes", axis1, ndim()));
}

Tensor Tensor::mT() const {
  const Called called;
  if (ndim() < 2) user_error(fmt::format("mT: shape {} has no two axes", shape_text(uop())));
  return transpose(-1, -2);
}

Tensor Tensor::movedim(const AxisList& from, const AxisList& to) const {
  const Called called;
  const Axes sources = axes_of("movedim", from, ndim()), targets = axes_of("movedim", to, ndim());
  if (sources.size() != targets.size())
    user_error(fmt::format("movedim: {} axes to {} places: want as many of each", sources.size(),
                           targets.size()));
  Axes order(static_cast<std::size_t>(ndim()), -1);
  for (std::size_t i = 0; i < sources.size(); ++i)
    order[static_cast<std::size_t>(targets[i])] = sources[i];
  std::int64_t rest = 0;
  for (std::int64_t& axis : order) {
    if (axis >= 0) continue;
    while (std::ranges::find(sources, rest) != sources.end()) ++rest;
    axis = rest++;
  }
  return permute(order);
}

Tensor Tensor::T() const {
  const Called called;
  Axes order(static_cast<std::size_t>(ndim()));
  std::iota(order.rbegin(), order.rend(), 0);
  return permute(order);
}

Tensor Tensor::expand(const Shape& shape) const {
  const Called called;
  const std::size_t own = uop()->dims().size(), wanted = shape.dims().size();
  if (wanted < own)
    user_error(fmt::format("expand: {} sizes for a tensor of shape {}", wanted, shape_text(uop())));
  std::vector<Dim> from(wanted - own, Dim(1));
  for (const Dim& dim : dims()) from.push_back(dim);
  const Tensor base = reshape(Shape(from));
  Sizes sizes;
  for (std::size_t i = 0; i < wanted; ++i) {
    const Dim& dim = shape.dims()[i];
    sizes.push_back(is_minus_one(dim.uop()) ? from[i].uop() : dim.uop());
    if (!from[i].uop()->is_const_int(1) && !from[i].is_symbolic() && !from[i].uop().is(sizes[i]))
      user_error(fmt::format("expand: axis {} of shape {} cannot become {}", i, shape_text(uop()),
                             size_text(sizes[i])));
  }
  return base.viewed(weft::expand(base.uop(), sizes));
}

std::vector<Tensor> Tensor::broadcast_tensors(const std::vector<Tensor>& tensors) {
  const Called called;
  std::vector<UOp> graphs;
  for (const Tensor& tensor : tensors) graphs.push_back(tensor.uop());
  const Sizes sizes = broadcast_sizes("broadcast_tensors", graphs);
  std::vector<Tensor> results;
  for (const Tensor& tensor : tensors)
    results.push_back(tensor.expand(Shape(std::vector<Dim>(sizes.begin(), sizes.end()))));
  return results;
}

Tensor Tensor::atleast_1d() const { return Called(), ndim() == 0 ? reshape({1}) : *this; }
Tensor Tensor::atleast_2d() const {
  return Called(), ndim() < 2 ? atleast_1d().unsqueeze(0) : *this;
}
Tensor Tensor::atleast_3d() const {
  return Called(), ndim() < 3 ? atleast_2d().unsqueeze(2) : *this;
}

Tensor Tensor::flip(const AxisList& axes) const {
  return Called(), viewed(weft::flip(uop(), axes_of("flip", axes, ndim())));
}

Tensor Tensor::fliplr() const {
  const Called called;
  if (ndim() < 2) user_error(fmt::format("fliplr: shape {} has no axis 1", shape_text(uop())));
  return flip(1);
}

Tensor Tensor::flipud() const {
  const Called called;
  if (ndim() < 1) user_error("flipud: shape () has no axis 0");
  return flip(0);
}

Tensor Tensor::rot90(std::int64_t times, const AxisList& axes) const {
  const Called called;
  const Axes both = axes_of("rot90", axes, ndim());
  if (both.size() != 2)
    user_error(
        fmt::format("rot90: {} axes of shape {}: expected two", both.size(), shape_text(uop())));
  Tensor turned = *this;
  for (std::int64_t i = floor_mod<std::int64_t>(times, 4); i > 0; --i)
    turned = turned.flip(both[1]).transpose(both[0], both[1]);
  return turned;
}

Tensor Tensor::detach() const {
  const Called called;
  const UOp graph = uop();
  Tensor tensor = viewed(make(Op::Detach, {graph}));
  tensor.state_->tracked = false;
  tensor.state_->detached = true;
  return tensor;
}

}  // namespace weft
