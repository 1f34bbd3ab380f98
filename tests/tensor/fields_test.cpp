// Which tensors a value holds, by which names, and how they get other values.

#include "tensor_test.h"

namespace weft {
namespace {

Tensor parameter(std::initializer_list<Nested> values) {
  return Tensor(values, {.dtype = dtypes::f32, .requires_grad = true});
}

struct Layer {
  Tensor weight, bias;
  int width = 1;
  std::string name = "layer";
  WEFT_FIELDS(weight, bias, width, name);
};

struct Everything {
  std::vector<Layer> layers;
  std::array<Tensor, 2> pair;
  std::optional<Layer> maybe;
  std::unique_ptr<Layer> owned;
  std::shared_ptr<Tensor> shared;
  std::tuple<int, Tensor, std::pair<Tensor, bool>> product;
  std::map<std::string, Layer> by_name;
  std::vector<bool> flags;
  Tensor (Tensor::*activation)() const = &Tensor::relu;
  double rate = 0.1;
  WEFT_FIELDS(layers, pair, maybe, owned, shared, product, by_name, flags, activation, rate);
};

struct Empty {
  WEFT_FIELDS();
};

// As layers number what they have by themselves.
struct Numbered {
  std::vector<Tensor> weights;
  template <class Visit>
  void visit_fields(Visit&& visit) {
    visit_all(*this, visit);
  }
  template <class Visit>
  void visit_fields(Visit&& visit) const {
    visit_all(*this, visit);
  }
  template <class Self, class Visit>
  static void visit_all(Self& self, Visit& visit) {
    for (std::size_t i = 0; i < self.weights.size(); ++i)
      visit(fmt::format("weight_l{}", i), self.weights[i]);
  }
};

template <class T>
std::vector<std::string> names_of(const T& value) {
  std::vector<std::string> names;
  for_each_tensor(value, [&](const std::string& name, const Tensor&) { names.push_back(name); });
  return names;
}

using Names = std::vector<std::string>;

TEST(Fields, AreNamedByTheWayToThem) {
  Everything all;
  all.layers.resize(2);
  all.maybe.emplace();
  all.owned = std::make_unique<Layer>();
  all.shared = std::make_shared<Tensor>();
  all.by_name["b"] = all.by_name["a"] = {};
  all.flags = {true};
  EXPECT_EQ(names_of(all),
            (Names{"layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias", "pair.0",
                   "pair.1", "maybe.weight", "maybe.bias", "owned.weight", "owned.bias", "shared",
                   "product.1", "product.2.0", "by_name.a.weight", "by_name.a.bias",
                   "by_name.b.weight", "by_name.b.bias"}));
  EXPECT_EQ(names_of(Everything{}), (Names{"pair.0", "pair.1", "product.1", "product.2.0"}));
  EXPECT_EQ(names_of(Empty{}), Names{});
  EXPECT_EQ(names_of(Numbered{{{}, {}}}), (Names{"weight_l0", "weight_l1"}));
}

// What functions take and give.
TEST(Fields, OfValuesThatAreNoStruct) {
  const Tensor x({1, 2});
  Layer layer;
  EXPECT_EQ(names_of(x), Names{""});
  EXPECT_EQ(names_of(3), Names{});
  EXPECT_EQ(names_of([](const Tensor& y) { return y; }), Names{});
  EXPECT_EQ(names_of(std::tuple<const Tensor&, Layer&, int>(x, layer, 3)),
            (Names{"0", "1.weight", "1.bias"}));
  EXPECT_EQ(names_of(std::vector<Tensor>{x, x}), (Names{"0", "1"}));
}

TEST(Fields, MayBeReplaced) {
  Everything all;
  all.owned = std::make_unique<Layer>();
  for_each_tensor(all, [](const std::string&, Tensor& tensor) { tensor = Tensor({7}); });
  EXPECT_TRUE(holds<int>(all.pair[1] + all.owned->bias + std::get<1>(all.product), {21}, {1}));
}

TEST(Fields, ParametersAreThoseWithGradientsOnce) {
  const Layer first{parameter({{1, 2}}), Tensor({1, 2, 3})}, tied{first.weight, parameter({4})};
  const std::vector<Layer> layers{first, tied};
  const std::vector<Tensor> parameters = get_parameters(layers), buffers = get_buffers(layers);
  ASSERT_EQ(parameters.size(), 2U);
  EXPECT_TRUE(parameters[0].is(first.weight));
  EXPECT_TRUE(parameters[1].is(tied.bias));
  ASSERT_EQ(buffers.size(), 1U);
  EXPECT_TRUE(buffers[0].is(first.bias));
  EXPECT_EQ(count_parameters(layers), 3);
  EXPECT_EQ(get_tensors(layers).size(), 4U);
}

TEST(Fields, StateIsLoadedInPlace) {
  Layer layer{parameter({{1, 2}}), parameter({3})};
  const Tensor alias = layer.weight, row = layer.weight[0];
  const StateDict dict = get_state_dict(layer);
  EXPECT_EQ(dict.size(), 2U);
  EXPECT_TRUE(dict.at("weight").is(layer.weight));
  load_state_dict(layer, {{"weight", Tensor({{5.0F, 6.0F}})}, {"bias", Tensor(7.0F)}});
  EXPECT_TRUE(holds<float>(alias, {5, 6}, {1, 2}));
  EXPECT_TRUE(holds<float>(row, {5, 6}, {2}));
  EXPECT_TRUE(holds<float>(layer.bias, {7}, {1}));  // of ()
  EXPECT_TRUE(layer.weight.requires_grad());
  (row * layer.bias).sum().backward();
  EXPECT_TRUE(holds<float>(alias.grad(), {7, 7}, {1, 2}));
}

TEST(Fields, StateGoesFromModelToModel) {
  Everything from, to;
  for (Everything* model : {&from, &to}) {
    model->layers.resize(2);
    for_each_tensor(*model, [](const std::string&, Tensor& t) { t = Tensor::zeros({2}); });
  }
  float number = 0;
  for_each_tensor(from, [&](const std::string&, Tensor& t) { t.fill(number++); });
  load_state_dict(to, get_state_dict(from));
  number = 0;
  for_each_tensor(to, [&](const std::string& name, const Tensor& t) {
    EXPECT_TRUE(holds<float>(t, {number, number}, {2})) << name;
    ++number;
  });
}

// Files have one of several names.
TEST(Fields, TiedTensorsNeedOneName) {
  const Tensor weight = parameter({1, 2});
  const std::vector<Layer> layers{{weight, {}}, {weight, {}}};
  load_state_dict(layers, {{"1.weight", Tensor({3.0F, 4.0F})}});
  EXPECT_TRUE(holds<float>(weight, {3, 4}, {2}));
}

TEST(Fields, WhatDoesNotMatchIsSaid) {
  const Layer layer{parameter({1, 2}), parameter({3})};
  const Unmatched unmatched =
      load_state_dict(layer, {{"weight", Tensor({8, 9})}, {"other", Tensor({1})}},
                      {.strict = false, .convert = true});
  EXPECT_EQ(unmatched.missing, Names{"bias"});
  EXPECT_EQ(unmatched.unexpected, Names{"other"});
  EXPECT_TRUE(holds<float>(layer.weight, {8, 9}, {2}));
  EXPECT_EQ(layer.weight.dtype(), dtypes::f32);
  EXPECT_TRUE(holds<float>(layer.bias, {3}, {1}));
}

}  // namespace
}  // namespace weft
