// Discrete Fourier transforms and what is done with them.
//
// There is no complex dtype: a complex tensor is a real one with a last axis of size 2, the real and the
// imaginary part, as torch.view_as_real gives it. Axes are counted without that one: dim -1 of a complex
// tensor of shape (3, 8, 2) is the one of size 8.
//
//   const Tensor spectrum = fft::rfft(signal);                 // (..., n) to (..., n / 2 + 1, 2)
//   const Tensor back = fft::irfft(spectrum, {.n = n});
//
// Sizes are split into small factors, each a matrix product; what has prime factors beyond 128 goes through
// a convolution. So n log n operations in all, and a handful of kernels. f32 or f64; what is neither is
// computed in f32.
#pragma once

#include <concepts>
#include <optional>
#include <vector>

#include <weft/tensor.h>

namespace weft::fft {

// By what is divided: the inverse by n, both by sqrt(n), or the forward transform by n.
enum class Norm { Backward, Ortho, Forward };

// Along one axis, which is cut, or filled up with zeros, to n: of the result, for irfft and hfft.
struct Axis {
  std::optional<std::int64_t> n = {};
  std::int64_t dim = -1;
  Norm norm = Norm::Backward;
};
// Along several, all by default, or as many of the last as `s` has sizes. The last one given is the one
// that real transforms halve.
struct Several {
  std::vector<std::int64_t> s = {}, dim = {};
  Norm norm = Norm::Backward;
};

Tensor complex(const Tensor& real, const Tensor& imag = {});
Tensor real(const Tensor& x);
Tensor imag(const Tensor& x);
Tensor conj(const Tensor& x);
Tensor multiply(const Tensor& x, const Tensor& y);  // of two complex tensors

Tensor fft(const Tensor& x, const Axis& axis = {});
Tensor ifft(const Tensor& x, const Axis& axis = {});
Tensor rfft(const Tensor& x, const Axis& axis = {});  // of a real tensor: the first half
Tensor irfft(const Tensor& x,
             const Axis& axis = {});  // of such a half; n is 2 (size - 1) by default
Tensor hfft(const Tensor& x,
            const Axis& axis = {});  // the real spectrum, of half a Hermitian signal
Tensor ihfft(const Tensor& x, const Axis& axis = {});

Tensor fftn(const Tensor& x, const Several& axes = {});
Tensor ifftn(const Tensor& x, const Several& axes = {});
Tensor rfftn(const Tensor& x, const Several& axes = {});
Tensor irfftn(const Tensor& x, const Several& axes = {});
// Along the last two axes by default.
Tensor fft2(const Tensor& x, Several axes = {});
Tensor ifft2(const Tensor& x, Several axes = {});
Tensor rfft2(const Tensor& x, Several axes = {});
Tensor irfft2(const Tensor& x, Several axes = {});

// 0, 1 ... -2, -1 over n d: the frequency of each element, or of those of the first half.
Tensor fftfreq(std::int64_t n, double d = 1, const Options& options = {});
Tensor rfftfreq(std::int64_t n, double d = 1, const Options& options = {});
// Frequency 0 to the middle of these axes of any tensor, and back.
Tensor fftshift(const Tensor& x, const AxisList& dim = {});
Tensor ifftshift(const Tensor& x, const AxisList& dim = {});

// --- Windows, and short-time transforms ---------------------------------------------------------

// Periodic ones go on after n elements; the others are symmetric.
Tensor hann_window(std::int64_t n, bool periodic = true, const Options& options = {});
Tensor hamming_window(std::int64_t n, bool periodic = true, double alpha = 0.54, double beta = 0.46,
                      const Options& options = {});
struct Hamming {
  bool periodic = true;
  double alpha = 0.54, beta = 0.46;
};
template <std::same_as<Hamming> O = Hamming>
Tensor hamming_window(std::int64_t n, const O& o, const Options& options = {}) {
  return hamming_window(n, o.periodic, o.alpha, o.beta, options);
}
Tensor blackman_window(std::int64_t n, bool periodic = true, const Options& options = {});
Tensor bartlett_window(std::int64_t n, bool periodic = true, const Options& options = {});

using Padding = PadMode;

struct Stft {
  std::optional<std::int64_t> hop_length = {};  // n_fft / 4
  std::optional<std::int64_t> win_length = {};  // n_fft; shorter windows lie in the middle
  Tensor window = {};                           // ones
  bool center = true;                           // frame t is around t * hop_length
  Padding pad_mode = Padding::Reflect;
  bool normalized = false;  // over sqrt(n_fft)
  bool onesided = true;
};
// (..., samples) to the complex (..., frequencies, frames, 2).
Tensor stft(const Tensor& x, std::int64_t n_fft, const Stft& options = {});
// And back, by least squares; `length` samples.
Tensor istft(const Tensor& x, std::int64_t n_fft, const Stft& options = {},
             std::optional<std::int64_t> length = {});

}  // namespace weft::fft
