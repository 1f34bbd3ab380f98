// Windows and short-time Fourier transforms.

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/fft.h>

#include "ops.h"
#include "windows.h"

namespace weft::fft {
namespace {

// `compute` of 0 ... 1 along the window, which ends before 1 if it is periodic.
template <class F>
Tensor window_of(std::string_view op, std::int64_t n, bool periodic, const Options& options,
                 F compute) {
  if (n < 0) user_error(fmt::format("{}: a window of {} elements: want at least 0", op, n));
  const DType dtype = options.dtype.is_void() ? dtypes::f32 : options.dtype;
  const std::int64_t whole = periodic ? n : n - 1;
  const Tensor place = Tensor::arange(0, n, 1, {.dtype = dtypes::f64, .device = options.device}) /
                       static_cast<double>(std::max<std::int64_t>(1, whole));
  const Tensor values = n == 1 ? place.ones_like() : compute(place);
  return as_asked(values.cast(dtype), options);
}

Tensor cosine(const Tensor& place, int times) {
  return (place * (2 * std::numbers::pi * times)).cos();
}

}  // namespace

Tensor hann_window(std::int64_t n, bool periodic, const Options& options) {
  const Called called;
  return window_of("hann_window", n, periodic, options,
                   [](const Tensor& x) { return 0.5 - cosine(x, 1) * 0.5; });
}

Tensor hamming_window(std::int64_t n, bool periodic, double alpha, double beta,
                      const Options& options) {
  const Called called;
  return window_of("hamming_window", n, periodic, options,
                   [&](const Tensor& x) { return alpha - cosine(x, 1) * beta; });
}

Tensor blackman_window(std::int64_t n, bool periodic, const Options& options) {
  const Called called;
  return window_of("blackman_window", n, periodic, options,
                   [](const Tensor& x) { return 0.42 - cosine(x, 1) * 0.5 + cosine(x, 2) * 0.08; });
}

Tensor bartlett_window(std::int64_t n, bool periodic, const Options& options) {
  const Called called;
  return window_of("bartlett_window", n, periodic, options,
                   [](const Tensor& x) { return 1 - (x * 2 - 1).abs(); });
}

namespace {

struct Frame {
  std::int64_t size, hop;
  Tensor window;  // of that size
};

Frame frame_of(std::string_view op, std::int64_t n_fft, const Stft& options, const Tensor& like) {
  const std::int64_t hop = options.hop_length.value_or(n_fft / 4),
                     win = options.win_length.value_or(n_fft);
  if (n_fft < 1 || hop < 1 || win < 1 || win > n_fft)
    user_error(
        fmt::format("{}: n_fft {}, hop_length {}, win_length {}: each is at least 1, and "
                    "win_length at most n_fft",
                    op, n_fft, hop, win));
  Tensor window = options.window;
  if (window.is_null()) window = Tensor::ones({win}, {.device = like.device()});
  if (window.shape() != std::vector<std::int64_t>{win})
    user_error(fmt::format("{}: a window of shape {} for a win_length of {}", op,
                           shape_text(window.uop()), win));
  const std::int64_t before = (n_fft - win) / 2;
  return {n_fft, hop, window.cast(like.dtype()).pad({{before, n_fft - win - before}})};
}

// `width` elements more at both ends of the last axis.
Tensor extended(const Tensor& x, std::int64_t width, Padding mode) {
  const std::int64_t n = x.size(-1);
  if (width == 0) return x;
  const bool is_reflected = mode == Padding::Reflect;
  if (mode != Padding::Constant &&
      (n < 1 || (mode != Padding::Replicate && width > n - is_reflected)))
    user_error(fmt::format("stft: {} samples cannot be continued by {}", n, width));
  return x.pad({width, width}, mode);
}

// (..., frames, size) added up where they overlap: each frame as blocks of one hop, block c of frame t
// being part of block t + c of the result.
Tensor overlapping(const Tensor& frames, std::int64_t hop) {
  const std::int64_t size = frames.size(-1), count = (size + hop - 1) / hop;
  Tensor::Bounds padding(static_cast<std::size_t>(frames.ndim()), {0, 0});
  padding.back().second = count * hop - size;
  const Tensor blocks = frames.pad(padding).unflatten(-1, {count, hop});
  Tensor sum;
  for (std::int64_t c = 0; c < count; ++c) {
    Tensor::Bounds around(static_cast<std::size_t>(frames.ndim()), {0, 0});
    around[around.size() - 2] = {c, count - 1 - c};
    const Tensor moved = blocks.slice(-2, {.start = c, .stop = c + 1}).squeeze(-2).pad(around);
    sum = sum.is_null() ? moved : sum + moved;
  }
  return sum.flatten(-2);
}

}  // namespace

Tensor stft(const Tensor& x, std::int64_t n_fft, const Stft& options) {
  const Called called;
  if (x.ndim() == 0) user_error("stft: a scalar is no signal");
  const Tensor signal = x.cast(promote(float_like(x.dtype()), dtypes::f32));
  const Frame frame = frame_of("stft", n_fft, options, signal);
  const Tensor whole = options.center ? extended(signal, n_fft / 2, options.pad_mode) : signal;
  if (whole.size(-1) < n_fft)
    user_error(
        fmt::format("stft: a frame of {} does not fit in {} samples", n_fft, whole.size(-1)));
  const Tensor frames = windows(whole, Window("stft", {n_fft}, frame.hop, 1, 0)) * frame.window;
  const Norm norm = options.normalized ? Norm::Ortho : Norm::Backward;
  const Tensor spectra =
      options.onesided ? rfft(frames, {.norm = norm}) : fft(complex(frames), {.norm = norm});
  return spectra.transpose(-2, -3).cast(float_like(x.dtype()));
}

Tensor istft(const Tensor& x, std::int64_t n_fft, const Stft& options,
             std::optional<std::int64_t> length) {
  const Called called;
  const std::int64_t expected = options.onesided ? n_fft / 2 + 1 : n_fft;
  if (x.ndim() < 3 || x.size(-1) != 2 || x.size(-3) != expected)
    user_error(
        fmt::format("istft: shape {} is not (..., {}, frames, 2), that of a spectrum for n_fft {}",
                    shape_text(x.uop()), expected, n_fft));
  const Tensor spectra = x.cast(promote(float_like(x.dtype()), dtypes::f32)).transpose(-2, -3);
  const Frame frame = frame_of("istft", n_fft, options, spectra);
  const Norm norm = options.normalized ? Norm::Ortho : Norm::Backward;
  const Tensor half = spectra.slice(-2, {.stop = n_fft / 2 + 1});  // all that real signals need
  const Tensor frames = irfft(half, {.n = n_fft, .norm = norm});
  const Tensor weight = frame.window.square().expand({x.size(-2), n_fft});
  const std::int64_t start = options.center ? n_fft / 2 : 0;
  const std::int64_t all = n_fft + frame.hop * (x.size(-2) - 1);
  const std::int64_t stop = length ? start + *length : all - start;
  if (stop < start) user_error(fmt::format("istft: a signal of {} samples", stop - start));
  const auto kept = [&](const Tensor& each) {
    return overlapping(each, frame.hop).slice(-1, {.start = start, .stop = std::min(stop, all)});
  };
  const Tensor signal = kept(frames * frame.window) / kept(weight);
  Tensor::Bounds padding(static_cast<std::size_t>(signal.ndim()), {0, 0});
  padding.back().second = std::max<std::int64_t>(0, stop - all);
  return (stop > all ? signal.pad(padding) : signal).cast(float_like(x.dtype()));
}

}  // namespace weft::fft
