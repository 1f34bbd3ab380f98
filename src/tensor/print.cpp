// Text, as numpy prints: brackets, one width, few digits after the point, what is long cut short.

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

#include <fmt/format.h>
#include <weft/error.h>

#include "ops.h"

namespace weft {
namespace {

thread_local PrintStyle defaults;

// How all floats of one tensor are written.
struct FloatStyle {
  FloatStyle(const std::vector<double>& values, const PrintStyle& options)
      : precision(options.precision) {
    double least = 0, most = 0;
    for (double value : values) {
      const double size = std::abs(value);
      if (!std::isfinite(size) || size == 0) continue;
      least = least == 0 ? size : std::min(least, size);
      most = std::max(most, size);
    }
    scientific = options.scientific.value_or(most >= 1e8 || (least > 0 && least < 1e-4) ||
                                             (least > 0 && most / least > 1e3 * 1e4));
    for (double value : values)
      if (std::isfinite(value)) digits = std::max(digits, static_cast<int>(fraction(value).size()));
  }

  std::string text(double value) const {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    if (scientific) return fmt::format("{:.{}e}", value, precision);
    const std::string digits_of = fraction(value);
    const std::string whole = fmt::format("{:.{}f}", value, precision);
    return fmt::format("{}.{:<{}}", whole.substr(0, whole.find('.')), digits_of, digits);
  }

 private:
  // The digits after the point, without zeros at the end.
  std::string fraction(double value) const {
    std::string text = fmt::format("{:.{}f}", value, precision);
    text.erase(0, text.find('.') + 1);
    return text.substr(0, text.find_last_not_of('0') + 1);
  }

  int precision;
  bool scientific = false;
  int digits = 0;
};

// The places that are printed along an axis; a gap stands before the edge at the end.
std::vector<std::int64_t> shown(std::int64_t size, std::int64_t edge) {
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < size; ++i)
    if (size <= 2 * edge || i < edge || i >= size - edge) places.push_back(i);
  return places;
}

class Printer {
 public:
  Printer(const Tensor& tensor, const PrintStyle& options)
      : options_(options), shape_(tensor.shape()) {
    if (tensor.numel() > options.threshold) edge_ = options.edge_items;
    collect(tensor);
    for (const std::string& text : texts_) width_ = std::max(width_, text.size());
  }

  std::string text(std::size_t indent) {
    if (shape_.empty()) return texts_.at(0);
    std::size_t next = 0;
    return list(0, indent + 1, next);
  }

 private:
  // Only what is shown is read, by slices of both ends.
  void collect(const Tensor& tensor) {
    Tensor part = tensor;
    for (std::int64_t axis = 0; axis < tensor.ndim(); ++axis) {
      const std::int64_t size = tensor.size(axis);
      if (size > 2 * edge_)
        part = Tensor::cat(
            {part.slice(axis, {.stop = edge_}), part.slice(axis, {.start = size - edge_})}, axis);
    }
    if (tensor.dtype().is_float()) {
      const std::vector<double> values = part.to_vector<double>();
      const FloatStyle style(values, options_);
      for (double value : values) texts_.push_back(style.text(value));
    } else if (tensor.dtype().is_bool()) {
      for (bool value : part.to_vector<bool>()) texts_.emplace_back(value ? "true" : "false");
    } else if (tensor.dtype() == dtypes::u64) {
      for (std::uint64_t value : part.to_vector<std::uint64_t>())
        texts_.push_back(std::to_string(value));
    } else {
      for (std::int64_t value : part.to_vector<std::int64_t>())
        texts_.push_back(std::to_string(value));
    }
  }

  std::string list(std::size_t axis, std::size_t indent, std::size_t& next) {
    const bool is_row = axis + 1 == shape_.size();
    const auto places = shown(shape_[axis], edge_);
    const std::string margin(indent, ' ');
    const std::string gap =
        is_row ? std::string(" ") : "\n" + std::string(shape_.size() - axis - 2, '\n') + margin;
    std::string text = "[";
    std::size_t column = indent;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const bool skips = i > 0 && places[i] != places[i - 1] + 1;
      if (i > 0) text += gap;
      if (skips) text += "..." + gap;
      const std::string item = is_row ? fmt::format("{:>{}}", texts_.at(next++), width_)
                                      : list(axis + 1, indent + 1, next);
      if (is_row && i > 0 &&
          column + item.size() + 1 > static_cast<std::size_t>(options_.line_width)) {
        text.back() = '\n';
        text += margin;
        column = indent;
      }
      column += item.size() + 1 + (skips ? 4 : 0);
      text += item;
    }
    return text + "]";
  }

  const PrintStyle& options_;
  std::vector<std::int64_t> shape_;
  std::int64_t edge_ = std::numeric_limits<std::int32_t>::max();  // shown at both ends of an axis
  std::vector<std::string> texts_;
  std::size_t width_ = 0;
};

}  // namespace

std::string Tensor::str(const std::optional<PrintStyle>& style) const {
  return Called(), is_null() ? "null" : Printer(*this, style.value_or(defaults)).text(0);
}

std::string Tensor::repr(const std::optional<PrintStyle>& style) const {
  const Called called;
  if (is_null()) return "Tensor(null)";
  return fmt::format("Tensor({}, shape={}, dtype={}, device={})",
                     Printer(*this, style.value_or(defaults)).text(7), shape_text(uop()),
                     dtype().str(), device());
}

void Tensor::set_print_style(const PrintStyle& style) {
  if (style.precision < 0 || style.edge_items < 1)
    user_error(fmt::format("set_print_style: a precision of {} and {} items at the edge",
                           style.precision, style.edge_items));
  defaults = style;
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << tensor.str(); }

std::ostream& operator<<(std::ostream& out, const SizeList& sizes) {
  return out << fmt::format("({}{})", fmt::join(sizes, ", "), sizes.size() == 1 ? "," : "");
}

}  // namespace weft
