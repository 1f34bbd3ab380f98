// Fourier transforms. A complex tensor has a last axis of two: the real and the imaginary part.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor signal({1.0, 2.0, 3.0, 4.0});
  const Tensor spectrum = fft::rfft(signal);
  std::cout << spectrum[1] << "\n";
  std::cout << fft::irfft(spectrum, {.n = 4}) << "\n";
  std::cout << fft::fftfreq(4) << " " << fft::fftshift(fft::fftfreq(4)) << "\n";
  std::cout << fft::hann_window(4) << "\n";
}

//> [-2.  2.]
//> [1. 2. 3. 4.]
//> [ 0.    0.25 -0.5  -0.25] [-0.5  -0.25  0.    0.25]
//> [0.  0.5 1.  0.5]
