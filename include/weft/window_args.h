// What convolutions, pools and resampling take besides numbers and tensors: padding, and options to
// be named in place: x.max_pool({2, 2}, {.stride = 1, .ceil_mode = true}).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weft/dev/ir/uop.h>
#include <weft/tensor_args.h>

namespace weft {

// Around the elements that windows slide over: a number for all sides, {2, 1} for each dimension,
// {{1, 2}, {0, 1}} before and after each, "valid" for none, or "same" for as many places as elements.
class Padding {
 public:
  using Sides = std::pair<std::int64_t, std::int64_t>;  // before, after

  Padding() : Padding(0) {}
  template <std::integral T>
  Padding(T all) : sides_{{all, all}} {}                           // NOLINT
  Padding(std::initializer_list<std::int64_t> each)                // NOLINT
      : Padding(std::vector<std::int64_t>(each)) {}                // NOLINT
  Padding(const std::vector<std::int64_t>& each);                  // NOLINT
  Padding(const PerDim& each) : Padding(each.values()) {}          // NOLINT
  Padding(std::initializer_list<Sides> sides) : sides_(sides) {}   // NOLINT
  Padding(std::vector<Sides> sides) : sides_(std::move(sides)) {}  // NOLINT
  template <std::size_t N>
  Padding(const char (&name)[N]) : name_(name) {}  // NOLINT

  // Of each dimension, for windows such as these; throws in the name of the op where it does not fit.
  std::vector<Sides> of(const char* op, const std::vector<std::int64_t>& kernel,
                        const std::vector<std::int64_t>& stride,
                        const std::vector<std::int64_t>& dilation) const;

 private:
  std::vector<Sides> sides_;
  std::string name_;  // "same", "valid", or empty
};

struct ConvOptions {
  std::int64_t groups = 1;
  PerDim stride = 1, dilation = 1;
  Padding padding = 0;
  DType dtype = {};  // what the sums are taken in, and of the result
};

struct ConvTransposeOptions {
  std::int64_t groups = 1;
  PerDim stride = 1, dilation = 1;
  Padding padding = 0;        // as many elements less at each side
  PerDim output_padding = 0;  // as many more at the end
};

// A stride of {} is the kernel itself. With ceil_mode, windows that begin inside may end beyond.
struct MaxPoolOptions {
  PerDim stride = {}, dilation = 1;
  Padding padding = 0;
  bool ceil_mode = false;
};

struct MaxUnpoolOptions {
  PerDim stride = {}, padding = 0;
  std::vector<std::int64_t> output_size = {};
};

struct AvgPoolOptions {
  PerDim stride = {}, dilation = 1;
  Padding padding = 0;
  bool ceil_mode = false, count_include_pad = true;
  std::optional<std::int64_t> divisor_override = {};
};

enum class Resampling : std::uint8_t { Nearest, NearestExact, Linear, Cubic, Area };

struct InterpolateOptions {
  Resampling mode = Resampling::Linear;
  bool align_corners = false, antialias = false;
  std::vector<double> scale_factor = {};  // for each of the last axes, in place of their sizes
  bool recompute_scale_factor = false;    // from the sizes that it leads to
};

}  // namespace weft
