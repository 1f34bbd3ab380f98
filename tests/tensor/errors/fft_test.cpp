#include "table.h"

namespace weft {
namespace {

TEST(TensorErrors, Fourier) {
  const WrongCall calls[] = {
      {"fft", [] { fft::fft(of({8})); },
       "fft: shape (8,) is not that of a complex tensor, whose last axis has 2 parts"},
      {"ifft", [] { fft::ifft(of({8, 3})); },
       "ifft: shape (8, 3) is not that of a complex tensor, whose last axis has 2 parts"},
      {"fft", [] { fft::fft(of({8, 2}), {.dim = 1}); },
       "fft: there is no axis 1 in a tensor of 1 axes"},
      {"fft", [] { fft::fft(of({8, 2}), {.n = 0}); },
       "fft: a transform of 0 elements: want at least 1"},
      {"rfft", [] { fft::rfft(of({})); }, "rfft: a scalar has no axis to transform"},
      {"rfft", [] { fft::rfft(of({0})); }, "rfft: a transform of 0 elements: want at least 1"},
      {"irfft", [] { fft::irfft(of({1, 2})); },
       "irfft: a transform of 0 elements: want at least 1"},
      {"hfft", [] { fft::hfft(of({4})); },
       "hfft: shape (4,) is not that of a complex tensor, whose last axis has 2 parts"},
      {"fftn", [] { fft::fftn(of({4, 2}), {.s = {2, 2}, .dim = {0}}); },
       "fftn: 2 sizes for 1 axes"},
      {"rfft2", [] { fft::rfft2(of({4})); }, "rfft2: there is no axis -2 in a tensor of 1 axes"},
      {"ifftn", [] { fft::ifftn(of({4, 4, 2}), {.dim = {0, -2}}); },
       "ifftn: axis -2 is given twice"},
      {"fftfreq", [] { fft::fftfreq(0); }, "fftfreq: a transform of 0 elements: want at least 1"},
      {"hann_window", [] { fft::hann_window(-1); },
       "hann_window: a window of -1 elements: want at least 0"},
      {"stft", [] { fft::stft(of({20}), 8, {.hop_length = 0}); },
       "stft: n_fft 8, hop_length 0, win_length 8: each is at least 1, and win_length at most "
       "n_fft"},
      {"stft", [] { fft::stft(of({20}), 8, {.window = of({4})}); },
       "stft: a window of shape (4,) for a win_length of 8"},
      {"stft", [] { fft::stft(of({4}), 8, {.center = false}); },
       "stft: a frame of 8 does not fit in 4 samples"},
      {"stft", [] { fft::stft(of({4}), 8); }, "stft: 4 samples cannot be continued by 4"},
      {"istft", [] { fft::istft(of({4, 3, 2}), 8); },
       "istft: shape (4, 3, 2) is not (..., 5, frames, 2), that of a spectrum for n_fft 8"},
      {"multiply", [] { fft::multiply(of({3, 2}), of({3})); },
       "multiply: shape (3,) is not that of a complex tensor, whose last axis has 2 parts"},
  };
  expect_errors(calls);
}

}  // namespace
}  // namespace weft
