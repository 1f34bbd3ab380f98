// Networks that are replayed ask for memory until they are warm, and for none from then on.

#include <gtest/gtest.h>
#include <weft/dev/device/device.h>
#include <weft/nn.h>
#include <weft/weft.h>

#include "../../examples/models/gpt.h"

namespace weft {
namespace {

std::size_t allocations() { return find_device(default_device()).memory_use().allocations; }

// Of ten calls, after four.
template <class Call>
std::size_t allocations_when_warm(Call call) {
  for (int i = 0; i < 4; ++i) call(i);
  const std::size_t before = allocations();
  for (int i = 4; i < 14; ++i) call(i);
  return allocations() - before;
}

TEST(Allocations, AreCounted) {
  EXPECT_GE(allocations_when_warm([](int i) { Tensor::full({4}, i).realize(); }), 10U);
}

// Character by character, with what the layers remember of those before.
TEST(Allocations, NoneToDecode) {
  const models::Gpt model({.words = 11, .layers = 2, .width = 16, .heads = 2, .context = 16});
  std::vector<models::Memory> memory = model.memory();
  Tensor character = Tensor::zeros({1}, {.dtype = dtypes::i32}).contiguous();
  Tensor position = Tensor::zeros({1}, {.dtype = dtypes::i32}).contiguous();
  auto step = jit([&](const Tensor& now, const Tensor& at) {
    const NoGrad constant;
    return model.next(now, memory, at).argmax(0);
  });
  std::vector<std::int32_t> text{3};
  const std::size_t when_warm = allocations_when_warm([&](int i) {
    character.assign(text.back());
    position.assign(i);
    text.push_back(step(character, position).item<std::int32_t>());
  });
  EXPECT_EQ(when_warm, 0U);
  // The same without replay: the whole text at once.
  const Tensor scores = model(Tensor(std::vector(text.begin(), text.end() - 1)).reshape({1, -1}));
  const std::vector<std::int32_t> next = scores.argmax(-1).flatten().to_vector<std::int32_t>();
  EXPECT_EQ(next, std::vector(text.begin() + 1, text.end()));
}

struct Twice {
  nn::Conv2d first, second;
  Twice(std::int64_t in, std::int64_t out)
      : first(in, out, 3, {.padding = 1}), second(out, out, 3, {.padding = 1}) {}
  Tensor operator()(const Tensor& x) const { return second(first(x).relu()).relu(); }
  WEFT_FIELDS(first, second);
};

// Two levels down and up, with what was on the way down beside it.
struct UNet {
  Twice whole{3, 8}, half{8, 16}, quarter{16, 32}, half_up{32, 16}, whole_up{16, 8};
  nn::ConvTranspose2d to_half{32, 16, 2, {.stride = 2}}, to_whole{16, 8, 2, {.stride = 2}};
  nn::Conv2d out{8, 3, 1};
  Tensor operator()(const Tensor& x) const {
    const Tensor a = whole(x), b = half(a.max_pool2d({2, 2})), c = quarter(b.max_pool2d({2, 2}));
    const Tensor d = half_up(Tensor::cat({b, to_half(c)}, 1));
    return out(whole_up(Tensor::cat({a, to_whole(d)}, 1)));
  }
  WEFT_FIELDS(whole, half, quarter, half_up, whole_up, to_half, to_whole, out);
};

TEST(Allocations, NoneToRunAUNet) {
  const UNet net;
  Tensor image = Tensor::randn({1, 3, 16, 16}).realize();
  // What it makes of an image becomes the next one, as in diffusion.
  const auto denoised = [&](const Tensor& x) {
    const NoGrad constant;
    return x * 0.9 + net(x) * 0.1;
  };
  auto step = jit(denoised);
  EXPECT_EQ(allocations_when_warm([&](int) { image = step(image); }), 0U);
  EXPECT_TRUE(step(image).allclose(denoised(image), 1e-4, 1e-5));
}

}  // namespace
}  // namespace weft
