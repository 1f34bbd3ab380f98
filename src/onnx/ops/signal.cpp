// Fourier transforms, windows and mel filters. As in fft.h, complex numbers are a last axis of size 2; that of
// real ones has size 1 here.
#include <cmath>

#include <fmt/format.h>
#include <weft/fft.h>

#include "tables.h"

namespace weft::onnx {
namespace {

constexpr std::int64_t most_samples = std::int64_t{1} << 31;

Tensor as_complex(const Call& call, const Tensor& x) {
  const std::int64_t parts = x.size(-1);
  if (parts != 1 && parts != 2)
    call.refuse(fmt::format("its last axis has the size 1 or 2, not {}", parts));
  return parts == 2 ? x : fft::complex(x.squeeze(-1));
}

// Along an axis that is not the last; the length is that of the result in time.
Tensor transformed(const Call& call, const Tensor& x, std::int64_t axis,
                   std::optional<std::int64_t> length) {
  const bool is_inverse = call.attr("inverse", 0) != 0, is_half = call.attr("onesided", 0) != 0;
  const std::int64_t rank = x.ndim();
  if (rank < 2 || axis < -rank || axis == -1 || axis >= rank - 1)
    call.refuse(fmt::format("it has {} axes, and none to transform at {}", rank, axis));
  const fft::Axis along{.n = length, .dim = axis < 0 ? axis + rank : axis};
  if (is_inverse && is_half) return fft::irfft(as_complex(call, x), along).unsqueeze(-1);
  if (is_inverse) return fft::ifft(as_complex(call, x), along);
  if (is_half && x.size(-1) == 1) return fft::rfft(x.squeeze(-1), along);
  const Tensor all = fft::fft(as_complex(call, x), along);
  return is_half ? all.narrow(along.dim, 0, all.size(along.dim) / 2 + 1) : all;
}

Tensor transform(const Call& call, std::int64_t axis) {
  const Tensor x = call.tensor(0);
  std::optional<std::int64_t> length;
  if (call.has(1)) length = call.integer(1);
  if (length && (*length < 1 || *length > most_samples))
    call.refuse(fmt::format("a length of {}", *length));
  return transformed(call, x, axis, length).cast(x.dtype());
}

Tensor dft_17(const Call& call) { return transform(call, call.attr("axis", 1)); }
Tensor dft_20(const Call& call) { return transform(call, call.has(2) ? call.integer(2) : -2); }

Tensor stft(const Call& call) {
  const Tensor signal = call.tensor(0), window = call.tensor_or_null(2);
  if (signal.ndim() != 3) call.refuse("the signal has three axes: (batch, samples, 1 or 2)");
  std::int64_t length = signal.size(1);
  if (call.has(3))
    length = call.integer(3);
  else if (!window.is_null())
    length = window.numel();
  const std::int64_t step = call.integer(1);
  if (step < 1 || length < 1 || length > signal.size(1))
    call.refuse(fmt::format("frames of {} samples each {}, of {}", length, step, signal.size(1)));
  Tensor frames = signal.unfold(1, length, step);  // (batch, frames, parts, length)
  if (!window.is_null()) {
    if (window.numel() != length)
      call.refuse(fmt::format("a window of {} samples for frames of {}", window.numel(), length));
    frames = frames * window.reshape({length});
  }
  const bool is_half = call.attr("onesided", 1) != 0;
  Tensor spectrum;
  if (signal.size(2) == 1 && is_half) {
    spectrum = fft::rfft(frames.squeeze(2));
  } else {
    spectrum = fft::fft(as_complex(call, frames.permute({0, 1, 3, 2})));
    if (is_half) spectrum = spectrum.narrow(2, 0, length / 2 + 1);
  }
  return spectrum.cast(signal.dtype());
}

// --- Windows ----------------------------------------------------------------------------------------

struct Window {
  std::int64_t size;
  bool is_periodic;
  DType dtype;
  Options exact;
};

Window window_of(const Call& call) {
  const Window window{call.integer(0), call.attr("periodic", 1) != 0,
                      dtype_of(call.attr("output_datatype", Type::F32)), call.options(dtypes::f64)};
  if (window.size < 0 || window.size > most_samples)
    call.refuse(fmt::format("a window of {} samples", window.size));
  return window;
}

Tensor hann_window(const Call& call) {
  const Window window = window_of(call);
  return fft::hann_window(window.size, window.is_periodic, window.exact).cast(window.dtype);
}

Tensor hamming_window(const Call& call) {
  const Window window = window_of(call);
  const double alpha = 25.0 / 46;
  return fft::hamming_window(window.size, window.is_periodic, alpha, 1 - alpha, window.exact)
      .cast(window.dtype);
}

Tensor blackman_window(const Call& call) {
  const Window window = window_of(call);
  return fft::blackman_window(window.size, window.is_periodic, window.exact).cast(window.dtype);
}

// --- Mel filters --------------------------------------------------------------------------------------

double mel_of(double hertz) { return 2595 * std::log10(1 + hertz / 700); }

// A triangle for each band, over the bins of a spectrum: from the centre of the band before to that of the next.
Tensor mel_weight_matrix(const Call& call) {
  const std::int64_t bands = call.integer(0), length = call.integer(1), rate = call.integer(2);
  const DType dtype = dtype_of(call.attr("output_datatype", Type::F32));
  if (bands < 1 || length < 1 || rate < 1 || bands > most_samples || length > most_samples)
    call.refuse(fmt::format("{} bands, {} samples, a rate of {}", bands, length, rate));
  const double lowest = mel_of(call.number(3)), highest = mel_of(call.number(4));
  const double step = (highest - lowest) / static_cast<double>(bands + 2);
  const Options exact = call.options(dtypes::f64);
  const Tensor mels = Tensor::arange(bands + 2, exact) * step + lowest;
  const Tensor hertz = (mels * (std::log(10.0) / 2595)).expm1() * 700;
  const Tensor corners =
      (hertz * (static_cast<double>(length) + 1) / static_cast<double>(rate)).floor();
  const Tensor low = corners.narrow(0, 0, bands), centre = corners.narrow(0, 1, bands),
               high = corners.narrow(0, 2, bands);
  const Tensor bin = Tensor::arange(length / 2 + 1, exact).unsqueeze(1);
  const Tensor is_rising = (bin >= low) & (bin <= centre);
  const Tensor rising = (centre == low).where(1.0, (bin - low) / (centre - low).maximum(1.0));
  const Tensor falling = (high - bin) / (high - centre).maximum(1.0);
  const Tensor weights =
      ((bin >= centre) & (bin < high)).where(falling, is_rising.where(rising, 0.0));
  return weights.cast(dtype);
}

}  // namespace

OpTable signal_ops() {
  static const Op ops[] = {
      {"BlackmanWindow", 17, blackman_window},
      {"DFT", 17, dft_17},
      {"DFT", 20, dft_20},
      {"HammingWindow", 17, hamming_window},
      {"HannWindow", 17, hann_window},
      {"MelWeightMatrix", 17, mel_weight_matrix},
      {"STFT", 17, stft},
  };
  return {"", ops};
}

}  // namespace weft::onnx
