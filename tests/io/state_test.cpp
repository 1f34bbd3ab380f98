// Which files are state files, and what they hold beside tensors.

#include <weft/state.h>

#include "files.h"

namespace weft {
namespace {

using State = InFolder;

TEST_F(State, FormatsByEnding) {
  const StateDict state{{"a.weight", Tensor({{1.0, 2.0}})}, {"b", Tensor({7})}};
  for (const char* name : {"x.safetensors", "x.npz"}) {
    save_state(file(name), state);
    const StateDict again = load_state(file(name));
    ASSERT_EQ(again.size(), 2u);
    EXPECT_TRUE(holds<float>(again.at("a.weight"), {1, 2}, {1, 2}));
    EXPECT_TRUE(holds<int>(again.at("b"), {7}, {1}));
  }
  EXPECT_TRUE(holds<float>(load_state(data("checkpoint.pt")).at("parameter"), {1, 1}, {2}));
}

TEST_F(State, OnADevice) {
  save_state(file("x.safetensors"), {{"x", Tensor({1.0, 2.0})}});
  for (const char* device : {"CPU", "INTERP", "CPU:1"}) {
    const Tensor x = load_state(file("x.safetensors"), device).at("x");
    EXPECT_EQ(x.device(), Tensor::zeros({1}, {.device = device}).device());
    EXPECT_TRUE(holds<float>(x + Tensor::ones({1}, {.device = device}), {2, 3}, {2}));
  }
}

TEST_F(State, Errors) {
  EXPECT_EQ(error_of([] { return load_state("x.onnx"); }),
            "load_state: 'x.onnx' ends in none of .safetensors, .npz, .pt, .pth, .bin, .gguf");
  EXPECT_EQ(error_of([] {
              save_state("x.pt", {});
              return 0;
            }),
            "save_state: 'x.pt' ends in none of .safetensors, .npz");
  EXPECT_EQ(error_of([] { return load_state("/no/such.npz"); }),
            "load_state: '/no/such.npz': No such file or directory");
}

TEST_F(State, Objects) {
  const Object object(Object::Dict{
      {"n", 3}, {"x", 0.5}, {"on", true}, {"text", "abc"}, {"list", Object::List{1, {}}}});
  EXPECT_EQ(object.size(), 5u);
  EXPECT_EQ(object.at("n").as<std::int64_t>(), 3);
  EXPECT_EQ(object.at("n").number() + object.at("x").number(), 3.5);
  EXPECT_TRUE(object.at("on").as<bool>());
  EXPECT_EQ(object.at("text").as<std::string>(), "abc");
  EXPECT_TRUE(object.at("list").at(1).is_none());
  EXPECT_EQ(object.find("no"), nullptr);
  EXPECT_EQ(error_of([&] { return object.at("no"); }), "there is no 'no'");
  EXPECT_EQ(error_of([&] { return object.at("list").at(2); }),
            "there is no element 2 in a list of 2");
  EXPECT_EQ(error_of([&] { return object.at("x").as<Tensor>(); }),
            "a number where a tensor is wanted");
  EXPECT_EQ(error_of([&] { return object.at("text").number(); }), "text where a number is wanted");
  EXPECT_EQ(error_of([&] { return object.at("n").size(); }), "an integer where a list is wanted");
}

}  // namespace
}  // namespace weft
