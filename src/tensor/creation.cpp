// Tensors from values, and from nothing.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include <fmt/format.h>
#include <weft/dev/device/buffer.h>
#include <weft/dev/engine/storage.h>
#include <weft/error.h>

#include "ops.h"

namespace weft {
namespace {

Tensor finished(const UOp& graph, Symbol device, const Options& options) {
  return as_asked(Tensor::from({graph, device, false}), options);
}

Sizes sizes_from(const Shape& shape, std::string_view op) {
  Sizes sizes;
  for (const Dim& dim : shape.dims()) sizes.push_back(dim.uop());
  if (std::ranges::any_of(sizes, [](const UOp& size) { return size->bounds().hi < 0; }))
    user_error(fmt::format("{}: shape {}: a size is negative", op, sizes_text(sizes)));
  return sizes;
}

// A value everywhere: no memory.
UOp spread(const UOp& value, const Sizes& sizes) {
  return expand(reshape(value, Sizes(sizes.size(), const_int(1))), sizes);
}

UOp from_host(const void* values, DType dtype, const Sizes& sizes, Symbol device) {
  const UOp memory = new_memory(dtype, sizes, device);
  fill_memory(memory, {static_cast<const std::byte*>(values), bytes_of(dtype, memory->dims())});
  return memory;
}

// Of a number that no tensor gives its dtype: integers are i32, or i64 where they need to be.
DType dtype_of(const Scalar& value) {
  const double size = value.as_double();
  const bool is_wide = size < std::numeric_limits<std::int32_t>::min() ||
                       size > std::numeric_limits<std::int32_t>::max();
  return value.literal().is_index() && is_wide ? dtypes::i64 : settled(value.literal());
}

// The values of nested braces, which have to be as long as their neighbours.
class Flattened {
 public:
  explicit Flattened(const std::vector<Nested>& values) { add(values, 0); }

  DType dtype() const { return dtype_.is_void() ? dtypes::f32 : dtype_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }

  UOp upload(DType dtype, Symbol device) const {
    std::vector<std::byte> bytes(numbers_.size() * dtype.bytes());
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      const Bits bits = numbers_[i].as(dtype)->arg<ConstArg>().bits;
      std::memcpy(&bytes[i * dtype.bytes()], &bits, dtype.bytes());
    }
    return from_host(bytes.data(), dtype, constant_sizes(shape_), device);
  }

 private:
  void add(const std::vector<Nested>& values, std::size_t level) {
    const auto count = std::ssize(values);
    if (level == shape_.size()) {
      if (has_numbers_) ragged("a list", "a number", level);
      shape_.push_back(count);
    } else if (shape_[level] != count) {
      ragged(fmt::format("{} values", count), std::to_string(shape_[level]), level);
    }
    for (const Nested& value : values) {
      if (!value.is_number()) {
        add(value.members(), level + 1);
        continue;
      }
      if (level + 1 != shape_.size()) ragged("a number", "a list", level + 1);
      has_numbers_ = true;
      numbers_.push_back(value.number());
      const DType own = value.is_wide() ? dtypes::i64 : dtype_of(value.number());
      dtype_ = dtype_.is_void() ? own : promote(dtype_, own);
    }
  }

  [[noreturn]] static void ragged(const std::string& found, const std::string& expected,
                                  std::size_t level) {
    user_error(
        fmt::format("the values are ragged: at level {} there is {} where the others have {}",
                    level, found, expected));
  }

  std::vector<std::int64_t> shape_;
  std::vector<Scalar> numbers_;
  bool has_numbers_ = false;
  DType dtype_;
};

}  // namespace

Tensor::Tensor(std::initializer_list<Nested> values, const Options& options) {
  const Called called;
  const Flattened flat(values);
  const Symbol device = device_of(options);
  const DType dtype = options.dtype.is_void() ? flat.dtype() : options.dtype;
  *this = as_asked(owning(flat.upload(dtype, device), device), options);
}

Tensor::Tensor(const void* values, DType dtype, std::size_t count, const Options& options) {
  const Called called;
  const Symbol device = device_of(options);
  const UOp buffer =
      from_host(values, dtype, constant_sizes({static_cast<std::int64_t>(count)}), device);
  const DType wanted = options.dtype.is_void() ? dtype : options.dtype;
  *this = as_asked(owning(buffer, device).cast(wanted), options);
}

Tensor Tensor::from_blob(void* data, const Shape& shape, const Options& options,
                         std::shared_ptr<const void> owner) {
  const Called called;
  const Symbol device = device_of(options);
  const DType dtype = options.dtype.is_void() ? dtypes::f32 : options.dtype;
  if (are_several(device.get()))
    user_error(fmt::format("from_blob: memory is on one device, not on {}", device.get()));
  const Sizes sizes = sizes_from(shape, "from_blob");
  const std::span bytes(static_cast<std::byte*>(data), bytes_of(dtype, tuple(sizes)->src()));
  auto memory = std::make_shared<Buffer>(find_device(device.get()), bytes, std::move(owner));
  return as_asked(owning(new_buffer(dtype, sizes, std::move(memory)), device), options);
}

Tensor Tensor::from_recipe(std::function<void(std::span<std::byte>)> fill, const Shape& shape,
                           const Options& options) {
  const Called called;
  const Symbol device = device_of(options);
  const DType dtype = options.dtype.is_void() ? dtypes::f32 : options.dtype;
  if (are_several(device.get()))
    user_error(fmt::format("from_recipe: memory is on one device, not on {}", device.get()));
  const Sizes sizes = sizes_from(shape, "from_recipe");
  Device& home = find_device(device.get());
  const auto make = [fill = std::move(fill), &home](const Argument& to) {
    if (home.allocator().uses_addresses())
      return fill({static_cast<std::byte*>(to.memory) + to.offset, to.bytes});
    std::vector<std::byte> bytes(to.bytes);
    fill(bytes);
    home.allocator().copy_in(to.memory, to.offset, bytes);
  };
  auto memory = std::make_shared<Buffer>(home, bytes_of(dtype, tuple(sizes)->src()), make);
  return as_asked(owning(new_buffer(dtype, sizes, std::move(memory)), device), options);
}

Tensor Tensor::from_file(const std::string& path) {
  const Called called;
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) user_error(fmt::format("from_file: '{}': {}", path, error.message()));
  return empty({static_cast<std::int64_t>(bytes)}, {.dtype = dtypes::u8, .device = "DISK:" + path});
}

Tensor Tensor::full(const Shape& shape, Scalar value, const Options& options) {
  const Called called;
  const DType dtype = options.dtype.is_void() ? dtype_of(value) : options.dtype;
  return finished(spread(value.as(dtype), sizes_from(shape, "full")), device_of(options), options);
}

namespace {

Options with_default(Options options, DType dtype) {
  if (options.dtype.is_void()) options.dtype = dtype;
  return options;
}

}  // namespace

Tensor Tensor::zeros(const Shape& shape, const Options& options) {
  return Called(), full(shape, 0, with_default(options, dtypes::f32));
}

Tensor Tensor::ones(const Shape& shape, const Options& options) {
  return Called(), full(shape, 1, with_default(options, dtypes::f32));
}

Tensor Tensor::empty(const Shape& shape, const Options& options) {
  const Called called;
  const Symbol device = device_of(options);
  const DType dtype = with_default(options, dtypes::f32).dtype;
  const UOp buffer = new_memory(dtype, sizes_from(shape, "empty"), device);
  return as_asked(owning(buffer, device), options);
}

Tensor Tensor::constant(Scalar value, const Options& options) {
  return Called(), full({}, value, options);
}

namespace {

Options like(const Tensor& tensor, Options options) {
  if (options.device.empty()) options.device = tensor.device();
  return with_default(options, tensor.dtype());
}

}  // namespace

Tensor Tensor::full_like(Scalar value, const Options& options) const {
  return Called(), full(Shape(dims()), value, like(*this, options));
}

Tensor Tensor::empty_like(const Options& options) const {
  return Called(), empty(Shape(dims()), like(*this, options));
}

Tensor Tensor::arange(Scalar stop, const Options& options) {
  return Called(), arange(0, stop, 1, options);
}

Tensor Tensor::arange(Scalar start, Scalar stop, Scalar step, const Options& options) {
  const Called called;
  const double from = start.as_double(), by = step.as_double();
  if (by == 0) user_error("arange: the step is 0: want another number");
  const double count = std::max(0.0, std::ceil((stop.as_double() - from) / by));
  const DType own = promote(promote(dtype_of(start), dtype_of(stop)), dtype_of(step));
  const DType dtype = options.dtype.is_void() ? own : options.dtype;
  // Where elements are small integers or half floats, the places may still need 32 bits.
  const DType within = dtype.is_float() && dtype != dtypes::f64 ? dtypes::f32 : dtype;
  UOp value = counted(const_int(static_cast<std::int64_t>(count)), dtypes::index);
  value = converted(value, within) * step.as(within) + start.as(within);
  return finished(converted(value, dtype), device_of(options), options);
}

Tensor Tensor::linspace(Scalar start, Scalar stop, std::int64_t steps, const Options& options) {
  const Called called;
  if (steps < 0) user_error(fmt::format("linspace: {} steps: want at least 0", steps));
  const double from = start.as_double();
  const double by = steps > 1 ? (stop.as_double() - from) / static_cast<double>(steps - 1) : 0.0;
  const UOp places = counted(const_int(steps), dtypes::f32);
  const UOp value = places * const_float(by, dtypes::f32) + const_float(from, dtypes::f32);
  return finished(converted(value, with_default(options, dtypes::f32).dtype), device_of(options),
                  options);
}

Tensor Tensor::eye(const Dim& rows, const Options& options) {
  return Called(), eye(rows, rows, options);
}

Tensor Tensor::eye(const Dim& rows, const Dim& columns, const Options& options) {
  const Called called;
  const Sizes sizes = sizes_from({rows, columns}, "eye");
  const UOp row = weft::reshape(counted(sizes[0], dtypes::index), {sizes[0], const_int(1)});
  const UOp column = weft::reshape(counted(sizes[1], dtypes::index), {const_int(1), sizes[1]});
  const UOp equal = weft::expand(row, sizes) == weft::expand(column, sizes);
  return finished(converted(equal, with_default(options, dtypes::f32).dtype), device_of(options),
                  options);
}

}  // namespace weft
