// Random numbers: Threefry of a counter under a key. The seed and the place in the stream come from a
// small BUFFER, so that every call makes a graph of the same structure.

#include <array>
#include <cmath>
#include <mutex>
#include <numbers>

#include <fmt/format.h>
#include <weft/dev/device/buffer.h>
#include <weft/dev/engine/storage.h>
#include <weft/error.h>
#include <weft/random.h>

#include "capture.h"
#include "draws.h"
#include "ops.h"

namespace weft {
namespace {

// One stream for the process, whatever the device: the same calls give the same numbers on each.
struct Stream {
  std::mutex mutex;
  std::uint64_t seed = 0, position = 0;
};

Stream& stream() {
  static auto& stream = *new Stream;
  return stream;
}

UOp member(const UOp& buffer, std::int64_t at) {
  return reshape(shrink(buffer, constant_sizes({at}), constant_sizes({1})), {});
}

// Where random numbers are drawn: a key, and the first counter.
struct Place {
  UOp key, counter;
};

// The place of so many counters that nobody else gets.
void reserve(std::int64_t blocks, const UOp& memory) {
  std::array<std::uint64_t, 2> values{};
  {
    const std::lock_guard lock(stream().mutex);
    values = {stream().seed, stream().position};
    stream().position += static_cast<std::uint64_t>(blocks);
  }
  fill_memory(memory, std::as_bytes(std::span(values)));
}

Place reserved(std::int64_t blocks, Symbol device) {
  const UOp buffer = new_memory(dtypes::u64, constant_sizes({2}), device);
  reserve(blocks, buffer);
  if (Capture* capture = Capture::current()) capture->note(Drawing{buffer, blocks});
  return {member(buffer, 0), member(buffer, 1)};
}

// Threefry of so many successive counters: 64 random bits each.
UOp random_blocks(std::int64_t count, const Place& place) {
  const Sizes sizes = constant_sizes({count});
  const auto everywhere = [&](const UOp& value) {
    return expand(reshape(value, constant_sizes({1})), sizes);
  };
  const UOp counter = counted(sizes[0], dtypes::u64) + everywhere(place.counter);
  return make(Op::Threefry, {counter, everywhere(place.key)});
}

std::int64_t blocks_of(std::int64_t words) { return words / 2 + words % 2; }

// So many u32: of every block first the lower half, then the upper.
UOp random_words(std::int64_t count, const Place& place) {
  const std::int64_t blocks = blocks_of(count);
  const Sizes pairs = constant_sizes({blocks, 2});
  const UOp block =
      expand(reshape(random_blocks(blocks, place), constant_sizes({blocks, 1})), pairs);
  const UOp half = counted(const_int(2), dtypes::u64) * const_int(32, dtypes::u64);
  const UOp shift = expand(reshape(half, constant_sizes({1, 2})), pairs);
  const UOp words = cast(make(Op::Shr, {block, shift}), dtypes::u32);
  return shrink(reshape(words, constant_sizes({2 * blocks})), constant_sizes({0}),
                constant_sizes({count}));
}

// From the stream: so many u64, or u32.
UOp drawn_bits(std::int64_t count, DType dtype, Symbol device) {
  if (dtype == dtypes::u64) return random_blocks(count, reserved(count, device));
  return random_words(count, reserved(blocks_of(count), device));
}

// How many random bits a float from 0 to 1 takes: as many as it holds at 0.5 to 1, so that the result is
// exact and never rounds to 1.
int digits(std::string_view op, DType dtype) {
  switch (dtype.kind()) {
    case Kind::F64: return 53;
    case Kind::F32: return 24;
    case Kind::F16: return 11;
    case Kind::BF16: return 8;
    case Kind::F8E4M3: return 4;
    case Kind::F8E5M2: return 3;
    default: user_error(fmt::format("{}: {} is no float", op, dtype.str()));
  }
}

UOp random_unit(std::string_view op, std::int64_t count, DType dtype, Symbol device) {
  const DType word = dtype == dtypes::f64 ? dtypes::u64 : dtypes::u32;
  const int used = digits(op, dtype);
  const UOp bits = drawn_bits(count, word, device);
  const UOp within = make(Op::Shr, {bits, const_int(word.bits() - used, word)});
  const DType exact = dtype == dtypes::f64 ? dtypes::f64 : dtypes::f32;
  return cast(cast(within, exact) * const_float(std::ldexp(1.0, -used), exact), dtype);
}

double inputs(const char* op, const Shape& shape) {
  if (shape.dims().empty()) user_error(fmt::format("{}: a scalar has no inputs", op));
  const std::vector<Dim>& dims = shape.dims();
  return static_cast<double>(count_of(op, Shape(std::vector<Dim>(dims.begin() + 1, dims.end()))));
}

DType float_of(const Options& options) {
  return options.dtype.is_void() ? dtypes::f32 : options.dtype;
}

}  // namespace

void draw_again(const Drawing& drawing) { reserve(drawing.blocks, drawing.memory); }

// How much of the stream a call takes is known when it is made.
std::int64_t count_of(std::string_view op, const Shape& shape) {
  std::int64_t count = 1;
  for (const Dim& dim : shape.dims())
    if (__builtin_mul_overflow(count, constant_size(op, dim.uop()), &count) || count < 0)
      user_error(fmt::format("{}: a size is negative or too large", op));
  return count;
}

Tensor random_keys(std::string_view op, const Shape& shape, const Options& options) {
  const Symbol device = device_of(options);
  return Tensor::from({drawn_bits(count_of(op, shape), dtypes::u32, device), device, false})
      .reshape(shape);
}

Tensor unit(std::string_view op, const Shape& shape, DType dtype, const Options& options) {
  const Symbol device = device_of(options);
  return Tensor::from({random_unit(op, count_of(op, shape), dtype, device), device, false})
      .reshape(shape);
}

void Tensor::manual_seed(std::uint64_t seed) {
  const std::lock_guard lock(stream().mutex);
  stream().seed = seed;
  stream().position = 0;
}

Tensor random::state() {
  const Called called;
  std::vector<std::int64_t> values;
  {
    const std::lock_guard lock(stream().mutex);
    values = {static_cast<std::int64_t>(stream().seed),
              static_cast<std::int64_t>(stream().position)};
  }
  return Tensor(values, {.device = "CPU"});
}

void random::set_state(const Tensor& state) {
  const Called called;
  if (state.shape() != std::vector<std::int64_t>{2} || state.dtype() != dtypes::i64)
    user_error(fmt::format("set_state: {} of shape {} where state() gives i64 of (2,)",
                           state.dtype().str(), shape_text(state.uop())));
  const auto values = state.to_vector<std::int64_t>();
  const std::lock_guard lock(stream().mutex);
  stream().seed = static_cast<std::uint64_t>(values[0]);
  stream().position = static_cast<std::uint64_t>(values[1]);
}

Tensor Tensor::rand(const Shape& shape, const Options& options) {
  return Called(), as_asked(unit("rand", shape, float_of(options), options), options);
}

// Box and Muller: the radius from one number, which must not be 0, and the angle from another.
Tensor Tensor::randn(const Shape& shape, const Options& options) {
  const Called called;
  const DType dtype = float_of(options), within = promote(dtype, dtypes::f32);
  const Tensor radius = ((1.0 - unit("randn", shape, within, options)).log() * -2.0).sqrt();
  const Tensor angle = unit("randn", shape, within, options) * (2 * std::numbers::pi);
  return as_asked((radius * angle.cos()).cast(dtype), options);
}

Tensor Tensor::uniform(const Shape& shape, Scalar low, Scalar high, const Options& options) {
  const Called called;
  const DType dtype = float_of(options), within = promote(dtype, dtypes::f32);
  const double from = low.as_double(), width = high.as_double() - from;
  return as_asked((unit("uniform", shape, within, options) * width + from).cast(dtype), options);
}

Tensor Tensor::normal(const Shape& shape, Scalar mean, Scalar std, const Options& options) {
  const Called called;
  if (!(std.as_double() >= 0))
    user_error(fmt::format("normal: deviation {} is not at least 0", std.as_double()));
  Options plain = options;
  plain.requires_grad = false;
  return as_asked(randn(shape, plain) * std.as_double() + mean.as_double(), options);
}

// The upper part of the product of 32 random bits and the width: every number is about as likely.
Tensor Tensor::randint(const Shape& shape, std::int64_t low, std::int64_t high,
                       const Options& options) {
  const Called called;
  std::int64_t width = 0;
  constexpr std::int64_t most = std::int64_t{1} << 32;
  if (__builtin_sub_overflow(high, low, &width) || width <= 0 || width > most)
    user_error(fmt::format("randint: from {} to below {} are not 1 to 2^32 numbers", low, high));
  const Symbol device = device_of(options);
  const UOp bits = drawn_bits(count_of("randint", shape), dtypes::u32, device);
  const UOp wide = weft::cast(bits, dtypes::u64) * const_int(width, dtypes::u64);
  const UOp offset = weft::cast(make(Op::Shr, {wide, const_int(32, dtypes::u64)}), dtypes::i64);
  const UOp value = offset + const_int(low, dtypes::i64);
  const DType dtype = options.dtype.is_void() ? dtypes::i32 : options.dtype;
  return as_asked(Tensor::from({weft::cast(value, dtype), device, false}).reshape(shape), options);
}

Tensor Tensor::rand_like(DType dtype) const {
  const Called called;
  return rand(Shape(dims()),
              {.dtype = dtype.is_void() ? this->dtype() : dtype, .device = device()});
}

Tensor Tensor::randn_like(DType dtype) const {
  const Called called;
  return randn(Shape(dims()),
               {.dtype = dtype.is_void() ? this->dtype() : dtype, .device = device()});
}

Tensor Tensor::randint_like(std::int64_t low, std::int64_t high, DType dtype) const {
  const Called called;
  return randint(Shape(dims()), low, high,
                 {.dtype = dtype.is_void() ? this->dtype() : dtype, .device = device()});
}

Tensor Tensor::threefry(const Operand& key) const {
  const Called called;
  if (dtype() != dtypes::u64 || (!key.uop()->is_const() && key.uop()->dtype() != dtypes::u64))
    user_error(fmt::format("threefry: of {} under {}: both are u64", dtype().str(),
                           key.uop()->dtype().str()));
  return elementwise("threefry", *this, key, dtypes::u64,
                     [](const UOp& x, const UOp& k) { return make(Op::Threefry, {x, k}); });
}

Tensor Tensor::random_bits(const Tensor& key, const Tensor& counter, std::int64_t count) {
  const Called called;
  const Operand k(key), c(counter);
  for (const Tensor* tensor : {&key, &counter})
    if (tensor->dtype() != dtypes::u64 || tensor->numel() != 1)
      user_error(fmt::format("random_bits: a key or counter of {} and shape {} is not one u64",
                             tensor->dtype().str(), shape_text(tensor->uop())));
  if (count < 0) user_error(fmt::format("random_bits: {} numbers: want at least 0", count));
  const Place place{weft::reshape(k.uop(), {}), weft::reshape(c.uop(), {})};
  return result("random_bits", random_words(count, place), {&k, &c});
}

Tensor Tensor::scaled_uniform(const Shape& shape, const Options& options) {
  const Called called;
  const double bound = 1 / std::sqrt(static_cast<double>(count_of("scaled_uniform", shape)));
  return uniform(shape, -bound, bound, options);
}

Tensor Tensor::glorot_uniform(const Shape& shape, const Options& options) {
  const Called called;
  const double fan = inputs("glorot_uniform", shape) +
                     static_cast<double>(constant_size("glorot_uniform", shape.dims()[0].uop()));
  const double bound = std::sqrt(6 / fan);
  return uniform(shape, -bound, bound, options);
}

Tensor Tensor::kaiming_uniform(const Shape& shape, double a, const Options& options) {
  const Called called;
  const double bound = std::sqrt(6 / (1 + a * a) / inputs("kaiming_uniform", shape));
  return uniform(shape, -bound, bound, options);
}

Tensor Tensor::kaiming_normal(const Shape& shape, double a, const Options& options) {
  const Called called;
  const double deviation = std::sqrt(2 / (1 + a * a) / inputs("kaiming_normal", shape));
  return normal(shape, 0.0, deviation, options);
}

}  // namespace weft
