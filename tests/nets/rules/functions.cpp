// Functions of each element, as the oracle computes them.

#include "../evaluate.h"
#include "../oracle/elementwise.h"
#include "../oracle/pairs.h"

namespace nets {
namespace {

void add_pairs(Rules& rules) {
  for (const char* name : {"atan2", "hypot", "logaddexp", "logaddexp2", "xlogy", "float_power",
                           "gcd", "lcm", "fmax", "fmin", "heaviside", "copysign", "nextafter"}) {
    rules[name] = [name](const Call& c) { return pair_function(name, c[0], c[1]); };
    rules[std::string(name) + "_number"] = [name](const Call& c) {
      // The power is taken in f64, and so is its exponent.
      const bool is_wide = std::string_view(name) == "float_power";
      return pair_function(name, c[0], c.number(is_wide ? Type::F64 : c[0].type));
    };
  }
  rules["isclose"] = [](const Call& c) { return isclose(c[0], c[1], 1e-5, 1e-8, false); };
  rules["isclose_within"] = [](const Call& c) {
    return isclose(c[0], c[1], 0.001, 0.3, c.step.flag);
  };
}

void add_limits(Rules& rules) {
  rules["clip_least"] = [](const Call& c) {
    const Array least = scalar(c[0].type, c.filling(c[0].type));
    return where(binary("le", c[0], least), least, c[0]);
  };
  rules["clip_most"] = [](const Call& c) {
    const Array most = scalar(c[0].type, c.filling(c[0].type));
    return where(binary("ge", c[0], most), most, c[0]);
  };
  rules["clamp_tensors"] = [](const Call& c) { return clamped(c[0], &c[1], &c[2]); };
  rules["clamp_least"] = [](const Call& c) { return clamped(c[0], &c[1], nullptr); };
  rules["clamp_most"] = [](const Call& c) { return clamped(c[0], nullptr, &c[1]); };
  rules["nan_to_num"] = [](const Call& c) { return nan_to_num(c[0], 0); };
  rules["nan_to_num_number"] = [](const Call& c) { return nan_to_num(c[0], c.real()); };
}

}  // namespace

void add_functions(Rules& rules) {
  for (const char* name :
       {"expm1",      "log1p",       "log10",     "tan",       "asin",    "acos",     "atan",
        "sinh",       "cosh",        "asinh",     "acosh",     "atanh",   "sinc",     "erfc",
        "lgamma",     "deg2rad",     "rad2deg",   "frac",      "signbit", "relu6",    "hardtanh",
        "leaky_relu", "elu",         "celu",      "selu",      "mish",    "softsign", "logsigmoid",
        "quick_gelu", "hardsigmoid", "hardswish", "exact_gelu"})
    rules[name] = [name](const Call& c) { return unary(name, c[0]); };
  add_pairs(rules);
  add_limits(rules);
  rules["lerp"] = [](const Call& c) { return triple_function("lerp", c[0], c[1], c[2], 1); };
  rules["lerp_number"] = [](const Call& c) {
    return triple_function("lerp", c[0], c[1], c.number(c[0].type), 1);
  };
  for (const char* name : {"addcmul", "addcdiv"})
    rules[name] = [name](const Call& c) {
      return triple_function(name, c[0], c[1], c[2], c.real());
    };
  rules["softplus_beta"] = [](const Call& c) {
    const Array beta = c.number(c[0].type);
    return binary("div", unary("softplus", binary("mul", c[0], beta)), beta);
  };
  rules["isin"] = [](const Call& c) { return isin(c[0], c[1]); };
}

}  // namespace nets
