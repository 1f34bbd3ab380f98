// Tensors in parts on several devices: everything is as on one.

#include <algorithm>
#include <optional>
#include <set>

#include <weft/dev/ir/graph.h>

#include "tensor_test.h"

namespace weft {
namespace {

using Names = std::vector<std::string>;
using Axis = std::optional<std::int64_t>;

// Of the kind that new tensors are on.
Names devices(int count) {
  const std::string all = default_device(), kind = all.substr(0, all.find(':'));
  Names names{kind};
  for (int i = 1; i < count; ++i) names.push_back(fmt::format("{}:{}", kind, i));
  return names;
}

std::string joined(const Names& names) { return fmt::format("{}", fmt::join(names, ",")); }

// Small integers and halves: sums of them are exact in any order.
Tensor exact(const Sizes64& shape, int seed) {
  std::int64_t count = 1;
  for (std::int64_t size : shape) count *= size;
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>((i * 7 + seed * 5) % 11 - 5) / 2);
  return Tensor(values).reshape(Shape(Sizes64(shape)));
}

::testing::AssertionResult same(const Tensor& parts, const Tensor& whole) {
  return near(parts, whole.to_vector<double>(), whole.shape());
}

std::string text_of(Axis axis) { return axis ? fmt::format("axis {}", *axis) : "whole"; }

struct Method {
  const char* name;
  Tensor (*apply)(const Tensor& a, const Tensor& b);
};

// On a of shape (4, 6, 3), b likewise.
// clang-format off
const Method methods[] = {
    {"elementwise",     [](auto a, auto b) { return (a * b + 1.5).exp2() - a.abs(); }},
    {"comparison",      [](auto a, auto b) { return (a < b).where(a, b * 2); }},
    {"cast",            [](auto a, auto b) { return (a.cast(dtypes::i32) + b.cast(dtypes::i8)).bitcast(dtypes::u32); }},
    {"number",          [](auto a, auto) { return 2 - a; }},
    {"sum of all",      [](auto a, auto b) { return (a * b).sum(); }},
    {"sum 0",           [](auto a, auto) { return a.sum(0); }},
    {"sum 1",           [](auto a, auto) { return a.sum(1, true); }},
    {"sum 0 2",         [](auto a, auto b) { return a.sum({0, 2}) * b.sum({0, 2}); }},
    {"max 0",           [](auto a, auto) -> Tensor { return a.max(0); }},
    {"min 1",           [](auto a, auto) -> Tensor { return a.min(1); }},
    {"prod 2",          [](auto a, auto) { return a.prod(2); }},
    {"mean, var",       [](auto a, auto b) { return a.mean(0).sum() + b.var(1); }},
    {"argmax",          [](auto a, auto) { return a.argmax(1); }},
    {"softmax",         [](auto a, auto) { return a.softmax(0) + a.softmax(1) + a.log_softmax(2); }},
    {"cumsum",          [](auto a, auto) { return a.cumsum(0) + a.cumsum(1); }},
    {"permute",         [](auto a, auto b) { return a.permute({2, 0, 1}) + b.permute({2, 0, 1}); }},
    {"transposed sum",  [](auto a, auto b) { return a.reshape({6, 4, 3}).transpose(0, 1) + b; }},
    {"flatten",         [](auto a, auto) { return a.flatten() * 2; }},
    {"split axes",      [](auto a, auto) { return a.reshape({2, 2, 3, 2, 3}) + 1; }},
    {"merge axes",      [](auto a, auto) { return a.reshape({24, 3}).sum(0); }},
    {"merge last axes", [](auto a, auto) { return a.reshape({4, 18}).sum(1); }},
    {"other sizes",     [](auto a, auto) { return a.reshape({8, 9}) + 1; }},
    {"expand",          [](auto a, auto) { return a.unsqueeze(1).expand({4, 5, 6, 3}) * 2; }},
    {"broadcast",       [](auto a, auto b) { return a + b.sum(0, true) + b.sum(1, true); }},
    {"pad 0",           [](auto a, auto) { return a.pad({{1, 2}, {0, 0}, {0, 0}}) + 1; }},
    {"pad 1 2",         [](auto a, auto) { return a.pad({{0, 0}, {2, 1}, {1, 0}}, -3); }},
    {"shrink",          [](auto a, auto) { return a.shrink({{1, 4}, {2, 5}, {0, 2}}) * 3; }},
    {"one end",         [](auto a, auto) { return a.shrink({{0, 1}, {0, 1}, {0, 1}}) + 1; }},
    {"row",             [](auto a, auto b) -> Tensor { return a[{3}] + b[{0}]; }},
    {"column",          [](auto a, auto b) -> Tensor { return a[{Slice(), 4}] - b[{Slice(), 0}]; }},
    {"steps",           [](auto a, auto) -> Tensor { return a[{Slice({}, {}, -2), Slice({}, {}, 2)}]; }},
    {"flip",            [](auto a, auto b) { return a.flip(0) + b.flip(1); }},
    {"flip all",        [](auto a, auto) { return a.flip({0, 1, 2}).contiguous(); }},
    {"roll",            [](auto a, auto) { return a.roll(1, 0) + a.roll(2, 1); }},
    {"cat",             [](auto a, auto b) { return Tensor::cat({a, b}, 0).sum(2) + 1; }},
    {"cat 1",           [](auto a, auto b) { return Tensor::cat({a, b, a}, 1); }},
    {"stack",           [](auto a, auto b) { return Tensor::stack({a, b}, 1); }},
    {"repeat",          [](auto a, auto) { return a.repeat({2, 1, 3}); }},
    {"matmul",          [](auto a, auto b) { return a.matmul(b.transpose(1, 2)); }},
    {"matmul of all",   [](auto a, auto b) { return a.reshape({4, 18}).matmul(b.reshape({4, 18}).transpose()); }},
    {"einsum",          [](auto a, auto b) { return Tensor::einsum("ijk,ilk->jl", {a, b}); }},
    {"convolution",     [](auto a, auto b) { return a.unsqueeze(1).conv2d(b.shrink({{0, 2}, {0, 3}, {0, 3}}).unsqueeze(1), {}, 1, 1, 1, 1); }},
    {"pool",            [](auto a, auto) { return a.unsqueeze(1).max_pool({2, 2}); }},
    {"layernorm",       [](auto a, auto) { return a.layernorm(-1) + a.layernorm({1, 2}); }},
    {"gelu",            [](auto a, auto b) { return a.gelu() * b.tanh(); }},
    {"triangle",        [](auto a, auto) { return a.tril() + a.triu(1); }},
    {"diagonal",        [](auto a, auto) { return a.diagonal(); }},
    {"like",            [](auto a, auto) { return a.zeros_like() + a.full_like(3) + a.ones_like().cumsum(0); }},
    {"arange",          [](auto a, auto) { return a + Tensor::arange(3, {.device = a.device()}); }},
    {"gather",          [](auto a, auto b) { return a.gather(1, (b.abs() * 2).cast(dtypes::i32)); }},
    {"take rows",       [](auto a, auto b) -> Tensor { return a[{(b[{Slice(), 0, 0}].abs() / 2).cast(dtypes::i32)}]; }},
    {"one hot",         [](auto a, auto) { return (a.abs() * 2).cast(dtypes::i32).one_hot(6); }},
    {"scatter",         [](auto a, auto b) { return a.scatter(1, (b.abs() * 2).cast(dtypes::i32).sort(1).values * 0 + 2, a); }},
    {"sort",            [](auto a, auto) { return a.sort(1).values + a.sort(0).values; }},
    {"masked",          [](auto a, auto b) { return a.masked_fill(b > 0, 7); }},
    {"int sum",         [](auto a, auto) { return a.cast(dtypes::i8).sum(0); }},
    {"any",             [](auto a, auto b) { return (a > 2).any(0).cast(dtypes::i32) + (b < 2).all({0, 1}).cast(dtypes::i32); }},
};
// clang-format on

TEST(Shard, MethodsDoTheSame) {
  const Tensor a = exact({4, 6, 3}, 1).realize(), b = exact({4, 6, 3}, 2).realize();
  for (const Method& method : methods) {
    const Tensor expected = method.apply(a, b);
    for (int count : {2, 3})
      for (const auto& [of_a, of_b] :
           {std::pair<Axis, Axis>{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, {}}, {{}, 0}, {{}, {}}}) {
        SCOPED_TRACE(fmt::format("{} of {} and {} on {} devices", method.name, text_of(of_a),
                                 text_of(of_b), count));
        const Names on = devices(count);
        EXPECT_TRUE(same(method.apply(a.shard(on, of_a), b.shard(on, of_b)), expected));
      }
  }
}

TEST(Shard, IsADeviceOfItsOwn) {
  const Names on = devices(2);
  const Tensor x = exact({4, 3}, 1), parts = x.shard(on, 0);
  EXPECT_EQ(parts.device(), joined(on));
  EXPECT_EQ(parts.shape(), (Sizes64{4, 3}));
  EXPECT_EQ(parts.shard_axis(), 0);
  EXPECT_EQ(x.shard(on, -1).shard_axis(), 1);
  EXPECT_EQ(x.shard(on).shard_axis(), std::nullopt);
  EXPECT_EQ(x.shard_axis(), std::nullopt);
  EXPECT_EQ(parts.transpose().shard_axis(), 1);
  EXPECT_EQ(parts.sum(0).shard_axis(), std::nullopt);
  EXPECT_EQ(parts.reshape({2, 2, 3}).shard_axis(), 0);
  EXPECT_EQ(parts.to(on[1]).device(), on[1]);
  EXPECT_TRUE(same(parts.to(on[1]), x));
  EXPECT_TRUE(same(parts.realize().to(on[1]), x));
  EXPECT_EQ(x.to(joined(on)).shard_axis(), std::nullopt);
  EXPECT_EQ(x.shard({on[1]}, 0).device(), on[1]);
  EXPECT_EQ((parts[{2, 1}].item<float>()), (x[{2, 1}].item<float>()));
  EXPECT_EQ(parts.str(), x.str());
}

TEST(Shard, IsLikeAnother) {
  const Names on = devices(2);
  const Tensor x = exact({4, 3}, 1), split = exact({2, 2}, 2).shard(on, 1);
  EXPECT_EQ(x.shard_like(split).shard_axis(), 1);
  EXPECT_EQ(x.shard_like(split).device(), joined(on));
  EXPECT_EQ(x.shard_like(exact({1}, 0).shard(on)).shard_axis(), std::nullopt);
  EXPECT_EQ(split.shard_like(x).device(), x.device());
  const Tensor same_layout = x.shard(on, 1);
  EXPECT_TRUE(same_layout.shard_like(split).is(same_layout));
  EXPECT_TRUE(same(same_layout.shard_like(exact({2, 2}, 2).shard(on, 0)), x));
}

// Sizes of the parts, and what lies on one device.
TEST(Shard, PartsDifferByOneAtMost) {
  const auto sizes = [](const Tensor& tensor) {
    Sizes64 result;
    const UOp memory = tensor.realize().uop();
    for (const Node* part : memory->src()) result.push_back(part->dims()[0]->lo());
    return result;
  };
  EXPECT_EQ(sizes(exact({6}, 0).shard(devices(3), 0)), (Sizes64{2, 2, 2}));
  EXPECT_EQ(sizes(exact({5}, 0).shard(devices(3), 0)), (Sizes64{2, 2, 1}));
  EXPECT_EQ(sizes(exact({2}, 0).shard(devices(3), 0)), (Sizes64{1, 1, 0}));
  EXPECT_EQ(sizes(exact({4}, 0).shard(devices(3))), (Sizes64{4, 4, 4}));
}

TEST(Shard, FewerElementsThanDevices) {
  const Tensor x = exact({2, 3}, 1), none = Tensor::zeros({0, 3});
  const Tensor parts = x.shard(devices(3), 0);
  EXPECT_TRUE(same(parts * 2, x * 2));
  EXPECT_TRUE(same(parts.sum(0), x.sum(0)));
  EXPECT_TRUE(same(parts.max(0), x.max(0)));
  EXPECT_TRUE(same(parts.matmul(parts.transpose()), x.matmul(x.transpose())));
  EXPECT_TRUE(same(none.shard(devices(2), 0).sum(0), none.sum(0)));
}

TEST(Shard, DevicesWithoutElementsWriteNone) {
  const Names on = devices(3);
  const Tensor one = Tensor({7}).shard(on, 0), row = Tensor({{7, 8}}).shard(on, 0);
  const Tensor zero = Tensor({0}).shard(on), zeros = Tensor({0, 0}).shard(on, 0),
               added = Tensor({5, 6}).shard(on, 0);
  EXPECT_TRUE(holds<int>(one.index_put(zero, 5), {5}, {1}));
  EXPECT_TRUE(holds<int>(one.index_put(zero, 5, true), {12}, {1}));
  EXPECT_TRUE(holds<int>(row.index_put({zero, zero + 1}, 5), {7, 5}, {1, 2}));
  EXPECT_TRUE(holds<int>(one.scatter_add(0, zeros, added), {18}, {1}));
  EXPECT_TRUE(holds<int>(one.scatter_reduce(0, zeros, added, Tensor::Reduce::Amax), {7}, {1}));
  EXPECT_TRUE(holds<int>(one.index_copy(0, zero, zero), {0}, {1}));
}

TEST(Shard, GoesToOtherPlaces) {
  const Tensor x = exact({4, 6}, 1);
  const Tensor parts = x.shard(devices(3), 0);
  EXPECT_TRUE(same(parts.shard(devices(3), 1) + 1, x + 1));
  EXPECT_TRUE(same(parts.shard(devices(2), 1).sum(1), x.sum(1)));
  EXPECT_TRUE(same(parts.shard(devices(2)).shard(devices(3), 0) * 2, x * 2));
}

TEST(Shard, WhatIsMadeThere) {
  const Names on = devices(2);
  const Options there{.device = joined(on)};
  const Tensor values(std::vector<float>{1, 2, 3}, there);
  EXPECT_EQ(values.device(), joined(on));
  EXPECT_TRUE(holds<float>(values + Tensor::arange(3, there), {1, 3, 5}, {3}));
  EXPECT_TRUE(holds<float>(Tensor::full({2}, 4.0, there), {4, 4}, {2}));
  EXPECT_TRUE(holds<float>(Tensor::empty({2}, there).assign(3), {3, 3}, {2}));
  const std::string all = joined(on);
  const Context context{{"DEV", std::string_view(all)}};
  EXPECT_TRUE(holds<float>(Tensor::eye(2).sum(0), {1, 1}, {2}));
}

TEST(Shard, DrawsTheSameNumbers) {
  const Tensor x = exact({4, 6}, 1);
  Tensor::manual_seed(7);
  const std::vector<float> expected = x.rand_like().to_vector<float>();
  const auto dropped = [](const Tensor& tensor) {
    const Training training;
    return tensor.dropout(0.5).to_vector<float>();
  };
  const std::vector<float> kept = dropped(x);
  Tensor::manual_seed(7);
  const Tensor parts = x.shard(devices(2), 1);
  EXPECT_EQ(parts.rand_like().to_vector<float>(), expected);
  EXPECT_EQ(dropped(parts), kept);
}

// --- Gradients ----------------------------------------------------------------------------------

using Tensors = std::vector<Tensor>;

bool depends_on(const Tensor& loss, const Tensor& x) {
  return error_of([&] { loss.gradient({x}); }) == "no error";
}

TEST(Shard, GradientsAreTheSame) {
  for (const char* name :
       {"elementwise",   "comparison",  "sum of all", "sum 0 2",   "max 0",
        "prod 2",        "softmax",     "cumsum",     "permute",   "transposed sum",
        "other sizes",   "expand",      "broadcast",  "pad 0",     "shrink",
        "row",           "column",      "flip",       "cat",       "matmul",
        "matmul of all", "convolution", "pool",       "layernorm", "gelu",
        "gather",        "take rows",   "masked"}) {
    const auto* method = std::ranges::find_if(
        methods, [&](const Method& each) { return std::string_view(each.name) == name; });
    ASSERT_NE(method, std::end(methods)) << name;
    const Tensor a = exact({4, 6, 3}, 1), b = exact({4, 6, 3}, 2);
    const auto loss = [&](const Tensor& x, const Tensor& y) {
      return method->apply(x, y).square().sum();
    };
    const bool has_b = depends_on(loss(a, b), b);
    const auto expected = loss(a, b).gradient(has_b ? Tensors{a, b} : Tensors{a});
    for (const auto& [of_a, of_b] :
         {std::pair<Axis, Axis>{0, 0}, {1, 1}, {0, 1}, {1, {}}, {{}, 0}}) {
      SCOPED_TRACE(fmt::format("{} of {} and {}", name, text_of(of_a), text_of(of_b)));
      const Names on = devices(2);
      // Of what was split, and of the parts.
      const Tensor x = a.shard(on, of_a), y = b.shard(on, of_b);
      const auto through = loss(x, y).gradient(has_b ? Tensors{a, b, x, y} : Tensors{a, x});
      const std::size_t inputs = expected.size();
      for (std::size_t i = 0; i < through.size(); ++i)
        EXPECT_TRUE(same(through[i], expected[i % inputs])) << i;
      EXPECT_EQ(through[0].device(), a.device());
      EXPECT_EQ(through[inputs].device(), joined(on));
    }
  }
}

TEST(Shard, LeavesKeepTheirParts) {
  const Names on = devices(2);
  Tensor w = exact({4, 3}, 1).shard(on, 1);
  w.set_requires_grad();
  const Tensor x = exact({5, 4}, 2).shard(on);
  (x.matmul(w).square()).sum().backward();
  EXPECT_EQ(w.shard_axis(), 1);
  EXPECT_EQ(w.grad().shard_axis(), 1);
  Tensor alone = exact({4, 3}, 1);
  alone.set_requires_grad();
  exact({5, 4}, 2).matmul(alone).square().sum().backward();
  EXPECT_TRUE(same(w.grad(), alone.grad()));
  Tensor moved = exact({4, 3}, 1);
  moved.set_requires_grad();
  moved.sum().backward();
  moved.shard_(on, 0);
  EXPECT_TRUE(moved.requires_grad());
  EXPECT_EQ(moved.shard_axis(), 0);
  EXPECT_EQ(moved.grad().device(), joined(on));
  moved.square().sum().backward();
  EXPECT_TRUE(same(moved.grad(), exact({4, 3}, 1) * 2 + 1));
}

// --- Assignment ---------------------------------------------------------------------------------

TEST(Shard, AssignmentsAreSeen) {
  for (const Axis axis : {Axis(0), Axis(1), Axis()})
    for (const bool is_computed : {false, true}) {
      SCOPED_TRACE(text_of(axis));
      const auto both = [&](auto change) {
        Tensor whole = exact({4, 6}, 1).contiguous();
        Tensor parts = exact({4, 6}, 1).shard(devices(3), axis);
        if (is_computed) Tensor::realize({whole, parts});
        const Tensor before = parts * 2, view = parts[{1}];
        const Tensor before_whole = whole * 2, view_whole = whole[{1}];
        change(whole);
        change(parts);
        EXPECT_TRUE(same(parts, whole));
        EXPECT_TRUE(same(before, before_whole));
        EXPECT_TRUE(same(view, view_whole));
        EXPECT_EQ(parts.shard_axis(), axis);
      };
      both([](Tensor& x) { x += 1; });
      both([](Tensor& x) { x.assign(x.flip(0) * 2); });
      both([](Tensor& x) { x.set({2}, 7); });
      both([](Tensor& x) { x.set({Slice(), Slice(1, 5)}, 7); });
      both([](Tensor& x) { x.set({Slice(1, 3), Slice(2, 4)}, x[{Slice(0, 2), Slice(0, 2)}]); });
      both([](Tensor& x) { x.flip({0, 1})[{Slice(0, 2)}].assign(5); });
      both([](Tensor& x) { x.transpose()[{Slice(3, 6)}].assign(5); });
      // Across parts.
      both([](Tensor& x) { x.reshape({8, 3})[{Slice(1, 6)}].assign(5); });
      both([](Tensor& x) { x[{Slice(), Slice({}, {}, 4)}].assign(x[{Slice(), Slice(0, 2)}]); });
      both([](Tensor& x) { x.reshape({3, 8})[{Slice(0, 0)}].assign(5); });
      // Without gradients.
      both([](Tensor& x) { x.detach().assign(7); });
      both([](Tensor& x) { x.detach()[{Slice(1, 3)}].detach() += 1; });
      both([](Tensor& x) { x.detach().reshape({8, 3})[{Slice(1, 6)}].assign(5); });
      both([](Tensor& x) {
        const Tensor rows({3, 0, 3}, {.device = x.device()});
        x.set({rows}, x[{Slice(0, 3)}] * 3);
      });
      both([](Tensor& x) {
        x[{0}].assign(1);
        x[{3}].assign(x[{0}] + 1);
        x *= 2;
      });
    }
}

TEST(Shard, AssignmentsKeepTheirParts) {
  Tensor x = exact({4, 6}, 1).shard(devices(2), 0).contiguous().realize();
  x.assign(exact({4, 6}, 2).shard(devices(2), 1));
  EXPECT_EQ(x.shard_axis(), 0);
  EXPECT_TRUE(same(x, exact({4, 6}, 2)));
  // What was split stays as it is.
  const Tensor source = exact({4}, 1).contiguous().realize();
  Tensor parts = source.shard(devices(2), 0).realize();
  parts += 1;
  EXPECT_TRUE(same(parts, exact({4}, 1) + 1));
  EXPECT_TRUE(same(source, exact({4}, 1)));
}

TEST(Shard, WhatIsOverwrittenIsComputedFirst) {
  Tensor source = exact({4}, 1).contiguous().realize();
  const Tensor parts = source.shard(devices(2), 0), doubled = parts * 2;
  source.assign(9).realize();
  EXPECT_TRUE(same(parts, exact({4}, 1)));
  EXPECT_TRUE(same(doubled, exact({4}, 1) * 2));
}

// --- Training -----------------------------------------------------------------------------------

struct Step {
  std::vector<Tensor> weights;
  double loss;
};

// One step of gradient descent on weights that lie as `place` says.
template <class Place, class Loss>
Step trained(std::vector<Tensor> weights, Place place, Loss loss) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = place(weights[i].contiguous(), i);
    weights[i].set_requires_grad();
  }
  double last = 0;
  for (int step = 0; step < 3; ++step) {
    for (Tensor& weight : weights) weight.set_grad({});
    const Tensor value = loss(weights);
    value.backward();
    last = value.item<double>();
    const NoGrad constant;
    for (Tensor& weight : weights) weight.assign(weight - weight.grad() * 0.05);
    Tensor::realize(weights);
  }
  return {weights, last};
}

void expect_same(const Step& a, const Step& b) {
  EXPECT_NEAR(a.loss, b.loss, 1e-5);
  for (std::size_t i = 0; i < a.weights.size(); ++i)
    EXPECT_TRUE(same(a.weights[i], b.weights[i])) << i;
}

const auto alone = [](const Tensor& tensor, std::size_t) { return tensor; };

TEST(ShardTraining, OfAPerceptron) {
  const std::vector<Tensor> weights{exact({6, 8}, 1) * 0.1, exact({8}, 2) * 0.1,
                                    exact({8, 3}, 3) * 0.1, exact({3}, 4) * 0.1};
  const Tensor x = exact({10, 6}, 5), target = Tensor::arange(10) % 3;
  const auto loss_on = [](const Tensor& input, const Tensor& classes) {
    return [=](const std::vector<Tensor>& w) {
      const Tensor hidden = (input.matmul(w[0]) + w[1]).relu();
      return (hidden.matmul(w[2]) + w[3]).sparse_categorical_crossentropy(classes);
    };
  };
  const Step expected = trained(weights, alone, loss_on(x, target));
  for (int count : {2, 3}) {
    const Names on = devices(count);
    const auto everywhere = [&](const Tensor& w, std::size_t) { return w.shard(on); };
    const Step data = trained(weights, everywhere, loss_on(x.shard(on, 0), target.shard(on, 0)));
    expect_same(data, expected);
    for (const Tensor& weight : data.weights) EXPECT_EQ(weight.shard_axis(), std::nullopt);
    // The columns of the first layer are the rows of the second.
    const Axis axes[] = {1, 0, 0, {}};
    const auto split = [&](const Tensor& w, std::size_t i) { return w.shard(on, axes[i]); };
    const Step tensors = trained(weights, split, loss_on(x.shard(on), target.shard(on)));
    expect_same(tensors, expected);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(tensors.weights[i].shard_axis(), axes[i]);
  }
}

TEST(ShardTraining, OfAnAttentionBlock) {
  constexpr std::int64_t batch = 4, length = 5, heads = 4, size = 3, width = heads * size;
  std::vector<Tensor> weights;
  for (int i = 0; i < 4; ++i) weights.push_back(exact({width, width}, i) * 0.2);
  const Tensor x = exact({batch, length, width}, 7);
  const auto loss_on = [](const Tensor& input) {
    return [=](const std::vector<Tensor>& w) {
      const auto by_heads = [&](const Tensor& weight) {
        return input.matmul(weight).reshape({batch, length, heads, size}).transpose(1, 2);
      };
      const Tensor mixed =
          by_heads(w[0]).scaled_dot_product_attention(by_heads(w[1]), by_heads(w[2]));
      const Tensor out = mixed.transpose(1, 2).reshape({batch, length, width}).matmul(w[3]) + input;
      return out.layernorm(-1).square().mean() + out.tanh().mean();
    };
  };
  const Step expected = trained(weights, alone, loss_on(x));
  const Names on = devices(2);
  const auto everywhere = [&](const Tensor& w, std::size_t) { return w.shard(on); };
  expect_same(trained(weights, everywhere, loss_on(x.shard(on, 0))), expected);
  const auto by_heads = [&](const Tensor& w, std::size_t i) { return w.shard(on, i < 3 ? 1 : 0); };
  expect_same(trained(weights, by_heads, loss_on(x.shard(on))), expected);
}

// --- What runs ----------------------------------------------------------------------------------

struct Work {
  int kernels = 0, copies = 0;
};

// Kernels take what lies on their own device, and nothing else.
Work work_of(const Tensor& tensor) {
  Work work;
  for (const ScheduleItem& item : tensor.schedule()) {
    ++(item.kernel.is_null() ? work.copies : work.kernels);
    if (item.kernel.is_null()) continue;
    for (const UOp& buffer : item.buffers)
      EXPECT_EQ(buffer->arg<BufferArg>().device.get(), item.device) << item.str();
  }
  return work;
}

TEST(ShardWork, EachDeviceDoesItsPart) {
  const Names on = devices(3);
  const Tensor x = exact({6, 4}, 1).shard(on, 0).realize();
  const Tensor w = exact({4, 5}, 2).shard(on).realize(), split = exact({4, 6}, 2).shard(on, 1);
  for (const Tensor& tensor :
       {x * 2 + 1, x.matmul(w).relu(), x.transpose().reshape({2, 2, 6}).sum(0), x.flip(0) + 1,
        x.pad({{1, 0}, {0, 0}}) * 2, x.shrink({{1, 5}, {0, 4}}) + 1, x.softmax(1)}) {
    const Work work = work_of(tensor);
    EXPECT_EQ(work.kernels, 3);
    EXPECT_EQ(work.copies, 0);
  }
  EXPECT_EQ(work_of(w.matmul(w.transpose())).copies, 0);
  EXPECT_EQ(work_of(split.realize().transpose() + x).copies, 0);
  EXPECT_GT(work_of(x.reshape({4, 6}).transpose() * 1.5 + x).copies, 0);
  EXPECT_GT(work_of(x.sort(0).values).copies, 0);
}

// What no device holds is made on each.
TEST(ShardWork, ConstantsAreMadeWhereTheyAreUsed) {
  const Names on = devices(2);
  const Tensor places = Tensor::arange(8, {.device = joined(on)}).cumsum(0) * 3;
  const Tensor x = exact({8}, 1).shard(on, 0).realize();
  EXPECT_EQ(work_of(x + places + places.flip(0)).copies, 0);
  EXPECT_TRUE(same(x + places, exact({8}, 1) + Tensor::arange(8).cumsum(0) * 3));
  const Tensor here = Tensor::arange(8).cumsum(0);
  EXPECT_EQ(work_of(here.to(on[1]) * here.to(on[1])).copies, 0);
}

Tensor summed(std::int64_t elements, int count) {
  Tensor x = exact({count, 1}, 1).shard(devices(count), 0);
  return (x + exact({1, elements}, 2).shard(devices(count))).realize().sum(0);
}

TEST(ShardWork, SumsAreAddedUpInThreeWays) {
  const std::vector<float> expected =
      (exact({4, 1}, 1) + exact({1, 10}, 2)).sum(0).to_vector<float>();
  for (const auto& [by, copies] : {std::pair{"naive", 12}, {"ring", 24}, {"all2all", 24}}) {
    SCOPED_TRACE(by);
    const Context context{{"ALLREDUCE", by}};
    const Tensor sum = summed(10, 4);
    EXPECT_EQ(work_of(sum).copies, copies);
    EXPECT_EQ(sum.to_vector<float>(), expected);
    for (const std::string& device : devices(4))  // all have it
      EXPECT_EQ(sum.to(device).to_vector<float>(), expected);
    EXPECT_TRUE(same(exact({4, 3}, 1).shard(devices(4), 0).max(0), exact({4, 3}, 1).max(0)));
    EXPECT_TRUE(same(exact({4, 2}, 1).shard(devices(4), 0).prod(0), exact({4, 2}, 1).prod(0)));
  }
}

TEST(ShardWork, LargeSumsGoAround) {
  constexpr std::int64_t large = std::int64_t{1} << 18;
  EXPECT_EQ(work_of(summed(large, 3)).copies, 12);
  EXPECT_EQ(work_of(summed(large - 1, 3)).copies, 6);
  EXPECT_EQ(work_of(summed(large, 2)).copies, 2);  // two devices send as much either way
  const std::vector<float> sum = summed(large + 1, 3).to_vector<float>();
  EXPECT_EQ(sum, (exact({3, 1}, 1) + exact({1, large + 1}, 2)).sum(0).to_vector<float>());
}

TEST(ShardWork, RunsAgainByTheSamePlan) {
  const Names on = devices(2);
  Tensor x = exact({4, 3}, 1).shard(on, 0).contiguous().realize();
  Tensor alone = exact({4, 3}, 1);
  for (int i = 0; i < 3; ++i) {
    x.assign(x + x.sum(0)).realize();
    alone = alone + alone.sum(0);
  }
  EXPECT_TRUE(same(x, alone));
}

// --- Errors -------------------------------------------------------------------------------------

TEST(ShardErrors, AreToldAtTheCall) {
  const Names on = devices(2);
  const std::string both = joined(on);
  const Tensor x = exact({4, 6}, 1), parts = x.shard(on, 0), here = x.to(on[0]);
  const std::string mixed =
      fmt::format("one tensor is on {}, another on {}: move one with shard()", both, on[0]);
  EXPECT_EQ(error_of([&] { return parts + here; }), "add: " + mixed);
  EXPECT_EQ(error_of([&] { return Tensor::cat({parts, here}); }), "cat: " + mixed);
  EXPECT_EQ(error_of([&] { return x.shard(devices(3), 0) + parts; }),
            fmt::format("add: one tensor is on {}, another on {}: move one with shard()",
                        joined(devices(3)), both));
  EXPECT_EQ(error_of([&] { return Tensor(parts).assign(here); }),
            fmt::format("assign: the tensor is on {}, the value on {}: move it with shard()", both,
                        on[0]));
  EXPECT_EQ(error_of([&] { return x.shard({}, 0); }), "shard: no devices");
  EXPECT_EQ(error_of([&] { return x.shard({on[1], on[1]}, 0); }),
            fmt::format("shard: device {} is given twice", on[1]));
  EXPECT_EQ(error_of([&] { return x.shard(on, 2); }),
            "shard: there is no axis 2 in a tensor of 2 axes");
  EXPECT_EQ(error_of([&] { return exact({2}, 1).shard_like(x.shard(on, 1)); }),
            "shard_like: there is no axis 1 in a tensor of 1 axes");
  EXPECT_EQ(error_of([&] { return x.shard({on[0], "DISK:/tmp/a,b"}, 0); }),
            "shard: DISK:/tmp/a,b is no device that computes a part");
  EXPECT_EQ(error_of([&] { return x.shard({both, on[0]}, 0); }),
            fmt::format("shard: {} is no device that computes a part", both));
  const UOp n = Variable("n", 1, 4);
  EXPECT_EQ(error_of([&] { return x.shrink({{0, n}, {0, 6}}).shard(on, 0); }),
            "shard: the size n is symbolic, and has to be a number here");
  EXPECT_EQ(error_of([&] { return parts.realize().data<float>(); }),
            fmt::format("data: the tensor is in parts on {}: move it with to()", both));
  EXPECT_EQ(error_of([&] { return Tensor(parts).host_view<float, 2>(); }).substr(0, 10),
            "host_view:");
  std::vector<float> memory(4);
  EXPECT_EQ(error_of([&] { return Tensor::from_blob(memory.data(), {4}, {.device = both}); }),
            fmt::format("from_blob: memory is on one device, not on {}", both));
  const Context context{{"ALLREDUCE", "tree"}};
  EXPECT_EQ(error_of([&] { return parts.sum(0).to_vector<float>(); }),
            "to_vector: ALLREDUCE=tree: expected naive, ring or all2all");
}

TEST(Shard, OfNoElements) {
  const Tensor x = Tensor::arange(8).to_float().reshape({4, 2}).shard({"CPU", "CPU:1"}, 0);
  const Tensor none = x.shrink({{0, 4}, {1, 1}});
  EXPECT_EQ((none + 1).realize().shape(), (Sizes64{4, 0}));
  EXPECT_TRUE(holds<float>(none.sum(1), {0, 0, 0, 0}, {4}));
}

}  // namespace
}  // namespace weft
