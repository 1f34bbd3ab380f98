// Leaving out at random, which only training does.

#include <cmath>

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/functional.h>

#include "ops.h"

namespace weft {
namespace {

thread_local bool training = false;

bool acts(const char* op, const Tensor& x, double p) {
  x.uop();  // refuses a null tensor
  if (!(p >= 0 && p <= 1))
    user_error(fmt::format("{}: the probability {} is not from 0 to 1", op, p));
  return Training::is_on() && p > 0;
}

// Which elements stay; with `axes` the same ones along all further axes.
Tensor kept(const Tensor& x, double p, std::size_t axes) {
  std::vector<Dim> sizes = x.dims();
  for (std::size_t axis = axes; axis < sizes.size(); ++axis) sizes[axis] = Dim(1);
  return Tensor::rand(sizes, {.device = x.device()}) >= p;
}

Tensor dropped(const Tensor& x, double p, std::size_t axes) {
  return p == 1 ? x * 0 : kept(x, p, axes).where(x * (1 / (1 - p)), 0);
}

// What is left out becomes what selu() tends to, and everything is scaled and moved back to mean 0 and
// variance 1.
Tensor alpha_dropped(const Tensor& x, double p, std::size_t axes) {
  constexpr double lowest = -1.7580993408473766;  // selu of minus infinity
  if (p == 1) return x * 0;
  const double scale = 1 / std::sqrt((1 - p) * (1 + p * lowest * lowest));
  return kept(x, p, axes).where(x, lowest) * scale - scale * lowest * p;
}

void want_channels(const char* op, const Tensor& x) {
  if (x.ndim() < 2)
    user_error(fmt::format("{}: shape {} has no batch and channels", op, shape_text(x.uop())));
}

std::size_t all_axes(const Tensor& x) { return static_cast<std::size_t>(x.ndim()); }

}  // namespace

Training::Training(bool on) : before_(training) { training = on; }
Training::~Training() { training = before_; }
bool Training::is_on() { return training; }

Tensor Tensor::dropout(double p) const {
  return Called(), acts("dropout", *this, p) ? dropped(*this, p, all_axes(*this)) : from(*this);
}

namespace functional {

Tensor dropout(const Tensor& x, double p) { return Called(), x.dropout(p); }

Tensor feature_dropout(const Tensor& x, double p) {
  const Called called;
  want_channels("feature_dropout", x);
  return acts("feature_dropout", x, p) ? dropped(x, p, 2) : x;
}

Tensor alpha_dropout(const Tensor& x, double p) {
  return Called(), acts("alpha_dropout", x, p) ? alpha_dropped(x, p, all_axes(x)) : x;
}

Tensor feature_alpha_dropout(const Tensor& x, double p) {
  const Called called;
  want_channels("feature_alpha_dropout", x);
  return acts("feature_alpha_dropout", x, p) ? alpha_dropped(x, p, 2) : x;
}

}  // namespace functional
}  // namespace weft
