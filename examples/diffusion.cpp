// Digits out of noise: a diffusion model learns to say what noise was added to an image of MNIST, and then takes
// noise away, a little at a time, from what was nothing else.
//
//   ./diffusion --data mnist --steps 1000 --out digits.png
//
// The network is a U-Net: what it sees gets smaller and deeper, then large again, and each size on the way
// back also sees what was there on the way down.

#include <chrono>
#include <cmath>
#include <iostream>
#include <numbers>

#include <weft/weft.h>

#include "flags.h"

using namespace weft;

const char* const usage =
    "Learns to draw digits.\n\n"
    "  --data DIR    the files of MNIST, plain or .gz\n"
    "  --steps N     of training (1000)\n"
    "  --batch N     (32)\n"
    "  --width N     channels at full size, a multiple of 4 (16)\n"
    "  --times N     in which noise is taken away (100)\n"
    "  --seed N      of everything random (1)\n"
    "  --out FILE    the drawing: .png, .jpg, .bmp or .tga (digits.png)";

// Two convolutions. Between them comes what time it is, that is how noisy the image.
struct Block {
  nn::Conv2d conv1, conv2, same;
  nn::GroupNorm norm1, norm2;
  nn::Linear time;

  Block(std::int64_t in, std::int64_t out, std::int64_t times)
      : conv1(in, out, 3, {.padding = 1}),
        conv2(out, out, 3, {.padding = 1}),
        same(in, out, 1),
        norm1(4, out),
        norm2(4, out),
        time(times, out) {}
  Tensor operator()(const Tensor& x, const Tensor& when) const {
    const Tensor shift = time(when).unsqueeze(-1).unsqueeze(-1);
    const Tensor y = norm1(conv1(x)).silu() + shift;
    return norm2(conv2(y)).silu() + same(x);
  }
  WEFT_FIELDS(conv1, conv2, same, norm1, norm2, time);
};

struct UNet {
  std::int64_t width;
  nn::Linear time;
  Block down1, down2, bottom, up2, up1;
  nn::Conv2d out;

  explicit UNet(std::int64_t w)
      : width(w),
        time(2 * w, 4 * w),
        down1(1, w, 4 * w),
        down2(w, 2 * w, 4 * w),
        bottom(2 * w, 4 * w, 4 * w),
        up2(6 * w, 2 * w, 4 * w),
        up1(3 * w, w, 4 * w),
        out(w, 1, 1) {}

  // Images (batch, 1, 28, 28) and the time of each, from 0 to 1, to the noise in them.
  Tensor operator()(const Tensor& images, const Tensor& times) const {
    // As waves of several lengths, time is easier to tell.
    const Tensor waves = times.unsqueeze(1) * (Tensor::arange(width) * 0.5).exp();
    const Tensor when = time(Tensor::cat({waves.sin(), waves.cos()}, 1)).silu();
    const Tensor full = down1(images, when);
    const Tensor half = down2(full.max_pool2d(), when);
    const Tensor quarter = bottom(half.max_pool2d(), when);
    const Tensor back = up2(Tensor::cat({larger(quarter), half}, 1), when);
    return out(up1(Tensor::cat({larger(back), full}, 1), when));
  }
  WEFT_FIELDS(time, down1, down2, bottom, up2, up1, out);

 private:
  static Tensor larger(const Tensor& x) {
    return x.repeat_interleave(2, 2).repeat_interleave(2, 3);
  }
};

// How much of the image is left at a time: all at 0, nearly nothing at 1.
Tensor image_share(const Tensor& times) {
  return ((times * 0.98 + 0.01) * (std::numbers::pi / 2)).cos();
}
Tensor noise_share(const Tensor& times) {
  return ((times * 0.98 + 0.01) * (std::numbers::pi / 2)).sin();
}

// From noise, by steps back in time. Each guesses the noise, and with it the image, and adds as much noise to
// that as belongs to the time before.
Tensor draw(const UNet& model, std::int64_t count, std::int64_t times) {
  const NoGrad constant;
  auto step = jit([&](const Tensor& now, const Tensor& time, const Tensor& before) {
    const Tensor noise = model(now, time.expand({count}));
    const Tensor image = ((now - noise * noise_share(time)) / image_share(time)).clamp(-1, 1);
    const Tensor fitting = (now - image * image_share(time)) / noise_share(time);
    return image * image_share(before) + fitting * noise_share(before);
  });
  Tensor images = Tensor::randn({count, 1, 28, 28}).realize();
  Tensor time = Tensor::zeros({1}).contiguous(), before = Tensor::zeros({1}).contiguous();
  for (std::int64_t left = times; left > 0; --left) {
    time.assign(static_cast<float>(left) / static_cast<float>(times));
    before.assign(static_cast<float>(left - 1) / static_cast<float>(times));
    images = step(images, time, before).realize();
  }
  return images;
}

int main(int argc, char** argv) try {
  const Flags flags(argc, argv, usage);
  try {
    Tensor::manual_seed(static_cast<std::uint64_t>(flags.integer("--seed", 1)));
    const Tensor digits = load_mnist(flags.text("--data", ".")).train.images;
    const UNet model(flags.integer("--width", 16));
    nn::AdamW optimizer(model, {.lr = 2e-3});
    const std::int64_t steps = flags.integer("--steps", 1000);
    nn::Scheduler schedule(optimizer, nn::OneCycleLR{.max_lr = 2e-3, .total_steps = steps + 1});
    DataLoader loader(
        {digits}, {.batch_size = flags.integer("--batch", 32), .shuffle = true, .drop_last = true});
    std::cout << count_parameters(model) << " weights" << std::endl;

    auto step = jit([&](const Tensor& bytes) {
      const Training training;
      optimizer.zero_grad();
      const Tensor images = (bytes / 127.5 - 1).reshape({-1, 1, 28, 28});
      const Tensor times = Tensor::rand({images.size(0)}), noise = images.randn_like();
      const Tensor each = times.reshape({-1, 1, 1, 1});
      const Tensor noisy = images * image_share(each) + noise * noise_share(each);
      const Tensor loss = (model(noisy, times) - noise).square().mean();
      loss.backward();
      optimizer.step();
      return loss;
    });

    Progress progress(steps, "training");
    const auto start = std::chrono::steady_clock::now();
    double first = 0, mean = 0;  // the loss, at first and lately
    for (std::int64_t done = 0; done < steps;)
      for (const std::vector<Tensor>& batch : loader) {
        const double loss = step(batch[0]).item<double>();
        schedule.step();
        progress.step(loss);
        if (done == 0) first = mean = loss;
        mean += 0.05 * (loss - mean);
        if (++done == steps) break;
      }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    std::cout << "loss " << first << " at first, " << mean << " after " << steps << " steps and "
              << time.count() << " s" << std::endl;

    std::cout << step.report().kernels << " kernels a step" << std::endl;
    if (steps > 1) std::cout << (mean < first ? "PASS" : "FAIL") << "  the loss falls\n";

    constexpr std::int64_t side = 6;
    const Tensor drawn = draw(model, side * side, flags.integer("--times", 100));
    const Tensor grid =
        drawn.reshape({side, side, 28, 28}).transpose(1, 2).reshape({side * 28, -1});
    const std::string file = flags.text("--out", "digits.png");
    save_image(file, ((grid + 1) * 127.5).round().cast(dtypes::u8));
    std::cout << side * side << " digits are in " << file << '\n';
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
} catch (const std::exception& error) {
  return failed(error);
}
