#include <algorithm>
#include <vector>

#include "families.h"

namespace weft::bench {
namespace {

std::int64_t size_after(std::int64_t size, std::int64_t kernel, const Window& window) {
  const std::int64_t reach = window.dilation * (kernel - 1) + 1;
  const std::int64_t zeros = window.keeps_size ? window.dilation * (kernel - 1) : 0;
  return (size + zeros - reach) / window.stride + 1;
}

std::vector<std::int64_t> zeros_around(const Window& window) {
  if (!window.keeps_size) return {0, 0, 0, 0};
  const std::int64_t rows = window.dilation * (window.rows - 1);
  const std::int64_t columns = window.dilation * (window.columns - 1);
  return {rows / 2, columns / 2, rows - rows / 2, columns - columns / 2};
}

Window square(std::int64_t size, std::int64_t stride = 1) {
  return {.rows = size, .columns = size, .stride = stride};
}

Window drawn_window(Drawn& net) {
  Window window;
  window.rows = window.columns = net.one_of<std::int64_t>({1, 1, 3, 3, 3, 3, 5, 7});
  if (net.chance(0.1)) (net.chance(0.5) ? window.rows : window.columns) = 1;
  if (window.rows + window.columns > 2 && net.chance(0.1)) window.dilation = 2;
  return window;
}

Value convolved(Drawn& net, const Value& x, std::int64_t channels, const Window& window) {
  return net.activation(normalised(net, convolution(net, x, channels, window)));
}

Value squeezed(Drawn& net, const Value& x) {
  const std::int64_t channels = x.size(1), fewer = std::max<std::int64_t>(4, channels / 8);
  const Value mean = net.reduce("ReduceMean", x, {2, 3}, true);
  const Value inner = net.unary("Relu", convolution(net, mean, fewer, {}));
  const Value share = net.unary("Sigmoid", convolution(net, inner, channels, {}));
  return net.binary("Mul", x, share);
}

// --- Blocks, which keep the size of the image ---

Value residual(Drawn& net, const Value& x) {
  const std::int64_t channels = x.size(1);
  const std::int64_t inner = net.chance(0.5) ? channels : std::max<std::int64_t>(8, channels / 4);
  Value y = convolved(net, x, inner, square(net.chance(0.5) ? 3 : 1));
  y = convolved(net, y, inner, square(3));
  y = normalised(net, convolution(net, y, channels, square(1)));
  return net.activation(net.binary("Add", y, x));
}

Value depthwise(Drawn& net, const Value& x) {
  const std::int64_t channels = x.size(1), inner = channels * net.between(1, 4);
  Value y = convolved(net, x, inner, {});
  Window window = square(net.one_of<std::int64_t>({3, 3, 5, 7}));
  window.groups = inner;
  y = convolved(net, y, inner, window);
  if (net.chance(0.3)) y = squeezed(net, y);
  y = normalised(net, convolution(net, y, channels, {}));
  return net.binary("Add", x, y);
}

Value grouped(Drawn& net, const Value& x) {
  const std::int64_t groups = net.one_of<std::int64_t>({2, 3, 4, 8});
  const std::int64_t inner = groups * net.between(2, 16);
  Value y = convolved(net, x, inner, {});
  Window window = square(3);
  window.groups = groups;
  y = convolved(net, y, inner, window);
  if (net.chance(0.5)) {  // channels of all groups take turns
    const Shape shape = y.shape;
    y = net.reshape(y, {shape[0], groups, inner / groups, shape[2], shape[3]});
    y = net.reshape(net.transpose(y, {0, 2, 1, 3, 4}), shape);
  }
  return net.binary("Add", x, convolution(net, y, x.size(1), {}));
}

Value inception(Drawn& net, const Value& x) {
  std::vector<Value> parts;
  const std::int64_t branches = net.between(2, 4);
  for (std::int64_t i = 0; i < branches; ++i) {
    Value y = i == 0 ? pool(net, net.one_of({"MaxPool", "AveragePool"}), x, 3, 1) : x;
    y = convolved(net, y, net.between(4, 40), {});
    const Window window = drawn_window(net);
    parts.push_back(i == 0 ? y : convolved(net, y, net.between(4, 48), window));
  }
  return net.concat(parts, 1);
}

Value dense(Drawn& net, Value x) {
  const std::int64_t growth = net.between(4, 24), layers = net.between(1, 3);
  for (std::int64_t i = 0; i < layers; ++i) {
    const Value inner = convolved(net, net.activation(normalised(net, x)), 2 * growth, {});
    x = net.concat({x, convolution(net, inner, growth, square(3))}, 1);
  }
  return x;
}

Value halves(Drawn& net, const Value& x) {
  const std::int64_t first = x.size(1) / 2;
  const auto parts = net.split(x, {first, x.size(1) - first}, 1);
  return net.concat({parts[0], convolved(net, parts[1], parts[1].size(1), square(3))}, 1);
}

Value block(Drawn& net, const Value& x) {
  switch (net.between(0, 6)) {
    case 0: return convolved(net, x, x.size(1), drawn_window(net));
    case 1: return residual(net, x);
    case 2: return depthwise(net, x);
    case 3: return grouped(net, x);
    case 4: return inception(net, x);
    case 5: return dense(net, x);
    default: return halves(net, x);
  }
}

Value smaller(Drawn& net, const Value& x, std::int64_t channels) {
  if (net.chance(0.4)) {
    const char* op = net.one_of({"MaxPool", "AveragePool"});
    const Value less = pool(net, op, x, net.between(2, 3), 2);
    return convolved(net, less, channels, square(1));
  }
  return convolved(net, x, channels, square(net.one_of<std::int64_t>({2, 3, 3, 5}), 2));
}

Value image(Drawn& net) {
  const std::int64_t size = net.one_of<std::int64_t>({28, 32, 48, 57, 64, 96, 112, 128});
  const std::int64_t columns = net.chance(0.2) ? size + net.between(1, 40) : size;
  return net.input({net.chance(0.2) ? net.between(2, 4) : 1, net.between(1, 3), size, columns});
}

// Fewer channels for larger images, so that no network takes long.
std::int64_t channels_for(Drawn& net, const Value& x, int stage) {
  const std::int64_t most = (x.size(2) > 64 ? 24 : 40) << stage;
  return net.chance(0.7) ? net.between(1, most / 8) * 8 : net.between(5, most);
}

// An image that gets smaller in a few stages, and all those that it was.
std::vector<Value> stages(Drawn& net, Value x) {
  const std::int64_t channels = channels_for(net, x, 0);
  x = convolved(net, x, channels,
                square(net.one_of<std::int64_t>({3, 5, 7}), x.size(2) > 60 ? 2 : 1));
  std::vector<Value> all;
  const int count = static_cast<int>(net.between(1, 3));
  for (int stage = 0; stage < count && x.size(2) >= 8; ++stage) {
    if (stage > 0) x = smaller(net, x, channels_for(net, x, stage));
    const std::int64_t blocks = net.between(1, 3);
    for (std::int64_t i = 0; i < blocks; ++i) x = block(net, x);
    if (net.chance(0.1) && x.size(2) > 16)
      x = convolved(net, x, x.size(1), {.rows = 3, .columns = 3, .keeps_size = false});
    all.push_back(x);
  }
  return all;
}

Value classes(Drawn& net, const Value& x) {
  const Value means = net.chance(0.7) ? net.reduce("ReduceMean", x, {2, 3}, false)
                                      : net.reduce("ReduceMax", x, {2, 3}, false);
  const std::int64_t count = net.one_of<std::int64_t>({2, 7, 10, 100, 365, 1000});
  return net.node("Softmax", {net.linear(means, count)}, {x.size(0), count}, {{"axis", -1}});
}

// Twice as large.
Value larger(Drawn& net, const Value& x, std::int64_t channels) {
  const Shape shape{x.size(0), x.size(1), 2 * x.size(2), 2 * x.size(3)};
  if (net.chance(0.4)) {
    const Shape result{x.size(0), channels, shape[2], shape[3]};
    return net.node("ConvTranspose", {x, net.weight({x.size(1), channels, 2, 2}, x.size(1))},
                    result, {{"strides", {2, 2}}, {"kernel_shape", {2, 2}}});
  }
  const onnx::Attributes nearest{{"mode", "nearest"},
                                 {"coordinate_transformation_mode", "asymmetric"},
                                 {"nearest_mode", "floor"}};
  const onnx::Attributes linear{{"mode", "linear"}};
  const Value none{"", {}}, sizes{net.integers(shape), {4}};
  const Value y =
      net.node("Resize", {x, none, none, sizes}, shape, net.chance(0.5) ? nearest : linear);
  return convolution(net, y, channels, square(net.chance(0.5) ? 3 : 1));
}

}  // namespace

Value convolution(Drawn& net, const Value& x, std::int64_t channels, const Window& window) {
  const std::int64_t each = x.size(1) / window.groups;
  std::vector<Value> inputs{x, net.weight({channels, each, window.rows, window.columns},
                                          each * window.rows * window.columns)};
  if (net.chance(0.5)) inputs.push_back(net.weight({channels}));
  const Shape shape{x.size(0), channels, size_after(x.size(2), window.rows, window),
                    size_after(x.size(3), window.columns, window)};
  return net.node("Conv", inputs, shape,
                  {{"kernel_shape", {window.rows, window.columns}},
                   {"strides", {window.stride, window.stride}},
                   {"dilations", {window.dilation, window.dilation}},
                   {"group", window.groups},
                   {"pads", zeros_around(window)}});
}

Value pool(Drawn& net, const std::string& op, const Value& x, std::int64_t size,
           std::int64_t stride) {
  const Window window{.rows = size, .columns = size, .stride = stride};
  onnx::Attributes attributes{{"kernel_shape", {size, size}},
                              {"strides", {stride, stride}},
                              {"pads", zeros_around(window)}};
  if (op == "AveragePool") attributes.emplace_back("count_include_pad", net.between(0, 1));
  const Shape shape{x.size(0), x.size(1), size_after(x.size(2), size, window),
                    size_after(x.size(3), size, window)};
  return net.node(op, {x}, shape, attributes);
}

Value normalised(Drawn& net, const Value& x) {
  const Shape channels{x.size(1)};
  const auto scales = [&] { return net.numbers(channels, 0.5, 1.5); };
  const auto offsets = [&] { return net.numbers(channels, -0.1F, 0.1F); };
  switch (net.between(0, 9)) {
    case 0: return x;
    case 1: return net.node("InstanceNormalization", {x, scales(), offsets()}, x.shape);
    default:
      return net.node("BatchNormalization", {x, scales(), offsets(), offsets(), scales()}, x.shape);
  }
}

Value classifier(Drawn& net) { return classes(net, stages(net, image(net)).back()); }

Value encoder_decoder(Drawn& net) {
  const std::int64_t rows = 16 * net.between(2, 6), columns = 16 * net.between(2, 6);
  std::vector<Value> before;
  Value x = net.input({1, net.between(1, 3), rows, columns});
  const std::int64_t depth = net.between(1, 3), width = net.between(1, 3) * 8;
  for (std::int64_t i = 0; i < depth; ++i) {
    x = convolved(net, x, width << i, square(3));
    if (net.chance(0.5)) x = convolved(net, x, x.size(1), square(3));
    before.push_back(x);
    x = pool(net, net.one_of({"MaxPool", "AveragePool"}), x, 2, 2);
  }
  x = block(net, convolved(net, x, width << depth, square(3)));
  for (std::int64_t i = depth; i-- > 0;) {
    x = larger(net, x, width << i);
    const Value& kept = before[static_cast<std::size_t>(i)];
    x = net.chance(0.7) ? net.concat({x, kept}, 1) : net.binary("Add", x, kept);
    x = convolved(net, x, width << i, square(3));
  }
  return net.unary("Sigmoid", convolution(net, x, net.between(1, 21), square(1)));
}

Value detector(Drawn& net) {
  const std::int64_t numbers = net.between(5, 30), anchors = net.between(1, 3);
  std::vector<Value> rows;
  for (const Value& x : stages(net, image(net))) {
    Value head = convolved(net, x, net.between(2, 8) * 8, square(3));
    head = convolution(net, head, numbers * anchors, square(1));
    const std::int64_t places = head.size(2) * head.size(3);
    head = net.reshape(head, {head.size(0), anchors, numbers, places});
    head = net.transpose(head, {0, 1, 3, 2});
    rows.push_back(net.reshape(head, {head.size(0), anchors * places, numbers}));
  }
  const Value all = net.concat(rows, 1);
  const Value places = net.slice(all, 2, 0, 4, 1);
  const Value scores = net.unary("Sigmoid", net.slice(all, 2, 4, numbers, 1));
  return net.concat({net.unary("Exp", net.unary("Tanh", places)), scores}, 2);
}

// As networks are exported that were written so: transposed at both ends, products in between.
Value channels_last(Drawn& net) {
  const std::int64_t size = net.one_of<std::int64_t>({14, 28, 33, 48, 56, 64});
  const Value given = net.input({1, size, size, net.between(1, 16)});
  Value x = net.transpose(given, {0, 3, 1, 2});
  const std::int64_t channels = net.between(2, 8) * 8, patch = net.between(3, 4);
  x = convolved(net, x, channels, square(patch, net.between(1, 4)));
  const std::int64_t blocks = net.between(1, 3);
  for (std::int64_t i = 0; i < blocks; ++i) {
    Window window = square(net.one_of<std::int64_t>({3, 5, 7}));
    window.groups = net.chance(0.7) ? x.size(1) : 1;
    Value y = net.transpose(convolution(net, x, x.size(1), window), {0, 2, 3, 1});
    const std::int64_t inner = x.size(1) * net.between(1, 4);
    y = net.linear(net.layernorm(y), inner);
    y = net.linear(net.activation(y), x.size(1));
    y = net.binary("Mul", y, net.numbers({x.size(1)}, 0.1F, 1));
    x = net.binary("Add", x, net.transpose(y, {0, 3, 1, 2}));
    if (net.chance(0.3)) x = smaller(net, x, x.size(1) + net.between(0, 24));
  }
  return net.chance(0.5) ? classes(net, x) : net.transpose(x, {0, 2, 3, 1});
}

}  // namespace weft::bench
