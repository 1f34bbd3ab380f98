#include <algorithm>
#include <vector>

#include "families.h"

namespace weft::bench {
namespace {

Shape drawn_shape(Drawn& net) {
  Shape shape;
  const std::int64_t rank = net.between(2, 4);
  const std::int64_t most = rank == 2 ? 1200 : rank == 3 ? 120 : 40;
  for (std::int64_t i = 0; i < rank; ++i)
    shape.push_back(net.chance(0.15) ? net.between(1, 7)
                                     : net.one_of<std::int64_t>({most, most / 2, most / 4 * 3 + 1,
                                                                 net.between(2, most)}));
  return shape;
}

// Some of its axes have one element.
Shape narrowed(Drawn& net, Shape shape) {
  for (std::int64_t& size : shape)
    if (net.chance(0.5)) size = 1;
  return shape;
}

std::vector<std::int64_t> some_axes(Drawn& net, const Value& x) {
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < x.rank(); ++i)
    if (net.chance(0.4)) axes.push_back(static_cast<std::int64_t>(i));
  if (axes.empty()) axes.push_back(net.between(0, static_cast<std::int64_t>(x.rank()) - 1));
  return axes;
}

std::string drawn_reduction(Drawn& net) {
  return net.one_of({"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2",
                     "ReduceLogSumExp", "ReduceSumSquare"});
}

// Less its mean, or as shares of its sum.
Value centred(Drawn& net, const Value& x) {
  const auto axes = some_axes(net, x);
  if (net.chance(0.3)) return net.node("Softmax", {x}, x.shape, {{"axis", axes.back()}});
  const Value less = net.binary("Sub", x, net.reduce("ReduceMean", x, axes, true));
  if (net.chance(0.5)) return less;
  const Value length = net.reduce("ReduceL2", less, axes, true);
  return net.binary("Div", less, net.binary("Add", length, net.constant({1e-3F}, {})));
}

std::size_t drawn_axis(Drawn& net, const Value& x) {
  return static_cast<std::size_t>(net.between(0, static_cast<std::int64_t>(x.rank()) - 1));
}

Value part(Drawn& net, const Value& x, std::size_t axis) {
  const std::int64_t size = x.size(axis);
  if (size < 4) return x;
  const std::int64_t start = net.between(0, size / 4), step = net.chance(0.2) ? 2 : 1;
  return net.slice(x, axis, start, net.between(size / 2 + 1, size), step);
}

Value joined(Drawn& net, const Value& x) {
  const std::size_t axis = drawn_axis(net, x);
  const Value active = net.activation(x);
  const Value other = net.binary("Mul", active, net.constant({2}, {}));
  return net.concat({x, net.chance(0.5) ? part(net, other, axis) : other}, axis);
}

Value turned(Drawn& net, const Value& x) {
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < x.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  for (std::size_t i = axes.size(); i-- > 1;)
    std::swap(axes[i],
              axes[static_cast<std::size_t>(net.between(0, static_cast<std::int64_t>(i)))]);
  return net.transpose(x, axes);
}

Value gathered(Drawn& net, const Value& x) {
  const std::int64_t axis = net.between(0, static_cast<std::int64_t>(x.rank()) - 1);
  std::vector<std::int64_t> places(static_cast<std::size_t>(net.between(1, 40)));
  Shape shape = x.shape;
  std::int64_t& size = shape[static_cast<std::size_t>(axis)];
  for (std::int64_t& place : places) place = net.between(0, size - 1);
  size = static_cast<std::int64_t>(places.size());
  return net.node("Gather", {x, {net.integers(places), {size}}}, shape, {{"axis", axis}});
}

Value step(Drawn& net, const Value& x) {
  switch (net.between(0, 9)) {
    case 0: return net.binary("Mul", x, net.numbers(narrowed(net, x.shape), -1, 1));
    case 1: return net.binary("Add", net.numbers(narrowed(net, x.shape), -1, 1), x);
    case 2: return centred(net, x);
    case 3: return part(net, x, drawn_axis(net, x));
    case 4: return elements_of(x.shape) < 400'000 ? joined(net, x) : x;
    case 5: return turned(net, x);
    case 6: return gathered(net, x);
    case 7:
      return x.shape.back() > 1 && x.shape.back() < 1300 ? net.linear(x, net.between(1, 300)) : x;
    case 8: {
      const Value axis{net.integers({net.between(0, static_cast<std::int64_t>(x.rank()) - 1)}),
                       {1}};
      return net.node("CumSum", {x, axis}, x.shape);
    }
    default: return net.activation(x);
  }
}

}  // namespace

Value table(Drawn& net) {
  Value x = net.input(drawn_shape(net));
  const std::int64_t steps = net.between(2, 9);
  for (std::int64_t i = 0; i < steps; ++i)
    if (elements_of(x.shape) < 2'000'000) x = step(net, x);
  const std::string op = drawn_reduction(net);
  const auto axes = some_axes(net, x);
  const Value y = net.reduce(op, x, axes, net.chance(0.5));
  return net.unary("Tanh", y);
}

}  // namespace weft::bench
