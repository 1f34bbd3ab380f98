// How far results are from the true values.
#pragma once

#include <string>
#include <vector>

#include "samples.h"

namespace weft::accuracy {

// Rounded to 64 bits, which is 2^-11 of an ulp of f64.
std::vector<long double> true_values(const Function& function, const Inputs& inputs);

// What computes, as settings.
struct Device {
  std::string name, dev;
  std::size_t most;  // inputs that it has time for
};
// Those of this machine; what is left out is said on stderr.
std::vector<Device> devices();

struct Place {
  double error = 0, x = 0, y = 0, got = 0;
  long double want = 0;
};
struct Measured {
  std::size_t count = 0;
  Place ulp;   // in units in the last place of the result
  Place unit;  // in those of the function's Unit
  // Wrong NaN and infinities, and zeros of the wrong sign: how many, and the first one.
  std::size_t wrong = 0;
  Place first_wrong;
};

Measured measure(const Function& function, DType dtype, const Device& device, const Inputs& inputs,
                 const std::vector<long double>& exact);

}  // namespace weft::accuracy
