// Tensor: what a program computes with.
//
//   Tensor a = Tensor::randn({64, 32}), b = Tensor::randn({32, 16});
//   Tensor c = (a.matmul(b) + 1).relu();     // a graph: nothing has run
//   std::vector<float> values = c.to_vector<float>();
//
// A Tensor is a handle, as cheap as a pointer; copies are the same tensor. Nothing runs until values
// are asked for (realize, item, to_vector, print). Shapes broadcast as in numpy. Dtypes promote as
// dtype.h says, and a number in an expression takes the dtype of the tensor it meets. What only looks
// at a tensor from elsewhere (reshape, permute, expand, shrink, flip, [] and what is made of them)
// shares its memory: assign() to either and both change.
#pragma once

#include <bit>
#include <concepts>
#include <functional>
#include <iosfwd>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/dev/base/called.h>
#include <weft/dev/device/device.h>
#include <weft/dev/engine/schedule.h>
#include <weft/dev/schedule/views.h>
#include <weft/host_view.h>
#include <weft/tensor_args.h>
#include <weft/window_args.h>

namespace weft {

namespace linalg {
struct Qr;
struct Svd;
}  // namespace linalg
namespace functional {
struct AttentionOptions;
}  // namespace functional

// What an op computes from: a tensor or a number. The way in and out for ops made of nodes directly.
struct Operand {
  Operand(const Tensor& tensor);  // NOLINT
  template <Literal Number>
  Operand(Number number) : graph_(Scalar(number).as(Scalar(number).literal())) {}  // NOLINT
  Operand(UOp graph, Symbol on, bool is_tracked)
      : device(on), tracked(is_tracked), graph_(std::move(graph)) {}

  const UOp& uop() const;  // throws where the tensor is null

  Symbol device = {};    // empty for numbers, which are everywhere
  bool tracked = false;  // something below requires a gradient

 private:
  UOp graph_;
};

enum class Reduction { Mean, Sum, None };
enum class Gelu { Tanh, Exact };
struct CrossEntropyOptions;  // losses.h

// What takes options by name: f(1, {.keepdim = true}). Such an f is a template, which C++ tries second.
struct SumOptions;  // method_args.h, as the others below
struct VarOptions;
struct ReduceOptions;
struct SumAllOptions;
struct VarAllOptions;
struct SoftmaxOptions;
struct NormOptions;
struct CloseOptions;
struct NanToNumOptions;
struct DiffOptions;
struct DiagonalOptions;
struct DiagEmbedOptions;
struct LayerNormOptions;
struct RmsNormOptions;
struct NormalizeOptions;
struct HistcOptions;
struct HistogramOptions;
struct TopkOptions;
struct QuantileOptions;
struct SparseCrossEntropyOptions;

class Tensor {
 public:
  // --- Creation ---------------------------------------------------------------------------------

  Tensor() = default;  // no tensor: what stands for an argument that is left out
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  ~Tensor() = default;
  // A handle becomes another. That of a result would be lost: x.flip(0) = y does not compile, x[0] = y writes.
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  Tensor(std::initializer_list<Nested> values, const Options& options = {});
  template <Literal Number>
  explicit Tensor(Number value, const Options& options = {})
      : Tensor(full({}, value, typed<Number>(options))) {}
  template <Literal Number>
  explicit Tensor(const std::vector<Number>& values, const Options& options = {});
  template <Literal Number>
  explicit Tensor(std::span<const Number> values, const Options& options = {});
  static Tensor from(const Operand& value);
  // Memory of the program, in place where the device can: it has to last as long as the tensor, which
  // keeps `owner`. What the tensor is assigned is then written there.
  static Tensor from_blob(void* data, const Shape& shape, const Options& options = {},
                          std::shared_ptr<const void> owner = nullptr);
  // Memory that `fill` writes, with the same bytes each time, when they are first needed. What only serves to make something
  // else once, as the weights that a kernel keeps packed, goes again after that.
  static Tensor from_recipe(std::function<void(std::span<std::byte>)> fill, const Shape& shape,
                            const Options& options = {});

  // The bytes of a file as u8, on the device DISK:path. What is cut, reshaped or read as another dtype
  // stays there, and to() reads those bytes alone. A tensor's to("DISK:path") writes a new file.
  static Tensor from_file(const std::string& path);

  static Tensor full(const Shape& shape, Scalar value, const Options& options = {});
  static Tensor zeros(const Shape& shape, const Options& options = {});
  static Tensor ones(const Shape& shape, const Options& options = {});
  static Tensor empty(const Shape& shape, const Options& options = {});  // values are left open
  static Tensor arange(Scalar stop, const Options& options = {});
  static Tensor arange(Scalar start, Scalar stop, Scalar step = 1, const Options& options = {});
  static Tensor linspace(Scalar start, Scalar stop, std::int64_t steps,
                         const Options& options = {});
  static Tensor eye(const Dim& rows, const Options& options = {});
  static Tensor eye(const Dim& rows, const Dim& columns, const Options& options = {});
  static Tensor constant(Scalar value, const Options& options = {});  // const() elsewhere: no axes
  // In this one's shape; in its dtype and on its device unless the options say otherwise.
  Tensor full_like(Scalar value, const Options& options = {}) const;
  Tensor const_like(Scalar value, const Options& options = {}) const {
    return Called(), full_like(value, options);
  }
  Tensor zeros_like(const Options& options = {}) const { return Called(), full_like(0, options); }
  Tensor ones_like(const Options& options = {}) const { return Called(), full_like(1, options); }
  Tensor empty_like(const Options& options = {}) const;
  // Rows and columns of the places on and below (above) a diagonal of a matrix: (2, places).
  static Tensor tril_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset = 0,
                             const Options& options = {});
  static Tensor triu_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset = 0,
                             const Options& options = {});

  // Threefry: the same seed gives the same numbers on every device.
  static void manual_seed(std::uint64_t seed);
  static Tensor rand(const Shape& shape, const Options& options = {});   // from 0 to below 1
  static Tensor randn(const Shape& shape, const Options& options = {});  // mean 0, deviation 1
  static Tensor uniform(const Shape& shape, Scalar low = 0.0, Scalar high = 1.0,
                        const Options& options = {});
  static Tensor normal(const Shape& shape, Scalar mean = 0.0, Scalar std = 1.0,
                       const Options& options = {});
  static Tensor randint(const Shape& shape, std::int64_t low, std::int64_t high,
                        const Options& options = {});
  // For weights of shape (out, in, ...): uniform or normal, scaled by the number of inputs.
  static Tensor scaled_uniform(const Shape& shape, const Options& options = {});
  static Tensor glorot_uniform(const Shape& shape, const Options& options = {});
  static Tensor kaiming_uniform(const Shape& shape, double a = 0.01, const Options& options = {});
  static Tensor kaiming_normal(const Shape& shape, double a = 0.01, const Options& options = {});
  // Within a Training, zeros in place of about p of the elements, the others larger by as much.
  Tensor dropout(double p = 0.5) const;
  // In this one's shape and on its device; in its dtype if none is given. More distributions: random.h.
  Tensor rand_like(DType dtype = {}) const;
  Tensor randn_like(DType dtype = {}) const;
  Tensor randint_like(std::int64_t low, std::int64_t high, DType dtype = {}) const;
  // 0 to count-1 in random order: that of random keys.
  static Tensor randperm(std::int64_t count, const Options& options = {});
  // Places in the last axis, as i32; this (places) or (rows, places) holds weights of any sum. Without
  // replacement no place comes twice.
  Tensor multinomial(std::int64_t num_samples = 1, bool replacement = false) const;
  // Threefry-2x32 of 20 rounds, of each u64 of this under the keys: two 32-bit numbers in one, the first
  // of them below.
  Tensor threefry(const Operand& key) const;
  // What one call under the seed `key` at the place `counter` draws: so many u32. Both are of u64.
  static Tensor random_bits(const Tensor& key, const Tensor& counter, std::int64_t count);

  // --- What it is -------------------------------------------------------------------------------

  bool is_null() const { return state_ == nullptr; }
  SizeList shape() const;  // throws where a size is symbolic
  std::vector<Dim> dims() const;
  std::int64_t ndim() const;
  std::int64_t dim() const { return Called(), ndim(); }
  std::int64_t size(std::int64_t axis) const;
  SizeList size() const { return Called(), shape(); }
  std::int64_t numel() const;
  std::int64_t len() const;    // of the first axis
  SizeList max_shape() const;  // the largest that symbolic sizes can be
  std::int64_t max_numel() const;
  std::size_t nbytes() const;
  DType dtype() const;
  std::string device() const;
  UOp uop() const;
  bool is(const Tensor& other) const { return state_ == other.state_; }  // a copy of this handle
  Views views() const;  // strides, offset and mask of what it looks at; prints

  // --- Values -----------------------------------------------------------------------------------

  Tensor realize() const;
  static void realize(const std::vector<Tensor>& tensors);  // together: what they share runs once
  // Realized, and constant from now on: kernels may keep what they read of it in an order of their own,
  // packed once. An assignment gives it other memory.
  Tensor& freeze();
  // The kernels and copies that realize() would run, in order.
  std::vector<ScheduleItem> schedule() const;
  static std::vector<ScheduleItem> schedule(const std::vector<Tensor>& tensors);
  // What realize() would take: kernels, flops, memory.
  RunCost cost() const;
  static RunCost cost(const std::vector<Tensor>& tensors);
  static std::vector<ScheduleItem> schedule_linear(const std::vector<Tensor>& tensors) {
    return Called(), schedule(tensors);
  }
  template <Literal Number>
  Number item() const {  // the only element
    const Called called("item");
    want_single();
    return to_vector<Number>()[0];
  }
  double item() const;  // throws for an integer beyond 2^53, where doubles have gaps
  template <Literal Number>
  std::vector<Number> to_vector() const;  // row-major, as are:
  template <Literal Number>
  std::vector<Number> tolist() const {
    return Called("tolist"), to_vector<Number>();
  }
  template <Literal Number>
  std::vector<Number> numpy() const {
    return Called("numpy"), to_vector<Number>();
  }
  // The memory itself, for as long as the tensor is not assigned; the device's has to be the program's.
  template <Literal Number>
  std::span<const Number> data() const;
  // The elements in place, to read and to write: through a view of N axes, of a tensor of this very dtype. What
  // was made of the tensor before keeps the old values. When the last copy of the view is gone, all
  // that looks at the memory sees what was written.
  template <Literal Number, std::size_t N>
  HostView<Number, N> host_view();
  // Raw bytes of any dtype, row-major.
  static Tensor from_bytes(std::span<const std::byte> bytes, const Shape& shape,
                           const Options& options);
  void to_bytes(std::span<std::byte> bytes) const;
  // Where the elements are, in elements from the first one; nothing where the program cannot reach them, or
  // they are no plain view of memory.
  struct Memory {
    void* first;
    std::vector<std::int64_t> strides;
  };
  std::optional<Memory> memory() const;
  // As numpy prints, in the style of this thread where none is given.
  std::string str(const std::optional<PrintStyle>& style = {}) const;
  std::string repr(const std::optional<PrintStyle>& style = {}) const;  // with shape, dtype, device
  static void set_print_style(const PrintStyle& style);
  friend std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

  // --- Assignment, seen by all tensors that share the memory ------------------------------------

  // Converts; everything else that writes refuses what would be lost: fractions in integers, numbers in bools.
  Tensor& assign(const Operand& value);
  Tensor& fill(Scalar value);
  Tensor& operator+=(const Operand& other);
  Tensor& operator-=(const Operand& other);
  Tensor& operator*=(const Operand& other);
  Tensor& operator/=(const Operand& other);
  Tensor& operator%=(const Operand& other);
  Tensor& operator&=(const Operand& other);
  Tensor& operator|=(const Operand& other);
  Tensor& operator^=(const Operand& other);
  Tensor& operator<<=(const Operand& other);
  Tensor& operator>>=(const Operand& other);
  Tensor& ifloordiv(const Operand& other);
  Tensor& ipow(const Operand& exponent);
  Tensor& imatmul(const Tensor& other);
  // This handle becomes one of another tensor of this shape. Nothing is written: who has a copy of the
  // handle keeps what was.
  Tensor& replace(const Tensor& other);

  // --- Gradients --------------------------------------------------------------------------------

  bool requires_grad() const;
  Tensor& set_requires_grad(bool on = true);
  bool is_param() const { return requires_grad(); }
  Tensor& is_param_(bool on = true) { return Called(), set_requires_grad(on); }
  // Adds to grad() of every tensor that this depends on and that was set to require it.
  void backward(const Tensor& seed = {}) const;
  Tensor grad() const;  // null before the first backward()
  void set_grad(const Tensor& grad);
  // d this / d target for each, tracked or not. Throws where this does not depend on one, unless allow_unused: that
  // gradient is 0.
  std::vector<Tensor> gradient(const std::vector<Tensor>& targets, const Tensor& seed = {},
                               bool allow_unused = false) const;
  Tensor detach() const;
  // The same, with a gradient that is computed into memory before it goes on.
  Tensor contiguous_backward() const;
  // What `forward` makes of the inputs, with the gradients that `backward` makes of its gradient, the
  // inputs and itself: one for each input, or null for none.
  using Forward = std::function<Tensor(const std::vector<Tensor>& inputs)>;
  using Backward = std::function<std::vector<Tensor>(
      const Tensor& gradient, const std::vector<Tensor>& inputs, const Tensor& output)>;
  static Tensor custom(const std::vector<Tensor>& inputs, const Forward& forward,
                       const Backward& backward);
  // The same, of a function that is written down: what it makes of as_param(0) and so on, which stand for the
  // inputs. By default its gradients are those of what it computes.
  static Tensor call(const std::vector<Tensor>& inputs, const Tensor& function,
                     const Backward& backward = {});
  Tensor as_param(std::int64_t slot) const;

  // --- Placement and dtype ----------------------------------------------------------------------

  Tensor to(const std::string& device) const;
  Tensor to(DType dtype) const { return Called(), cast(dtype); }
  // Makes this handle the tensor over there. What requires a gradient still does, and takes grad() along.
  Tensor& to_(const std::string& device);
  // In parts on several devices, along the axis, of sizes that differ by 1 at most; without an axis, all of
  // it on each. Its device() is then "CPU,CPU:1", and it goes with tensors on just these. What devices
  // need of each other comes by itself: a sum along the axis is an all-reduce (ALLREDUCE).
  Tensor shard(const std::vector<std::string>& devices,
               std::optional<std::int64_t> axis = {}) const;
  Tensor& shard_(const std::vector<std::string>& devices, std::optional<std::int64_t> axis = {});
  Tensor shard_like(const Tensor& other) const;
  std::optional<std::int64_t> shard_axis() const;  // nothing where each device has all of it
  Tensor cast(DType dtype, CastOptions options = {}) const;  // of this dtype: the same tensor
  Tensor bitcast(
      DType dtype) const;     // of the same width; in a file, of any that divides the last axis
  Tensor contiguous() const;  // computed into memory of its own
  Tensor clone(const std::string& device = {}) const;  // the same, there or on this device
  // What float(), int() and so on are elsewhere; here these are keywords.
  Tensor to_float() const { return Called(), cast(dtypes::f32); }
  Tensor to_double() const { return Called(), cast(dtypes::f64); }
  Tensor half() const { return Called(), cast(dtypes::f16); }
  Tensor bfloat16() const { return Called(), cast(dtypes::bf16); }
  Tensor to_short() const { return Called(), cast(dtypes::i16); }
  Tensor to_int() const { return Called(), cast(dtypes::i32); }
  Tensor to_long() const { return Called(), cast(dtypes::i64); }
  Tensor to_bool() const { return Called(), cast(dtypes::bool_); }
  std::size_t element_size() const { return Called(), dtype().bytes(); }
  bool is_floating_point() const { return Called(), dtype().is_float(); }
  static DType result_type(const Operand& a, const Operand& b);  // of a + b

  // --- Movement: no values are computed ---------------------------------------------------------

  Tensor reshape(const Shape& shape) const;  // one size may be -1
  Tensor view(const Shape& shape) const { return Called(), reshape(shape); }
  Tensor flatten(std::int64_t first = 0, std::int64_t last = -1) const;
  Tensor ravel() const { return Called(), flatten(); }
  Tensor reshape_as(const Tensor& other) const { return Called(), reshape(Shape(other.dims())); }
  Tensor view_as(const Tensor& other) const { return Called(), reshape_as(other); }
  Tensor unflatten(std::int64_t axis, const Shape& sizes) const;
  Tensor squeeze(const AxisList& axes = {}) const;  // by default all axes of size 1
  Tensor unsqueeze(std::int64_t axis) const;
  Tensor permute(const AxisList& order) const;
  Tensor transpose(std::int64_t axis0 = 1, std::int64_t axis1 = 0) const;
  Tensor swapaxes(std::int64_t axis0, std::int64_t axis1) const;
  Tensor swapdims(std::int64_t axis0, std::int64_t axis1) const {
    return Called(), swapaxes(axis0, axis1);
  }
  Tensor movedim(const AxisList& from, const AxisList& to) const;  // the others keep their order
  Tensor moveaxis(const AxisList& from, const AxisList& to) const {
    return Called(), movedim(from, to);
  }
  Tensor T() const;   // the axes in reverse
  Tensor mT() const;  // the last two exchanged
  // With axes of size 1 in front, or as the third one.
  Tensor atleast_1d() const;
  Tensor atleast_2d() const;
  Tensor atleast_3d() const;
  Tensor expand(const Shape& shape) const;  // -1 keeps a size
  Tensor expand_as(const Tensor& other) const { return Called(), expand(Shape(other.dims())); }
  Tensor broadcast_to(const Shape& shape) const { return Called(), expand(shape); }
  static std::vector<Tensor> broadcast_tensors(const std::vector<Tensor>& tensors);
  Tensor flip(const AxisList& axes) const;
  Tensor fliplr() const;  // axis 1
  Tensor flipud() const;  // axis 0
  // By quarter turns, from the first of the axes to the second.
  Tensor rot90(std::int64_t times = 1, const AxisList& axes = {0, 1}) const;
  using Bounds = std::vector<std::pair<Dim, Dim>>;
  Tensor shrink(const Bounds& start_stop) const;  // for each axis
  // Of each axis; negative widths take away. Constant: the value. Reflect: from the edge, without it,
  // back into the axis. Replicate: the edge again. Circular: from the other side.
  Tensor pad(const Bounds& before_after, Scalar value = 0) const;
  Tensor pad(const Bounds& before_after, PadMode mode, Scalar value = 0) const;
  // Flat, as torch orders them: before and after the last axis, the one in front of it ...
  Tensor pad(std::initializer_list<std::int64_t> widths, PadMode mode = PadMode::Constant,
             Scalar value = 0) const {
    return Called(), pad(bounds_of({widths.begin(), widths.size()}), mode, value);
  }
  template <std::same_as<std::vector<std::int64_t>> Widths>
  Tensor pad(const Widths& widths, PadMode mode = PadMode::Constant, Scalar value = 0) const {
    return Called(), pad(bounds_of(widths), mode, value);
  }
  Tensor pad_to(const Shape& shape, Scalar value = 0) const;  // at the ends; -1 keeps a size
  Tensor shrink_to(const Shape& shape) const;                 // the first of each axis

  Tensor slice(std::int64_t axis, const Slice& slice) const;
  Tensor narrow(std::int64_t axis, const Dim& start, const Dim& length) const;
  Tensor select(std::int64_t axis, const Dim& index) const;  // without the axis
  std::vector<Tensor> unbind(std::int64_t axis = 0) const;   // all of these
  std::vector<Tensor> split(std::int64_t size, std::int64_t axis = 0) const;
  std::vector<Tensor> split(const std::vector<std::int64_t>& sizes, std::int64_t axis = 0) const;
  std::vector<Tensor> chunk(std::int64_t chunks, std::int64_t axis = 0) const;
  // Into so many parts, the first ones longer by one where it does not come out even, or before places.
  std::vector<Tensor> tensor_split(const Cuts& cuts, std::int64_t axis = 0) const;
  std::vector<Tensor> hsplit(const Cuts& cuts) const;  // axis 1, or the only one, into even parts
  std::vector<Tensor> vsplit(const Cuts& cuts) const;  // axis 0
  std::vector<Tensor> dsplit(const Cuts& cuts) const;  // axis 2
  static Tensor cat(const std::vector<Tensor>& tensors, std::int64_t axis = 0);
  static Tensor concatenate(const std::vector<Tensor>& tensors, std::int64_t axis = 0) {
    return Called(), cat(tensors, axis);
  }
  static Tensor stack(const std::vector<Tensor>& tensors, std::int64_t axis = 0);
  static Tensor hstack(const std::vector<Tensor>& tensors);  // along axis 1, or the only one
  static Tensor vstack(const std::vector<Tensor>& tensors);  // along axis 0, of rows
  static Tensor dstack(const std::vector<Tensor>& tensors);  // along axis 2
  static Tensor column_stack(const std::vector<Tensor>& tensors);
  static Tensor block_diag(const std::vector<Tensor>& blocks);  // zeros beside them

  Tensor repeat(const Shape& times) const;
  Tensor tile(const Shape& times) const;  // by fewer numbers than axes: the last of them
  // Each element several times: in the flattened tensor, or each slice along an axis.
  Tensor repeat_interleave(std::int64_t times, std::optional<std::int64_t> axis = {}) const;
  // As often as is said of each; that is added up by the program, unless a size is given.
  Tensor repeat_interleave(const Tensor& times, std::optional<std::int64_t> axis = {},
                           std::optional<std::int64_t> output_size = {}) const;
  Tensor roll(std::int64_t shift) const;  // of the flattened tensor
  Tensor roll(std::int64_t shift, std::int64_t axis) const;
  Tensor roll(const std::vector<std::int64_t>& shifts, const std::vector<std::int64_t>& axes) const;
  // Every step-th window of the axis, its elements along a new last axis.
  Tensor unfold(std::int64_t axis, std::int64_t size, std::int64_t step) const;
  enum class Meshgrid { Ij, Xy };  // Xy: of the first two axes, the second comes first
  static std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors,
                                      Meshgrid indexing = Meshgrid::Ij);
  static Tensor cartesian_prod(const std::vector<Tensor>& tensors);  // a row for each combination
  // Every `r` different elements of a vector, as rows. Looks at size^r places.
  Tensor combinations(std::int64_t r = 2, bool with_replacement = false) const;

  // What lies `offset` places to the right of the diagonal of two axes, as the last axis.
  Tensor diagonal(std::int64_t offset = 0, std::int64_t axis0 = 0, std::int64_t axis1 = 1) const;
  template <std::same_as<DiagonalOptions> O = DiagonalOptions>
  Tensor diagonal(const O& o) const {
    return diagonal(o.offset, o.axis0, o.axis1);
  }
  // Back: the last axis as the diagonal of two axes, zeros beside it.
  Tensor diag_embed(std::int64_t offset = 0, std::int64_t axis0 = -2,
                    std::int64_t axis1 = -1) const;
  template <std::same_as<DiagEmbedOptions> O = DiagEmbedOptions>
  Tensor diag_embed(const O& o) const {
    return diag_embed(o.offset, o.axis0, o.axis1);
  }
  Tensor diag(std::int64_t offset = 0) const;  // of a vector the matrix, of a matrix the vector
  Tensor diagflat(std::int64_t offset = 0) const { return Called(), flatten().diag_embed(offset); }
  Tensor triu(std::int64_t diagonal = 0) const;
  Tensor tril(std::int64_t diagonal = 0) const;
  // A row of powers for each element of a vector, by default as many as elements, the highest first.
  Tensor vander(std::optional<std::int64_t> columns = {}, bool increasing = false) const;

  // --- Arithmetic. Operators: + - * / % & | ^ << >> ~ ! and comparisons, at the end ----------------

  Tensor ufix(const Operand& other) const;  // a number as a tensor to compute with this one
  Tensor usum(const std::vector<Tensor>& others) const;  // this and all of them
  Tensor uprod(const std::vector<Tensor>& others) const;
  Tensor add(const Operand& other) const;
  Tensor sub(const Operand& other) const;
  Tensor mul(const Operand& other) const;
  Tensor div(const Operand& other) const;  // of integers: f32
  enum class Rounding { None, Trunc, Floor };
  Tensor div(const Operand& other, Rounding rounding) const;
  Tensor floordiv(const Operand& other) const;  // toward minus infinity, as Python's //
  Tensor floor_divide(const Operand& other) const { return Called(), floordiv(other); }
  Tensor mod(const Operand& other) const;  // with the sign of the divisor, as Python's %
  Tensor remainder(const Operand& other) const { return Called(), mod(other); }
  Tensor fmod(const Operand& other) const;  // with the sign of the dividend, as C's
  Tensor gcd(const Operand& other) const;   // of 0 and 0: 0
  Tensor lcm(const Operand& other) const;
  Tensor pow(const Operand& exponent) const;
  Tensor float_power(const Operand& exponent) const;  // in f64
  Tensor maximum(const Operand& other) const;
  Tensor minimum(const Operand& other) const;
  Tensor fmax(const Operand& other) const;  // of a number and NaN, the number
  Tensor fmin(const Operand& other) const;
  Tensor atan2(const Operand& other) const;
  Tensor hypot(const Operand& other) const;
  Tensor copysign(const Operand& other) const;
  Tensor nextafter(const Operand& other) const;
  Tensor logaddexp(const Operand& other) const;
  Tensor logaddexp2(const Operand& other) const;
  Tensor xlogy(const Operand& other) const;  // this * log(other), 0 where this is
  Tensor heaviside(const Operand& at_zero) const;
  Tensor eq(const Operand& other) const;
  Tensor ne(const Operand& other) const;
  Tensor lt(const Operand& other) const;
  Tensor le(const Operand& other) const;
  Tensor gt(const Operand& other) const;
  Tensor ge(const Operand& other) const;
  Tensor isclose(const Operand& other, double rtol = 1e-5, double atol = 1e-8,
                 bool equal_nan = false) const;
  template <std::same_as<CloseOptions> O = CloseOptions>
  Tensor isclose(const Operand& other, const O& o) const {
    return isclose(other, o.rtol, o.atol, o.equal_nan);
  }
  // These read the values.
  bool allclose(const Operand& other, double rtol = 1e-5, double atol = 1e-8,
                bool equal_nan = false) const;
  template <std::same_as<CloseOptions> O = CloseOptions>
  bool allclose(const Operand& other, const O& o) const {
    return allclose(other, o.rtol, o.atol, o.equal_nan);
  }
  bool equal(const Tensor& other) const;  // in shape as well
  // An op that the program adds (dev/rules/custom_op.h), of the operands as they are.
  static Tensor custom(std::string_view op, const std::vector<Tensor>& operands);
  static Tensor custom_kernel(std::string_view op, const std::vector<Tensor>& operands) {
    return custom(op, operands);
  }
  Tensor where(const Operand& yes, const Operand& no) const;  // this is the condition
  Tensor masked_fill(const Tensor& mask, Scalar value) const;
  Tensor masked_fill(const Tensor& mask, const Tensor& value) const;  // of one element
  Tensor lerp(const Operand& end, const Operand& weight) const;
  Tensor clamp(std::optional<Scalar> least, std::optional<Scalar> most) const;
  Tensor clip(std::optional<Scalar> least, std::optional<Scalar> most) const;
  Tensor clamp(const Tensor& least, const Tensor& most) const;               // one may be null
  Tensor addcmul(const Tensor& a, const Tensor& b, Scalar value = 1) const;  // this + a * b * value
  Tensor addcdiv(const Tensor& a, const Tensor& b, Scalar value = 1) const;
  Tensor logical_and(const Operand& other) const;
  Tensor logical_or(const Operand& other) const;
  Tensor logical_xor(const Operand& other) const;
  Tensor logical_not() const;
  Tensor bitwise_not() const;
  Tensor bitwise_and(const Operand& other) const;
  Tensor bitwise_or(const Operand& other) const;
  Tensor bitwise_xor(const Operand& other) const;
  // By all bits or more, and by less than 0: 0, and >> of what is negative: -1.
  Tensor lshift(const Operand& other) const;
  Tensor rshift(const Operand& other) const;
  Tensor popcount() const;
  // The hash of the bytes of each row, as u8: sha3_224, sha3_256, sha3_384, sha3_512, or the first 16 and 32
  // bytes of shake_128 and shake_256. A row's blocks come one after the other, 25 kernels for each.
  Tensor keccak(const std::string& name = "sha3_256") const;
  // 16 bytes for all elements: shake_128 of those of each 4096 bytes of a MiB, which zeros fill up. Of several
  // MiB, those are hashed again.
  Tensor hash() const;

  Tensor neg() const;
  Tensor abs() const;
  Tensor sign() const;  // of NaN it is NaN
  Tensor signbit() const;
  Tensor square() const;
  Tensor reciprocal() const;
  Tensor sqrt() const;
  Tensor rsqrt() const;
  Tensor exp() const;
  Tensor exp2() const;
  Tensor expm1() const;
  Tensor log() const;
  Tensor log2() const;
  Tensor log10() const;
  Tensor log1p() const;
  Tensor sin() const;
  Tensor cos() const;
  Tensor tan() const;
  Tensor asin() const;
  Tensor acos() const;
  Tensor atan() const;
  Tensor sinh() const;
  Tensor cosh() const;
  Tensor asinh() const;
  Tensor acosh() const;
  Tensor atanh() const;
  Tensor sinc() const;  // sin(pi x) / (pi x)
  Tensor deg2rad() const;
  Tensor rad2deg() const;
  Tensor erf() const;
  Tensor erfc() const;
  Tensor erfinv() const;
  Tensor lgamma() const;
  Tensor digamma() const;
  Tensor i0() const;
  Tensor trunc() const;
  Tensor floor() const;
  Tensor ceil() const;
  Tensor round() const;  // half to even
  Tensor round(std::int64_t decimals) const;
  Tensor frac() const;
  // The largest and least finite number for infinities, if not given.
  Tensor nan_to_num(Scalar nan = 0, std::optional<Scalar> posinf = {},
                    std::optional<Scalar> neginf = {}) const;
  template <std::same_as<NanToNumOptions> O = NanToNumOptions>
  Tensor nan_to_num(const O& o) const {
    return nan_to_num(o.nan, o.posinf, o.neginf);
  }
  Tensor isnan() const;
  Tensor isinf() const;
  Tensor isinf(bool detect_positive, bool detect_negative) const;
  Tensor isfinite() const;

  Tensor relu() const;
  Tensor relu6() const;
  Tensor leaky_relu(double slope = 0.01) const;
  Tensor elu(double alpha = 1) const;
  Tensor gelu(Gelu form = Gelu::Tanh) const;
  Tensor sigmoid() const;
  Tensor logsigmoid() const;
  Tensor tanh() const;
  Tensor silu() const;
  Tensor swish() const { return Called(), silu(); }
  Tensor mish() const;
  Tensor softplus(double beta = 1) const;
  Tensor hardtanh(double least = -1, double most = 1) const;
  Tensor hardsigmoid(double alpha = 1.0 / 6, double beta = 0.5) const;
  Tensor hardswish() const;
  Tensor celu(double alpha = 1) const;
  Tensor selu(double alpha = 1.6732632423543772, double gamma = 1.0507009873554805) const;
  Tensor softsign() const;
  Tensor quick_gelu() const;

  // --- Reductions, over all axes by default -----------------------------------------------------

  // Unless `dtype` is given: integers and bools add up in i64 (u64 in u64), which the result is; f16 in f32,
  // and the result is f16 again.
  Tensor sum(const AxisList& axes = {}, bool keepdim = false, DType dtype = {}) const;
  template <std::same_as<SumAllOptions> O = SumAllOptions>
  Tensor sum(const O& o) const {
    return sum(o.axes, o.keepdim, o.dtype);
  }
  template <std::same_as<SumOptions> O = SumOptions>
  Tensor sum(const AxisList& axes, const O& o) const {
    return sum(axes, o.keepdim, o.dtype);
  }
  Tensor prod(const AxisList& axes = {}, bool keepdim = false, DType dtype = {}) const;
  template <std::same_as<SumAllOptions> O = SumAllOptions>
  Tensor prod(const O& o) const {
    return prod(o.axes, o.keepdim, o.dtype);
  }
  template <std::same_as<SumOptions> O = SumOptions>
  Tensor prod(const AxisList& axes, const O& o) const {
    return prod(axes, o.keepdim, o.dtype);
  }
  Tensor max(const AxisList& axes = {}, bool keepdim = false) const;
  template <std::same_as<ReduceOptions> O = ReduceOptions>
  Tensor max(const O& o) const {
    return max(o.axes, o.keepdim);
  }
  Tensor min(const AxisList& axes = {}, bool keepdim = false) const;
  template <std::same_as<ReduceOptions> O = ReduceOptions>
  Tensor min(const O& o) const {
    return min(o.axes, o.keepdim);
  }
  // Along one axis: the value, and where it is first, as in auto [values, places] = x.max(0).
  struct Extreme;
  template <WholeNumber Axis>
  Extreme max(Axis axis, bool keepdim = false) const;
  template <WholeNumber Axis>
  Extreme min(Axis axis, bool keepdim = false) const;
  Tensor amax(const AxisList& axes = {}, bool keepdim = false) const {
    return Called(), max(axes, keepdim);
  }
  Tensor amin(const AxisList& axes = {}, bool keepdim = false) const {
    return Called(), min(axes, keepdim);
  }
  Tensor any(const AxisList& axes = {}, bool keepdim = false) const;
  template <std::same_as<ReduceOptions> O = ReduceOptions>
  Tensor any(const O& o) const {
    return any(o.axes, o.keepdim);
  }
  Tensor all(const AxisList& axes = {}, bool keepdim = false) const;
  template <std::same_as<ReduceOptions> O = ReduceOptions>
  Tensor all(const O& o) const {
    return all(o.axes, o.keepdim);
  }
  Tensor mean(const AxisList& axes = {}, bool keepdim = false) const;
  template <std::same_as<ReduceOptions> O = ReduceOptions>
  Tensor mean(const O& o) const {
    return mean(o.axes, o.keepdim);
  }
  Tensor var(const AxisList& axes = {}, bool keepdim = false, std::int64_t correction = 1) const;
  template <std::same_as<VarAllOptions> O = VarAllOptions>
  Tensor var(const O& o) const {
    return var(o.axes, o.keepdim, o.correction);
  }
  template <std::same_as<VarOptions> O = VarOptions>
  Tensor var(const AxisList& axes, const O& o) const {
    return var(axes, o.keepdim, o.correction);
  }
  Tensor std(const AxisList& axes = {}, bool keepdim = false, std::int64_t correction = 1) const;
  template <std::same_as<VarAllOptions> O = VarAllOptions>
  Tensor std(const O& o) const {
    return std(o.axes, o.keepdim, o.correction);
  }
  template <std::same_as<VarOptions> O = VarOptions>
  Tensor std(const AxisList& axes, const O& o) const {
    return std(axes, o.keepdim, o.correction);
  }
  std::pair<Tensor, Tensor> var_mean(const AxisList& axes = {}, bool keepdim = false,
                                     std::int64_t correction = 1) const;
  template <std::same_as<VarAllOptions> O = VarAllOptions>
  std::pair<Tensor, Tensor> var_mean(const O& o) const {
    return var_mean(o.axes, o.keepdim, o.correction);
  }
  template <std::same_as<VarOptions> O = VarOptions>
  std::pair<Tensor, Tensor> var_mean(const AxisList& axes, const O& o) const {
    return var_mean(axes, o.keepdim, o.correction);
  }
  std::pair<Tensor, Tensor> std_mean(const AxisList& axes = {}, bool keepdim = false,
                                     std::int64_t correction = 1) const;
  template <std::same_as<VarAllOptions> O = VarAllOptions>
  std::pair<Tensor, Tensor> std_mean(const O& o) const {
    return std_mean(o.axes, o.keepdim, o.correction);
  }
  template <std::same_as<VarOptions> O = VarOptions>
  std::pair<Tensor, Tensor> std_mean(const AxisList& axes, const O& o) const {
    return std_mean(axes, o.keepdim, o.correction);
  }
  std::pair<Tensor, Tensor> aminmax(const AxisList& axes = {}, bool keepdim = false) const;
  Tensor nansum(const AxisList& axes = {}, bool keepdim = false, DType dtype = {}) const;
  template <std::same_as<SumAllOptions> O = SumAllOptions>
  Tensor nansum(const O& o) const {
    return nansum(o.axes, o.keepdim, o.dtype);
  }
  template <std::same_as<SumOptions> O = SumOptions>
  Tensor nansum(const AxisList& axes, const O& o) const {
    return nansum(axes, o.keepdim, o.dtype);
  }
  Tensor nanmean(const AxisList& axes = {}, bool keepdim = false) const;
  template <std::same_as<ReduceOptions> O = ReduceOptions>
  Tensor nanmean(const O& o) const {
    return nanmean(o.axes, o.keepdim);
  }
  Tensor norm(double p = 2, const AxisList& axes = {}, bool keepdim = false) const;
  template <std::same_as<NormOptions> O = NormOptions>
  Tensor norm(const O& o) const {
    return norm(o.p, o.axes, o.keepdim);
  }
  Tensor dist(const Tensor& other, double p = 2) const;
  // this (..., n, width), other (..., m, width): the distance of each to each.
  Tensor cdist(const Tensor& other, double p = 2) const;
  // The first place of the extreme; without an axis, in the flattened tensor.
  Tensor argmax(std::optional<std::int64_t> axis = {}, bool keepdim = false) const;
  Tensor argmin(std::optional<std::int64_t> axis = {}, bool keepdim = false) const;
  Tensor logsumexp(const AxisList& axes = {}, bool keepdim = false) const;
  // Computed in a float `dtype`, if one is given.
  Tensor softmax(std::int64_t axis = -1, DType dtype = {}) const;
  template <std::same_as<SoftmaxOptions> O = SoftmaxOptions>
  Tensor softmax(const O& o) const {
    return softmax(o.axis, o.dtype);
  }
  Tensor log_softmax(std::int64_t axis = -1, DType dtype = {}) const;
  template <std::same_as<SoftmaxOptions> O = SoftmaxOptions>
  Tensor log_softmax(const O& o) const {
    return log_softmax(o.axis, o.dtype);
  }
  Tensor softmin(std::int64_t axis = -1, DType dtype = {}) const {
    return Called(), neg().softmax(axis, dtype);
  }

  // --- Scans: of each element and those before it -------------------------------------------------

  Tensor cumsum(std::int64_t axis = 0, DType dtype = {}) const;  // dtypes are as of sum and prod
  Tensor cumprod(std::int64_t axis, DType dtype = {}) const;
  Tensor logcumsumexp(std::int64_t axis = 0) const;
  // And where it is: the last place of equal ones, which has the gradient.
  std::pair<Tensor, Tensor> cummax(std::int64_t axis = 0) const;
  std::pair<Tensor, Tensor> cummin(std::int64_t axis = 0) const;
  // Each element less the one before it; other elements may come before and after all.
  Tensor diff(std::int64_t times = 1, std::int64_t axis = -1, const Tensor& prepend = {},
              const Tensor& append = {}) const;
  template <std::same_as<DiffOptions> O = DiffOptions>
  Tensor diff(const O& o) const {
    return diff(o.times, o.axis, o.prepend, o.append);
  }

  // --- Products, windows, normalisation ---------------------------------------------------------

  Tensor matmul(const Tensor& other, DType dtype = {}) const;
  Tensor dot(const Tensor& other, DType dtype = {}) const { return Called(), matmul(other, dtype); }
  // Images are tensors like others here.
  Tensor image_dot(const Tensor& other, DType dtype = {}) const {
    return Called(), matmul(other, dtype);
  }
  // The same of shapes that are exactly such: (n, k) and (k, m), with a batch b in front, or a vector.
  Tensor mm(const Tensor& other) const;
  Tensor bmm(const Tensor& other) const;
  Tensor mv(const Tensor& vector) const;
  // beta * this + alpha * (a x b)
  Tensor addmm(const Tensor& a, const Tensor& b, Scalar beta = 1, Scalar alpha = 1) const;
  Tensor addmv(const Tensor& a, const Tensor& b, Scalar beta = 1, Scalar alpha = 1) const;
  Tensor baddbmm(const Tensor& a, const Tensor& b, Scalar beta = 1, Scalar alpha = 1) const;
  Tensor inner(const Tensor& other) const;  // sums over the last axis of both
  // Sums over these axes of this and of the other, one by one; or the last `axes` with the other's first.
  Tensor tensordot(const Tensor& other, const std::vector<std::int64_t>& own,
                   const std::vector<std::int64_t>& others) const;
  Tensor tensordot(const Tensor& other, std::int64_t axes = 2) const;
  // weight (in, out), or a vector that is multiplied by; all in `dtype`, if one is given.
  Tensor linear(const Tensor& weight, const Tensor& bias = {}, DType dtype = {}) const;
  Tensor sequential(const std::vector<std::function<Tensor(const Tensor&)>>& layers) const;
  // this (batch, in, sizes ...) or one without batch, weight (out, in / groups, sizes ...): as many
  // spatial dimensions as the weight has.
  using Conv = ConvOptions;
  Tensor conv(const Tensor& weight, const Tensor& bias = {}, const ConvOptions& options = {}) const;
  Tensor conv1d(const Tensor& weight, const Tensor& bias = {},
                const ConvOptions& options = {}) const;
  Tensor conv2d(const Tensor& weight, const Tensor& bias, const ConvOptions& options) const;
  Tensor conv3d(const Tensor& weight, const Tensor& bias = {},
                const ConvOptions& options = {}) const;
  template <std::same_as<ConvOptions> O = ConvOptions>
  Tensor conv(const Tensor& weight, const O& o) const {
    return conv(weight, {}, o);
  }
  template <std::same_as<ConvOptions> O = ConvOptions>
  Tensor conv1d(const Tensor& weight, const O& o) const {
    return conv1d(weight, {}, o);
  }
  template <std::same_as<ConvOptions> O = ConvOptions>
  Tensor conv2d(const Tensor& weight, const O& o) const {
    return conv2d(weight, {}, o);
  }
  template <std::same_as<ConvOptions> O = ConvOptions>
  Tensor conv3d(const Tensor& weight, const O& o) const {
    return conv3d(weight, {}, o);
  }
  // Of as many dimensions as conv().
  Tensor conv2d(const Tensor& weight, const Tensor& bias = {}, std::int64_t groups = 1,
                const PerDim& stride = 1, const PerDim& dilation = 1, const Padding& padding = 0,
                DType dtype = {}) const;
  Tensor image_conv2d(const Tensor& weight, const Tensor& bias = {}, std::int64_t groups = 1,
                      const PerDim& stride = 1, const PerDim& dilation = 1,
                      const Padding& padding = 0, DType dtype = {}) const {
    return Called(), conv2d(weight, bias, groups, stride, dilation, padding, dtype);
  }
  // What conv() with these options makes of the sizes backwards; weight (in, out / groups, sizes ...).
  Tensor conv_transpose(const Tensor& weight, const Tensor& bias = {},
                        const ConvTransposeOptions& options = {}) const;
  Tensor conv_transpose1d(const Tensor& weight, const Tensor& bias = {},
                          const ConvTransposeOptions& options = {}) const;
  Tensor conv_transpose2d(const Tensor& weight, const Tensor& bias,
                          const ConvTransposeOptions& options) const;
  Tensor conv_transpose3d(const Tensor& weight, const Tensor& bias = {},
                          const ConvTransposeOptions& options = {}) const;
  Tensor conv_transpose2d(const Tensor& weight, const Tensor& bias = {}, std::int64_t groups = 1,
                          const PerDim& stride = 1, const PerDim& dilation = 1,
                          const Padding& padding = 0, const PerDim& output_padding = 0) const;
  // Over the last axes, as many as the kernel has numbers. Equal elements share the gradient.
  Tensor max_pool(const PerDim& kernel, const MaxPoolOptions& options = {}) const;
  Tensor max_pool1d(const PerDim& kernel, const MaxPoolOptions& options = {}) const;
  template <std::same_as<MaxPoolOptions> O = MaxPoolOptions>
  Tensor max_pool2d(const PerDim& kernel, const O& o) const {
    return Called(), max_pool(kernel.of(2, "max_pool2d"), o);
  }
  Tensor max_pool3d(const PerDim& kernel, const MaxPoolOptions& options = {}) const;
  Tensor max_pool2d(const PerDim& kernel = {2, 2}, const PerDim& stride = {},
                    const PerDim& dilation = 1, const Padding& padding = 0,
                    bool ceil_mode = false) const;
  // And where the largest is, in the flattened axes: the first of equal ones.
  std::pair<Tensor, Tensor> max_pool_with_indices(const PerDim& kernel,
                                                  const MaxPoolOptions& options = {}) const;
  // Back: this at the places of the indices, in axes of the sizes that the pool with this kernel, stride
  // and padding had, or of output_size; elsewhere zeros.
  Tensor max_unpool2d(const Tensor& indices, const PerDim& kernel = {2, 2},
                      const PerDim& stride = {}, const PerDim& padding = 0,
                      const std::vector<std::int64_t>& output_size = {}) const;
  Tensor avg_pool(const PerDim& kernel, const AvgPoolOptions& options = {}) const;
  Tensor avg_pool1d(const PerDim& kernel, const AvgPoolOptions& options = {}) const;
  template <std::same_as<AvgPoolOptions> O = AvgPoolOptions>
  Tensor avg_pool2d(const PerDim& kernel, const O& o) const {
    return Called(), avg_pool(kernel.of(2, "avg_pool2d"), o);
  }
  Tensor avg_pool3d(const PerDim& kernel, const AvgPoolOptions& options = {}) const;
  Tensor avg_pool2d(const PerDim& kernel = {2, 2}, const PerDim& stride = {},
                    const PerDim& dilation = 1, const Padding& padding = 0, bool ceil_mode = false,
                    bool count_include_pad = true) const;
  // The last axes in other sizes, as many as are given (or as options.scale_factor has numbers).
  Tensor interpolate(const std::vector<std::int64_t>& sizes,
                     const InterpolateOptions& options = {}) const;
  Tensor layernorm(const AxisList& axes = -1, double eps = 1e-5, const Tensor& weight = {},
                   const Tensor& bias = {}) const;
  template <std::same_as<LayerNormOptions> O = LayerNormOptions>
  Tensor layernorm(const AxisList& axes, const O& o) const {
    return layernorm(axes, o.eps, o.weight, o.bias);
  }
  template <std::same_as<LayerNormOptions> O = LayerNormOptions>
  Tensor layernorm(const O& o) const {
    return layernorm(-1, o.eps, o.weight, o.bias);
  }
  Tensor rmsnorm(std::int64_t axis = -1, double eps = 1e-6, const Tensor& weight = {}) const;
  template <std::same_as<RmsNormOptions> O = RmsNormOptions>
  Tensor rmsnorm(const O& o) const {
    return rmsnorm(o.axis, o.eps, o.weight);
  }
  // this over its p-norm along an axis, or over eps where that is larger.
  Tensor normalize(double p = 2, const AxisList& axes = 1, double eps = 1e-12) const;
  template <std::same_as<NormalizeOptions> O = NormalizeOptions>
  Tensor normalize(const O& o) const {
    return normalize(o.p, o.axes, o.eps);
  }
  // (this - mean) * invstd * weight + bias, each of them along one axis.
  Tensor batchnorm(const Tensor& weight, const Tensor& bias, const Tensor& mean,
                   const Tensor& invstd, std::int64_t axis = 1) const;
  // this (..., queries, width), key and value (..., keys, width). A bool mask says who is seen; any
  // other is added. The options are in functional.h.
  template <class T>
    requires std::derived_from<T, Tensor>
  Tensor scaled_dot_product_attention(const Tensor& key, const Tensor& value,
                                      const T& attn_mask) const {
    return scaled_dot_product_attention(key, value, attn_mask, 0.0);
  }
  Tensor scaled_dot_product_attention(const Tensor& key, const Tensor& value,
                                      const Tensor& attn_mask, double dropout_p,
                                      bool is_causal = false) const;
  template <std::same_as<bool> B>  // dropout_p stands before is_causal
  Tensor scaled_dot_product_attention(const Tensor& key, const Tensor& value,
                                      const Tensor& attn_mask, B dropout_p) const = delete;
  Tensor scaled_dot_product_attention(const Tensor& key, const Tensor& value) const;
  Tensor scaled_dot_product_attention(const Tensor& key, const Tensor& value,
                                      const functional::AttentionOptions& options) const;

  // --- Linear algebra: more of it in linalg.h ---------------------------------------------------

  linalg::Qr qr() const;
  linalg::Svd svd(bool full_matrices = true) const;
  Tensor inverse() const;
  Tensor det() const;
  Tensor trace() const;
  Tensor outer(const Tensor& other) const;
  Tensor kron(const Tensor& other) const;
  Tensor cross(const Tensor& other, std::int64_t axis = -1) const;
  // Towards the nearest orthogonal matrix: each step is the odd polynomial of these parameters.
  Tensor newton_schulz(std::int64_t steps, const std::vector<double>& params,
                       double eps = 1e-7) const;

  // --- Indexing ---------------------------------------------------------------------------------
  // Reading outside of a tensor gives 0, and writing there does nothing; only numbers are checked
  // when they are given. Where several values are for one place, the last in row-major order stays.

  // x[{0, Slice{1, 3}, ellipsis, newaxis, rows, {2, 0}, mask}]. Numbers and slices look at the memory;
  // tensors of integers and lists copy. These broadcast together, and what they give stands where
  // they stood: in front if another axis (a number has none) lies between them. Negative ones count
  // from the end. A mask is the places where it is true: it is computed, since the shape depends on it.
  // Left of an assignment it is that place in this tensor: x[{0, Slice{1, 3}}] = y, x[mask] += 1. A place that comes twice
  // among tensors of integers is written by the last value; += reads each place once.
  struct Indexed;
  Indexed operator[](const Indices& indices) const;
  // x[indices] = value. Fractions are refused by integers, as by operators: cast() the value first.
  Tensor& set(const Indices& indices, const Operand& value);
  // A copy with that done, or with all values added to what is there.
  Tensor index_put(const Indices& indices, const Operand& value, bool accumulate = false) const;

  // this[index] along an axis, in the index's shape.
  Tensor take(const Tensor& index, std::int64_t axis = 0) const;
  // The element of this along `axis` that index says, at every place of the index.
  Tensor gather(std::int64_t axis, const Tensor& index) const;
  // The source put, added or multiplied to where gather would read: a number, or at least as large
  // as the index.
  enum class Scatter { Put, Add, Multiply };
  Tensor scatter(std::int64_t axis, const Tensor& index, const Operand& source,
                 Scatter how = Scatter::Put) const;
  Tensor scatter_add(std::int64_t axis, const Tensor& index, const Operand& source) const {
    return Called(), scatter(axis, index, source, Scatter::Add);
  }
  // Extremes share their gradient among all that are equal to them.
  enum class Reduce { Sum, Prod, Mean, Amax, Amin };
  Tensor scatter_reduce(std::int64_t axis, const Tensor& index, const Tensor& source, Reduce how,
                        bool include_self = true) const;

  // Whole slices along an axis, by an index of one axis (or none); negative ones count from the end.
  Tensor index_select(std::int64_t axis, const Tensor& index) const;
  Tensor index_add(std::int64_t axis, const Tensor& index, const Tensor& source,
                   Scalar alpha = 1) const;
  Tensor index_copy(std::int64_t axis, const Tensor& index, const Tensor& source) const;
  Tensor index_fill(std::int64_t axis, const Tensor& index, const Operand& value) const;
  // As gather and scatter, but the index broadcasts, and negative ones count from the end.
  Tensor take_along_axis(const Tensor& index, std::int64_t axis) const;
  Tensor take_along_dim(const Tensor& index, std::int64_t axis) const {
    return Called(), take_along_axis(index, axis);
  }
  Tensor put_along_axis(const Tensor& index, const Operand& values, std::int64_t axis) const;
  // By places in the flattened tensor; negative ones count from the end.
  Tensor put(const Tensor& index, const Operand& source, bool accumulate = false) const;
  // With -1 classes, as many as the largest number asks for: it is computed.
  Tensor one_hot(std::int64_t classes = -1) const;

  // What a condition picks. How much that is has to be computed (realised) at the call, since only then a
  // shape is known, unless a size is given: then the rest is cut off, or filled up.
  Tensor masked_select(const Tensor& mask) const;
  Tensor masked_select(const Tensor& mask, std::int64_t size, Scalar fill = 0) const;
  // Where the mask is true the elements of the source, one after the other.
  Tensor masked_scatter(const Tensor& mask, const Tensor& source) const;
  Tensor nonzero() const;  // a row of places for each element that is not 0
  Tensor nonzero(std::int64_t size, std::int64_t fill = 0) const;
  Tensor argwhere() const { return Called(), nonzero(); }
  std::vector<Tensor> where() const;  // the same, a tensor for each axis
  Tensor count_nonzero(const AxisList& axes = {}) const;

  // --- Searching and counting -------------------------------------------------------------------

  // Whether an element is one of those; compares each with each.
  Tensor isin(const Tensor& elements, bool invert = false) const;
  // this: sorted along its last axis. In front of which element each value belongs: of equal ones
  // the first or, with `right`, behind the last. NaN is the largest.
  Tensor searchsorted(const Tensor& values, bool right = false) const;
  Tensor bucketize(const Tensor& boundaries, bool right = false) const {
    return Called(), boundaries.searchsorted(*this, right);
  }
  // How often 0, 1 ... occur, or the sum of their weights. The largest number is computed.
  Tensor bincount(const Tensor& weights = {}, std::int64_t least_length = 0) const;
  // How many elements lie in each of `bins` equal parts of least to most (if both are 0: the extremes);
  // the last part includes its end.
  Tensor histc(std::int64_t bins = 100, double least = 0, double most = 0) const;
  template <std::same_as<HistcOptions> O = HistcOptions>
  Tensor histc(const O& o) const {
    return histc(o.bins, o.least, o.most);
  }
  struct Histogram;  // counts, edges
  Histogram histogram(std::int64_t bins, std::optional<std::pair<double, double>> bounds = {},
                      const Tensor& weight = {}, bool density = false) const;
  template <std::same_as<HistogramOptions> O = HistogramOptions>
  auto histogram(std::int64_t bins, const O& o) const {
    return histogram(bins, o.bounds, o.weight, o.density);
  }
  Histogram histogram(const Tensor& edges, const Tensor& weight = {}, bool density = false) const;
  // The different elements in ascending order, which of them each element is, and how often they
  // occur. How many there are is computed (realised) at the call; every NaN is different.
  struct Unique;  // values, inverse, counts
  Unique unique() const;
  Unique unique_consecutive() const;  // of neighbours; in the order they have

  // --- Order: NaN is the largest, -0 equals 0. Gradients go to where the values come from ---------

  struct Selected;  // values, and indices: where along the axis they were, as i32
  // Equal ones keep their order, descending as well: n log^2 n steps, in about log n kernels.
  Selected sort(std::int64_t axis = -1, bool descending = false) const;
  Tensor argsort(std::int64_t axis = -1, bool descending = false) const;
  Tensor msort() const;  // along the first axis
  // The first k of sort(); they are in order whatever `sorted` says.
  Selected topk(std::int64_t k, std::int64_t axis = -1, bool largest = true,
                bool sorted = true) const;
  template <std::same_as<TopkOptions> O = TopkOptions>
  auto topk(std::int64_t k, const O& o) const {
    return topk(k, o.axis, o.largest, o.sorted);
  }
  Selected kthvalue(std::int64_t k, std::int64_t axis = -1, bool keepdim = false) const;  // from 1
  // The lower one of two in the middle: NaN, if there is one; and of those that are not NaN.
  Tensor median() const;
  Tensor nanmedian() const;
  Selected median(std::int64_t axis, bool keepdim = false) const;
  Selected nanmedian(std::int64_t axis, bool keepdim = false) const;
  // The least of the most frequent elements, at its last place.
  Selected mode(std::int64_t axis = -1, bool keepdim = false) const;
  // What the part q, from 0 to 1, of the elements does not exceed: over an axis, or all. Several q come
  // first in the result. Between two elements it lies as the interpolation says.
  enum class Interpolation { Linear, Lower, Higher, Nearest, Midpoint };
  Tensor quantile(double q, std::optional<std::int64_t> axis = {}, bool keepdim = false,
                  Interpolation interpolation = Interpolation::Linear) const;
  template <std::same_as<QuantileOptions> O = QuantileOptions>
  Tensor quantile(double q, const O& o) const {
    return quantile(q, o.axis, o.keepdim, o.interpolation);
  }
  Tensor quantile(const Tensor& q, std::optional<std::int64_t> axis = {}, bool keepdim = false,
                  Interpolation interpolation = Interpolation::Linear) const;
  template <std::same_as<QuantileOptions> O = QuantileOptions>
  Tensor quantile(const Tensor& q, const O& o) const {
    return quantile(q, o.axis, o.keepdim, o.interpolation);
  }
  Tensor nanquantile(double q, std::optional<std::int64_t> axis = {}, bool keepdim = false,
                     Interpolation interpolation = Interpolation::Linear) const;
  template <std::same_as<QuantileOptions> O = QuantileOptions>
  Tensor nanquantile(double q, const O& o) const {
    return nanquantile(q, o.axis, o.keepdim, o.interpolation);
  }
  Tensor nanquantile(const Tensor& q, std::optional<std::int64_t> axis = {}, bool keepdim = false,
                     Interpolation interpolation = Interpolation::Linear) const;
  template <std::same_as<QuantileOptions> O = QuantileOptions>
  Tensor nanquantile(const Tensor& q, const O& o) const {
    return nanquantile(q, o.axis, o.keepdim, o.interpolation);
  }

  // --- Patterns: axes by letters and by names --------------------------------------------------

  // "bij,bjk->bik": a letter for each axis; what has one letter runs along together, and letters that the
  // output leaves out are summed. Without an output: the letters that come once, in alphabetical order.
  // "...": axes that broadcast. A letter twice in one operand: its diagonal. Several operands are
  // contracted pair by pair, in the order that takes the fewest multiplications (of more than 8, nearly).
  static Tensor einsum(std::string_view formula, const std::vector<Tensor>& operands,
                       DType dtype = {});
  // x.rearrange("b (h w) c -> b c h w", {{"h", 8}}): names for axes, brackets around those that are
  // one, "..." for any, 1 for none. Sizes are given where they do not follow.
  using AxisSizes = std::vector<std::pair<std::string, std::int64_t>>;
  Tensor rearrange(std::string_view formula, const AxisSizes& sizes = {}) const;
  // The same, where axes that are missing on the right are reduced,
  Tensor reduce(std::string_view formula, Reduce how, const AxisSizes& sizes = {}) const;
  // or new ones on the right repeat what is there.
  Tensor repeat(std::string_view formula, const AxisSizes& sizes) const;

  // --- Losses. More of them: losses.h -------------------------------------------------------------

  Tensor mse_loss(const Tensor& target, Reduction reduction = Reduction::Mean) const;
  Tensor binary_crossentropy(const Tensor& target, Reduction reduction = Reduction::Mean) const;
  // pos_weight: what a target of 1 counts, for each class along the last axis.
  Tensor binary_crossentropy_logits(const Tensor& target, Reduction reduction = Reduction::Mean,
                                    const Tensor& pos_weight = {}) const;
  // this: log probabilities (batch, classes, ...), target: classes (batch, ...).
  Tensor nll_loss(const Tensor& target, const Tensor& weight = {},
                  std::optional<std::int64_t> ignore_index = {},
                  Reduction reduction = Reduction::Mean) const;
  // this: scores (..., classes), target: classes (...).
  Tensor sparse_categorical_crossentropy(const Tensor& target, std::int64_t ignore_index = -1,
                                         double label_smoothing = 0,
                                         Reduction reduction = Reduction::Mean) const;
  template <std::same_as<SparseCrossEntropyOptions> O = SparseCrossEntropyOptions>
  Tensor sparse_categorical_crossentropy(const Tensor& target, const O& o) const {
    return sparse_categorical_crossentropy(target, o.ignore_index, o.label_smoothing, o.reduction);
  }
  // this: scores (batch, classes, ...), target: classes (batch, ...) or probabilities.
  Tensor cross_entropy(const Tensor& target, Reduction reduction = Reduction::Mean,
                       double label_smoothing = 0) const;
  Tensor cross_entropy(const Tensor& target, const CrossEntropyOptions& options) const;

  struct State;

 private:
  explicit Tensor(std::shared_ptr<State> state) : state_(std::move(state)) {}
  Tensor(const void* values, DType dtype, std::size_t count, const Options& options);
  static Operand value_of(Scalar value);
  // What is in memory of its own, a BUFFER or a MULTI of such: assignments write there.
  static Tensor owning(const UOp& buffer, Symbol device);
  // The same memory, seen through this graph, which looks at it as uop() does.
  Tensor viewed(const UOp& graph) const;
  bool is_tracked() const;
  Bounds bounds_of(std::span<const std::int64_t> widths) const;  // flat ones, for pad()
  void want_single() const;
  // to_() and its like: this handle becomes what `to` makes of it, as does grad().
  Tensor& move(const std::function<Tensor(const Tensor&)>& to);
  std::shared_ptr<const void> open_for_writing(DType wanted, std::size_t axes);
  UOp in_memory() const;  // computed: a view of a BUFFER
  void read(void* values, DType wanted) const;
  [[noreturn]] static void refuse_bytes(std::size_t bytes);
  template <class T>
  static std::vector<T> room_for(std::size_t count) {
    try {
      return std::vector<T>(count);
    } catch (const std::bad_alloc&) {
      refuse_bytes(count * sizeof(T));
    }
  }
  const void* address(DType wanted) const;

  friend struct Operand;
  friend class Replay;
  friend struct std::hash<Tensor>;
  std::shared_ptr<State> state_;
};

struct Tensor::Histogram {
  Tensor counts, edges;
};
struct Tensor::Unique {
  Tensor values, inverse, counts;
};
struct Tensor::Selected {
  Tensor values, indices;
};

// A value itself; the places are a graph of their own, which is made when it is asked for.
struct Tensor::Extreme : Tensor {
  Extreme(const Tensor& value, std::function<Tensor()> where)
      : Tensor(value), places(std::move(where)) {}
  std::function<Tensor()> places;

  template <std::size_t I>
  Tensor get() const {
    if constexpr (I == 0)
      return *this;
    else
      return places();
  }
};

// What x[...] gives: a tensor, and left of an assignment its place in x. It hides how a tensor is assigned to and indexed.
struct Tensor::Indexed : Tensor {
  explicit Indexed(const Tensor& view) : Tensor(view) {}
  Indexed(const Indexed&) = default;
  Indexed(const Tensor& copy, const Tensor& whole, const Indices& where);

  // NOLINTBEGIN(bugprone-derived-method-shadowing-base-method, bugprone-unhandled-self-assignment)
  void operator=(const Operand& value) && { put(value); }
  void operator=(const Indexed& value) && { put(value); }
  Indexed& operator=(const Indexed&) & = default;
  Indexed& operator=(const Tensor& other) &;
  Indexed operator[](const Indices& indices) const&;
  Indexed operator[](const Indices& indices) &&;
  // NOLINTEND(bugprone-derived-method-shadowing-base-method, bugprone-unhandled-self-assignment)
  void put(const Operand& value);

 private:
  struct Place;
  std::shared_ptr<const Place> place_;  // of a copy; a view is written through
  bool is_of_copy_ = false;             // x[mask][0]: nobody sees what is written there
};

void operator+=(Tensor::Indexed&& place, const Operand& other);
void operator-=(Tensor::Indexed&& place, const Operand& other);
void operator*=(Tensor::Indexed&& place, const Operand& other);
void operator/=(Tensor::Indexed&& place, const Operand& other);
void operator%=(Tensor::Indexed&& place, const Operand& other);
void operator&=(Tensor::Indexed&& place, const Operand& other);
void operator|=(Tensor::Indexed&& place, const Operand& other);
void operator^=(Tensor::Indexed&& place, const Operand& other);
void operator<<=(Tensor::Indexed&& place, const Operand& other);
void operator>>=(Tensor::Indexed&& place, const Operand& other);

// Rows, as `for (const Tensor& row : x)` reads them.
class RowIterator {
 public:
  RowIterator(const Tensor& tensor, std::int64_t at) : tensor_(&tensor), at_(at) {}
  Tensor operator*() const { return (*tensor_)[at_]; }
  RowIterator& operator++() { return ++at_, *this; }
  bool operator==(const RowIterator& other) const { return at_ == other.at_; }

 private:
  const Tensor* tensor_;
  std::int64_t at_;
};
inline RowIterator begin(const Tensor& tensor) { return {tensor, 0}; }
inline RowIterator end(const Tensor& tensor) { return {tensor, tensor.len()}; }

template <WholeNumber Axis>
Tensor::Extreme Tensor::max(Axis axis, bool keepdim) const {
  return {max(AxisList(axis), keepdim),
          [x = *this, axis, keepdim] { return x.argmax(axis, keepdim); }};
}
template <WholeNumber Axis>
Tensor::Extreme Tensor::min(Axis axis, bool keepdim) const {
  return {min(AxisList(axis), keepdim),
          [x = *this, axis, keepdim] { return x.argmin(axis, keepdim); }};
}

// --- Operators ----------------------------------------------------------------------------------

Tensor operator+(const Operand& a, const Operand& b);
Tensor operator-(const Operand& a, const Operand& b);
Tensor operator*(const Operand& a, const Operand& b);
Tensor operator/(const Operand& a, const Operand& b);
Tensor operator%(const Operand& a, const Operand& b);
Tensor operator&(const Operand& a, const Operand& b);
Tensor operator|(const Operand& a, const Operand& b);
Tensor operator^(const Operand& a, const Operand& b);
Tensor operator<<(const Operand& a, const Operand& b);
Tensor operator>>(const Operand& a, const Operand& b);
Tensor operator<(const Operand& a, const Operand& b);
Tensor operator<=(const Operand& a, const Operand& b);
Tensor operator>(const Operand& a, const Operand& b);
Tensor operator>=(const Operand& a, const Operand& b);
Tensor operator==(const Operand& a, const Operand& b);
Tensor operator!=(const Operand& a, const Operand& b);
Tensor operator-(const Tensor& a);
Tensor operator~(const Tensor& a);
Tensor operator!(const Tensor& a);
Tensor floordiv(const Operand& a, const Operand& b);
Tensor pow(const Operand& base, const Operand& exponent);
Tensor matmul(const Tensor& a, const Tensor& b, DType dtype = {});

// Within its scope what is computed leads to no gradient.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;
  static bool is_on();

 private:
  bool before_;
};

// Within its scope dropout and its like are on, and batch normalisation takes the batch's own statistics.
class Training {
 public:
  explicit Training(bool on = true);
  ~Training();
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;
  static bool is_on();

 private:
  bool before_;
};

// --- Templates ----------------------------------------------------------------------------------

// The dtype that holds a C++ type: i64 for std::int64_t and its like, f32 for float.
template <Literal Number>
constexpr DType dtype_of() {
  if constexpr (std::same_as<Number, bool>) return dtypes::bool_;
  if constexpr (std::floating_point<Number>) return sizeof(Number) == 4 ? dtypes::f32 : dtypes::f64;
  constexpr DType of_size[2][4] = {{dtypes::u8, dtypes::u16, dtypes::u32, dtypes::u64},
                                   {dtypes::i8, dtypes::i16, dtypes::i32, dtypes::i64}};
  return of_size[std::is_signed_v<Number>][std::bit_width(sizeof(Number)) - 1];
}

template <Literal Number>
Tensor::Tensor(const std::vector<Number>& values, const Options& options) {
  if constexpr (std::same_as<Number, bool>) {
    const std::vector<std::uint8_t> bytes(values.begin(), values.end());
    *this = Tensor(bytes.data(), dtypes::bool_, bytes.size(), options);
  } else {
    *this = Tensor(values.data(), dtype_of<Number>(), values.size(), options);
  }
}

template <Literal Number>
Tensor::Tensor(std::span<const Number> values, const Options& options)
    : Tensor(values.data(), dtype_of<Number>(), values.size(), options) {}

template <Literal Number>
std::vector<Number> Tensor::to_vector() const {
  const Called called("to_vector");
  const auto count = static_cast<std::size_t>(numel());
  if constexpr (std::same_as<Number, bool>) {
    auto bytes = room_for<std::uint8_t>(count);
    read(bytes.data(), dtypes::bool_);
    return std::vector<bool>(bytes.begin(), bytes.end());
  } else {
    auto values = room_for<Number>(count);
    read(values.data(), dtype_of<Number>());
    return values;
  }
}

template <Literal Number>
std::span<const Number> Tensor::data() const {
  const Called called("data");
  return {static_cast<const Number*>(address(dtype_of<Number>())),
          static_cast<std::size_t>(numel())};
}

template <Literal Number, std::size_t N>
HostView<Number, N> Tensor::host_view() {
  const Called called("host_view");
  auto guard = open_for_writing(dtype_of<Number>(), N);
  const Memory elements = *memory();
  std::array<std::int64_t, N> extents, strides;
  for (std::size_t i = 0; i < N; ++i) {
    extents[i] = size(static_cast<std::int64_t>(i));
    strides[i] = elements.strides[i];
  }
  return {static_cast<Number*>(elements.first), extents, strides, std::move(guard)};
}

}  // namespace weft

template <>
struct std::tuple_size<weft::Tensor::Extreme> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I>
struct std::tuple_element<I, weft::Tensor::Extreme> {
  using type = weft::Tensor;
};

// By the handle, as is() compares.
template <>
struct std::hash<weft::Tensor> {
  std::size_t operator()(const weft::Tensor& tensor) const {
    return std::hash<std::shared_ptr<weft::Tensor::State>>{}(tensor.state_);
  }
};

#include <weft/method_args.h>
