#include "golden.h"

namespace weft::golden {
namespace {

fft::Norm norm(const Case& c) {
  const std::string name = c.text("norm", "backward");
  if (name == "ortho") return fft::Norm::Ortho;
  return name == "forward" ? fft::Norm::Forward : fft::Norm::Backward;
}

using OfAxis = Tensor (*)(const Tensor&, const fft::Axis&);
Method along(OfAxis transform) {
  return [transform](const Case& c) {
    fft::Axis axis{.dim = c.integer("dim", -1), .norm = norm(c)};
    if (c.has("n")) axis.n = c.integer("n");
    return one(transform(c[0], axis));
  };
}

using OfSeveral = Tensor (*)(const Tensor&, const fft::Several&);
Method over(OfSeveral transform) {
  return [transform](const Case& c) {
    return one(
        transform(c[0], {.s = c.numbers("s", {}), .dim = c.numbers("dim", {}), .norm = norm(c)}));
  };
}

using OfTwo = Tensor (*)(const Tensor&, fft::Several);
Method over_two(OfTwo transform) {
  return [transform](const Case& c) { return one(transform(c[0], {.s = c.numbers("s", {})})); };
}

Options options(const Case& c) { return {.dtype = c.outputs[0].dtype}; }

using OfLength = Tensor (*)(std::int64_t, bool, const Options&);
Method window(OfLength make) {
  return
      [make](const Case& c) { return one(make(c.integer("n"), c.flag("periodic"), options(c))); };
}

fft::Stft short_time(const Case& c) {
  const std::string mode = c.text("pad_mode", "reflect");
  fft::Stft options{.center = c.flag("center", true),
                    .pad_mode = mode == "constant"    ? fft::Padding::Constant
                                : mode == "replicate" ? fft::Padding::Replicate
                                : mode == "circular"  ? fft::Padding::Circular
                                                      : fft::Padding::Reflect,
                    .normalized = c.flag("normalized"),
                    .onesided = c.flag("onesided", true)};
  if (c.inputs().size() > 1) options.window = c[1];
  if (c.has("hop_length")) options.hop_length = c.integer("hop_length");
  if (c.has("win_length")) options.win_length = c.integer("win_length");
  return options;
}

std::vector<Tensor> istft(const Case& c) {
  const auto length = c.has("length") ? std::optional(c.integer("length")) : std::nullopt;
  return one(fft::istft(c[0], c.integer("n_fft"), short_time(c), length));
}

const Group group(
    "fft",
    {
        {"fft", along(fft::fft)},
        {"ifft", along(fft::ifft)},
        {"rfft", along(fft::rfft)},
        {"irfft", along(fft::irfft)},
        {"hfft", along(fft::hfft)},
        {"ihfft", along(fft::ihfft)},
        {"fftn", over(fft::fftn)},
        {"ifftn", over(fft::ifftn)},
        {"rfftn", over(fft::rfftn)},
        {"irfftn", over(fft::irfftn)},
        {"fft2", over_two(fft::fft2)},
        {"ifft2", over_two(fft::ifft2)},
        {"rfft2", over_two(fft::rfft2)},
        {"irfft2", over_two(fft::irfft2)},
        {"fftfreq", [](const Case& c) { return one(fft::fftfreq(c.integer("n"), c.real("d"))); }},
        {"rfftfreq", [](const Case& c) { return one(fft::rfftfreq(c.integer("n"), c.real("d"))); }},
        {"fftshift", [](const Case& c) { return one(fft::fftshift(c[0], c.axes("dim"))); }},
        {"ifftshift", [](const Case& c) { return one(fft::ifftshift(c[0], c.axes("dim"))); }},
        {"hann_window", window(fft::hann_window)},
        {"blackman_window", window(fft::blackman_window)},
        {"bartlett_window", window(fft::bartlett_window)},
        {"hamming_window",
         [](const Case& c) {
           return one(fft::hamming_window(c.integer("n"), c.flag("periodic", true),
                                          c.real("alpha", 0.54), c.real("beta", 0.46), options(c)));
         }},
        {"stft",
         [](const Case& c) { return one(fft::stft(c[0], c.integer("n_fft"), short_time(c))); }},
        {"istft", istft},
    });

}  // namespace
}  // namespace weft::golden
