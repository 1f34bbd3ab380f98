// What the methods of Tensor take: sizes, axes, numbers, indices, options. Each converts from what
// one would write in place: 3, {2, 3}, Slice{1, 5}.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

class Tensor;

// Any number: bool, integer or float.
class Scalar {
 public:
  template <Literal T>
  Scalar(T value) {  // NOLINT: numbers read as they are
    if constexpr (std::same_as<T, bool>)
      literal_ = dtypes::bool_, integer_ = value;
    else if constexpr (std::floating_point<T>)
      literal_ = dtypes::weak, real_ = static_cast<double>(value);
    else
      literal_ = std::in_range<std::int64_t>(value) ? dtypes::index : dtypes::u64,
      integer_ = static_cast<std::int64_t>(value);
  }

  // bool, index or weak: what it is before it meets a tensor. From 2^63 on it is u64.
  DType literal() const { return literal_; }
  double as_double() const;
  UOp as(DType dtype) const;  // a CONST, converted as by CAST

 private:
  DType literal_;
  std::int64_t integer_ = 0;
  double real_ = 0;
};

// A size: a number, or a symbolic integer such as a Variable.
class Dim {
 public:
  template <std::integral T>
  Dim(T size) : size_(const_int(static_cast<std::int64_t>(size))) {}  // NOLINT
  Dim(UOp size);                                                      // NOLINT

  const UOp& uop() const { return size_; }
  bool is_symbolic() const { return !size_->is_const(); }

 private:
  UOp size_;
};

// The sizes of a tensor: numbers. Prints as (2, 3).
struct SizeList : std::vector<std::int64_t> {
  using std::vector<std::int64_t>::vector;
  SizeList() = default;
  SizeList(std::vector<std::int64_t> sizes)  // NOLINT: it is one
      : std::vector<std::int64_t>(std::move(sizes)) {}
};
std::ostream& operator<<(std::ostream& out, const SizeList& sizes);

// {2, 3}, or 6 for {6}. Where a method takes it, -1 is the size that remains, or the one that is there.
class Shape {
 public:
  Shape() = default;
  template <std::convertible_to<Dim>... T>
    requires(sizeof...(T) > 0)
  // By value: a constant needs no memory then.
  Shape(T... dims) : dims_{Dim(std::move(dims))...} {}      // NOLINT
  Shape(std::vector<Dim> dims) : dims_(std::move(dims)) {}  // NOLINT
  Shape(const std::vector<std::int64_t>& sizes)             // NOLINT
      : dims_(sizes.begin(), sizes.end()) {}
  const std::vector<Dim>& dims() const { return dims_; }

 private:
  std::vector<Dim> dims_;
};

// Numbers side by side: of {2, 3}, or of 2. A constructor for lists of any length would not do: where there is another for one
// number, g++ 12 takes {.name = 2} for {2}.
template <class T>
concept WholeNumber = std::integral<T> && !std::same_as<T, bool>;
template <class... T>
concept WholeNumbers = sizeof...(T) > 0 && (WholeNumber<T> && ...);

// One axis, several, or all; negative ones count from the last.
class AxisList {
 public:
  AxisList() : is_all_(true) {}
  template <class... T>
    requires WholeNumbers<T...>
  AxisList(T... axes) : axes_{static_cast<std::int64_t>(axes)...} {}    // NOLINT
  AxisList(std::vector<std::int64_t> axes) : axes_(std::move(axes)) {}  // NOLINT

  bool is_all() const { return is_all_; }
  const std::vector<std::int64_t>& axes() const { return axes_; }

 private:
  bool is_all_ = false;
  std::vector<std::int64_t> axes_;
};

// One number for each spatial dimension, or one for all.
class PerDim {
 public:
  PerDim() = default;
  template <class... T>
    requires WholeNumbers<T...>
  PerDim(T... values) : values_{static_cast<std::int64_t>(values)...} {}    // NOLINT
  PerDim(std::vector<std::int64_t> values) : values_(std::move(values)) {}  // NOLINT
  // As many as there are dimensions; throws in the name of the op where they do not fit.
  std::vector<std::int64_t> of(std::size_t dims, const char* op) const;
  const std::vector<std::int64_t>& values() const { return values_; }

 private:
  std::vector<std::int64_t> values_;
};

// Where an axis is cut: into so many parts, or {2, 5} before these places; negative ones count from the end.
class Cuts {
 public:
  template <std::integral T>
  Cuts(T parts) : parts_(static_cast<std::int64_t>(parts)) {}             // NOLINT
  Cuts(std::initializer_list<std::int64_t> places) : places_(places) {}   // NOLINT
  Cuts(std::vector<std::int64_t> places) : places_(std::move(places)) {}  // NOLINT

  const std::optional<std::int64_t>& parts() const { return parts_; }
  const std::vector<std::int64_t>& places() const { return places_; }

 private:
  std::optional<std::int64_t> parts_;
  std::vector<std::int64_t> places_;
};

// What padding is filled with.
enum class PadMode : std::uint8_t { Constant, Reflect, Replicate, Circular };

// How a new tensor is to be: {.dtype = dtypes::f16, .requires_grad = true}.
struct Options {
  // Void: what the values suggest, else f32. Integers are i32, or i64 where they need to be or are std::int64_t.
  DType dtype = {};
  std::string device = {};  // empty: default_device()
  bool requires_grad = false;
};

// std::int64_t, by whichever of its names.
template <class T>
concept WideInteger = std::same_as<T, long> || std::same_as<T, long long>;

// With the dtype that the type of a number says, where none is given.
template <Literal T>
Options typed(Options options) {
  if (WideInteger<T> && options.dtype.is_void()) options.dtype = dtypes::i64;
  return options;
}

struct CastOptions {
  // What is too large for a float, infinities too, becomes the largest finite one instead of infinity or NaN.
  bool saturate = false;
};

// The values of a tensor in place, in as many levels of braces as it has axes.
class Nested {
 public:
  template <Literal T>
  Nested(T value)  // NOLINT
      : number_(value), is_wide_(WideInteger<T>) {}
  Nested(std::initializer_list<Nested> members)  // NOLINT
      : number_(0), is_number_(false), members_(members) {}

  bool is_number() const { return is_number_; }
  const Scalar& number() const { return number_; }
  bool is_wide() const { return is_wide_; }  // i64 whatever its value
  const std::vector<Nested>& members() const { return members_; }

 private:
  Scalar number_;
  bool is_number_ = true;
  bool is_wide_ = false;
  std::vector<Nested> members_;
};

// From start to before stop; both may count from the end, and step may be negative. What is left
// out is everything: Slice{}, Slice{.step = -1}. Bounds that are symbolic are taken as they are.
struct Slice {
  std::optional<Dim> start = {}, stop = {};
  std::int64_t step = 1;
};
struct Ellipsis {};  // all axes that the other indices leave over
struct NewAxis {};   // an axis of size 1
inline constexpr Ellipsis ellipsis;
inline constexpr NewAxis newaxis;

// What stands for one axis in x[{...}]: 2, Slice{1, 3}, a list {2, 0}, a tensor. A mask, a tensor of
// bools, stands for as many axes as it has itself.
class Index {
 public:
  enum class Form : std::uint8_t { At, Slice, Ellipsis, NewAxis, Tensor };

  template <WholeNumber T>
  Index(T at) : Index(Dim(at)) {}                                             // NOLINT
  Index(Dim at) : form_(Form::At), at_(std::move(at)) {}                      // NOLINT
  Index(UOp at) : Index(Dim(std::move(at))) {}                                // NOLINT
  Index(weft::Slice slice) : form_(Form::Slice), slice_(std::move(slice)) {}  // NOLINT
  Index(weft::Ellipsis) : form_(Form::Ellipsis) {}                            // NOLINT
  Index(weft::NewAxis) : form_(Form::NewAxis) {}                              // NOLINT
  Index(const weft::Tensor& places);                                          // NOLINT
  template <WholeNumber T>
  Index(const std::vector<T>& places)  // NOLINT
      : form_(Form::Tensor), list_(places.begin(), places.end()) {}
  Index(std::initializer_list<std::int64_t> places)  // NOLINT
      : Index(std::vector<std::int64_t>(places)) {}

  Form form() const { return form_; }
  const weft::Slice& slice() const { return slice_; }
  const Dim& at() const { return at_; }
  const weft::Tensor* tensor() const { return tensor_.get(); }  // null for a list
  const std::vector<std::int64_t>& list() const { return list_; }

 private:
  Form form_;
  Dim at_ = 0;
  weft::Slice slice_ = {};
  std::shared_ptr<const weft::Tensor> tensor_;
  std::vector<std::int64_t> list_;
};

class Indices {
 public:
  template <std::convertible_to<Index> T>
  Indices(const T& index) : list_{Index(index)} {}  // NOLINT
  Indices() = default;
  Indices(const Index& a) : list_{a} {}  // NOLINT
  Indices(const Index& a, const Index& b) : list_{a, b} {}
  Indices(const Index& a, const Index& b, const Index& c) : list_{a, b, c} {}
  Indices(const Index& a, const Index& b, const Index& c, const Index& d) : list_{a, b, c, d} {}
  Indices(const Index& a, const Index& b, const Index& c, const Index& d, const Index& e)
      : list_{a, b, c, d, e} {}
  template <std::convertible_to<Index>... T>
    requires(sizeof...(T) > 5)
  Indices(const T&... list) : list_{Index(list)...} {}
  template <std::same_as<std::vector<Index>> List>  // which no list in braces is
  explicit Indices(List list) : list_(std::move(list)) {}
  const std::vector<Index>& list() const { return list_; }

 private:
  std::vector<Index> list_;
};

// How values print.
struct PrintStyle {
  int precision = 4;                    // digits after the point
  std::int64_t threshold = 1000;        // with more elements only the edges are shown
  std::int64_t edge_items = 3;          // of each axis, at both ends
  int line_width = 75;                  // longer rows are broken
  std::optional<bool> scientific = {};  // with exponents; by default where sizes differ much
};

}  // namespace weft
