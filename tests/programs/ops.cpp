// What random programs are made of.

#include "draft.h"

namespace weft {
namespace {

Tensor::Bounds pairs(const Numbers& n) {
  Tensor::Bounds bounds;
  for (std::size_t i = 0; i + 1 < n.size(); i += 2) bounds.emplace_back(n[i], n[i + 1]);
  return bounds;
}

// The expression as text, and as a function of the names that it may use.
#define EXPRESSION(...)                                                       \
  #__VA_ARGS__,                                                               \
      []([[maybe_unused]] Tensor x, [[maybe_unused]] const Tensor& y,         \
         [[maybe_unused]] const Tensor& z, const Constants& with) -> Tensor { \
        [[maybe_unused]] const auto& [n, i, j, k, dtype] = with;              \
        [[maybe_unused]] const Tensor::Bounds bounds = pairs(n);              \
        return __VA_ARGS__;                                                   \
      }

constexpr KindSet all = KindSet::all(), ints = int_kinds, floats = float_kinds, bools{Kind::Bool},
                  numbers = ints | floats, bits = ints | bools;

constexpr auto none = nullptr;

// clang-format off
const std::vector<ProgramOp> table{
    // Elementwise, of one tensor.
    {EXPRESSION(-x),                       2, numbers, 0, none},
    {EXPRESSION(~x),                       1, bits,    0, none},
    {EXPRESSION(!x),                       1, all,     0, none},
    {EXPRESSION(x + 3),                    2, numbers, 0, none},
    {EXPRESSION(2 - x),                    1, numbers, 0, none},
    {EXPRESSION(x * 0.5),                  2, floats,  0, none},
    {EXPRESSION(1 / x),                    1, floats,  0, none},
    {EXPRESSION(x / 3),                    1, numbers, 0, none},
    {EXPRESSION(x.floordiv(-3)),           1, ints,    0, none},
    {EXPRESSION(x % 3),                    1, numbers, 0, none},
    {EXPRESSION(x << i),                   1, ints,    0, draw::few},
    {EXPRESSION(x >> i),                   1, ints,    0, draw::few},
    {EXPRESSION(x.pow(2)),                 1, numbers, 0, none},
    {EXPRESSION(x.pow(-0.5)),              1, floats,  0, none},
    {EXPRESSION(x.abs()),                  2, numbers, 0, none},
    {EXPRESSION(x.sign()),                 1, numbers, 0, none},
    {EXPRESSION(x.square()),               1, numbers, 0, none},
    {EXPRESSION(x.sqrt()),                 1, floats,  0, none},
    {EXPRESSION(x.rsqrt()),                1, floats,  0, none},
    {EXPRESSION(x.exp()),                  1, floats,  0, none},
    {EXPRESSION(x.exp2()),                 1, floats,  0, none},
    {EXPRESSION(x.log()),                  1, floats,  0, none},
    {EXPRESSION(x.log2()),                 1, floats,  0, none},
    {EXPRESSION(x.sin()),                  2, floats,  0, none},
    {EXPRESSION(x.cos()),                  1, floats,  0, none},
    {EXPRESSION(x.tan()),                  1, floats,  0, none},
    {EXPRESSION(x.erf()),                  1, floats,  0, none},
    {EXPRESSION(x.tanh()),                 2, floats,  0, none},
    {EXPRESSION(x.sigmoid()),              2, floats,  0, none},
    {EXPRESSION(x.silu()),                 1, floats,  0, none},
    {EXPRESSION(x.gelu()),                 1, floats,  0, none},
    {EXPRESSION(x.softplus()),             1, floats,  0, none},
    {EXPRESSION(x.relu()),                 2, numbers, 0, none},
    {EXPRESSION(x.clamp(-1, 2)),           2, numbers, 0, none},
    {EXPRESSION(x.trunc()),                1, floats,  0, none},
    {EXPRESSION(x.floor()),                1, floats,  0, none},
    {EXPRESSION(x.ceil()),                 1, floats,  0, none},
    {EXPRESSION(x.round()),                1, floats,  0, none},
    {EXPRESSION(x.isnan()),                1, floats,  0, none},
    {EXPRESSION(x.isfinite()),             1, floats,  0, none},
    {EXPRESSION(x.cast(dtype)),            6, all,     0, draw::cast},
    {EXPRESSION(x.bitcast(dtype)),         2, numbers, 0, draw::bitcast},
    {EXPRESSION(x.contiguous()),           2, all,     0, none},
    {EXPRESSION(x.detach()),               1, all,     0, none},

    // Of several.
    {EXPRESSION(x + y),                    4, all,     0, none, {shape::broadcast, numbers}},
    {EXPRESSION(x - y),                    3, all,     0, none, {shape::broadcast, numbers}},
    {EXPRESSION(x * y),                    4, all,     0, none, {shape::broadcast, numbers}},
    {EXPRESSION(x / y),                    2, all,     0, none, {shape::broadcast, numbers}},
    {EXPRESSION(y - x),                    1, all,     0, none, {shape::broadcast, numbers}},
    {EXPRESSION(x % y),                    1, numbers, 0, none, {shape::broadcast, numbers}},
    {EXPRESSION(x.floordiv(y)),            1, numbers, 0, none, {shape::broadcast, numbers}},
    {EXPRESSION(x.pow(y)),                 1, floats,  0, none, {shape::broadcast, numbers}},
    {EXPRESSION(x.maximum(y)),             2, all,     0, none, {shape::broadcast, all}},
    {EXPRESSION(x.minimum(y)),             2, all,     0, none, {shape::broadcast, all}},
    {EXPRESSION(x & y),                    1, bits,    0, none, {shape::broadcast, bits}},
    {EXPRESSION(x | y),                    1, bits,    0, none, {shape::broadcast, bits}},
    {EXPRESSION(x ^ y),                    1, bits,    0, none, {shape::broadcast, bits}},
    {EXPRESSION(x << y),                   1, ints,    0, none, {shape::broadcast, ints}},
    {EXPRESSION(x >> y),                   1, ints,    0, none, {shape::broadcast, ints}},
    {EXPRESSION(x < y),                    1, all,     0, none, {shape::broadcast, all}},
    {EXPRESSION(x <= y),                   1, all,     0, none, {shape::broadcast, all}},
    {EXPRESSION(x > y),                    1, all,     0, none, {shape::broadcast, all}},
    {EXPRESSION(x == y),                   1, all,     0, none, {shape::broadcast, all}},
    {EXPRESSION(x != y),                   1, all,     0, none, {shape::broadcast, all}},
    {EXPRESSION((x > 0).where(x, y)),      2, numbers, 0, none, {shape::broadcast, numbers}},
    {EXPRESSION(x.masked_fill(y, 1)),      1, all,     0, none, {shape::broadcast, bools}},
    {EXPRESSION(x.lerp(y, 0.25)),          1, floats,  0, none, {shape::broadcast, floats}},
    {EXPRESSION(y.where(x, z)),            2, numbers, 0, none, {shape::broadcast, bools}, {shape::broadcast, numbers}},

    // Movement.
    {EXPRESSION(x.reshape(n)),             5, all,     0, draw::sizes},
    {EXPRESSION(x.permute(n)),             5, all,     0, draw::permutation},
    {EXPRESSION(x.expand(n)),              4, all,     0, draw::expanded},
    {EXPRESSION(x.pad(bounds)),            4, all,     0, draw::padding},
    {EXPRESSION(x.pad(bounds, 2)),         1, numbers, 0, draw::padding},
    {EXPRESSION(x.shrink(bounds)),         4, all,     0, draw::part},
    {EXPRESSION(x.flip(n)),                4, all,     0, draw::axes},
    {EXPRESSION(x.slice(i, Slice{j, k})),  2, all,     1, draw::slice},
    {EXPRESSION(x.slice(i, Slice{{}, {}, 2})),  2, all, 1, draw::axis},
    {EXPRESSION(x.slice(i, Slice{{}, {}, -2})), 1, all, 1, draw::axis},
    {EXPRESSION(x.unsqueeze(i)),           2, all,     0, draw::axis},
    {EXPRESSION(x.repeat(n)),              1, all,     1, draw::kernel},
    {EXPRESSION(x.roll(j, i)),             1, all,     1, draw::shift},
    {EXPRESSION(x.T()),                    1, all,     0, none},
    {EXPRESSION(x.diagonal()),             1, all,     2, none},
    {EXPRESSION(x.triu(i)),                1, all,     2, draw::few},
    {EXPRESSION(x.tril()),                 1, all,     2, none},
    {EXPRESSION(Tensor::cat({x, y}, i)),   4, all,     1, draw::axis, {shape::joined}},
    {EXPRESSION(Tensor::stack({x, y}, i)), 2, all,     0, draw::axis, {shape::same}},

    // Reductions.
    {EXPRESSION(x.sum(n)),                 4, all,     0, draw::axes},
    {EXPRESSION(x.sum(n, true)),           2, all,     0, draw::axes},
    {EXPRESSION(x - x.sum(n, true)),       1, numbers, 0, draw::axes},
    {EXPRESSION(x.prod(n)),                2, numbers, 0, draw::axes},
    {EXPRESSION(x.max(n)),                 3, all,     0, draw::axes},
    {EXPRESSION(x.min(n, true)),           2, all,     0, draw::axes},
    {EXPRESSION(x.any(n)),                 1, all,     0, draw::axes},
    {EXPRESSION(x.all(n)),                 1, all,     0, draw::axes},
    {EXPRESSION(x.mean(n)),                2, numbers, 0, draw::axes},
    {EXPRESSION(x.var(n)),                 1, floats,  1, draw::axes},
    {EXPRESSION(x.argmax(i)),              1, numbers, 1, draw::axis},
    {EXPRESSION(x.argmin(i, true)),        1, numbers, 1, draw::axis},
    {EXPRESSION(x.logsumexp(n)),           1, floats,  1, draw::axes},
    {EXPRESSION(x.softmax(i)),             2, floats,  1, draw::axis},
    {EXPRESSION(x.log_softmax(i)),         1, floats,  1, draw::axis},
    {EXPRESSION(x.cumsum(i)),              1, numbers, 1, draw::axis},
    {EXPRESSION(x.layernorm(i)),           1, floats,  1, draw::axis},
    {EXPRESSION(x.rmsnorm(i)),             1, floats,  1, draw::axis},

    // Products and windows.
    {EXPRESSION(x.matmul(y)),              4, all,     1, none, {shape::factor, numbers}},
    {EXPRESSION(x.conv2d(y, {}, 1, i, 1, j)), 2, numbers, 4, draw::window, {shape::weight, numbers}},
    {EXPRESSION(x.max_pool(n)),            1, numbers, 2, draw::kernel},
    {EXPRESSION(x.avg_pool(n)),            1, floats,  2, draw::kernel},
    {EXPRESSION(x.scaled_dot_product_attention(y, z)), 1, floats, 2, none, {shape::same, floats}, {shape::same, floats}},

    // By integer tensors.
    {EXPRESSION(x.take(y)),                3, all,     1, none, {shape::any, ints}},
    {EXPRESSION(x.gather(i, y)),           2, all,     1, draw::axis, {shape::inside, ints}},
    {EXPRESSION(x.one_hot(i)),             1, ints,    0, draw::few},

    // Assignment.
    {EXPRESSION(x.assign(y)),              2, all,     0, none, {shape::broadcast}, {}, true},
    {EXPRESSION(x.slice(i, Slice{j, k}).assign(y)), 3, all, 1, draw::slice, {shape::sliced}, {}, true},
    {EXPRESSION(x.slice(i, Slice{j, k}).fill(2)),   1, all, 1, draw::slice, {}, {}, true},

    // Gradients.
    {EXPRESSION((x.tanh() * x.exp()).sum().gradient({x})[0]), 1, floats, 0, none},
    {EXPRESSION(x.softmax(i).max(i).sum().gradient({x})[0]), 1, floats, 1, draw::axis},
};
// clang-format on
#undef EXPRESSION

}  // namespace

const std::vector<ProgramOp>& program_ops() { return table; }

}  // namespace weft
