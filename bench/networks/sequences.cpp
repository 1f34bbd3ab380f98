#include <cmath>
#include <vector>

#include "families.h"

namespace weft::bench {
namespace {

struct Heads {
  std::int64_t count, width;  // of each
  std::int64_t all() const { return count * width; }
};

// A batch of sequences as one for each head.
Value by_head(Drawn& net, const Value& x, const Heads& heads) {
  const Value split = net.reshape(x, {x.size(0), x.size(1), heads.count, heads.width});
  return net.transpose(split, {0, 2, 1, 3});
}

std::vector<Value> projections(Drawn& net, const Value& x, const Value& memory,
                               const Heads& heads) {
  if (x.name == memory.name && net.chance(0.5)) {
    const Value all = net.linear(x, 3 * heads.all());
    return net.split(all, {heads.all(), heads.all(), heads.all()}, 2);
  }
  return {net.linear(x, heads.all()), net.linear(memory, heads.all()),
          net.linear(memory, heads.all())};
}

// 0 where a token may look, and far below where it may not.
Value causal_mask(Drawn& net, std::int64_t length) {
  std::vector<float> all;
  for (std::int64_t row = 0; row < length; ++row)
    for (std::int64_t column = 0; column < length; ++column)
      all.push_back(column <= row ? 0 : -1e4F);
  return net.constant(all, {length, length});
}

Value attended(Drawn& net, const Value& x, const Value& memory, const Heads& heads,
               bool is_causal) {
  const auto parts = projections(net, x, memory, heads);
  const Value q = by_head(net, parts[0], heads), v = by_head(net, parts[2], heads);
  const Value k = net.transpose(by_head(net, parts[1], heads), {0, 1, 3, 2});
  const Shape shape{x.size(0), heads.count, x.size(1), memory.size(1)};
  Value scores = net.node("MatMul", {q, k}, shape);
  const float scale = 1 / std::sqrt(static_cast<float>(heads.width));
  scores = net.binary("Mul", scores, net.constant({scale}, {}));
  if (is_causal) scores = net.binary("Add", scores, causal_mask(net, x.size(1)));
  const Value shares = net.node("Softmax", {scores}, shape, {{"axis", -1}});
  const Value mixed = net.node("MatMul", {shares, v}, q.shape);
  const Value joined =
      net.reshape(net.transpose(mixed, {0, 2, 1, 3}), {x.size(0), x.size(1), heads.all()});
  return net.linear(joined, x.size(2));
}

Value root_mean_square(Drawn& net, const Value& x) {
  const Value square = net.binary("Mul", x, x);
  const Value mean = net.reduce("ReduceMean", square, {2}, true);
  const Value root = net.unary("Sqrt", net.binary("Add", mean, net.constant({1e-5F}, {})));
  return net.binary("Mul", net.binary("Div", x, root), net.numbers({x.size(2)}, 0.5, 1.5));
}

Value gated(Drawn& net, const Value& x, std::int64_t inner) {
  const Value gate = net.linear(x, inner);
  const Value open = net.binary("Mul", gate, net.unary("Sigmoid", gate));
  return net.linear(net.binary("Mul", open, net.linear(x, inner)), x.size(2));
}

// How the blocks of one network are made.
struct Block {
  Heads heads;
  bool is_causal, is_first, is_gated, has_means;
  std::int64_t inner;
};

Value normalised_tokens(Drawn& net, const Value& x, const Block& block) {
  return block.has_means ? net.layernorm(x) : root_mean_square(net, x);
}

Value residual(Drawn& net, const Value& x, const Block& block, const auto& step) {
  if (block.is_first) return net.binary("Add", x, step(normalised_tokens(net, x, block)));
  return normalised_tokens(net, net.binary("Add", x, step(x)), block);
}

Value block_of(Drawn& net, Value x, const Value* memory, const Block& block) {
  x = residual(net, x, block,
               [&](const Value& y) { return attended(net, y, y, block.heads, block.is_causal); });
  if (memory != nullptr)
    x = residual(net, x, block,
                 [&](const Value& y) { return attended(net, y, *memory, block.heads, false); });
  return residual(net, x, block, [&](const Value& y) {
    if (block.is_gated) return gated(net, y, block.inner);
    return net.linear(net.activation(net.linear(y, block.inner)), y.size(2));
  });
}

// The rows of the table for numbers of words, and what is added for their places.
Value embedded(Drawn& net, const Shape& shape, const Value& table) {
  const Value words = net.tokens({shape[0], shape[1]}, table.size(0));
  const Value x = net.node("Gather", {table, words}, shape);
  return net.binary("Add", x, net.numbers({shape[1], shape[2]}, -0.1F, 0.1F));
}

}  // namespace

Value attention(Drawn& net) {
  const Heads heads{net.between(1, 8), net.one_of<std::int64_t>({8, 16, 32, 40, 64})};
  const std::int64_t width = net.chance(0.8) ? heads.all() : heads.all() + net.between(1, 9);
  const std::int64_t length =
      net.chance(0.6) ? net.one_of<std::int64_t>({1, 16, 64, 128, 196, 256}) : net.between(2, 200);
  const Shape shape{net.chance(0.3) ? net.between(2, 5) : 1, length, width};
  const Block block{heads,           net.chance(0.4), net.chance(0.7),
                    net.chance(0.3), net.chance(0.7), net.between(1, 4) * width};
  const bool has_words = net.chance(0.5);
  const Value table =
      has_words ? net.numbers({net.between(50, 3000), width}, -1, 1) : Value{"", {}};
  Value x = has_words ? embedded(net, shape, table) : net.input(shape);
  const bool has_memory = net.chance(0.25);
  const Value memory =
      has_memory ? net.input({shape[0], net.between(3, 150), width}) : Value{"", {}};
  const std::int64_t blocks = net.between(1, 3);
  for (std::int64_t i = 0; i < blocks; ++i)
    x = block_of(net, x, has_memory ? &memory : nullptr, block);
  if (!has_words || net.chance(0.3)) return net.layernorm(x);
  const Value turned = net.transpose(table, {1, 0});  // by the table that the words come from
  return net.node("MatMul", {x, turned}, {shape[0], length, table.size(0)});
}

Value recurrent(Drawn& net) {
  const std::string op = net.one_of({"LSTM", "GRU", "RNN"});
  const std::int64_t gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
  const std::int64_t length = net.between(1, 60), batch = net.between(1, 8);
  Value x = net.input({length, batch, net.between(3, 80)});
  const std::int64_t layers = net.between(1, 2);
  for (std::int64_t i = 0; i < layers; ++i) {
    const bool is_both = net.chance(0.4);
    const std::int64_t ways = is_both ? 2 : 1, hidden = net.between(4, 128);
    const Value w = net.weight({ways, gates * hidden, x.size(2)}, x.size(2));
    const Value r = net.weight({ways, gates * hidden, hidden}, hidden);
    const Value bias = net.numbers({ways, 2 * gates * hidden}, -0.1F, 0.1F);
    const Value y =
        net.node(op, {x, w, r, bias}, {length, ways, batch, hidden},
                 {{"hidden_size", hidden}, {"direction", is_both ? "bidirectional" : "forward"}});
    x = net.reshape(net.transpose(y, {0, 2, 1, 3}), {length, batch, ways * hidden});
  }
  return net.linear(x, net.between(1, 40));
}

Value sound(Drawn& net) {
  const std::int64_t length = net.one_of<std::int64_t>({400, 1000, 1600, 4000, 8000});
  Value x = net.input({1, net.between(1, 2), length});
  const std::int64_t layers = net.between(2, 4);
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::int64_t channels = net.between(4, 64), kernel = net.between(1, 25);
    const std::int64_t dilation = net.chance(0.3) ? net.between(2, 8) : 1;
    const std::int64_t stride = x.size(2) > 500 ? net.between(1, 4) : 1;
    const std::int64_t groups = net.chance(0.2) && channels % x.size(1) == 0 ? x.size(1) : 1;
    const std::int64_t zeros = dilation * (kernel - 1);
    const Shape shape{1, channels, (x.size(2) - 1) / stride + 1};
    const Value w = net.weight({channels, x.size(1) / groups, kernel}, x.size(1) / groups * kernel);
    const Value y = net.node("Conv", {x, w, net.weight({channels})}, shape,
                             {{"kernel_shape", {kernel}},
                              {"strides", {stride}},
                              {"dilations", {dilation}},
                              {"group", groups},
                              {"pads", {zeros, 0}}});  // nothing that comes later is known
    const bool adds = shape == x.shape && net.chance(0.5);
    x = net.activation(net.chance(0.5) ? normalised(net, y) : y);
    if (adds) x = net.binary("Add", x, y);
  }
  if (net.chance(0.3)) {
    const std::int64_t channels = net.between(1, 16);
    return net.node("ConvTranspose", {x, net.weight({x.size(1), channels, 4}, x.size(1))},
                    {1, channels, 2 * x.size(2)},
                    {{"kernel_shape", {4}}, {"strides", {2}}, {"pads", {1, 1}}});
  }
  return net.linear(net.transpose(x, {0, 2, 1}), net.between(2, 50));
}

Value volume(Drawn& net) {
  const std::int64_t size = net.between(6, 20);
  Value x = net.input({1, net.between(1, 4), net.between(3, 16), size, size});
  const std::int64_t layers = net.between(1, 3);
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::int64_t channels = net.between(4, 32), kernel = net.one_of<std::int64_t>({1, 3});
    const Shape shape{1, channels, x.size(2), x.size(3), x.size(4)};
    const std::int64_t zeros = kernel / 2;
    const Value w = net.weight({channels, x.size(1), kernel, kernel, kernel},
                               x.size(1) * kernel * kernel * kernel);
    x = net.node("Conv", {x, w}, shape,
                 {{"kernel_shape", {kernel, kernel, kernel}},
                  {"pads", {zeros, zeros, zeros, zeros, zeros, zeros}}});
    x = net.activation(normalised(net, x));
  }
  return net.linear(net.reduce("ReduceMean", x, {2, 3, 4}, false), net.between(2, 20));
}

}  // namespace weft::bench
